"""The rows of an Nsight Compute CSV amid whatever else a terminal caught: two ways, one result.

The quick way takes all rows of a launch at once: they share their beginning to the byte. It is taken only where
counting quotes proves that it gives what a CSV reader would; every other line goes the exact way, cell by cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from appprof.report.csv_layout import METRIC, Layout, find_layout, literal_cells, row_cells
from ert_numba.errors import ErtError

LINE_LIMIT = 64 << 20
CONTINUATION_LIMIT = 200  # physical lines in one logical line
SEPARATOR = b'","'
CUT_ROW = re.compile(rb'"\d+"(?:,|$)')
MESSAGES_KEPT, LOST_KEPT = 1000, 20


class Table(Protocol):
    """What takes the rows under one header."""

    def add_cells(self, cells: list[str]) -> bool:
        """Take one row; False where it is no row of the table."""

    def add_block(self, prefix: bytes, flat: list[bytes]) -> bool:
        """Take rows that share ``prefix``; ``flat`` is name, unit, value of each in turn, every name but the first
        with a line end before it. False: they are no such rows, take them singly."""


class TableMaker(Protocol):
    def __call__(self, layout: Layout) -> Table: ...


def line_batches(chunks: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Whole lines without their ends, a list for each chunk; the last line may lack its end."""
    rest = b""
    for chunk in chunks:
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n")  # noqa: PLW2901
        if rest.endswith(b"\r") and chunk.startswith(b"\n"):
            rest = rest[:-1]
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            rest += chunk
            if len(rest) > LINE_LIMIT:
                raise ErtError("a CSV of Nsight Compute", "it has a line of more than 64 MiB", "Check the file")
            continue
        lines = (rest + chunk[:cut]).split(b"\n")
        lines.pop()
        rest = chunk[cut:]
        yield lines
    if rest:
        yield [rest.removesuffix(b"\r")]


class RowScanner:
    """Feeds the rows to tables, one table a header, and keeps what the profiler said in between."""

    def __init__(self, make_table: TableMaker) -> None:
        self.make_table = make_table
        self.layouts: list[Layout] = []
        self.messages: list[str] = []
        self.lost: list[str] = []
        self.noise = 0
        self._lost_rows = 0
        self._table: Table | None = None
        self._trailers: tuple[bytes, ...] = ()
        self._guess = 1
        self._ends_at_value = False
        self._open: list[bytes] = []  # the lines so far of a row whose quotes are not closed

    def feed(self, lines: list[bytes]) -> None:
        index, count = 0, len(lines)
        while index < count:
            taken = self._quick(lines, index) if self._trailers and not self._open else 0
            if not taken:
                self._exact(lines[index])
                taken = 1
            index += taken

    def finish(self) -> None:
        if self._open:
            self._drop_open("the file ends inside it")
        if self._lost_rows > LOST_KEPT:
            self.lost.append(f"{self._lost_rows - LOST_KEPT} rows more")

    def _quick(self, lines: list[bytes], index: int) -> int:
        """Take the rows of one launch from ``lines[index]`` on; how many, or 0 where the exact way must."""
        line = lines[index]
        for trailer in self._trailers:
            if line.endswith(trailer):
                break
        else:
            return 0
        size = len(line[: len(line) - len(trailer)].rsplit(SEPARATOR, 3)[0]) + len(SEPARATOR)
        prefix = line[:size]
        rows = lines[index : index + self._guess]
        # All start with the prefix when the smallest and the largest do.
        if not (min(rows).startswith(prefix) and max(rows).startswith(prefix)):
            rows = [line]
        stop, count = index + len(rows), len(lines)
        while stop < count and lines[stop].startswith(prefix):
            rows.append(lines[stop])
            stop += 1
        tails = b"\n".join([row[size:] for row in rows]) + b"\n"
        # The line ends stay before the names, where they prove that no row has lent a cell to the next.
        flat = tails.replace(trailer + b"\n", SEPARATOR + b"\n").split(SEPARATOR)
        flat.pop()
        taken = len(rows)
        quotes = taken * (4 + trailer.count(b'"'))
        if len(flat) != 3 * taken or tails.count(b'"') != quotes:
            return 0
        if self._table is None or not self._table.add_block(prefix, flat):
            return 0
        self._guess = max(taken, 1)
        return taken

    def _exact(self, raw: bytes) -> None:
        """Take one physical line."""
        if self._open:
            self._continue(raw)
        elif raw.startswith(b"=="):
            self._message(raw)
        elif raw.strip():
            self._logical(raw)

    def _logical(self, raw: bytes) -> None:
        layout = find_layout(_text(raw)) if b"Kernel Name" in raw else None
        if layout is not None:
            self._start(layout)
        elif self._table is None or (self.layouts[-1].quoted and not raw.startswith(b'"')):
            self.noise += 1
        elif raw.count(b'"') % 2 and not self._is_whole(raw):
            self._open = [raw]
        elif self._ends_at_value and raw.endswith(b","):
            self._lose("cut before its value", raw)
        elif (cells := row_cells(_text(raw), self.layouts[-1])) is None:
            self._lose("its cells are not those of the header", raw)
        elif not self._table.add_cells(cells):
            if CUT_ROW.match(raw):
                self._lose("too short", raw)
            else:
                self.noise += 1

    def _is_whole(self, raw: bytes) -> bool:
        """Whether a line with an odd number of quotes is a whole row, a lone quote standing in a name."""
        return self.layouts[-1].quoted and literal_cells(_text(raw), self.layouts[-1]) is not None

    def _continue(self, raw: bytes) -> None:
        """A cell may hold line ends; a row whose quotes never close must not swallow the file."""
        begins_row = raw.startswith(b"==") or (
            raw.startswith(b'"') and raw.count(b'","') > 3 and (raw.count(b'"') % 2 == 0 or self._is_whole(raw))
        )
        if begins_row or len(self._open) > CONTINUATION_LIMIT:
            self._drop_open("its quotes are never closed")
            self._exact(raw)
            return
        self._open.append(raw)
        if raw.count(b'"') % 2:
            whole, self._open = b"\n".join(self._open), []
            self._logical(whole)

    def _drop_open(self, why: str) -> None:
        self._lose(why, self._open[0])
        self._open = []

    def _lose(self, why: str, raw: bytes) -> None:
        self._lost_rows += 1
        if self._lost_rows <= LOST_KEPT:
            self.lost.append(f"one row, {why}: {_text(raw)[:60]!r}")

    def _start(self, layout: Layout) -> None:
        self.layouts.append(layout)
        self._table = self.make_table(layout)
        self._guess = 1
        self._trailers = ()
        self._ends_at_value = False
        if layout.is_long and layout.is_regular:
            behind = layout.width - layout.columns[METRIC[2]] - 1
            self._ends_at_value = not behind
            # Metric rows of a page with rules end in one bare comma, or are padded with empty cells.
            self._trailers = (b'"',) if not behind else (b'",', b'"' + b',""' * behind, b'"' + b"," * behind)

    def _message(self, raw: bytes) -> None:
        if len(self.messages) < MESSAGES_KEPT:
            self.messages.append(_text(raw).strip())


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")
