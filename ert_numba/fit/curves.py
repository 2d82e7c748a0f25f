"""Knees and plateaus of one curve, as records: named, compared with what the system claims, with their limits."""

from __future__ import annotations

import math

import msgspec

from ert_numba.catalog.memory_levels import level_order
from ert_numba.errors import ErtError
from ert_numba.fit.evidence import Evidence
from ert_numba.fit.keys import SeriesKey, parse_ceiling
from ert_numba.fit.naming import NEAR, LevelName, agrees, is_half, name_knees, sharers
from ert_numba.fit.page_placement import scattered_shapes
from ert_numba.fit.piecewise import Plateau, SeriesFit, SeriesKnee, fit_series
from ert_numba.fit.roofs import physical_limit
from ert_numba.fit.shapes import SHAPES, Shape
from ert_numba.machine import Ceiling, Knee
from ert_numba.records import Cache, DeviceInfo
from ert_numba.units import capacity

SIZE_AXIS = "working_set_bytes"
IN_SIGHT = 2.0  # how far past a cache's size, to either side, a curve of one level must reach to show its end
LEAST_LAPS, LINE = 16, 128  # of a GPU's chain in one launch, which visits each line of so many bytes once a lap
SIGMA_RANGE = (0.01, 0.10)  # few repeats tell little of their own scatter: no point may outweigh another a hundredfold


class CurveReading(msgspec.Struct, frozen=True, kw_only=True):
    """What one curve says: knees, a ceiling per named plateau, and doubts."""

    knees: tuple[Knee, ...] = ()
    ceilings: tuple[Ceiling, ...] = ()
    notes: tuple[str, ...] = ()


class _Curve(msgspec.Struct, frozen=True, kw_only=True):
    """One curve's points by rising working set; ``name`` is its key as text, ``workers`` fill caches with their own."""

    name: str
    key: SeriesKey
    points: list[Evidence]
    device: DeviceInfo
    workers: int


def read_curve(name: str, key: SeriesKey, evidence: list[Evidence], device: DeviceInfo) -> CurveReading:
    """Fit the largest set of points that differ in their working set alone.

    Raises ErtError where a point has no ``working_set_bytes`` or declares no work.
    """
    every = sorted(_largest_set(evidence), key=_size)
    points = [point for point in every if not _cold(key, point, device)]
    if len({_size(point) for point in points}) < 3:
        return CurveReading(notes=(f"{name}: fewer than three working sets: nothing to fit",))
    costs = [point.time(_amount(key, point)) for point in points]
    sigmas = [min(max(cost.relative_sigma, SIGMA_RANGE[0]), SIGMA_RANGE[1]) for cost in costs]
    shapes = _shapes(key, points[0], device)
    fit = fit_series([_size(point) for point in points], [cost.value for cost in costs], sigmas, shapes=shapes)
    workers = _workers(key, points[0], device)
    one_sm = device.kind == "gpu" and key.subject == "latency"
    names = name_knees([knee.capacity_bytes for knee in fit.knees], device, workers, one_sm)
    knees = tuple(_knee(key, knee, level) for knee, level in zip(fit.knees, names, strict=True))
    curve = _Curve(name=name, key=key, points=points, device=device, workers=workers)
    notes = _left_out(name, len(every) - len(points)) + _doubts(curve, knees)
    return CurveReading(knees=knees, ceilings=_plateau_ceilings(curve, fit, names), notes=notes)


def _cold(key: SeriesKey, point: Evidence, device: DeviceInfo) -> bool:
    """Whether a chain that L1 may hold was too short: a launch finds the L1 of a GPU empty, so its first lap misses."""
    if device.kind != "gpu" or key.subject != "latency":
        return False
    l1 = next((row.bytes for row in device.caches if row.level == "L1"), 0)
    return _size(point) <= l1 and point.work.accesses * LINE < LEAST_LAPS * _size(point)


