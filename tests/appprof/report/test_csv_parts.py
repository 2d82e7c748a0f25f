"""A CSV that several processes read gives what one process reads, whatever stands in it and wherever it is cut."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_up_csv import write_long_csv

from appprof.report import csv_parts
from appprof.report.csv_layout import Layout
from appprof.report.csv_packed import Packed, unpack
from appprof.report.csv_parts import LAST_ROW, Helper, Part, begin, read_alone, read_rows
from appprof.report.ncu_csv import read_ncu_csv
from ert_numba.errors import ErtError

NAMES = ["ID", "Process ID", "Kernel Name", "Section Name", "Metric Name", "Metric Unit", "Metric Value"]
RULES = ["Rule Name", "Rule Description"]
KERNELS = ("k<int>", "void f(float)", 'a ""b"", c', 'lone"quote')
BETWEEN = (
    "", "==PROF== Profiling", "loss: 0.25, step 3", '"0","7","k<int>","s"', '"5', '"6","7","open', "ID,step", 'end"',
    '"0","7","k<int>"," ","","",""', '"1","7","k<int>","rule","","","","SOLBottleneck","this ""grid"" is small"',
    ",".join(f'"{name}"' for name in NAMES), '"ID","Kernel Name","dram__bytes.sum [byte]"',
)  # fmt: skip
SEEN = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


class Here:
    """A helper in this process, so that hundreds of files can be tried."""

    found_any = 0

    def __init__(self, file: IO[bytes], part: Part, layout: Layout) -> None:
        layout = msgspec.json.decode(msgspec.json.encode(layout), type=Layout)
        try:
            self.data = read_alone(file, part, layout)
        except ErtError:
            self.data = b""

    def found(self) -> Packed | None:
        found = unpack(self.data)
        Here.found_any += found is not None
        return found

    def end(self) -> None:
        pass


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Launches in any order and of any length, rows of other shapes and lines of a program in between."""
    ragged = draw(st.booleans())
    lines = [",".join(f'"{name}"' for name in NAMES + (RULES if ragged else []))]
    usual = "," if ragged else ""
    for _ in range(draw(st.integers(4, 16))):
        number, kernel, section = draw(st.integers(0, 3)), draw(st.sampled_from(KERNELS)), draw(st.sampled_from("st"))
        for at in range(draw(st.integers(1, 4))):
            unit, value = draw(st.sampled_from(["byte", "Kbyte", ""])), draw(st.sampled_from(["1", "1,234", "n/a", ""]))
            lines.append(f'"{number}","7","{kernel}","{section}","m{at}.sum","{unit}","{value}"{usual}')
        if draw(st.integers(0, 5)) == 0:
            lines.append(draw(st.sampled_from(BETWEEN)))
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines).encode() + draw(st.sampled_from([b"", b"\n", b"\r"]))


def outcome(path: Path) -> bytes:
    """Everything in the report, its order included; or the error."""
    try:
        return msgspec.msgpack.encode(read_ncu_csv(path))
    except ErtError as error:
        return str(error).encode()


def cut_at(places: list[int], monkeypatch: pytest.MonkeyPatch, path: Path, start: int) -> bytes:
    size = path.stat().st_size

    def parts(file: IO[bytes], at: int, count: int, share: float) -> list[Part]:
        cuts = [at, *(place for place in places if place > at), size] if count > 1 else [at, size]
        return [Part(one, other, other == size) for one, other in pairwise(cuts)]

    with monkeypatch.context() as patch:
        patch.setattr(csv_parts, "PART_BYTES", 0)
        patch.setattr(csv_parts, "CHUNK_BYTES", start)
        patch.setattr(csv_parts, "_cores", lambda: 2)
        patch.setattr(csv_parts, "parts_of", parts)
        patch.setattr(csv_parts, "Helper", Here)
        return outcome(path)


def compare(data: bytes, draw: st.DataObject, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(data)
    good = [match.end() for match in LAST_ROW.finditer(data)]
    places = sorted(draw.draw(st.sets(st.sampled_from(good), max_size=4))) if good else []
    head = len(data.partition(b"\n")[0]) + draw.draw(st.integers(0, 20))
    assert without_repeats(cut_at(places, monkeypatch, path, head)) == without_repeats(outcome(path))


def without_repeats(found: bytes) -> object:
    """The report less what is said of cells that stand twice: that depends on which rows were taken one by one."""
    if not found.startswith(b"\x85"):  # an error's words
        return found
    report = msgspec.msgpack.decode(found)
    report["warnings"] = [line for line in report["warnings"] if "stands twice" not in line]
    return report


@SEEN
@given(files(), st.data())
def test_parts_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, draw: st.DataObject) -> None:
    compare(data, draw, tmp_path / "a.csv", monkeypatch)


@SEEN
@given(files(), st.data())
def test_parts_are_the_whole_of_damaged_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, draw: st.DataObject
) -> None:
    content = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 5))):
        at = draw.draw(st.integers(60, max(len(content) - 1, 60)))
        content[at : at + draw.draw(st.integers(0, 3))] = draw.draw(
            st.sampled_from([b'"', b",", b"\n", b'""', b"", b"x", b"\r", b'\n"9","'])
        )
    compare(bytes(content), draw, tmp_path / "a.csv", monkeypatch)


