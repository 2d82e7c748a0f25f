"""Cells of the application model: launches alike, added up in the order of the file. Pure.

Alike are launches of one kernel, shape, range, stream, process, file and device of which the same things are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from appprof.application import Cell, LevelBytes, PathFlop
from appprof.counts.columns import BOUNDS, EXACT, VECTOR, Columns, FlopLayer
from appprof.report.profile import KernelProfile

if TYPE_CHECKING:
    from appprof.metric_terms import Array

# What the diagnosis reads; everything else that a file may hold stays in the file.
FACTS = (
    "waves_per_sm", "theoretical_occupancy_percent", "achieved_occupancy_percent", "l1_hit_percent", "l2_hit_percent",
)  # fmt: skip


def cells_of(columns: Columns) -> tuple[Cell, ...]:
    """One cell for launches alike, in the order of their first launches."""
    groups: dict[Any, int] = {}
    codes = [
        groups.setdefault((_who(kernel), form), len(groups))
        for kernel, form in zip(columns.kernels, columns.form.tolist(), strict=True)
    ]
    return _Sums(columns, np.array(codes), len(groups)).cells()


def _who(kernel: KernelProfile) -> tuple[Any, ...]:
    return (
        kernel.kernel,
        kernel.kind,
        kernel.nvtx,
        kernel.stream,
        kernel.process_id,
        kernel.source.label,
        kernel.device.index,
        kernel.grid,
        kernel.block,
    )


class _Sums:
    """Sums of columns by cell. ``codes`` is the cell of each launch, numbered in the order of the first launches."""

    def __init__(self, columns: Columns, codes: Array, count: int) -> None:
        self.columns, self.codes, self.count = columns, codes, count
        self.first = self._first(np.arange(len(codes)))

    def cells(self) -> tuple[Cell, ...]:
        columns = self.columns
        launches = np.bincount(self.codes, minlength=self.count).tolist()
        seconds, rounding = self._sum(columns.seconds), self._sum(columns.seconds_rounding)
        shortest, longest = self._extremes()
        flop, facts = self._flop(), self._facts()
        traffic = {name: (self._sum(value), self._sum(error)) for name, (value, error) in columns.traffic.items()}
        events = {key: self._sum(column) for key, column in columns.events.items()}
        clocks = {unit: self._weighted(column) for unit, column in columns.clocks.items()}
        found = []
        for code, first in enumerate(self.first.tolist()):
            kernel, counts = columns.kernels[first], columns.one(first)
            timed = counts.seconds is not None
            weight = seconds[code] if timed else launches[code]
            found.append(
                Cell(
                    kernel=kernel.kernel,
                    kind=kernel.kind,
                    ranges=tuple(row.name for row in kernel.nvtx),
                    stream=kernel.stream,
                    process=kernel.process_id,
                    source=kernel.source.label,
                    device=kernel.device.index,
                    grid=kernel.grid,
                    block=kernel.block,
                    launches=launches[code],
                    seconds=seconds[code] if timed else None,
                    seconds_rounding=rounding[code],
                    shortest_seconds=shortest[code] if timed else None,
                    longest_seconds=longest[code] if timed else None,
                    flop_status=counts.flop_status,
                    flop_reason=counts.flop_reason,
                    flop=tuple(flop[code]),
                    traffic=tuple(
                        LevelBytes(level=row.level, definition=row.definition, value=traffic[row.definition][0][code],
                                   rounding=traffic[row.definition][1][code], bound=row.bound, withheld=row.withheld)
                        for row in counts.traffic
                    ),
                    clocks_hz={
                        unit: clocks[unit][code] / weight for unit in counts.clocks_hz if clocks[unit][code] > 0
                    },
                    facts=facts[code],
                    events={row.key: events[row.key][code] for row in counts.events},
                    absent=counts.absent,
                )
            )  # fmt: skip
        return tuple(found)

    def _sum(self, column: Array) -> list[float]:
        """By cell, launch after launch: a cell's sum does not depend on what other cells there are."""
        return _listed(np.bincount(self.codes, column, self.count))

    def _weighted(self, column: Array) -> list[float]:
        """Weighted by time; launches without a time, which no cell mixes with others, count as one each."""
        return self._sum(column * np.where(self._timed, self.columns.seconds, 1.0))

    @property
    def _timed(self) -> Array:
        return np.array([form.timed for form in self.columns.forms])[self.columns.form]

    def _first(self, launches: Array) -> Array:
        """The first of ``launches`` (ascending) in each cell; past the last launch where a cell has none of them."""
        found = np.full(self.count, len(self.codes))
        found[self.codes[launches][::-1]] = launches[::-1]  # of equal places the last one set stays
        return found

    def _extremes(self) -> tuple[list[float], list[float]]:
        shortest, longest = np.full(self.count, np.inf), np.zeros(self.count)
        np.minimum.at(shortest, self.codes, self.columns.seconds)
        np.maximum.at(longest, self.codes, self.columns.seconds)
        return shortest.tolist(), longest.tolist()

    def _flop(self) -> list[list[PathFlop]]:
        """Of each cell its paths, in the order in which launches brought them."""
        found: list[list[tuple[tuple[int, int], PathFlop]]] = [[] for _ in range(self.count)]
        for key, layers in self.columns.flop.items():
            first, bounds = self._bounds(layers)
            value = self._layered([layer.value for layer in layers])
            rounding = self._layered([layer.rounding for layer in layers])
            fused = self._layered([layer.fused for layer in layers])
            for code in np.flatnonzero(first < len(self.codes)).tolist():
                row = PathFlop(
                    precision=key[0], path=key[1], sparse=key[2], value=value[code], rounding=rounding[code],
                    fused=fused[code] if key[1] == VECTOR else None, bound=BOUNDS[bounds[code]],
                )  # fmt: skip
                launch = int(first[code])
                found[code].append(((launch, self.columns.rank(launch, key)), row))
        return [[row for _, row in sorted(rows, key=lambda pair: pair[0])] for rows in found]

    def _layered(self, layers: list[Array]) -> list[float]:
        """Layers of one launch are added one after the other before the next launch, as a loop over launches would."""
        if len(layers) == 1:
            return self._sum(layers[0])
        return _listed(np.bincount(self.codes.repeat(len(layers)), np.column_stack(layers).ravel(), self.count))

    def _bounds(self, layers: list[FlopLayer]) -> tuple[Array, list[int]]:
        """Of each cell the first launch with FLOP, and the first bound of them that is not exact."""
        bounds = np.max([layer.bound for layer in layers], axis=0)
        doubtful = self._first(np.flatnonzero(bounds > EXACT))
        found = np.where(doubtful < len(self.codes), np.append(bounds, EXACT)[doubtful], EXACT)
        return self._first(np.flatnonzero(bounds)), found.tolist()

    def _facts(self) -> list[dict[str, float]]:
        """Means over the time of the launches that have them."""
        found: list[dict[str, float]] = [{} for _ in range(self.count)]
        for name in FACTS:
            if name in self.columns.facts:
                value, known = self.columns.facts[name]
                totals, weights = self._weighted(value), self._weighted(known)
                for code in np.flatnonzero(np.bincount(self.codes, known, self.count)).tolist():
                    found[code][name] = totals[code] / weights[code]
        return found


def _listed(numbers: Array) -> list[float]:
    """Python's own numbers, as records hold them."""
    return [float(number) for number in numbers.tolist()]