def _left_out(name: str, count: int) -> tuple[str, ...]:
    if not count:
        return ()
    return (f"{name}: {count} sizes of L1 left out, of fewer than {LEAST_LAPS} laps: the first of a launch misses",)


def _size(point: Evidence) -> float:
    size = point.axis(SIZE_AXIS)
    if size is None or not size > 0:
        raise ErtError(
            f"the sample {point.point.key}", f"it has no {SIZE_AXIS}", "Every point of a curve needs its working set"
        )
    return size


def _amount(key: SeriesKey, point: Evidence) -> float:
    amount = point.work.accesses if key.subject == "latency" else point.work.bytes_counted
    if not amount > 0:
        raise ErtError(
            f"the sample {point.point.key}", "it declares no bytes or accesses", "A point of a curve must declare them"
        )
    return amount


def _largest_set(evidence: list[Evidence]) -> list[Evidence]:
    """Points of one configuration: kernels, streams or pages are never mixed in one curve."""
    sets: dict[str, list[Evidence]] = {}
    for one in evidence:
        axes = {name: value for name, value in one.point.axes.items() if name != SIZE_AXIS}
        sets.setdefault(f"{one.point.kernel} {sorted(axes.items())}", []).append(one)
    return max(sets.values(), key=len)


def _shapes(key: SeriesKey, point: Evidence, device: DeviceInfo) -> tuple[Shape, ...]:
    """How levels may end. Pages of a guest are taken for small ones: its host may have given it those."""
    small = point.conditions.get("huge_pages") is False or device.properties.get("hypervisor") == "yes"
    if device.kind != "cpu" or not small:
        return SHAPES
    return scattered_shapes(1 if key.subject == "latency" else max(1, int(point.axis("streams") or 1)))


def _workers(key: SeriesKey, point: Evidence, device: DeviceInfo) -> int:
    """How many workers fill caches with sets of their own; one where all read the same lines."""
    if key.detail == "shared" or point.point.axes.get("shared"):
        return 1
    threads = point.axis("threads")
    if threads:
        return int(threads)
    return 1 if key.subject == "latency" or key.scope == "core" else device.units


def _knee(key: SeriesKey, knee: SeriesKnee, name: LevelName) -> Knee:
    value, low, high = (size * name.sharers for size in (knee.capacity_bytes, knee.low, knee.high))
    nominal = name.nominal_bytes
    agreeing = None if nominal is None else agrees(nominal, value, low, high)
    notes = []
    if name.guess:
        notes.append("named by order" if name.level != "unknown" else "no known cache has this capacity")
    if name.level == NEAR:
        notes.append("the half of L2 that is near: past it lines lie in the far half")
    if name.level == "L2" and key.detail == "shared" and nominal is not None and is_half(value, nominal):
        notes.append("every SM reads every line, and each half of L2 keeps a copy")
    if name.sharers > 1:
        notes.append(f"{name.sharers} workers shared it, {capacity(knee.capacity_bytes)} each")
    if agreeing is False and nominal is not None:
        notes.append(f"measured {capacity(value)} against {capacity(nominal)} nominal")
    return Knee(
        level=name.level,
        capacity_bytes=value,
        low=low,
        high=high,
        shape=knee.shape,
        witness="latency" if key.subject == "latency" else "bandwidth",
        ceiling=_ceiling_key(key, name.level, near=False),
        sharers=name.sharers,
        nominal_bytes=nominal,
        agrees=agreeing,
        note="; ".join(notes),
    )


