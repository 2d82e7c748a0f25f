"""What a working-set picture shows, as plain rows: dots, plateaus and knees in the coordinates of one panel. Pure.

A panel's horizontal axis is what ONE worker (core or SM) touches, or, for the sets that all SMs share, the whole set.
A knee is stored per instance of its cache, so where several workers fill one instance it stands at its share.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

import msgspec

from ert_numba.catalog.memory_levels import BY_KEY as LEVELS
from ert_numba.catalog.memory_levels import level_order
from ert_numba.machine import Ceiling, Knee, MachineModel
from ert_numba.records import DeviceInfo, Sample, Sweep

SIZE_AXIS = "working_set_bytes"


class Dot(msgspec.Struct, frozen=True, kw_only=True):
    """One sample: its size, its best and its median value (B/s, or s for latency), and whether it is of a curve."""

    size: float
    best: float
    median: float
    access: str
    series: str
    curve: bool
    noisy: bool
    repeats: int
    axes: str


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a panel where a ceiling should be the value, with the ceiling's interval."""

    ceiling: Ceiling
    start: float
    end: float


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A knee at the working set at which it shows: ``workers`` fill one instance of the cache together."""

    knee: Knee
    at: float
    low: float
    high: float
    nominal: float | None
    workers: int


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """All that one picture shows. ``latency`` says what stands on the vertical axis, ``shared`` what on the other."""

    latency: bool
    shared: bool
    dots: tuple[Dot, ...]
    bands: tuple[Band, ...]
    marks: tuple[Mark, ...]


def panels(sweep: Sweep, model: MachineModel) -> list[Panel]:
    """Bandwidth first, then bandwidth over shared sets, then latency; a panel without samples is left out."""
    found = []
    for latency, shared in ((False, False), (False, True), (True, False), (True, True)):
        samples = [
            sample for sample in sweep.samples
            if _is_latency(sample) == latency and bool(sample.point.axes.get("shared", False)) == shared
        ]  # fmt: skip
        dots = tuple(dot for dot in map(_dot, samples) if dot is not None)
        if dots:
            workers = _workers(samples, model.device)
            marks = _marks(model, workers, latency, shared)
            bands = tuple(_bands(model, marks, dots, latency, workers))
            found.append(Panel(latency=latency, shared=shared, dots=dots, bands=bands, marks=marks))
    return found


def _is_latency(sample: Sample) -> bool:
    return "latency" in sample.point.ceiling.split("@")[0].split(".")


def _dot(sample: Sample) -> Dot | None:
    """None for a sample with no working set, no work of this kind, or no usable time."""
    size = sample.point.axes.get(SIZE_AXIS)
    latency = _is_latency(sample)
    work = sample.work.accesses if latency else sample.work.bytes_counted
    seconds = [time for time in sample.seconds if 0 < time < math.inf]
    if (
        isinstance(size, bool | str)
        or size is None
        or not 0 < size < math.inf
        or not 0 < work < math.inf
        or not seconds
    ):
        return None
    best, median = min(seconds), statistics.median(seconds)
    parts = sample.point.ceiling.split("@")[0].split(".")
    others = {name: value for name, value in sample.point.axes.items() if name not in (SIZE_AXIS, "seed")}
    return Dot(
        size=float(size), best=best / work if latency else work / best,
        median=median / work if latency else work / median,
        access="latency" if latency else parts[1] if len(parts) > 1 else parts[0],
        series=sample.point.ceiling, curve=parts[0] == "curve", noisy=sample.noisy, repeats=len(seconds),
        axes=", ".join(f"{name.replace('_', ' ')} {others[name]}" for name in sorted(others)),
    )  # fmt: skip


def _workers(samples: Iterable[Sample], device: DeviceInfo) -> int:
    """How many cores or SMs ran the curve: the count that most samples with a working set name."""
    counts = [sample.point.axes.get("threads") for sample in samples if sample.point.ceiling.startswith("curve.")]
    named = [count for count in counts if isinstance(count, int) and count > 0]
    return statistics.mode(named) if named else device.units


def sharers(device: DeviceInfo, level: str, workers: int) -> int:
    """How many of ``workers`` fill one instance of a level's cache together."""
    cache = next((cache for cache in device.caches if cache.level == level), None)
    if cache is not None:
        return max(1, min(workers, cache.shared_by))
    row = LEVELS.get((device.kind, level))
    return 1 if row is None or row.scope in ("core", "SM") else workers


def _marks(model: MachineModel, workers: int, latency: bool, shared: bool) -> tuple[Mark, ...]:
    marks = []
    for knee in model.knees:
        of_shared = knee.ceiling.split("@")[0].endswith(".shared")
        if knee.witness != ("latency" if latency else "bandwidth") or of_shared != shared:
            continue
        if not 0 < knee.low <= knee.capacity_bytes <= knee.high < math.inf:
            continue
        count = 1 if shared else sharers(model.device, knee.level, workers)
        nominal = knee.nominal_bytes / count if knee.nominal_bytes else None
        marks.append(Mark(knee=knee, at=knee.capacity_bytes / count, low=knee.low / count, high=knee.high / count,
                          nominal=nominal, workers=count))  # fmt: skip
    return tuple(sorted(marks, key=lambda mark: mark.at))


def _bands(
    model: MachineModel, marks: tuple[Mark, ...], dots: tuple[Dot, ...], latency: bool, workers: int
) -> Iterable[Band]:
    """Each ceiling of an access that has a curve here, between the knee before its level and the level's own."""
    scope = "core" if workers == 1 and model.device.units > 1 and not latency else "all"
    drawn = {dot.access for dot in dots if dot.curve}
    smallest, largest = min(dot.size for dot in dots), max(dot.size for dot in dots)
    ends = {mark.knee.level: mark.at for mark in marks}
    for row in model.roofs("latency" if latency else "bandwidth", scope if not latency else "all"):
        access = "latency" if latency else row.access
        if access not in drawn or row.level is None or not 0 < row.low <= row.value <= row.high < math.inf:
            continue
        order = level_order(model.device.kind, row.level)
        inner = [end for level, end in ends.items() if level_order(model.device.kind, level) < order]
        outermost = row.level == "DRAM" and bool(inner)
        if row.level not in ends and not outermost:
            continue  # no knee says where this level would show
        start, end = max(inner, default=smallest), ends.get(row.level, largest)
        if start < end:
            yield Band(ceiling=row, start=start, end=end)
