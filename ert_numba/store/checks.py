"""What a document must hold to be believed: the rules that types alone cannot say. Pure.

That every number has a usable magnitude is known by then (``magnitudes``): the rules here are of signs and of order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ert_numba.judge.history import BENCHMARKS, SWEEP, HistoryEntry
from ert_numba.judge.judgement import VERDICTS, Judgement
from ert_numba.machine import Ceiling, Knee, MachineModel, ProofPoint
from ert_numba.records import DeviceInfo, Sample, Sweep

DEVICE_KINDS = ("cpu", "gpu")
CEILING_KINDS = ("compute", "bandwidth", "latency", "overhead")


def faults_of_sweep(sweep: Sweep) -> Iterator[str]:
    """One sentence for each fault, naming its field and the sample's key."""
    yield from _device("device", sweep.device)
    yield from _not_negative("wall_seconds", sweep.wall_seconds)
    for index, sample in enumerate(sweep.samples):
        yield from _sample(f"samples[{index}] ({sample.point.key})", sample)


def faults_of_machine(model: MachineModel) -> Iterator[str]:
    """One sentence for each fault, naming its field and the ceiling's key."""
    yield from _device("device", model.device)
    seen: set[str] = set()
    for index, ceiling in enumerate(model.ceilings):
        where = f"ceilings[{index}] ({ceiling.key})"
        if ceiling.key in seen:
            yield f"{where}: the key appears twice, so it names no one ceiling"
        seen.add(ceiling.key)
        yield from _ceiling(where, ceiling)
    for index, knee in enumerate(model.knees):
        yield from _knee(f"knees[{index}] ({knee.level})", knee)
    for index, point in enumerate(model.proof):
        yield from _proof(f"proof[{index}] ({point.precision}, {point.level})", point)


def faults_of_judgement(judgement: Judgement) -> Iterator[str]:
    """One sentence for each fault, naming the benchmark and its field."""
    for index, row in enumerate(judgement.benchmarks):
        where = f"benchmarks[{index}] ({row.name})"
        yield from _one_of(f"{where}: verdict", row.verdict, VERDICTS)
        for name, side in (("a", row.a), ("b", row.b)):
            if side is not None:
                yield from _interval(f"{where}: {name}", "value", side.low, side.value, side.high)
        if row.low is not None and row.change is not None and row.high is not None:
            # Ratios less 1: a time cannot fall below nothing.
            yield from _interval(f"{where}: 1 +", "change", 1 + row.low, 1 + row.change, 1 + row.high)


def faults_of_history(entry: HistoryEntry) -> Iterator[str]:
    """One sentence for each fault, naming the ceiling."""
    yield from _one_of("source", entry.source, (BENCHMARKS, SWEEP))
    yield from _positive("starts", entry.starts)
    for key, past in entry.ceilings.items():
        yield from _interval(f"ceilings.{key}", "value", past.low, past.value, past.high)


def _sample(where: str, sample: Sample) -> Iterator[str]:
    if not sample.seconds:
        yield f"{where}: seconds is empty"
    for name, values in (("seconds", sample.seconds), ("clock_hz", sample.clock_hz)):
        for index, value in enumerate(values):
            yield from _positive(f"{where}: {name}[{index}]", value)
    if len(sample.clock_hz) > len(sample.seconds):
        yield f"{where}: clock_hz has {len(sample.clock_hz)} values beside {len(sample.seconds)} of seconds"
    work = sample.work
    amounts = {name: getattr(work, name) for name in work.__struct_fields__}
    for name, value in amounts.items():
        yield from _not_negative(f"{where}: work.{name}", value)
    if not any(amounts.values()):
        yield f"{where}: work declares nothing, so it has no rate"
    yield from _not_negative(f"{where}: steal_seconds", sample.steal_seconds)
    yield from _not_negative(f"{where}: warmups", sample.warmups)


def _ceiling(where: str, ceiling: Ceiling) -> Iterator[str]:
    yield from _one_of(f"{where}: kind", ceiling.kind, CEILING_KINDS)
    yield from _interval(where, "value", ceiling.low, ceiling.value, ceiling.high)
    yield from _positive(f"{where}: traffic_ratio", ceiling.traffic_ratio)
    if ceiling.limit is not None:
        yield from _positive(f"{where}: limit", ceiling.limit)
    if ceiling.clock_hz is not None:
        low, high = ceiling.clock_hz
        yield from _positive(f"{where}: clock_hz[0]", low)
        yield from _positive(f"{where}: clock_hz[1]", high)
        if low > high:
            yield f"{where}: clock_hz[0] {low!r} lies above clock_hz[1] {high!r}"


def _knee(where: str, knee: Knee) -> Iterator[str]:
    yield from _interval(where, "capacity_bytes", knee.low, knee.capacity_bytes, knee.high)
    if knee.nominal_bytes is not None:
        yield from _positive(f"{where}: nominal_bytes", knee.nominal_bytes)


def _proof(where: str, point: ProofPoint) -> Iterator[str]:
    yield from _interval(where, "value", point.low, point.value, point.high)
    yield from _positive(f"{where}: intensity", point.intensity)
    yield from _positive(f"{where}: attainable", point.attainable)


def _device(where: str, device: DeviceInfo) -> Iterator[str]:
    yield from _one_of(f"{where}.kind", device.kind, DEVICE_KINDS)
    for name in ("units", "threads", "sockets", "numa_nodes"):
        yield from _positive(f"{where}.{name}", getattr(device, name))
    yield from _not_negative(f"{where}.memory_bytes", device.memory_bytes)
    if device.maximum_clock_hz is not None:
        yield from _positive(f"{where}.maximum_clock_hz", device.maximum_clock_hz)
    for index, cache in enumerate(device.caches):
        yield from _positive(f"{where}.caches[{index}] ({cache.level}): bytes", cache.bytes)
    for index, limit in enumerate(device.limits):
        for name in ("per_cycle", "per_second"):
            value = getattr(limit, name)
            if value is not None:
                yield from _positive(f"{where}.limits[{index}] ({limit.key}): {name}", value)


def _interval(where: str, name: str, low: float, value: float, high: float) -> Iterator[str]:
    for field, number in (("low", low), (name, value), ("high", high)):
        yield from _positive(f"{where}: {field}", number)
    if low > value:
        yield f"{where}: low {low!r} lies above {name} {value!r}"
    if value > high:
        yield f"{where}: {name} {value!r} lies above high {high!r}"


def _positive(where: str, value: float) -> Iterator[str]:
    if not value > 0:
        yield f"{where} is {value!r}, where a positive number must stand"


def _not_negative(where: str, value: float) -> Iterator[str]:
    if not value >= 0:
        yield f"{where} is {value!r}, where 0 or a positive number must stand"


def _one_of(where: str, value: str, allowed: Iterable[str]) -> Iterator[str]:
    if value not in allowed:
        yield f"{where} is {value!r}, where one of {', '.join(allowed)} must stand"
