"""Files that were cut, edited, renamed or made to hurt: each gives a clean result or an ErtError, never a traceback."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
from pathlib import Path

import msgspec
import pytest
from example_models import cpu_model, cpu_sweep
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ert_numba.errors import ErtError
from ert_numba.machine import MachineModel
from ert_numba.records import Sweep
from ert_numba.store.documents import encode, load, load_any

SMALL = encode(msgspec.structs.replace(cpu_sweep(), samples=cpu_sweep().samples[:2]))
MODEL = encode(cpu_model())


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "document.json"
    path.write_bytes(data)
    return path


def edited(data: bytes, where: str, value: object) -> bytes:
    """The document with one field changed: ``samples/0/seconds/1``."""
    document = json.loads(data)
    *parents, last = [int(step) if step.isdigit() else step for step in where.split("/")]
    inner = document
    for step in parents:
        inner = inner[step]
    inner[last] = value
    return json.dumps(document).encode()


def refused(path: Path, wanted: type[msgspec.Struct] = Sweep) -> ErtError:
    with pytest.raises(ErtError) as caught:
        load(path, wanted)
    error = caught.value
    assert error.exit_code == 3
    assert str(path) in error.found
    assert error.asked
    assert error.remedy
    return error


def survives(path: Path) -> None:
    with contextlib.suppress(ErtError):  # and nothing else
        document = load_any(path)
        assert isinstance(document, Sweep | MachineModel)
        try:
            encode(document)
        except ErtError as error:
            pytest.fail(f"it was taken as good and cannot be saved: {error}")


@settings(max_examples=400)
@given(
    data=st.sampled_from([SMALL, MODEL]),
    place=st.floats(0, 1, exclude_max=True),
    byte=st.integers(0, 255),
    length=st.integers(0, 3),
)
def test_any_changed_bytes_give_a_document_or_an_error(data, place, byte, length, tmp_path_factory):
    at = int(place * len(data))
    mutated = data[:at] + bytes([byte]) + data[at + length :]
    survives(written(tmp_path_factory.mktemp("flip"), mutated))


@given(data=st.sampled_from([SMALL, MODEL]), place=st.floats(0, 1, exclude_max=True))
@example(data=SMALL, place=0.0)
def test_no_truncation_passes_for_a_document(data, place, tmp_path_factory):
    path = written(tmp_path_factory.mktemp("cut"), data[: int(place * (len(data) - 1))])
    with pytest.raises(ErtError, match=r"no whole JSON|is empty"):
        load_any(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def every_path(value: object, steps: tuple[str, ...] = ()) -> list[str]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    below = [path for key, inner in items for path in every_path(inner, (*steps, str(key)))]
    return ["/".join(steps), *below] if steps else below


@settings(max_examples=400)
@given(data=st.data(), value=json_values)
def test_any_json_in_any_field_gives_a_document_or_an_error(data, value, tmp_path_factory):
    source = data.draw(st.sampled_from([SMALL, MODEL]))
    where = data.draw(st.sampled_from(every_path(json.loads(source))))
    survives(written(tmp_path_factory.mktemp("edit"), edited(source, where, value)))


@given(junk=st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_junk_gives_an_error(junk, tmp_path_factory):
    with pytest.raises(ErtError):
        load_any(written(tmp_path_factory.mktemp("junk"), junk))


@pytest.mark.parametrize(
    ("where", "value", "found"),
    [
        ("colour", "red", r"unknown field `colour`"),
        ("samples/0/secunds", [1.0], r"unknown field `secunds` - at `\$\.samples\[0\]`"),
        ("samples/1/seconds", ["1.0"], r"Expected `float`, got `str` - at `\$\.samples\[1\]\.seconds\[0\]`"),
        ("samples/0/seconds/0", None, r"Expected `float`, got `null` - at `\$\.samples\[0\]\.seconds\[0\]`"),
        ("device/units", 2.5, r"Expected `int`, got `float` - at `\$\.device\.units`"),
        ("device", [], r"Expected `object`, got `array` - at `\$\.device`"),
        ("version", "1", r"Expected `int \| null`, got `str` - at `\$\.version`"),
        ("version", True, r"got `bool` - at `\$\.version`"),
        ("schema", 5, r"at `\$\.schema`"),
    ],
)
def test_an_edited_field_is_named(tmp_path, where, value, found):
    error = refused(written(tmp_path, edited(SMALL, where, value)))
    assert re.search(found, error.found), error.found
    assert "edit" in error.remedy


@pytest.mark.parametrize("number", [0.0, -1e-6])
def test_a_sample_that_cannot_be_is_named_by_its_key(tmp_path, number):
    key = cpu_sweep().samples[1].point.key
    error = refused(written(tmp_path, edited(SMALL, "samples/1/seconds/0", number)))
    assert key in error.found
    assert f"seconds[0] is {number!r}" in error.found


@pytest.mark.parametrize("literal", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"nan"])
def test_numbers_that_are_not_json_or_not_finite_are_refused(tmp_path, literal):
    marked = edited(SMALL, "samples/1/seconds/0", 123.456)
    assert b"123.456" in marked
    refused(written(tmp_path, marked.replace(b"123.456", literal)))


def test_an_interval_that_does_not_hold_its_value_is_named(tmp_path):
    key = cpu_model().ceilings[0].key
    for field, value in (("low", 1e30), ("high", 1.0)):
        error = refused(written(tmp_path, edited(MODEL, f"ceilings/0/{field}", value)), MachineModel)
        assert key in error.found
        assert field in error.found


def test_a_newer_version_asks_for_an_upgrade(tmp_path):
    # A newer format has fields that this one does not know: the version must be what the message speaks of.
    newer = edited(edited(SMALL, "version", 2), "novelty", {})
    error = refused(written(tmp_path, newer))
    assert "made by a newer ert_numba" in error.found
    assert "pip install --upgrade" in error.remedy


@pytest.mark.parametrize("version", [0, -1, None])
def test_a_version_that_never_was(tmp_path, version):
    assert "version" in refused(written(tmp_path, edited(SMALL, "version", version))).found


def test_a_model_where_a_sweep_is_wanted_names_the_command(tmp_path):
    error = refused(written(tmp_path, MODEL), Sweep)
    assert "is a machine model" in error.found
    assert "python -m ert_numba sweep" in error.remedy
    error = refused(written(tmp_path, SMALL), MachineModel)
    assert "is a sweep" in error.found
    assert "python -m ert_numba fit" in error.remedy


def test_foreign_json(tmp_path):
    assert "no field `schema`" in refused(written(tmp_path, b'{"a": 1}')).found
    assert "'other.tool'" in refused(written(tmp_path, b'{"schema": "other.tool", "version": 1}')).found
    assert "import-ert" in refused(written(tmp_path, b'{"empirical": {}, "spec": {}}')).remedy
    assert "got `array`" in refused(written(tmp_path, b"[1, 2]")).found
    with pytest.raises(ErtError, match=r"ert_numba\.machine, ert_numba\.sweep"):
        load_any(written(tmp_path, b'{"schema": "other.tool", "version": 1}'))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"hello", "no whole JSON"),
        (b"\x00" * 100, "no whole JSON"),
        (b"\xef\xbb\xbf{}", "no field `schema`"),
        (b"\xef\xbb\xbf", "no whole JSON"),
        (gzip.compress(SMALL), "is packed with gzip"),
        ("{}".encode("utf-16"), "no whole JSON"),
        (b'{"schema": "\xff\xfe"}', "UTF-8"),
        (b'{"schema": "\\ud800"}', "JSON"),
        (SMALL + b"x", "no whole JSON"),
        (SMALL + SMALL, "no whole JSON"),
    ],
)
def test_what_is_no_json(tmp_path, data, found):
    assert found in refused(written(tmp_path, data)).found


def test_a_byte_order_mark_is_no_fault(tmp_path):
    assert load(written(tmp_path, b"\xef\xbb\xbf" + MODEL), MachineModel) == cpu_model()


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize(
    "before", [b'{"x":', SMALL[:-3] + b',"x":', SMALL[: SMALL.index(b'"settings"')] + b'"settings":']
)
def test_depth_is_refused(tmp_path, opening, before):
    refused(written(tmp_path, before + opening * 200_000))


def test_size_is_refused_before_it_is_decoded(tmp_path):
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate((64 << 20) + 1)
    assert "larger than 64 MiB" in refused(path).found


def test_paths_that_are_no_file(tmp_path):
    assert "is a folder" in refused(tmp_path).found
    assert "does not exist" in refused(tmp_path / "absent.json").found
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "pipe" in refused(pipe).found  # opened, it would wait for ever
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert "cannot be read" in refused(loop).found
    assert "cannot be read" in refused(written(tmp_path, SMALL) / "below").found
    with pytest.raises(ErtError):
        load(Path("null\0character"), Sweep)
    assert "device or a pipe" in refused(Path("/dev/null")).found


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = written(tmp_path, SMALL)

    def forbidden(*_args: object, **_kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)  # root may read everything, so the refusal is made up
    error = refused(path)
    assert "may not read" in error.found
