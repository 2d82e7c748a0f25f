"""The samples of a sweep that may bear witness: checked, and gathered point by point."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from ert_numba.errors import ErtError
from ert_numba.fit.robust import Estimate, deciding, estimate_rate, estimate_time
from ert_numba.records import AxisValue, Point, Sample, Skipped, Sweep, Work


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """All timings of one point, whatever samples they came in."""

    point: Point
    work: Work
    seconds: tuple[float, ...]
    clock_hz: tuple[float, ...]
    noisy: bool
    conditions: dict[str, AxisValue]

    def axis(self, name: str) -> float | None:
        """A numeric axis, or None."""
        value = self.point.axes.get(name)
        return None if value is None or isinstance(value, str | bool) else float(value)

    def rate(self, amount: float, candidates: int = 1) -> Estimate:
        """``amount`` per second."""
        return estimate_rate([amount / second for second in self.seconds], candidates)

    def time(self, amount: float, candidates: int = 1) -> Estimate:
        """Seconds per unit of ``amount``."""
        return estimate_time([second / amount for second in self.seconds], candidates)

    def clocks(self) -> tuple[float, float] | None:
        """Lowest and highest clock beside the repeats that carry the value (all, where they cannot be told apart)."""
        beside = list(self.clock_hz)
        if len(beside) == len(self.seconds):
            fastest = sorted(range(len(beside)), key=lambda index: self.seconds[index])
            beside = [beside[index] for index in fastest[: deciding(len(beside))]]
        return (min(beside), max(beside)) if beside else None


def gather(sweep: Sweep) -> tuple[list[Evidence], list[Skipped]]:
    """What was measured and verified, and what was measured but computed a wrong result.

    Raises ErtError for a sweep without samples and for times that are not positive numbers.
    """
    if not sweep.samples:
        raise ErtError(f"the sweep {sweep.run!r}", "it holds no samples", "Measure again, with a longer time budget")
    by_point: dict[str, list[Sample]] = {}
    wrong: list[Skipped] = []
    for sample in sweep.samples:
        _check(sample)
        if sample.verified is False:
            reason = f"{sample.point.key} computed a wrong result: its time is no measurement"
            wrong.append(Skipped(what=sample.point.ceiling, reason=reason))
        else:
            by_point.setdefault(sample.point.key, []).append(sample)
    return [_joined(samples) for samples in by_point.values()], wrong


def _check(sample: Sample) -> None:
    name = f"the sample {sample.point.key}"
    if not sample.seconds:
        raise ErtError(name, "it holds no times", "Remove the sample or measure it again")
    numbers = {"seconds": sample.seconds, "clock_hz": sample.clock_hz}
    for field, values in numbers.items():
        for index, value in enumerate(values):
            if not (math.isfinite(value) and value > 0):
                raise ErtError(name, f"{field}[{index}] is {value}", "Only positive numbers can be fitted")
    for field in ("flop", "bytes_counted", "bytes_moved", "accesses"):
        value = getattr(sample.work, field)
        if not (math.isfinite(value) and value >= 0):
            raise ErtError(name, f"work.{field} is {value}", "Only declared work of 0 or more can be fitted")


def _joined(samples: list[Sample]) -> Evidence:
    """One point's samples as one: rates are taken call by call, so their work must be the same."""
    first = samples[0]
    for sample in samples[1:]:
        if sample.work != first.work:
            raise ErtError(
                f"the point {first.point.key}", "two samples declare different work", "Keep the samples of one run only"
            )
    return Evidence(
        point=first.point,
        work=first.work,
        seconds=tuple(second for sample in samples for second in sample.seconds),
        clock_hz=tuple(clock for sample in samples for clock in sample.clock_hz),
        noisy=any(sample.noisy for sample in samples),
        conditions=first.conditions,
    )


def by_series(evidence: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    """Grouped by what they bear witness to, in the order measured."""
    groups: dict[str, list[Evidence]] = {}
    for one in evidence:
        groups.setdefault(one.point.ceiling, []).append(one)
    return groups
