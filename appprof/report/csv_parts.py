"""A large CSV read in parts at once, each but the first by a process of its own; the result is that of one process.

A helper takes for granted that its part lies below the one header of the file and begins a row. Whoever read what lies
before knows whether that is so: where it is not, or where a helper found anything that it cannot judge alone (another
header, a row that goes on, an error), its part is read again here. So a wrong guess costs time and nothing else.

New interpreters, no forks: numpy's threads run by then, and a fork would copy their locks as they stand.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import IO

import msgspec

from appprof.report.csv_layout import Layout
from appprof.report.csv_packed import Packed, append, pack, unpack
from appprof.report.csv_rows import RowScanner
from appprof.report.csv_tables import LongTable, WideTable, make_table
from appprof.report.opened import CHUNK_BYTES, pieces, plain_start, text_chunks
from ert_numba.errors import ErtError

PART_BYTES = 32 << 20  # a helper takes 0.1 s to start, in which 30 MB are read
MOST_PARTS = 4
WINDOW_BYTES = 1 << 20  # in which a line must be found where a part may begin
PATIENCE_SECONDS = 60.0
# How much this process reads itself, a helper's part being 1: little where it has other work meanwhile.
SHARE, SHARE_IF_BUSY = 1.2, 0.75
# A row whose ID is not that of the next: the rows of one launch stay together.
LAST_ROW = re.compile(rb'(?<=\n)"(\d+)",[^\n]*\n(?="(?!\1")\d+",)')
_HELP = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from appprof.report.csv_parts import help_out; help_out(*sys.argv[2:])"
)


class Rows:
    """All rows of a CSV: ``tables`` has one table a header."""

    def __init__(self) -> None:
        self.tables: list[LongTable | WideTable] = []
        self.scanner = RowScanner(self._next_table)

    def _next_table(self, layout: Layout) -> LongTable | WideTable:
        self.tables.append(make_table(layout))
        return self.tables[-1]


class Part(msgspec.Struct, frozen=True):
    """The bytes from ``start`` to ``stop`` of a file."""

    start: int
    stop: int
    is_last: bool


def read_rows(path: Path) -> Rows:
    """Everything in a CSV of any size, packed or not."""
    begun = _begun.pop(path, None)
    if begun is None and _is_large(path):
        begun = Begun(path, SHARE)
    if begun is not None:
        return begun.finish()
    rows = Rows()
    for chunk in text_chunks(path):
        rows.scanner.feed(chunk)
    rows.scanner.finish()
    return rows


def begin(paths: Iterable[Path]) -> bool:
    """Let helpers begin with what :func:`read_rows` will be asked for; whether any has begun."""
    for path in paths:
        with contextlib.suppress(OSError, ErtError):  # said when it is read
            if path not in _begun and _is_large(path):
                begun = Begun(path, SHARE_IF_BUSY)
                atexit.register(begun.end)  # a run that ends early leaves none behind
                _begun[path] = begun
    return bool(_begun)


class Begun:
    """A CSV of which helpers read the later parts; its beginning, as far as the header, was read here."""

    def __init__(self, path: Path, share: float) -> None:
        start = plain_start(path) or 0
        self.rows, self._helpers = Rows(), list[Helper]()
        self._file = path.open("rb")
        head = next(pieces(self._file, start, start + CHUNK_BYTES))
        self.rows.scanner.feed(head)
        table = self._table()
        self._parts = parts_of(self._file, start + len(head), _cores() if table is not None else 1, share)
        if table is not None:
            self._helpers += [Helper(self._file, part, table.layout) for part in self._parts[1:]]

    def finish(self) -> Rows:
        """Read what no helper does, and put it all together."""
        scanner = self.rows.scanner
        try:
            for part, helper in zip(self._parts, (None, *self._helpers), strict=True):
                table = self._table()
                found = helper.found() if helper and table and scanner.is_between_rows else None
                if found is not None and table is not None:
                    append(found, scanner, table)
                    continue
                for piece in pieces(self._file, part.start, part.stop):
                    scanner.feed(piece)
                scanner.settle(at_end=part.is_last)
        finally:
            self.end()
        scanner.finish()
        return self.rows

    def end(self) -> None:
        atexit.unregister(self.end)
        for helper in self._helpers:
            helper.end()
        self._file.close()

    def _table(self) -> LongTable | None:
        """The table, where there is one and it is one that a helper can fill."""
        table = self.rows.tables[0] if len(self.rows.tables) == 1 else None
        return table if isinstance(table, LongTable) else None


_begun: dict[Path, Begun] = {}


def parts_of(file: IO[bytes], start: int, count: int, share: float) -> list[Part]:
    """The file from ``start`` on in up to ``count`` parts, of which all but the first begin a launch."""
    size = os.fstat(file.fileno()).st_size
    count = min(count, MOST_PARTS, (size - start) // PART_BYTES)
    cuts = [start]
    for number in range(count - 1):
        place = start + int((size - start) * (share + number) / (share + count - 1))
        found = LAST_ROW.search(os.pread(file.fileno(), WINDOW_BYTES, place))
        if found and place + found.end() > cuts[-1]:
            cuts.append(place + found.end())
    return [Part(one, other, other == size) for one, other in pairwise([*cuts, size])]


class Helper:
    """A process that reads one part."""

    def __init__(self, file: IO[bytes], part: Part, layout: Layout) -> None:
        command = [
            sys.executable, "-P", "-c", _HELP, json.dumps(sys.path), str(part.start), str(part.stop),
            str(int(part.is_last)), msgspec.json.encode(layout).decode(),
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def found(self) -> Packed | None:
        """What it found; None where the part must be read again."""
        if self._process is None:
            return None
        try:
            data, _ = self._process.communicate(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            return None
        return unpack(data) if self._process.returncode == 0 else None

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            with self._process:  # its pipe is closed, and it is waited for
                pass


def help_out(start: str, stop: str, is_last: str, layout: str) -> None:
    """The helper itself: standard input is the file, standard output what was found, nothing where that is no use."""
    import gc
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked for help is interrupted too, and ends this process
    gc.disable()
    part = Part(int(start), int(stop), bool(int(is_last)))
    data = read_alone(sys.stdin.buffer, part, msgspec.json.decode(layout, type=Layout))
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    os._exit(0)  # a million small objects need no tidying


def read_alone(file: IO[bytes], part: Part, layout: Layout) -> bytes:
    """What stands in a part below a header of ``layout``; empty where that cannot be told from the part alone."""
    table = LongTable(layout)
    scanner = RowScanner(lambda _: table)
    scanner.start(layout)
    for piece in pieces(file, part.start, part.stop):
        scanner.feed(piece)
        if len(scanner.layouts) > 1:
            return b""
    scanner.settle(at_end=part.is_last)
    return pack(scanner, table) if scanner.is_between_rows and len(scanner.layouts) == 1 else b""


def _cores() -> int:
    """How many cores this process may use for helpers; 1 where none can be started."""
    can_start = sys.platform == "linux" and sys.executable and not getattr(sys, "frozen", False)
    return len(os.sched_getaffinity(0)) if can_start else 1


def _is_large(path: Path) -> bool:
    """Whether it is text as it lies there, and worth a helper."""
    return path.is_file() and path.stat().st_size >= 2 * PART_BYTES and plain_start(path) is not None
