"""One ceiling from all points that bear witness to it: the best point, its interval, its physical limit."""

from __future__ import annotations

from collections.abc import Callable

from ert_numba.errors import ErtError
from ert_numba.fit.evidence import Evidence
from ert_numba.fit.keys import CeilingKey
from ert_numba.fit.robust import Estimate
from ert_numba.machine import Ceiling
from ert_numba.records import DeviceInfo, Work

AMOUNTS: dict[str, tuple[str, Callable[[Work], float]]] = {
    "compute": ("flop", lambda work: work.flop),
    "bandwidth": ("bytes_counted", lambda work: work.bytes_counted),
    "latency": ("accesses", lambda work: work.accesses),
    "overhead": ("accesses", lambda work: work.accesses),
}
TIMES = ("latency", "overhead")  # kinds whose best is the least


def roof(key: CeilingKey, points: list[Evidence], device: DeviceInfo, highest_clock_hz: float = 0.0) -> Ceiling:
    """The best of ``points``; raises ErtError where a point declares no work of the key's kind.

    ``highest_clock_hz`` was seen anywhere in the run. A CPU's probe beside the work can only read low, where a
    neighbour on the core delays it, so only what lies above the limit at that clock is called impossible; a GPU's
    clock is read inside the kernel itself.
    """
    best, estimate = _best(key, points)
    low_high = best.clocks()
    limit = physical_limit(key, best, device)
    slack = highest_clock_hz / low_high[1] if low_high and device.kind == "cpu" else 1.0
    row = device.limit(key.limit_key)
    utmost = limit * max(1.0, slack) if limit is not None and row is not None and row.per_cycle is not None else limit
    return Ceiling(
        key=key.key,
        kind=key.kind,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        unit=key.unit,
        precision=key.precision,
        path=key.path,
        sparse=key.sparse,
        level=key.level,
        access=key.access,
        variant=key.variant,
        scope=key.scope,
        traffic_ratio=_traffic(best.work) if key.kind == "bandwidth" else 1.0,
        clock_hz=low_high,
        limit=limit,
        impossible=utmost is not None and estimate.low > utmost,
        noisy=best.noisy or estimate.noisy,
        samples=len(best.seconds),
        kernel=best.point.kernel,
        conditions={**best.conditions, **best.point.axes},
    )


def _best(key: CeilingKey, points: list[Evidence]) -> tuple[Evidence, Estimate]:
    """The best point by value; how many others may be as good widens its interval against a lucky pick."""
    name, amount = AMOUNTS[key.kind]
    for point in points:
        if amount(point.work) <= 0:
            raise ErtError(f"the sample {point.point.key}", f"work.{name} is 0", f"A {key.kind} point must declare it")
    if key.kind in TIMES:
        times = [point.time(amount(point.work)) for point in points]
        first = min(range(len(points)), key=lambda index: times[index].value)
        rivals = sum(one.low <= times[first].value for one in times)
        return points[first], points[first].time(amount(points[first].work), rivals)
    rates = [point.rate(amount(point.work)) for point in points]
    first = max(range(len(points)), key=lambda index: rates[index].value)
    rivals = sum(one.high >= rates[first].value for one in rates)
    return points[first], points[first].rate(amount(points[first].work), rivals)


def _traffic(work: Work) -> float:
    return work.bytes_moved / work.bytes_counted if work.bytes_moved else 1.0


def physical_limit(key: CeilingKey, point: Evidence, device: DeviceInfo) -> float | None:
    """The device's limit in the key's unit, at the highest clock beside the repeats that carry the value, or None."""
    row = device.limit(key.limit_key)
    if row is None or key.kind in TIMES:
        return None
    if row.per_cycle is None:
        return row.per_second
    clocks = point.clocks()
    clock = clocks[1] if clocks else device.maximum_clock_hz
    return None if clock is None else row.per_cycle * _units(key, point, device) * clock


def _units(key: CeilingKey, point: Evidence, device: DeviceInfo) -> float:
    """Cores or SMs in use: two hardware threads of a core share its units."""
    if key.scope == "core":
        return 1.0
    threads = point.axis("threads")
    return min(threads, device.units) if threads else device.units