def test_helpers_were_of_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the tests above would compare a thing with itself."""
    path = write_long_csv(tmp_path / "a.csv", 30, "ragged", kernels=3)
    data = path.read_bytes()
    places = [match.end() for match in LAST_ROW.finditer(data)][::7]
    before = Here.found_any
    assert cut_at(places, monkeypatch, path, 1000) == outcome(path)
    assert Here.found_any - before == len(places) > 2


def test_text_in_quotes_that_looks_like_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both lines at the cut stand in one cell: only who has read the text before it can know."""
    head = ",".join(f'"{name}"' for name in NAMES)
    row = '"{0}","7","k","s","m.sum","byte","{0}"'
    torn = '"2","7","k","s","m.sum","byte","\n' + row.format(3) + "\n" + row.format(4) + "\n"
    path = tmp_path / "a.csv"
    for middle in (torn, torn.replace('"3","7"', '"3",""7')):
        data = (f"{head}\n{row.format(1)}\n" + middle + row.format(5) + "\n" + row.format(6)).encode()
        path.write_bytes(data)
        for match in LAST_ROW.finditer(data):
            assert cut_at([match.end()], monkeypatch, path, len(head) + 1) == outcome(path)


needs_helpers = pytest.mark.skipif(sys.platform != "linux", reason="helpers are started on Linux alone")


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Files of any size are read by three processes; what they were of use for comes in the list."""
    used: list[bool] = []
    found = Helper.found

    def noted(self: Helper) -> Packed | None:
        result = found(self)
        used.append(result is not None)
        return result

    monkeypatch.setattr(csv_parts, "PART_BYTES", 1000)
    monkeypatch.setattr(csv_parts, "CHUNK_BYTES", 2000)
    monkeypatch.setattr(csv_parts, "_cores", lambda: 3)
    monkeypatch.setattr(Helper, "found", noted)
    return used


@needs_helpers
@pytest.mark.parametrize("name", ["h200/micro_stdout.csv", "h200/micro_roofline_set_details.csv"])
def test_real_files(name: str, h200: Path, in_parts: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    path = h200.parent / name
    several = outcome(path)
    assert any(in_parts)
    monkeypatch.setattr(csv_parts, "PART_BYTES", 1 << 40)
    assert outcome(path) == several


@needs_helpers
def test_every_file_that_is_there(h200: Path, in_parts: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    for path in sorted(h200.parent.rglob("*.csv")):
        with monkeypatch.context() as patch:
            several = outcome(path)
            patch.setattr(csv_parts, "PART_BYTES", 1 << 40)
            assert outcome(path) == several, path.name


@needs_helpers
@pytest.mark.parametrize("way", ["killed", "garbage", "none", "late"])
def test_a_helper_that_fails(way: str, tmp_path: Path, in_parts: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_long_csv(tmp_path / "a.csv", 60, "ragged", kernels=3)
    with monkeypatch.context() as patch:
        patch.setattr(csv_parts, "PART_BYTES", 1 << 40)
        whole = outcome(path)
    programs = {
        "killed": "import os; os.kill(os.getpid(), 9)",
        "garbage": "print('no such thing')",
        "late": "import time; time.sleep(100)",
    }
    if way == "none":

        def refused(*_: Any, **__: Any) -> None:
            raise OSError("no more processes")

        monkeypatch.setattr(subprocess, "Popen", refused)
    else:
        monkeypatch.setattr(csv_parts, "_HELP", programs[way])
        monkeypatch.setattr(csv_parts, "PATIENCE_SECONDS", 0.2 if way == "late" else 60.0)
    assert outcome(path) == whole
    assert in_parts == [False, False]


@needs_helpers
@pytest.mark.parametrize("collected", [True, False])
def test_what_was_begun_is_ended(collected: bool, tmp_path: Path, in_parts: list[bool]) -> None:
    path = write_long_csv(tmp_path / "a.csv", 60, kernels=3)
    assert begin([path, tmp_path / "none.csv", tmp_path])
    begun = csv_parts._begun[path]
    processes = [helper._process for helper in begun._helpers if helper._process is not None]
    assert len(processes) == 2
    if collected:
        assert len(read_rows(path).tables[0].launches) == 60
        assert in_parts == [True, True]
        assert path not in csv_parts._begun
    else:
        csv_parts._begun.pop(path).end()
    assert all(process.returncode is not None for process in processes)


def test_small_files_start_nothing(h200: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_parts, "Helper", None)
    assert not begin([h200 / "micro_stdout.csv"])
    assert read_rows(h200 / "micro_stdout.csv").tables


def test_a_file_that_shrinks_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_long_csv(tmp_path / "a.csv", 60)
    monkeypatch.setattr(csv_parts, "PART_BYTES", 1000)
    monkeypatch.setattr(csv_parts, "CHUNK_BYTES", 2000)
    monkeypatch.setattr(csv_parts, "_cores", lambda: 1)
    assert begin([path])
    with path.open("rb+") as file:
        file.truncate(5000)
    with pytest.raises(ErtError, match="shorter"):
        read_rows(path)
