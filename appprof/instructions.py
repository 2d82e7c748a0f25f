"""The instruction roofline: warp instructions a second against warp instructions per transaction of 32 bytes. Pure.

The method is that of Ding and Williams (PMBS 2019): kernels without FLOP have a place in it, and lanes that idle show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from appprof.application import Cell
from appprof.metrics import SECTOR_BYTES
from appprof.metrics_events import GLOBAL, GLOBAL_SECTORS, THREADS, THREADS_ON, TRANSACTIONS, WARP, WARP_THREADS
from appprof.roofline import Placed


class InstructionPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One dot: the warp instructions and transactions of the launches of which both and the time are known.

    Of the level ``"global"`` the instructions are those that load from or store to global memory, and the transactions
    the sectors that L1 looked up for them.
    """

    level: str
    definition: str
    instructions: float
    transactions: float
    seconds: float
    launches: int

    @property
    def intensity(self) -> float:
        return self.instructions / self.transactions

    @property
    def rate(self) -> float:
        return self.instructions / self.seconds


class Instructions(msgspec.Struct, frozen=True, kw_only=True):
    """A group of launches by its instructions. ``warp`` are those of the ``launches`` that have a time, ``seconds``.

    ``active_lanes``: the part of the 32 threads of a warp that took part in an instruction (divergence, short blocks);
    ``useful_lanes``: of these, those that were not predicated off. None where not counted.
    """

    warp: float
    seconds: float
    launches: int
    active_lanes: float | None = None
    useful_lanes: float | None = None
    points: tuple[InstructionPoint, ...] = ()

    @property
    def rate(self) -> float:
        return self.warp / self.seconds

    def point(self, level: str) -> InstructionPoint | None:
        return next((row for row in self.points if row.level == level), None)


def instructions_of(rows: Iterable[Placed]) -> Instructions | None:
    """All of ``rows`` as one; None where no launch of them has both a time and a count of its instructions."""
    cells = [row.cell for row in rows if row.cell.seconds is not None and row.cell.events.get(WARP)]
    if not cells:
        return None
    levels = {row.definition: row.level for cell in cells for row in cell.traffic if row.definition in TRANSACTIONS}
    found = [_at_level(levels[name], name, cells) for name in TRANSACTIONS if name in levels]
    return Instructions(
        warp=sum(cell.events[WARP] for cell in cells),
        seconds=sum(cell.seconds or 0.0 for cell in cells),
        launches=sum(cell.launches for cell in cells),
        active_lanes=_lanes(THREADS, cells),
        useful_lanes=_lanes(THREADS_ON, cells),
        points=tuple(point for point in (*found, _global(cells)) if point is not None),
    )


def _lanes(event: str, cells: Iterable[Cell]) -> float | None:
    known = [cell for cell in cells if event in cell.events]
    warps = sum(cell.events[WARP] for cell in known)
    return sum(cell.events[event] for cell in known) / (WARP_THREADS * warps) if known else None


def _at_level(level: str, definition: str, cells: Iterable[Cell]) -> InstructionPoint | None:
    pairs = [
        (cell, row.value) for cell in cells for row in cell.traffic
        if row.definition == definition and not row.withheld and row.bound == "exact"
    ]  # fmt: skip
    rows = [(cell, cell.events[WARP], moved / SECTOR_BYTES) for cell, moved in pairs]
    return _point(level, definition, rows)


def _global(cells: Iterable[Cell]) -> InstructionPoint | None:
    rows = [(cell, cell.events[GLOBAL], cell.events[GLOBAL_SECTORS]) for cell in cells
            if GLOBAL in cell.events and GLOBAL_SECTORS in cell.events]  # fmt: skip
    return _point("global", GLOBAL_SECTORS, rows)


def _point(level: str, definition: str, rows: Sequence[tuple[Cell, float, float]]) -> InstructionPoint | None:
    """None where there is nothing to divide by, or nothing to divide: a logarithmic axis has no place for it."""
    instructions, transactions = sum(row[1] for row in rows), sum(row[2] for row in rows)
    if not instructions or not transactions:
        return None
    return InstructionPoint(
        level=level, definition=definition, instructions=instructions, transactions=transactions,
        seconds=sum(cell.seconds or 0.0 for cell, _, _ in rows), launches=sum(cell.launches for cell, _, _ in rows),
    )  # fmt: skip
