"""The quick way through the rows gives what the exact way gives, for every file it agrees to take."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appprof.report.csv_layout import Layout
from appprof.report.csv_rows import RowScanner, TableMaker
from appprof.report.csv_tables import LongTable, make_table
from appprof.report.ncu_csv import read_ncu_csv

NAMES = ["ID", "Process ID", "Kernel Name", "Section Name", "Metric Name", "Metric Unit", "Metric Value"]
RULES = ["Rule Name", "Rule Description"]
# The alphabet of what breaks parsers that split instead of reading.
CELLS = st.text(alphabet="ab\",\n\r;'\\ =é", max_size=6)


class Exact(RowScanner):
    """Never takes the quick way."""

    def _quick(self, text: bytes, at: int, end: int, *, final: bool) -> int:
        return at


class Together(RowScanner):
    """Takes as many launches at once as it can from the first row on."""

    def __init__(self, make_table: TableMaker) -> None:
        super().__init__(make_table)
        self._most = 1000


def scanned(kind: type[RowScanner], data: bytes, chunk: int) -> list[tuple[Any, ...]]:
    tables: list[Any] = []

    def make(layout: Layout) -> Any:
        tables.append(make_table(layout))
        return tables[-1]

    scanner = kind(make)
    for at in range(0, len(data), chunk):
        scanner.feed(data[at : at + chunk])
    scanner.finish()
    found = []
    for table in tables:
        for launch in table.launches:
            metrics: list[Any] = []
            for group, row in launch.parts:
                metrics += zip(
                    group.names,
                    group.units,
                    group.cells[row * len(group.names) : (row + 1) * len(group.names)],
                    strict=True,
                )
            found.append((launch.id, launch.identity, metrics, launch.advice))
    return [*found, scanner.messages, scanner.lost, scanner.noise]


def as_csv(rows: list[list[str]], ends: str, trailing: bool) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
    text = out.getvalue()
    if trailing:
        head, _, body = text.partition("\n")
        text = head + "\n" + "".join(f"{line},\n" for line in body.splitlines())
    return text.replace("\n", ends).encode()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), CELLS, CELLS, CELLS, CELLS, st.integers(1, 4)), max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from([16, 64, 1 << 18]),
)
def test_quick_and_exact_agree(
    launches: list[tuple[int, str, str, str, str, int]], ends: str, ragged: bool, chunk: int
) -> None:
    rows = [NAMES + (RULES if ragged else [])]
    for number, kernel, section, name, value, repeats in launches:
        rows += [[str(number), "7", kernel, section, f"{name}{at}", "byte", value] for at in range(repeats)]
    data = as_csv(rows, ends, ragged and "\n" not in "".join(cell for row in rows for cell in row))
    assert scanned(RowScanner, data, chunk) == scanned(Exact, data, chunk)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_quick_and_exact_agree_on_damaged_files(data: st.DataObject) -> None:
    rows = [NAMES] + [["0", "7", "k<int>", "s", f"m{at}", "byte", str(at)] for at in range(6)]
    rows += [["1", "7", 'k "x", y', "s", f"m{at}", "byte", "1,000"] for at in range(6)]
    content = bytearray(as_csv(rows, "\n", False))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(60, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from([b'"', b",", b"\n", b'""', b"", b"x"])
        )
    assert scanned(RowScanner, bytes(content), 1 << 18) == scanned(Exact, bytes(content), 1 << 18)


@pytest.mark.parametrize("ragged", [False, True])
def test_a_name_with_quotes_and_commas_of_its_own_is_one_cell_on_both_ways(ragged: bool) -> None:
    """To a CSV reader its quotes end the cell, and two empty ones follow."""
    head = ",".join(f'"{name}"' for name in NAMES + (RULES if ragged else []))
    end = "," if ragged else ""
    rows = [f'"1","7","k ""x",,", y","s","m{at}","byte","{at}"{end}' for at in range(3)]
    for chosen in (rows, rows[:1]):
        data = "\n".join([head, *chosen, ""]).encode()
        assert scanned(RowScanner, data, 1 << 18) == scanned(Exact, data, 1 << 18)
        (launch, *_, lost, _) = scanned(Exact, data, 1 << 18)
        assert launch[1].kernel == 'k "x",,", y'
        assert [value for _, _, value in launch[2]] == [b"0", b"1", b"2"][: len(chosen)]
        assert lost == []


KERNELS = ("k<int>", "void f(float)", 'a ""b"", c', "x" * 300, 'lone"quote')
TRAILERS = ("", ",", ',"",""', ",,", '"', ",x")
BETWEEN = (
    "", "==PROF== Profiling", "loss: 0.25, step 3", '"0","7","k<int>","s"', '"5', "ID,step",
    '"0","7","k<int>"," ","","",""', '"1","7","k<int>","rule","","","","SOLBottleneck","this ""grid"" is small"',
    ",".join(f'"{name}"' for name in NAMES),
)  # fmt: skip


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Launches in any order and of any length, rows of other shapes and lines of a program in between."""
    ragged = draw(st.booleans())
    lines = [",".join(f'"{name}"' for name in NAMES + (RULES if ragged else []))]
    usual = "," if ragged else ""
    for _ in range(draw(st.integers(1, 12))):
        number, kernel, section = draw(st.integers(0, 3)), draw(st.sampled_from(KERNELS)), draw(st.sampled_from("st"))
        for at in range(draw(st.integers(1, 5))):
            unit, value = draw(st.sampled_from(["byte", "Kbyte", ""])), draw(st.sampled_from(["1", "1,000", "n/a", ""]))
            trailer = draw(st.sampled_from(TRAILERS)) if draw(st.integers(0, 19)) == 0 else usual
            lines.append(f'"{number}","7","{kernel}","{section}","m{at}","{unit}","{value}"{trailer}')
        if draw(st.integers(0, 3)) == 0:
            lines.append(draw(st.sampled_from(BETWEEN)))
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines).encode() + draw(st.sampled_from([b"", b"\n", b"\r"]))


