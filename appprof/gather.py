"""From a report's launches to application models, one for each kind of GPU in it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from appprof.application import ApplicationModel, Cell, Chip, Evidence, LevelBytes, PathFlop
from appprof.counts.peaks import Peak, report_peaks
from appprof.counts.record import Counts
from appprof.counts.resolve import count_all
from appprof.report.profile import Device, KernelProfile, Private, Report
from ert_numba.errors import ErtError
from ert_numba.records import Provenance

# What the diagnosis reads; everything else that a file may hold stays in the file.
FACTS = (
    "waves_per_sm", "theoretical_occupancy_percent", "achieved_occupancy_percent", "l1_hit_percent", "l2_hit_percent",
)  # fmt: skip


def gather(report: Report, run: str, provenance: Provenance, private: bool = False) -> tuple[ApplicationModel, ...]:
    """One model a kind of GPU, the busiest first. ``private`` keeps paths and host names of the sources.

    Raises ErtError for a report without launches.
    """
    if not report.kernels:
        said = "; ".join(report.messages[:3])
        raise ErtError(
            "kernels of a profile",
            "none was profiled" + (f": {said}" if said else ""),
            "Profile again, with rights to the counters, around code that launches kernels",
        )
    chips: dict[Chip, list[KernelProfile]] = {}
    of_device: dict[int, Chip] = {}
    for kernel in report.kernels:
        chip = of_device.get(id(kernel.device))
        if chip is None:
            chip = of_device[id(kernel.device)] = chip_of(kernel.device)
        chips.setdefault(chip, []).append(kernel)
    models = [_model(chip, kernels, report, run, provenance, private) for chip, kernels in chips.items()]
    return tuple(sorted(models, key=lambda model: -model.seconds))


def chip_of(device: Device) -> Chip:
    return Chip(
        name=device.name,
        compute_capability=device.compute_capability,
        sm_count=device.sm_count,
        maximum_sm_clock_hz=device.maximum_sm_clock_hz,
        maximum_memory_clock_hz=device.maximum_memory_clock_hz,
        memory_bus_bits=device.memory_bus_bits,
        memory_bytes=device.memory_bytes,
        l2_bytes=device.l2_bytes,
    )


def _model(
    chip: Chip, kernels: Sequence[KernelProfile], report: Report, run: str, provenance: Provenance, private: bool
) -> ApplicationModel:
    counts = count_all(kernels)
    sums: dict[tuple[Any, ...], _Sum] = {}
    for kernel, found in zip(kernels, counts, strict=True):
        key = _key(kernel, found)
        total = sums.get(key)
        if total is None:
            total = sums[key] = _Sum(kernel, found)
        total.add(found)
    labels = {kernel.source.label for kernel in kernels} | {
        label for kernel in kernels for label in kernel.other_sources.values()
    }
    doubts = dict.fromkeys(line for found in counts for line in found.warnings)
    sources = (source for source in report.sources if source.label in labels)
    return ApplicationModel(
        run=run,
        chip=chip,
        devices=tuple(sorted({kernel.device.index for kernel in kernels if kernel.device.index is not None})),
        cells=tuple(total.cell() for total in sums.values()),
        peaks=_peaks(kernels, chip),
        evidence=_evidence(counts),
        sources=tuple(source if private else msgspec.structs.replace(source, private=Private()) for source in sources),
        warnings=(*report.warnings, *doubts),
        lost=report.lost,
        messages=report.messages if private else (),
        provenance=provenance,
    )


def _key(kernel: KernelProfile, counts: Counts) -> tuple[Any, ...]:
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
        counts.seconds is None,
        counts.flop_status,
        tuple([(row.definition, row.bound, not row.withheld) for row in counts.traffic]),
        tuple([row.what for row in counts.absent]),
        frozenset(counts.clocks_hz),
        tuple([row.key for row in counts.events]),
    )


class _Sum:
    """Launches of one key, added as they come."""

    __slots__ = ("clocks", "counts", "events", "facts", "flop", "kernel", "launches", "longest", "rounding", "seconds",
                 "shortest", "traffic")  # fmt: skip

    def __init__(self, kernel: KernelProfile, counts: Counts) -> None:
        self.kernel, self.counts, self.launches = kernel, counts, 0
        self.seconds = self.rounding = self.longest = 0.0
        self.shortest = float("inf")
        self.flop: dict[tuple[str, str, bool], list[Any]] = {}
        self.traffic = [[0.0, 0.0] for _ in counts.traffic]
        self.events = dict.fromkeys([row.key for row in counts.events], 0.0)
        self.clocks = dict.fromkeys(counts.clocks_hz, 0.0)
        self.facts: dict[str, list[float]] = {}

    def add(self, counts: Counts) -> None:
        self.launches += 1
        weight = 1.0
        if counts.seconds is not None:
            weight = counts.seconds.value
            self.seconds += weight
            self.rounding += counts.seconds.rounding
            self.shortest, self.longest = min(self.shortest, weight), max(self.longest, weight)
        for flop in counts.flop:
            row = self.flop.setdefault((flop.precision, flop.path, flop.sparse), [0.0, None, 0.0, flop.bound])
            row[0] += flop.value
            row[1] = flop.fused if row[1] is None else row[1] + (flop.fused or 0.0)
            row[2] += flop.rounding
            row[3] = row[3] if row[3] != "exact" else flop.bound
        for amount, traffic in zip(self.traffic, counts.traffic, strict=True):
            amount[0] += traffic.value
            amount[1] += traffic.rounding
        for event in counts.events:
            self.events[event.key] += event.value
        for unit, clock in counts.clocks_hz.items():
            self.clocks[unit] += clock * weight
        for name in FACTS:
            if name in counts.facts:
                fact = self.facts.setdefault(name, [0.0, 0.0])
                fact[0] += counts.facts[name] * weight
                fact[1] += weight

    def cell(self) -> Cell:
        kernel, counts = self.kernel, self.counts
        timed = counts.seconds is not None
        weight = self.seconds if timed else self.launches
        return Cell(
            kernel=kernel.kernel,
            kind=kernel.kind,
            ranges=tuple(row.name for row in kernel.nvtx),
            stream=kernel.stream,
            process=kernel.process_id,
            source=kernel.source.label,
            device=kernel.device.index,
            grid=kernel.grid,
            block=kernel.block,
            launches=self.launches,
            seconds=self.seconds if timed else None,
            seconds_rounding=self.rounding,
            shortest_seconds=self.shortest if timed else None,
            longest_seconds=self.longest if timed else None,
            flop_status=counts.flop_status,
            flop_reason=counts.flop_reason,
            flop=tuple(
                PathFlop(precision=precision, path=path, sparse=sparse, value=row[0], fused=row[1], rounding=row[2],
                         bound=row[3])
                for (precision, path, sparse), row in self.flop.items()
            ),
            traffic=tuple(
                LevelBytes(level=row.level, definition=row.definition, value=amount[0], rounding=amount[1],
                           bound=row.bound, withheld=row.withheld)
                for row, amount in zip(counts.traffic, self.traffic, strict=True)
            ),
            clocks_hz={unit: total / weight for unit, total in self.clocks.items() if total > 0},
            facts={name: total / seconds for name, (total, seconds) in self.facts.items()},
            events=self.events,
            absent=counts.absent,
        )  # fmt: skip


def _peaks(kernels: Iterable[KernelProfile], chip: Chip) -> tuple[Peak, ...]:
    """The report's roofs, out of one launch of each set of metrics: a peak a cycle is the same in all of a chip."""
    best: dict[tuple[str, bool], Peak] = {}
    seen: set[tuple[str, ...]] = set()
    for kernel in kernels:
        metrics = tuple(kernel.values)
        if metrics in seen:
            continue
        seen.add(metrics)
        for peak in report_peaks(kernel.values, chip.compute_capability):
            known = best.get((peak.key, peak.sparse))
            if known is None or peak.per_cycle > known.per_cycle:
                best[peak.key, peak.sparse] = peak
    return tuple(best.values())


def _evidence(counts: Iterable[Counts]) -> tuple[Evidence, ...]:
    """Origins belong to a plan that launches share, so they are told apart as objects first, and by value after."""
    seen: dict[tuple[str, int], list[Any]] = {}
    for row in counts:
        origins = [("time", row.seconds.origin)] if row.seconds is not None else []
        origins += [(flop.key, flop.origin) for flop in row.flop]
        origins += [(traffic.definition, traffic.origin) for traffic in row.traffic]
        origins += [(event.key.replace("_", " "), event.origin) for event in row.events]
        for what, origin in origins:
            known = seen.setdefault((what, id(origin)), [origin, 0])
            known[1] += 1
    found: dict[tuple[str, tuple[str, ...], str], int] = {}
    for (what, _), (origin, count) in seen.items():
        key = (what, origin.metrics, origin.form)
        found[key] = found.get(key, 0) + count
    return tuple(
        Evidence(what=what, metrics=metrics, form=form, launches=count)
        for (what, metrics, form), count in sorted(found.items())
    )
