"""What a working-set picture shows, as plain rows: dots, plateaus and knees in the coordinates of one panel. Pure.

A panel's horizontal axis is what ONE worker (core or SM) touches, or, for sets that all workers share, the whole set.
A knee is stored per instance of its cache, so where several workers fill one instance it stands at its share.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator

import msgspec

from ert_numba.catalog.memory_levels import level_order
from ert_numba.machine import Ceiling, Knee, MachineModel
from ert_numba.records import DeviceInfo, Sample, Sweep

SIZE_AXIS = "working_set_bytes"
_HIDDEN_AXES = (SIZE_AXIS, "seed", "ceilings", "shared")  # what the picture itself says, and what no reader asks for


class Series(msgspec.Struct, frozen=True):
    """What a dot bears witness to: an access (or ``latency``) and its variant, in a scope; of a curve or on its own."""

    access: str
    variant: str = ""
    scope: str = "all"
    curve: bool = False


class Dot(msgspec.Struct, frozen=True, kw_only=True):
    """One sample: its size, its best and its median value (B/s, or s for latency)."""

    size: float
    best: float
    median: float
    series: Series
    noisy: bool
    repeats: int
    axes: str


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a panel where a ceiling should be the value, with the ceiling's interval."""

    ceiling: Ceiling
    start: float
    end: float


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A knee at the working set at which it shows."""

    knee: Knee
    at: float
    low: float
    high: float
    nominal: float | None


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
        drawn = [
            (dot, sample) for sample in sweep.samples
            if bool(sample.point.axes.get("shared", False)) == shared and (dot := _dot(sample)) is not None
            and (dot.series.access == "latency") == latency
        ]  # fmt: skip
        if drawn:
            dots = tuple(dot for dot, _ in drawn)
            marks = tuple(_marks(model, {dot.series for dot in dots}))
            bands = tuple(_bands(model, [sample for _, sample in drawn], dots, marks))
            found.append(Panel(latency=latency, shared=shared, dots=dots, bands=bands, marks=marks))
    return found


def _series(key: str) -> Series | None:
    """From ``curve.read.private@core`` or ``L2.read.private``; None for what has no place over working sets."""
    name, _, scope = key.partition("@")
    first, *rest = name.split(".")
    if first == "intensity" or not rest:
        return None
    return Series(rest[0], ".".join(rest[1:]), scope or "all", first == "curve")


def _dot(sample: Sample) -> Dot | None:
    """None for a sample with no working set, no work of this kind, or no usable time."""
    series, size = _series(sample.point.ceiling), sample.point.axes.get(SIZE_AXIS)
    seconds = [time for time in sample.seconds if 0 < time < math.inf]
    if series is None or isinstance(size, bool | str) or size is None or not 0 < size < math.inf or not seconds:
        return None
    latency = series.access == "latency"
    work = sample.work.accesses if latency else sample.work.bytes_counted
    if not 0 < work < math.inf:
        return None
    best, median = min(seconds), statistics.median(seconds)
    axes = {name: value for name, value in sample.point.axes.items() if name not in _HIDDEN_AXES}
    return Dot(
        size=float(size), best=best / work if latency else work / best,
        median=median / work if latency else work / median, series=series, noisy=sample.noisy, repeats=len(seconds),
        axes=", ".join(f"{name.replace('_', ' ')} {axes[name]}" for name in sorted(axes)),
    )  # fmt: skip


def _marks(model: MachineModel, drawn: set[Series]) -> Iterator[Mark]:
    """The knees that were read from the curves of the panel, smallest first."""
    for knee in sorted(model.knees, key=lambda knee: knee.capacity_bytes / knee.sharers):
        series = _series(knee.ceiling)
        usable = 0 < knee.low <= knee.capacity_bytes <= knee.high < math.inf
        if series is not None and usable and msgspec.structs.replace(series, curve=True) in drawn:
            nominal = knee.nominal_bytes / knee.sharers if knee.nominal_bytes else None
            yield Mark(knee=knee, at=knee.capacity_bytes / knee.sharers, low=knee.low / knee.sharers,
                       high=knee.high / knee.sharers, nominal=nominal)  # fmt: skip


def _bands(
    model: MachineModel, samples: list[Sample], dots: tuple[Dot, ...], marks: tuple[Mark, ...]
) -> Iterator[Band]:
    """Each ceiling of a curve that is drawn here, between the end of the level before its own and its own end.

    A curve that only shows where levels end (its axis ``ceilings`` is False) reaches no ceiling, so it gets none.
    """
    curves = {
        dot.series for dot, sample in zip(dots, samples, strict=True)
        if dot.series.curve and sample.point.axes.get("ceilings", True)
    }  # fmt: skip
    ends = _level_ends(model.device, samples, marks)
    smallest, largest = min(dot.size for dot in dots), max(dot.size for dot in dots)
    for series in sorted(curves, key=lambda series: (series.access, series.variant, series.scope)):
        for row in model.roofs("latency" if series.access == "latency" else "bandwidth", series.scope):
            access = "latency" if row.kind == "latency" else row.access
            if (access, row.variant or "") != (series.access, series.variant) or not _positive(row):
                continue
            start, end = _between(row.level or "", model.device.kind, ends)
            if start is not None and end is not None and max(start, smallest) < min(end, largest):
                yield Band(ceiling=row, start=max(start, smallest), end=min(end, largest))


def _level_ends(device: DeviceInfo, samples: Iterable[Sample], marks: tuple[Mark, ...]) -> dict[str, float]:
    """Where each cache ends in this panel: at its knee or, where none was found, at its nominal share."""
    measured = {mark.knee.level: mark.at for mark in marks}
    workers = _workers(samples, device)
    caches = sorted(device.caches, key=lambda cache: level_order(device.kind, cache.level))
    nominal = {cache.level: cache.bytes / max(1, min(workers, cache.shared_by)) for cache in caches}
    return {**nominal, **measured}


def _workers(samples: Iterable[Sample], device: DeviceInfo) -> int:
    """How many workers filled caches with sets of their own in the curves of a panel."""
    points = [sample.point for sample in samples if sample.point.ceiling.startswith("curve.")]
    counts = [point.axes.get("threads") for point in points]
    named = [count for count in counts if isinstance(count, int) and count > 0]
    if named:
        return statistics.mode(named)
    alone = any("latency" in point.ceiling or point.axes.get("shared") or "@core" in point.ceiling for point in points)
    return 1 if alone else device.units


def _between(level: str, kind: str, ends: dict[str, float]) -> tuple[float | None, float | None]:
    """Start and end of a level; None where nothing says it: neither end of a level that no cache names is known."""
    order = level_order(kind, level)
    inner = [end for other, end in ends.items() if level_order(kind, other) < order]
    if level == "DRAM":
        return (max(inner), math.inf) if inner else (None, None)
    return max(inner, default=0.0), ends.get(level)


def _positive(row: Ceiling) -> bool:
    return 0 < row.low <= row.value <= row.high < math.inf
