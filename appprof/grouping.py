"""Cells added up by kernel, range, stream, rank or precision: sums first, ratios of them after. Pure.

A sum runs over the launches of which all its terms are known, and says over how much of the time that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from appprof.application import Cell, LevelBytes, PathFlop
from appprof.instructions import instructions_of
from appprof.modules import OUTSIDE as OUTSIDE_MODULES
from appprof.modules import kind_of, module_of
from appprof.roofline import ABOVE, IMPOSSIBLE, LEVELS, PREFERENCE, Demand, Placed
from appprof.summary import Point, Resource, Summary

OUTSIDE = "(outside any range)"


def _dominant(cell: Cell) -> str:
    if cell.flop_status == "unknown":
        return "FLOP not known"
    return max(cell.flop, key=lambda row: row.value).key if cell.flop else "no FLOP"


def _module(cell: Cell, pattern: str) -> str:
    return module_of(cell.ranges, pattern) or OUTSIDE_MODULES


# To add a way to group, add a row. The text beside the cell is the user's pattern of ranges that name modules.
GROUPINGS: dict[str, Callable[[Cell, str], str]] = {
    "kernel": lambda cell, _: cell.kernel,
    "range": lambda cell, _: cell.ranges[0] if cell.ranges else OUTSIDE,
    "path": lambda cell, _: " / ".join(cell.ranges) or OUTSIDE,
    "module": _module,
    "module-kind": lambda cell, pattern: kind_of(_module(cell, pattern)),
    "stream": lambda cell, _: "unknown" if cell.stream is None else f"stream {cell.stream}",
    "precision": lambda cell, _: _dominant(cell),
    "process": lambda cell, _: "unknown" if cell.process is None else f"process {cell.process}",
    "rank": lambda cell, _: cell.source,
    "device": lambda cell, _: "unknown" if cell.device is None else f"device {cell.device}",
}


def distinct(cells: Iterable[Cell], by: str, pattern: str = "") -> int:
    """How many groups a key makes of the cells."""
    return len({GROUPINGS[by](cell, pattern) for cell in cells})


def summarise(placed: Iterable[Placed], by: str, pattern: str = "") -> tuple[Summary, ...]:
    """Groups by a key of ``GROUPINGS``, the longest in time first; those without a time last."""
    groups: dict[str, list[Placed]] = {}
    name = GROUPINGS[by]
    for row in placed:
        groups.setdefault(name(row.cell, pattern), []).append(row)
    found = [summary(key, rows) for key, rows in groups.items()]
    return tuple(sorted(found, key=lambda row: (-(row.seconds or 0.0), -row.launches, row.name)))


def summary(name: str, rows: Sequence[Placed]) -> Summary:
    """All of ``rows`` as one."""
    cells = [row.cell for row in rows]
    timed = [cell for cell in cells if cell.seconds is not None]
    counted = [cell for cell in timed if cell.flop_status != "unknown"]
    statuses = {cell.flop_status for cell in cells}
    return Summary(
        name=name,
        launches=sum(cell.launches for cell in cells),
        timed_launches=sum(cell.launches for cell in timed),
        seconds=sum(cell.seconds or 0.0 for cell in timed) if timed else None,
        shortest_seconds=min((cell.shortest_seconds or 0.0 for cell in timed), default=None),
        longest_seconds=max((cell.longest_seconds or 0.0 for cell in timed), default=None),
        shapes=len({(cell.grid, cell.block) for cell in cells}),
        kernels=len({cell.kernel for cell in cells}),
        flop_status=statuses.pop() if len(statuses) == 1 else "mixed",
        flop_reason=next((cell.flop_reason for cell in cells if cell.flop_reason), ""),
        flop=_flop(counted or [cell for cell in cells if cell.flop_status != "unknown"]),
        flop_seconds=sum(cell.seconds or 0.0 for cell in counted),
        flop_launches=sum(cell.launches for cell in cells if cell.flop_status != "unknown"),
        traffic=_traffic(cells),
        traffic_seconds=_traffic_seconds(timed),
        points=_points(rows),
        resources=_resources(rows),
        instructions=instructions_of(rows),
        floor_seconds=sum(row.floor for row in rows),
        judged_seconds=sum(row.cell.seconds or 0.0 for row in rows if row.judged),
        unpaired=tuple(dict.fromkeys(line for row in rows for line in row.unpaired)),
        clocks_hz=_means(timed, [cell.clocks_hz for cell in timed]),
        facts=_means(timed, [cell.facts for cell in timed]),
        ranges=tuple(dict.fromkeys(cell.ranges[0] if cell.ranges else OUTSIDE for cell in cells)),
        absent=tuple({row.what: row for cell in cells for row in cell.absent}.values()),
    )


def _flop(cells: Iterable[Cell]) -> tuple[PathFlop, ...]:
    found: dict[str, PathFlop] = {}
    for row in (row for cell in cells for row in cell.flop):
        known = found.get(row.key)
        found[row.key] = row if known is None else msgspec.structs.replace(
            known, value=known.value + row.value, rounding=known.rounding + row.rounding,
            fused=None if known.fused is None or row.fused is None else known.fused + row.fused,
            bound=known.bound if known.bound != "exact" else row.bound,
        )  # fmt: skip
    return tuple(sorted(found.values(), key=lambda row: -row.value))


def _traffic(cells: Iterable[Cell]) -> tuple[LevelBytes, ...]:
    found: dict[str, LevelBytes] = {}
    for row in (row for cell in cells for row in cell.traffic):
        known = found.get(row.definition)
        found[row.definition] = row if known is None else msgspec.structs.replace(
            known, value=known.value + row.value, rounding=known.rounding + row.rounding,
            bound=known.bound if known.bound != "exact" else row.bound, withheld=known.withheld or row.withheld,
        )  # fmt: skip
    return tuple(sorted(found.values(), key=lambda row: PREFERENCE.index(row.definition)))


def _traffic_seconds(cells: Iterable[Cell]) -> dict[str, float]:
    """Time of the launches of which each level's bytes are known."""
    found: dict[str, float] = {}
    for cell in cells:
        for level in {row.level for row in cell.traffic}:
            found[level] = found.get(level, 0.0) + (cell.seconds or 0.0)
    return found


