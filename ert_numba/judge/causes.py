"""What moved, where a benchmark became faster or slower: the clock, the roof above it, or the kernel itself. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from ert_numba.judge.judgement import Level
from ert_numba.judge.thresholds import change_of, percent
from ert_numba.starts import RoofHit
from ert_numba.units import si

CLOCK, ROOF, KERNEL, CEILING = "clock", "roof", "kernel", "ceiling"


class Cause(msgspec.Struct, frozen=True):
    moved: str
    sentence: str


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark that changed: ``shift`` is log(B/A) of its time, ``limit`` the log of its threshold.

    ``roof_a`` and ``roof_b`` are a user's kernel's; None for a benchmark of the suite, which is a ceiling itself.
    """

    shift: float
    limit: float
    unit: str
    a: Level
    b: Level
    roof_a: RoofHit | None = None
    roof_b: RoofHit | None = None
    cycles: float | None = None  # log(B/A) of the clock cycles, where they decided
    other_code: bool = False


def cause_of(row: Moved, ceilings: Mapping[str, float], user: bool) -> Cause:
    """``ceilings`` are log(B/A) of the times of the suite's benchmarks that changed, by key."""
    return _cycles(row, user) or _clock(row) or _roof(row, ceilings) or _itself(row, user)


def _cycles(row: Moved, user: bool) -> Cause | None:
    """Where the clock wanders from start to start."""
    if row.cycles is None:
        return None
    what = KERNEL if user else CEILING
    told = f"in clock cycles the time changed by {percent(change_of(row.cycles))}"
    return Cause(what, f"the {what} moved: {told}; its clock wanders from start to start")


def _clock(row: Moved) -> Cause | None:
    """Where the cycles stayed and the clock did not."""
    if not row.a.clock_hz or not row.b.clock_hz:
        return None
    clock = math.log(row.b.clock_hz / row.a.clock_hz)
    cycles = row.shift + clock
    if abs(cycles) > row.limit or abs(clock) < abs(row.shift) / 2:
        return None
    text = f"the clock moved, {_pair(row.a.clock_hz, row.b.clock_hz, 'Hz', 4)} ({percent(change_of(clock))})"
    return Cause(CLOCK, f"{text}; in clock cycles the time changed by {percent(change_of(cycles))}")


def _roof(row: Moved, ceilings: Mapping[str, float]) -> Cause | None:
    """Where the roof moved the same way, by the models or by the ceilings of this very comparison."""
    if row.roof_a is None or row.roof_b is None:
        return None
    moved = -math.log(row.roof_b.attainable / row.roof_a.attainable)
    if abs(moved) > row.limit and abs(row.shift - moved) <= row.limit:
        attainable = _pair(row.roof_a.attainable, row.roof_b.attainable, row.unit)
        return Cause(ROOF, f"the roof moved and the kernel with it: attainable {attainable}, {_shares(row)} of it")
    for key in (row.roof_b.bandwidth_key, row.roof_b.compute_key):
        if key is not None and key in ceilings and ceilings[key] * row.shift > 0:
            change = percent(change_of(ceilings[key]))
            return Cause(ROOF, f"the roof moved: the time of its ceiling {key} changed by {change} as well")
    return None


def _itself(row: Moved, user: bool) -> Cause:
    shares = _shares(row)
    clock = f", at the same clock ({si(row.b.clock_hz, 'Hz')})" if row.a.clock_hz and row.b.clock_hz else ""
    if row.a.clock_hz and row.b.clock_hz and abs(math.log(row.b.clock_hz / row.a.clock_hz)) > row.limit:
        clock = f"; the clock too, {_pair(row.a.clock_hz, row.b.clock_hz, 'Hz', 4)}"
    code = ", with other code" if row.other_code else ""
    if user:
        return Cause(KERNEL, f"the kernel moved{code}{f' against its roof: {shares} of it' if shares else ''}{clock}")
    return Cause(CEILING, f"the ceiling moved{code}{f': {shares} of its physical limit' if shares else ''}{clock}")


def _shares(row: Moved) -> str:
    if row.a.share is None or row.b.share is None:
        return ""
    return f"{100 * row.a.share:.1f} to {100 * row.b.share:.1f} %"


def _pair(a: float, b: float, unit: str, digits: int = 3) -> str:
    return f"{si(a, unit, digits)} to {si(b, unit, digits)}"
