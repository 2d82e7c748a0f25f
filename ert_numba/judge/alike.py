"""What must be alike for two runs, or two benchmarks, to be compared at all, and what is only named. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median

from ert_numba.errors import NotComparable
from ert_numba.judge.conditions import Difference, conditions_of, differences
from ert_numba.judge.evidence import Evidence, SuiteRun
from ert_numba.starts import Benchmarked
from ert_numba.units import si

_CLOCK_NOTICED = 0.002  # of the clock: less is its probe
_WORK_DIGITS = 1e-9  # declared work is exact but for a division by repetitions


def refuse_unlike(a: SuiteRun, b: SuiteRun, force: bool) -> None:
    """Raise NotComparable for other kinds of device, suites or slices; ``force`` lets other names pass."""
    asked = f"to compare {a.name} with {b.name}"
    for what, left, right, can_force, remedy in _musts(a, b):
        if left != right and left and right and not (force and can_force):
            hint = ", or say --force to compare these all the same" if can_force else ""
            raise NotComparable(asked, f"{what}: A has {left}, B has {right}", remedy + hint)


def _musts(a: SuiteRun, b: SuiteRun) -> Iterator[tuple[str, str, str, bool, str]]:
    """What, A's, B's, whether other ones may be forced, what to do."""
    one = "Compare runs of one device"
    if a.info is not None and b.info is not None:
        left, right = a.info.device, b.info.device
        yield "kinds of device", left.kind, right.kind, False, one
        suites = [f"version {info.suite_version}" for info in (a.info, b.info)]
        yield "the suites differ", suites[0], suites[1], False, "Run the older one again with today's ert_numba"
        yield "devices", left.name, right.name, True, one
        what = "SMs (MIG)" if left.kind == "gpu" else "cores that may be used"
        yield what, str(left.units), str(right.units), True, "Give both runs the same part of the device"
    elif a.info is b.info:
        yield "devices", a.device_name, b.device_name, True, one


def unlike(a: Evidence, b: Evidence) -> str:
    """Why two benchmarks of one name are not the same; empty where they are."""
    one, two = a.said, b.said
    if one is None or two is None:
        return "" if one is two else f"only {'A' if one else 'B'} says what its times mean"
    for what in ("kind", "unit", "kernel"):
        left, right = getattr(one, what), getattr(two, what)
        if left != right:
            return f"{what}: {left} in A, {right} in B"
    found = differences({k: str(v) for k, v in one.axes.items()}, {k: str(v) for k, v in two.axes.items()})
    if found:
        return "; ".join(f"{row.name}: {row.a} in A, {row.b} in B" for row in found)
    for what in one.work.__struct_fields__:
        left, right = float(getattr(one.work, what)), float(getattr(two.work, what))
        if not math.isclose(left, right, rel_tol=_WORK_DIGITS):
            return f"work.{what}: {left:g} in A, {right:g} in B"
    return ""


def differences_of_runs(a: SuiteRun, b: SuiteRun) -> tuple[Difference, ...]:
    return differences(_conditions(a), _conditions(b))


def _conditions(run: SuiteRun) -> dict[str, str]:
    return conditions_of(run.info.device, run.info.provenance) if run.info else dict(run.starts[0].machine)


def differences_of_benchmarks(a: Evidence, b: Evidence) -> tuple[Difference, ...]:
    """Conditions of this one benchmark, and the clocks where no start of one side had a clock of the other's."""
    found = differences(_settings(a.said), _settings(b.said))
    one, two = _clocks(a), _clocks(b)
    if not one or not two or abs(math.log(median(one) / median(two))) < _CLOCK_NOTICED:
        return found
    if min(one) <= max(two) and min(two) <= max(one):
        return found
    texts = [f"{si(min(clocks), 'Hz', 4)} to {si(max(clocks), 'Hz', 4)}" for clocks in (one, two)]
    return (*found, Difference(name="clock", a=texts[0], b=texts[1]))


def _settings(said: Benchmarked | None) -> dict[str, str]:
    """Text and switches: numbers are measured (power, temperature, repetitions) and never the same."""
    if said is None:
        return {}
    kept = {name: str(value) for name, value in said.conditions.items() if isinstance(value, str | bool)}
    kept.pop("throttle", None)
    if said.roof is not None:
        kept["roof"] = f"{said.roof.bandwidth_key or 'none'}, {said.roof.compute_key or 'none'} of {said.roof.model}"
    return kept | {"code": said.code}


def _clocks(side: Evidence) -> list[float]:
    return [row.clock_hz for row in side.sound if row.clock_hz is not None]
