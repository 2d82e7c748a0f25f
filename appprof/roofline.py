"""Each cell of the application model under its roofs: how long every resource alone would have needed. Pure.

A resource is one precision of the ordinary pipes, the tensor cores, one memory level, the schedulers that issue
instructions, or the launching of kernels. The seconds that work and bytes need at their roofs are a floor under the run
time, so shares and bounds of sums follow without a mean: ``sum of floors / sum of times``.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from appprof.application import ApplicationModel, Cell, LevelBytes, PathFlop
from appprof.metrics import BYTE_DEFINITIONS
from appprof.metrics_events import WARP
from appprof.roofs import CATALOGUE, ISSUE, MACHINE, REPORT, Roof, RoofBook

COMPUTE, BANDWIDTH, LAUNCH, TENSOR = "compute", "bandwidth", "launch", "tensor"
# Launches stand beside a kernel's time, and instructions are a means to its work, not the work: no floor under it.
NO_FLOOR = (LAUNCH, ISSUE)
ABOVE, IMPOSSIBLE = "above the roof", "impossible"
# Within a level, the definition that counts best what the SMs moved comes first.
PREFERENCE = ("L1.tag", "L1.wb", "L2.sm", "L2.out", "L2.in", "L2.all", "DRAM", "SHARED.sass", "HOST")
_SOURCES = (MACHINE, REPORT, CATALOGUE)
LEVELS = ("SHARED", "L1", "L2", "DRAM", "HOST")


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell asks of one resource.

    ``amount`` is in FLOP (OP), bytes, warp instructions or launches; ``seconds`` what it takes at the roof,
    ``seconds_at_maximum`` at the roof of the highest clock (None where that is not known). ``excess`` is ``""``,
    ``"above the roof"`` (the roof's upper end was passed) or ``"impossible"`` (a physical limit was), rounding of the
    file allowed for.
    """

    resource: str
    kind: str
    definition: str = ""
    amount: float
    seconds: float
    seconds_at_maximum: float | None = None
    excess: str = ""
    roofs: tuple[Roof, ...] = ()
    bound: str = "exact"


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A cell with its demands; ``unpaired`` says what was counted and has no roof of its own kind."""

    cell: Cell
    demands: tuple[Demand, ...] = ()
    unpaired: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()  # byte definitions that stand for their levels

    @property
    def floor(self) -> float:
        """No launch of this cell could have taken less, by what was counted; launching is no part of its time."""
        return max((demand.seconds for demand in self.demands if demand.kind not in NO_FLOOR), default=0.0)

    @property
    def judged(self) -> bool:
        """Whether anything that was counted has a roof."""
        return any(demand.kind not in NO_FLOOR for demand in self.demands)


def place(model: ApplicationModel, book: RoofBook) -> tuple[Placed, ...]:
    """Every cell of a model under the roofs of its own clocks."""
    return tuple(_place(cell, book) for cell in model.cells)


def _place(cell: Cell, book: RoofBook) -> Placed:
    unpaired: list[str] = []
    chosen = _choose(cell, book)
    drawn = tuple(row.definition for row, _ in chosen)
    if cell.seconds is None:
        return Placed(cell=cell, drawn=drawn)
    demands = []
    if cell.flop_status != "unknown":
        demands += [found for flop in cell.flop if flop.path == "vector"
                    and (found := _vector(cell, flop, book, unpaired)) is not None]  # fmt: skip
        tensor = [flop for flop in cell.flop if flop.path != "vector"]
        found = _tensor(cell, tensor, book, unpaired) if tensor else None
        demands += [found] if found is not None else []
    for row, roof in chosen:
        if roof is None:
            unpaired.append(f"no roof of {row.definition}: {BYTE_DEFINITIONS[row.definition].counts}")
        else:
            demands.append(_bandwidth(cell, row, roof))
    issue = book.issue(cell.clocks_hz) if WARP in cell.events else None
    if issue is not None:
        demands.append(_issue(cell, issue))
    launch = book.launch_seconds
    if launch is not None and cell.kind == "kernel":
        demands.append(
            Demand(resource=LAUNCH, kind=LAUNCH, amount=cell.launches, seconds=cell.launches * launch[0],
                   definition=launch[1])
        )  # fmt: skip
    return Placed(cell=cell, demands=tuple(demands), unpaired=tuple(unpaired), drawn=drawn)


def _choose(cell: Cell, book: RoofBook) -> list[tuple[LevelBytes, Roof | None]]:
    """One definition a level: that with the best roof, of equals the preferred one; none of a withheld level."""
    found: dict[str, tuple[tuple[int, int], LevelBytes, Roof | None]] = {}
    for row in cell.traffic:
        if row.withheld:
            continue
        roof = book.bandwidth(row.definition, cell.clocks_hz)
        rank = (_SOURCES.index(roof.source) if roof else len(_SOURCES), PREFERENCE.index(row.definition))
        known = found.get(row.level)
        if known is None or rank < known[0]:
            found[row.level] = (rank, row, roof)
    return [(row, roof) for _, row, roof in (found[level] for level in LEVELS if level in found)]


def _vector(cell: Cell, flop: PathFlop, book: RoofBook, unpaired: list[str]) -> Demand | None:
    """The roof is one of fused multiply-adds; what is not fused runs at half of it, or at what was measured."""
    roof = book.compute(flop.precision, flop.path, False, cell.clocks_hz)
    if roof is None:
        unpaired.append(f"no roof of {flop.key}")
        return None
    fused = flop.fused or 0.0
    loose = flop.value - fused
    unfused = book.unfused(flop.precision, cell.clocks_hz) if roof.source == MACHINE else None

    def needs(rate: float) -> float:
        return fused / rate + loose / (unfused * rate / roof.value if unfused else rate / 2)

    return _with_excess(
        cell, flop.rounding / flop.value,
        Demand(
            resource=flop.key, kind=COMPUTE, amount=flop.value, seconds=needs(roof.value), roofs=(roof,),
            seconds_at_maximum=needs(roof.at_maximum) if roof.at_maximum else None, bound=flop.bound,
        ),
        needs(roof.high), needs(roof.limit) if roof.limit else None,
    )  # fmt: skip


def _tensor(cell: Cell, rows: list[PathFlop], book: RoofBook, unpaired: list[str]) -> Demand | None:
    """All tensor paths share one unit, so their times add up."""
    pairs = [(row, book.compute(row.precision, row.path, row.sparse, cell.clocks_hz)) for row in rows]
    lacking = [row.key for row, roof in pairs if roof is None]
    known = [(row, roof) for row, roof in pairs if roof is not None]
    unpaired += [f"no roof of {key}" for key in lacking]
    if not known:
        return None
    value = sum(row.value for row, _ in known)
    maxima = [roof.at_maximum for _, roof in known]
    limits = [roof.limit for _, roof in known]
    at_maximum = [row.value / top for (row, _), top in zip(known, maxima, strict=True) if top]
    at_limit = [row.value / limit for (row, _), limit in zip(known, limits, strict=True) if limit]
    return _with_excess(
        cell, sum(row.rounding for row, _ in known) / value,
        Demand(
            resource=TENSOR, kind=COMPUTE, amount=value, seconds=sum(row.value / roof.value for row, roof in known),
            seconds_at_maximum=sum(at_maximum) if all(maxima) else None, roofs=tuple(roof for _, roof in known),
            bound="lower" if lacking or any(row.bound == "lower" for row, _ in known) else "exact",
        ),
        sum(row.value / roof.high for row, roof in known), sum(at_limit) if at_limit else None,
    )  # fmt: skip


def _bandwidth(cell: Cell, row: LevelBytes, roof: Roof) -> Demand:
    return _with_excess(
        cell, row.rounding / row.value if row.value else 0.0,
        Demand(
            resource=row.level, kind=BANDWIDTH, definition=row.definition, amount=row.value,
            seconds=row.value / roof.value, roofs=(roof,), bound=row.bound,
            seconds_at_maximum=row.value / roof.at_maximum if roof.at_maximum else None,
        ),
        row.value / roof.high, row.value / roof.limit if roof.limit else None,
    )  # fmt: skip


def _issue(cell: Cell, roof: Roof) -> Demand:
    amount = cell.events[WARP]
    return _with_excess(
        cell, 0.0,
        Demand(
            resource=ISSUE, kind=ISSUE, amount=amount, seconds=amount / roof.value, roofs=(roof,),
            seconds_at_maximum=amount / roof.at_maximum if roof.at_maximum else None,
        ),
        amount / roof.high, amount / roof.value,
    )  # fmt: skip


def _with_excess(cell: Cell, rounding: float, demand: Demand, at_high: float, at_limit: float | None) -> Demand:
    """``at_high`` and ``at_limit`` are the seconds at the roof's upper end and at the physical limit."""
    longest = (cell.seconds or 0.0) + cell.seconds_rounding
    least = 1.0 - min(rounding, 1.0) - _SLACK
    if at_limit is not None and at_limit * least > longest:
        return msgspec.structs.replace(demand, excess=IMPOSSIBLE)
    return msgspec.structs.replace(demand, excess=ABOVE) if at_high * least > longest else demand


# Clocks and times of a report are averages over a launch: they agree to about this part.
_SLACK = 1e-3


# A resource below this part of a kernel's time is an epilogue or a prologue: its roof is none that the kernel uses.
_USED = 0.05


def roofs_used(placed: Iterable[Placed]) -> dict[str, float]:
    """Seconds of the launches that a roof matters to, by the roof's key: what a picture draws strong."""
    used: dict[str, float] = {}
    for row in placed:
        for demand in row.demands:
            matters = demand.kind not in NO_FLOOR and demand.seconds >= _USED * (row.cell.seconds or 0.0)
            if matters or demand.kind == BANDWIDTH:
                for roof in demand.roofs:
                    used[roof.key] = used.get(roof.key, 0.0) + (row.cell.seconds or 0.0)
    return used