def _plateau_ceilings(curve: _Curve, fit: SeriesFit, names: list[LevelName]) -> tuple[Ceiling, ...]:
    ends = [0.0, *(knee.capacity_bytes for knee in fit.knees), math.inf]
    if (
        curve.points[0].point.axes.get("ceilings") is False
    ):  # a kernel that shows where a level ends, not how fast it is
        return ()
    levels = [*(row.level for row in names), _last_level(curve, names)]
    halved = NEAR in levels
    guess = any(row.guess for row in names) or not curve.device.caches
    note = f"plateau of {curve.name}: no point of its own" + ("; level named by order" if guess else "")
    found = []
    for plateau, level, start, end in zip(fit.plateaus, levels, ends[:-1], ends[1:], strict=True):
        members = [point for point in curve.points if start < _size(point) <= end]
        if level != "unknown" and members:
            found.append(_plateau_ceiling(curve, _ceiling_key(curve.key, level, halved), plateau, members, note))
    return tuple(found)


def _ceiling_key(key: SeriesKey, level: str, near: bool) -> str:
    """``L2.latency``; where the curve shows L2's halves apart (``near``), ``L2.latency.far`` of the far one."""
    plain = key.ceiling("L2" if level == NEAR else level)
    return f"{plain}.far" if near and level == "L2" and not key.detail and not key.scope_suffix else plain


def _last_level(curve: _Curve, names: list[LevelName]) -> str:
    """What lies past the last knee: memory, or the next cache where the curve never outgrew it."""
    device, largest = curve.device, _size(curve.points[-1])
    ends = [row.level for row in names if row.level not in ("unknown", NEAR)]
    named = max((level_order(device.kind, level) for level in ends), default=0)
    outer = [row for row in device.caches if level_order(device.kind, row.level) > named]
    outer.sort(key=lambda row: level_order(device.kind, row.level))
    held = (row.level for row in outer if largest <= row.bytes / sharers(device, row.level, curve.workers))
    return next(held, "DRAM")


def _plateau_ceiling(curve: _Curve, ceiling: str, plateau: Plateau, members: list[Evidence], note: str) -> Ceiling:
    key = parse_ceiling(ceiling)
    value, low, high = plateau.value, plateau.low, plateau.high
    if key.kind != "latency":
        value, low, high = 1 / value, 1 / high, 1 / low
    clocks = tuple(clock for point in members for clock in point.clock_hz)
    limit = physical_limit(key, msgspec.structs.replace(members[0], clock_hz=clocks), curve.device)
    work = members[0].work
    axes = {axis: value for axis, value in members[0].point.axes.items() if axis != SIZE_AXIS}
    return Ceiling(
        key=ceiling,
        kind=key.kind,
        value=value,
        low=low,
        high=high,
        unit=key.unit,
        level=key.level,
        access=key.access,
        variant=key.variant,
        scope=key.scope,
        traffic_ratio=work.bytes_moved / work.bytes_counted if key.kind == "bandwidth" and work.bytes_moved else 1.0,
        clock_hz=(min(clocks), max(clocks)) if clocks else None,
        limit=limit,
        impossible=limit is not None and low > limit,
        noisy=any(point.noisy for point in members),
        samples=sum(len(point.seconds) for point in members),
        kernel=members[0].point.kernel,
        conditions={**members[0].conditions, **axes},
        note=note,
    )


def _in_sight(cache: Cache, curve: _Curve) -> bool:
    """Whether the curve should show where the cache ends: one made for the knee of one level need not."""
    if curve.points[0].point.axes.get("ceilings") is not False:
        return True
    end = cache.bytes / sharers(curve.device, cache.level, curve.workers)
    return _size(curve.points[0]) * IN_SIGHT <= end <= _size(curve.points[-1]) / IN_SIGHT


def _doubts(curve: _Curve, knees: tuple[Knee, ...]) -> tuple[str, ...]:
    span = f"{capacity(_size(curve.points[0]))} to {capacity(_size(curve.points[-1]))}"
    seen = {knee.level for knee in knees}
    missing = [row.level for row in curve.device.caches if row.level not in seen and _in_sight(row, curve)]
    if not knees:
        return (f"{curve.name}: no knee found from {span}",)
    return (f"{curve.name}: shows no end of {', '.join(missing)} from {span}",) if missing else ()