def _points(rows: Iterable[Placed]) -> tuple[Point, ...]:
    """For each level the definition that covers the most time; never two definitions in one sum."""
    sums: dict[str, list[float]] = {}
    levels: dict[str, str] = {}
    for row in rows:
        flop, cell = row.cell.total_flop, row.cell
        if flop is None or cell.seconds is None:
            continue
        for amount in cell.traffic:
            if amount.definition in row.drawn:
                levels[amount.definition] = amount.level
                total = sums.setdefault(amount.definition, [0.0] * 4)
                for index, value in enumerate((flop, amount.value, cell.seconds, float(cell.launches))):
                    total[index] += value
    best: dict[str, Point] = {}
    for definition, (flop, moved, seconds, launches) in sums.items():
        level = levels[definition]
        if flop and moved and (level not in best or seconds > best[level].seconds):
            best[level] = Point(level=level, definition=definition, flop=flop, bytes=moved, seconds=seconds,
                                launches=int(launches))  # fmt: skip
    return tuple(best[level] for level in LEVELS if level in best)


def _resources(rows: Iterable[Placed]) -> tuple[Resource, ...]:
    """Levels are kept apart by definition; of a level with two, that which covers the most time is kept."""
    groups: dict[tuple[str, str], list[tuple[Cell, Demand]]] = {}
    for row in rows:
        for demand in row.demands:
            groups.setdefault((demand.resource, demand.definition), []).append((row.cell, demand))
    best: dict[str, Resource] = {}
    for (key, definition), pairs in groups.items():
        found = _resource(key, definition, pairs)
        if key not in best or found.seconds > best[key].seconds:
            best[key] = found
    return tuple(sorted(best.values(), key=lambda row: -row.seconds_at_roof))


def _resource(key: str, definition: str, pairs: Sequence[tuple[Cell, Demand]]) -> Resource:
    demands = [demand for _, demand in pairs]
    maxima = [demand.seconds_at_maximum for demand in demands]
    excesses = {demand.excess for demand in demands}
    bounds = [demand.bound for demand in demands if demand.bound != "exact"]
    return Resource(
        key=key,
        kind=demands[0].kind,
        definition=definition,
        amount=sum(demand.amount for demand in demands),
        seconds_at_roof=sum(demand.seconds for demand in demands),
        seconds_at_maximum=None if None in maxima else sum(value or 0.0 for value in maxima),
        seconds=sum(cell.seconds or 0.0 for cell, _ in pairs),
        launches=sum(cell.launches for cell, _ in pairs),
        excess=next((word for word in (IMPOSSIBLE, ABOVE) if word in excesses), ""),
        bound=bounds[0] if bounds else "exact",
        roofs=tuple({roof.key: roof for demand in demands for roof in demand.roofs}.values()),
    )


def _means(cells: Sequence[Cell], rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Weighted by time, over the launches that have it."""
    sums: dict[str, list[float]] = {}
    for cell, row in zip(cells, rows, strict=True):
        for name, value in row.items():
            total = sums.setdefault(name, [0.0, 0.0])
            total[0] += value * (cell.seconds or 0.0)
            total[1] += cell.seconds or 0.0
    return {name: total / seconds for name, (total, seconds) in sums.items()}
