"""The rows of an Nsight Compute CSV amid whatever else a terminal caught: two ways, one result.

The quick way takes the rows of many launches at once (``csv_blocks``), and only where that provably gives what a CSV
reader would; every other line goes the exact way, cell by cell.
"""

from __future__ import annotations

import re
from typing import Protocol

from appprof.report.csv_blocks import BlockFinder, cut
from appprof.report.csv_layout import METRIC, Layout, find_layout, literal_cells, row_cells
from ert_numba.errors import ErtError

LINE_LIMIT = 16 << 20
CONTINUATION_LIMIT = 200  # physical lines in one logical line
CUT_ROW = re.compile(rb'"\d+"(?:,|$)')
MESSAGES_KEPT, LOST_KEPT = 1000, 20
MOST_BLOCKS = 1024  # launches taken together
LONGEST_WAIT = 4 << 20  # bytes of one launch that wait for its next rows: they are looked at again with each piece


class Table(Protocol):
    """What takes the rows under one header."""

    def add_cells(self, cells: list[str]) -> bool:
        """Take one row; False where it is no row of the table."""

    def add_block(self, prefix: bytes, names: list[bytes], units: list[bytes], values: list[bytes]) -> bool:
        """Take rows that share ``prefix``, of which these are the other cells. False: take them singly."""


class TableMaker(Protocol):
    def __call__(self, layout: Layout) -> Table: ...


class RowScanner:
    """Feeds the rows to tables, one table a header, and keeps what the profiler said in between."""

    def __init__(self, make_table: TableMaker) -> None:
        self.make_table = make_table
        self.layouts: list[Layout] = []
        self.messages: list[str] = []
        self.lost: list[str] = []
        self.noise = 0
        self.lost_rows = 0
        self._table: Table | None = None
        self._trailers: tuple[bytes, ...] = ()
        self._rest = b""
        self._most = 1  # how many launches are tried together: one after a failure, then twice as many each time
        self._blocks = BlockFinder()
        self._ends_at_value = False
        self._open: list[bytes] = []  # the lines so far of a row whose quotes are not closed

    def feed(self, chunk: bytes) -> None:
        """Take a piece of the file. Its last launch waits for the next piece, which may go on with it."""
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n")
        if self._rest.endswith(b"\r") and chunk.startswith(b"\n"):
            self._rest = self._rest[:-1]
        text = self._rest + chunk
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._rest = text
            if len(text) - text.rfind(b"\n") > LINE_LIMIT:
                raise ErtError("a CSV of Nsight Compute", "it has a line of more than 16 MiB", "Check the file")
            return
        self._rest = text[self._take(text, len(self._rest) + end, final=False) :]

    @property
    def is_between_rows(self) -> bool:
        """Whether what comes next begins a line and goes on with no row."""
        return not self._open and not self._rest

    def settle(self, *, at_end: bool) -> None:
        """Take the lines that wait, where a part of the file ends: behind a line end, or the file itself."""
        if self._rest:
            text = self._rest if self._rest.endswith(b"\n") else self._rest.removesuffix(b"\r") + b"\n"
            self._rest = b""
            self._take(text, len(text), final=True)
        if self._open and at_end:
            self._drop_open("the file ends inside it")

    def finish(self) -> None:
        self.settle(at_end=True)
        if self.lost_rows > LOST_KEPT:
            self.lost.append(f"{self.lost_rows - LOST_KEPT} rows more")

    def _take(self, text: bytes, end: int, *, final: bool) -> int:
        """Take the lines of ``text[:end]``; where those begin that must wait."""
        at = 0
        while at < end:
            stop = self._quick(text, at, end, final=final) if self._trailers and not self._open else at
            if stop < 0:
                return at
            if stop == at:
                stop = text.find(b"\n", at) + 1
                self._exact(text[at : stop - 1])
            at = stop
        return end

    def _quick(self, text: bytes, at: int, end: int, *, final: bool) -> int:
        """Take the rows of launches from ``text[at:end]``: where they end, ``at`` if the exact way must take the next
        line, -1 if the rows of the next launch must wait."""
        trailer = next((one for one in self._trailers if text.endswith(one, at, text.find(b"\n", at, end))), b"")
        if not trailer:
            return at
        blocks, tails, stop = self._blocks.find(text, at, end, trailer, self._most)
        if blocks and stop == end and not final and (blocks[-1][0] or end < LONGEST_WAIT):
            stop, _, count = blocks.pop()
            del tails[len(tails) - count :]
            if not blocks:
                return -1
        if not blocks:
            return at
        cells = cut(tails, trailer)
        if cells is None:
            return self._fewer(text, at, end, final, len(blocks))
        names, units, values = cells
        place = 0
        for start, prefix, rows in blocks:
            upto = place + rows
            if self._table is None or not self._table.add_block(
                prefix, names[place:upto], units[place:upto], values[place:upto]
            ):
                self._most = 1
                return start
            place = upto
        self._most = min(2 * self._most, MOST_BLOCKS)
        return stop

    def _fewer(self, text: bytes, at: int, end: int, final: bool, blocks: int) -> int:
        """Try one launch alone where several could not be taken together."""
        self._most = 1
        return self._quick(text, at, end, final=final) if blocks > 1 else at

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
            self.start(layout)
        elif self._table is None or (self.layouts[-1].quoted and not raw.startswith(b'"')):
            self.noise += 1
        elif raw.count(b'"') % 2 and not self._is_whole(raw):
            self._open = [raw]
        elif self._ends_at_value and raw.endswith(b","):
            self._lose("cut before its value", raw)
        elif (cells := self._cells(raw)) is None:
            self._lose("its cells are not those of the header", raw)
        elif not self._table.add_cells(cells):
            if CUT_ROW.match(raw):
                self._lose("too short", raw)
            else:
                self.noise += 1

    def _cells(self, raw: bytes) -> list[str] | None:
        """The cells of a row. Where a CSV reader finds more than stand between ``","``, it has cut a name at quotes of
        the name's own, and the quick way would not."""
        layout, text = self.layouts[-1], _text(raw)
        cells = row_cells(text, layout)
        if not layout.quoted or (cells is not None and len(cells) == layout.width):
            return cells
        literal = literal_cells(text, layout)
        return literal if literal is not None and (cells is None or len(cells) > len(literal)) else cells

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
        self.lost_rows += 1
        if self.lost_rows <= LOST_KEPT:
            self.lost.append(f"one row, {why}: {_text(raw)[:60]!r}")

    def start(self, layout: Layout) -> None:
        """Go on below a header of this layout."""
        self.layouts.append(layout)
        self._table = self.make_table(layout)
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