@settings(max_examples=400, deadline=None)
@given(files(), st.sampled_from([16, 100, 1000, 1 << 18]))
def test_ways_and_pieces_agree(data: bytes, chunk: int) -> None:
    expected = scanned(Exact, data, 1 << 18)
    assert scanned(RowScanner, data, chunk) == expected
    assert scanned(Together, data, chunk) == expected


@settings(max_examples=100, deadline=None)
@given(files(), st.data())
def test_ways_agree_on_damaged_files_of_any_shape(data: bytes, damage: st.DataObject) -> None:
    content = bytearray(data)
    for _ in range(damage.draw(st.integers(1, 4))):
        at = damage.draw(st.integers(60, max(len(content) - 1, 60)))
        content[at : at + damage.draw(st.integers(0, 3))] = damage.draw(
            st.sampled_from([b'"', b",", b"\n", b'""', b"", b"x", b"\r"])
        )
    assert scanned(Together, bytes(content), 1 << 18) == scanned(Exact, bytes(content), 1 << 18)


def test_the_quick_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the tests above would compare a thing with itself."""
    taken = []
    original = LongTable.add_block

    def counted(self: LongTable, prefix: bytes, names: list[bytes], *cells: list[bytes]) -> bool:
        taken.append(len(names))
        return original(self, prefix, names, *cells)

    monkeypatch.setattr(LongTable, "add_block", counted)
    rows = [NAMES] + [[str(at // 5), "7", "k", "s", f"m{at % 5}", "byte", "1"] for at in range(50)]
    scanned(RowScanner, as_csv(rows, "\n", False), 1 << 18)
    assert sum(taken) == 50
    assert max(taken) == 5


def test_cells_cut_by_chunks_of_any_size(h200: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_ncu_csv(h200 / "micro_stdout.csv")
    for size in (1, 7, 100, 4096):
        monkeypatch.setattr("appprof.report.opened.CHUNK_BYTES", size)
        assert read_ncu_csv(h200 / "micro_stdout.csv") == whole


def test_a_row_cannot_lend_a_cell_to_the_next() -> None:
    """Too long a row before too short a one: as many cells and quotes as two good rows."""
    head = ",".join(f'"{name}"' for name in NAMES) + "\n"
    start = '"0","7","k","s",'
    for torn in ('"m0","a","b","c"\n' + start + '"m1","d"\n', '"m0","a"\n' + start + '"m1","b","c","d"\n'):
        data = (head + start + torn + start + '"m2","byte","1"\n').encode()
        assert scanned(RowScanner, data, 1 << 18) == scanned(Exact, data, 1 << 18)


@pytest.mark.parametrize(
    "torn",
    ['m1"x"byte","1"', 'm1","byte"x"1"', 'm1","by"te","1"', 'm1","1"', 'm1","byte","1","2"', ',","byte","1"',
     ',"m1","byte","1"', 'm1","byte","1"x', 'm1""byte","1"', '"m1","byte","1"'],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["", ",", ',"",""'])
def test_a_torn_row_between_good_ones(torn: str, ending: str) -> None:
    """Rows whose quotes are as many as a good row's, or whose separators overlap."""
    head = ",".join(f'"{name}"' for name in NAMES + (RULES if ending else []))
    good = [f'"{number}","7","k","s","m{at}","byte","{at}"{ending}' for number in range(6) for at in range(3)]
    for place in (1, 2, 9, 17):
        rows = [*good[:place], f'"{place // 3}","7","k","s","{torn}{ending}', *good[place:]]
        data = "\n".join([head, *rows, ""]).encode()
        assert scanned(Together, data, 1 << 18) == scanned(RowScanner, data, 1 << 18) == scanned(Exact, data, 1 << 18)
