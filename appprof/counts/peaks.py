"""The roofs that a report brings along: the vendor's peak of each counter, at the clocks of the launch.

``<counter>.sum.peak_sustained`` is what the hardware can do in one cycle of the counter's own unit. Times that unit's
clock it is a rate. Each roof is of one counter, so that a point is never set against the peak of another: ncu's own
aggregate of tensor operations on Hopper has the sparse peak, twice what dense code can reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from appprof.counts.record import Origin
from appprof.metric_terms import unit_of_counter
from appprof.metrics import BYTE_COUNTERS, BYTE_DEFINITIONS, CLOCKS, VECTOR_OPS, Capability
from appprof.metrics_tensor import TENSOR_COUNTERS, TensorCounter

PEAK = ".sum.peak_sustained"
UNIT_CLOCK = {"smsp": "sm"}


class Peak(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One roof of the report's own: ``per_second`` in FLOP/s (OP/s for integers) or B/s at ``clock_hz``.

    ``key`` is ``fp16.tensor.wgmma``, ``fp32.vector`` (then of fused multiply-adds) or a byte definition (``L2.out``).
    """

    key: str
    sparse: bool = False
    per_second: float
    per_cycle: float
    clock_hz: float
    unit: str  # the hardware unit whose clock it is: "sm" | "l1tex" | "lts" | "dram"
    origin: Origin


def report_peaks(values: Mapping[str, float], chip: Capability | None) -> tuple[Peak, ...]:
    """All roofs in the metrics of one launch; empty where they were not collected."""
    return tuple(dict.fromkeys((*_bytes(values), *_vector(values), *_tensor(values, chip))))


def _peak(key: str, counter: str, weight: float, values: Mapping[str, float], sparse: bool = False) -> Peak | None:
    unit = unit_of_counter(counter)
    unit = UNIT_CLOCK.get(unit, unit)
    clock = next((name for name in CLOCKS.get(unit, ()) if name in values), None)
    per_cycle = values.get(counter + PEAK, 0.0) * weight
    if clock is None or not per_cycle or not values[clock]:
        return None
    return Peak(
        key=key,
        sparse=sparse,
        per_second=per_cycle * values[clock],
        per_cycle=per_cycle,
        clock_hz=values[clock],
        unit=unit,
        origin=Origin(metrics=(counter + PEAK, clock), form="peak x clock"),
    )


def _bytes(values: Mapping[str, float]) -> Iterator[Peak]:
    for definition in BYTE_DEFINITIONS:
        rows = (row for row in BYTE_COUNTERS if row.definition == definition and row.has_peak)
        found = (_peak(definition, row.names[0], row.weight, values) for row in rows)
        peak = next((peak for peak in found if peak is not None), None)
        if peak is not None:
            yield peak


def _vector(values: Mapping[str, float]) -> Iterator[Peak]:
    """The fused instruction of each precision, packed ones before plain ones: the highest rate there is."""
    best: dict[str, Peak] = {}
    for row in VECTOR_OPS:
        for name in row.names if row.fused else ():
            peak = _peak(f"{row.precision}.vector", name, row.weight, values)
            known = best.get(row.precision)
            if peak is not None and (known is None or peak.per_second > known.per_second):
                best[row.precision] = peak
    yield from best.values()


def _tensor(values: Mapping[str, float], chip: Capability | None) -> Iterator[Peak]:
    """Leaves alone: a counter that holds several instructions or both sparsities has the peak of the fastest."""
    counters = TENSOR_COUNTERS.get(chip, ()) if chip is not None else ()
    holders = {row.within for row in counters}
    best: dict[tuple[str, bool], Peak] = {}
    for row in counters:
        if row.name in holders:
            continue
        for name, sparse in _leaves(row):
            peak = _peak(f"{row.precision}.{row.path}", name, 1.0, values, sparse)
            if peak is not None:
                # FP16 and FP32 accumulation are two counters of one key; the faster is the roof of both.
                known = best.get((peak.key, sparse))
                if known is None or peak.per_second > known.per_second:
                    best[peak.key, sparse] = peak
    yield from best.values()


def _leaves(row: TensorCounter) -> tuple[tuple[str, bool], ...]:
    return ((row.half(False), False), (row.half(True), True)) if row.split else ((row.name, False),)
