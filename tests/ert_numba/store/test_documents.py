from __future__ import annotations

import json
import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from document_strategies import machine_models, sweeps
from example_models import cpu_model, cpu_sweep
from hypothesis import given

from ert_numba.errors import ErtError
from ert_numba.machine import MachineModel
from ert_numba.records import Sweep
from ert_numba.store import documents
from ert_numba.store.documents import encode, load, load_any, registered, save

replace = msgspec.structs.replace


@given(document=sweeps | machine_models)
def test_what_is_saved_is_what_is_loaded(document, tmp_path_factory):
    path = tmp_path_factory.mktemp("round") / "document.json"
    save(document, path)
    again = load(path, type(document))
    assert again == document
    # Equality takes 1 for 1.0 and True; the text does not.
    assert encode(again) == path.read_bytes()


@given(document=sweeps)
def test_any_json_reader_finds_the_same_numbers(document):
    plain = json.loads(encode(document), parse_constant=pytest.fail)
    assert plain["wall_seconds"] == document.wall_seconds
    assert [tuple(sample["seconds"]) for sample in plain["samples"]] == [s.seconds for s in document.samples]


def test_equal_documents_give_equal_text_whatever_the_order_of_their_keys():
    first = replace(cpu_model(), settings={"seed": 1, "budget": 2.5})
    second = replace(cpu_model(), settings={"budget": 2.5, "seed": 1})
    assert encode(first) == encode(second)


def test_the_text_is_for_people_one_field_a_line_and_one_line_a_row_of_numbers():
    sweep = cpu_sweep()
    lines = encode(sweep).decode().splitlines()
    assert lines[1] == '  "schema": "ert_numba.sweep",'
    rows = [line for line in lines if line.strip().startswith('"seconds": [')]
    assert len(rows) == len(sweep.samples)
    assert json.loads(rows[0].strip().removeprefix('"seconds": ').rstrip(",")) == list(sweep.samples[0].seconds)
    assert encode(sweep).endswith(b"}\n")


def test_text_that_looks_like_a_list_of_numbers_is_left_alone():
    model = replace(cpu_model(), notes=("[\n  1,\n  2\n]", "[1,   2]"))
    assert msgspec.json.decode(encode(model), type=MachineModel).notes == model.notes


def test_numpy_scalars_and_lists_are_saved_as_plain_numbers(tmp_path):
    sweep = cpu_sweep()
    sample = replace(
        sweep.samples[0],
        seconds=[np.float64(0.5), np.float32(0.25)],
        clock_hz=(),
        verified=np.bool_(True),
        warmups=np.int64(3),
    )
    loaded = load(save(replace(sweep, samples=(sample,)), tmp_path / "sweep.json"), Sweep).samples[0]
    assert (loaded.seconds, loaded.verified, loaded.warmups) == ((0.5, 0.25), True, 3)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ["wall_seconds", "settings", "sample", "condition", "limit", "maximum_clock_hz"])
def test_what_json_cannot_hold_is_never_written(tmp_path, field, value):
    sweep = cpu_sweep()
    sample = sweep.samples[0]
    document = {
        "wall_seconds": lambda: replace(sweep, wall_seconds=value),
        "settings": lambda: replace(sweep, settings={"budget": value}),
        "sample": lambda: replace(sweep, samples=(replace(sample, seconds=(1.0, value), clock_hz=()),)),
        "condition": lambda: replace(sweep, samples=(replace(sample, conditions={"load": value}),)),
        "limit": lambda: replace(cpu_model(), ceilings=(replace(cpu_model().ceilings[0], limit=value),)),
        "maximum_clock_hz": lambda: replace(sweep, device=replace(sweep.device, maximum_clock_hz=value)),
    }[field]()
    with pytest.raises(ErtError, match=str(value)):
        save(document, tmp_path / "document.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "found"),
    [({"name": "\ud800"}, "surrogates"), ({"object": Path("x")}, "Path"), ({"list": (1, 2)}, r"\$\.settings")],
)
def test_a_value_of_no_json_type_is_an_error_that_names_it(tmp_path, settings, found):
    with pytest.raises(ErtError, match=found):
        save(replace(cpu_model(), settings=settings), tmp_path / "document.json")
    assert list(tmp_path.iterdir()) == []


def test_any_document_is_told_by_its_schema(tmp_path):
    assert load_any(save(cpu_sweep(), tmp_path / "a.json")) == cpu_sweep()
    assert load_any(save(cpu_model(), tmp_path / "b.json")) == cpu_model()


def test_every_registered_type_states_its_schema_first():
    rows = registered()
    assert {row.schema for row in rows} >= {"ert_numba.sweep", "ert_numba.machine"}
    for row in rows:
        assert row.type.__struct_fields__[:2] == ("schema", "version")
        assert row.version >= 1


def test_an_unregistered_type_is_a_mistake_of_the_programmer(tmp_path):
    class Stranger(msgspec.Struct):
        schema: str = "stranger"
        version: int = 1

    with pytest.raises(TypeError, match="Stranger"):
        save(Stranger(), tmp_path / "stranger.json")


class Reading(msgspec.Struct, frozen=True):
    """A document without rules of its own, whose value may be missing."""

    value: float | None
    schema: str = "test.reading"
    version: int = 1


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_not_a_number_never_turns_into_missing(tmp_path, monkeypatch, value):
    monkeypatch.setattr(documents, "_TYPES", dict(documents._TYPES))
    documents.register(documents.DocumentType(type=Reading, label="a reading", made_by="x", faults=lambda _: ()))
    with pytest.raises(ErtError, match=f"value is {value}"):
        save(Reading(value=value), tmp_path / "reading.json")
    assert load(save(Reading(value=None), tmp_path / "reading.json"), Reading).value is None
