"""Kernels of known intensity against the roofs of their own mix: the empirical proof of the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ert_numba.errors import ErtError
from ert_numba.fit.evidence import Evidence
from ert_numba.fit.keys import SeriesKey
from ert_numba.machine import Ceiling, ProofPoint, attainable
from ert_numba.records import Skipped

MIXES = ("update", "copy", "read")  # the nearest mix of reads and writes that has a ceiling
PATHS = ("vector.fma", "vector.add")


def prove(
    name: str, key: SeriesKey, evidence: list[Evidence], ceilings: Mapping[str, Ceiling]
) -> tuple[list[ProofPoint], list[Skipped]]:
    """A proof point for each intensity, the best where several configurations have it.

    Raises ErtError where a point declares no FLOP or no bytes.
    """
    roofs = {row.key: row for row in ceilings.values() if not row.impossible}
    memory = _first(roofs, [f"{key.detail}.{mix}{key.scope_suffix}" for mix in MIXES])
    compute = _first(roofs, [f"{key.subject}.{path}{key.scope_suffix}" for path in PATHS])
    if memory is None or compute is None:
        missing = f"{key.detail} bandwidth" if memory is None else f"{key.subject} compute"
        return [], [Skipped(what=name, reason=f"no {missing} ceiling was measured to hold the points against")]
    best: dict[float, ProofPoint] = {}
    for point in evidence:
        proof = _point(key, point, memory, compute)
        if proof.intensity not in best or proof.value > best[proof.intensity].value:
            best[proof.intensity] = proof
    return [best[intensity] for intensity in sorted(best)], []


def refuted(points: Iterable[ProofPoint], ceilings: Mapping[str, Ceiling]) -> tuple[str, ...]:
    """A note for each roof that a kernel of known intensity passed, both intervals taken into account.

    No kernel can: so that roof was measured in a worse moment than the kernel, and stands too low.
    """
    passed: dict[str, int] = {}
    for point in points:
        memory, compute = ceilings[point.bandwidth_key], ceilings[point.compute_key]
        if point.low > attainable(point.intensity, compute.high, memory.high):
            binding = memory if point.intensity * memory.value < compute.value else compute
            passed[binding.key] = passed.get(binding.key, 0) + 1
    return tuple(
        f"{key} stands too low: {count} kernel{'s' * (count > 1)} of known intensity ran above it; measure again"
        for key, count in passed.items()
    )


def _first(roofs: Mapping[str, Ceiling], keys: list[str]) -> Ceiling | None:
    return next((roofs[key] for key in keys if key in roofs), None)


def _point(key: SeriesKey, point: Evidence, memory: Ceiling, compute: Ceiling) -> ProofPoint:
    work = point.work
    if not (work.flop > 0 and work.bytes_counted > 0):
        raise ErtError(
            f"the sample {point.point.key}", "it declares no FLOP or no bytes", "An intensity point must declare both"
        )
    rate = point.rate(work.flop)
    intensity = work.flop / work.bytes_counted
    return ProofPoint(
        precision=key.subject,
        level=key.detail,
        intensity=intensity,
        value=rate.value,
        low=rate.low,
        high=rate.high,
        attainable=attainable(intensity, compute.value, memory.value),
        bandwidth_key=memory.key,
        compute_key=compute.key,
        noisy=point.noisy or rate.noisy,
    )
