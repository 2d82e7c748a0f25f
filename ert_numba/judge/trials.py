"""The shifts of all benchmarks that two runs share, corrected for all tests that are made of them. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping

import msgspec

from ert_numba.judge.evidence import Evidence
from ert_numba.judge.noise import Shift, prior_of, shift_of, spread
from ert_numba.judge.thresholds import DEFAULT

Pair = tuple[Evidence, Evidence]
_STEADIER = 0.5  # cycles decide where their spread is below this part of the time's


class Trial(msgspec.Struct, frozen=True):
    """The shifts of a pair: of its time, and of its clock cycles where these are known; ``steadier`` if they decide."""

    time: Shift
    cycles: Shift | None
    steadier: bool


def trials(pairs: Mapping[str, Pair]) -> tuple[dict[str, Trial], int]:
    """The shifts of all pairs, corrected for all tests that are made of them."""
    times = {name: _logs(pair, in_cycles=False) for name, pair in pairs.items()}
    cycles = {
        name: _logs(pair, in_cycles=True)
        for name, pair in pairs.items()
        if all(row.clock_hz for side in pair for row in side.sound)
    }
    spreads = {name: spread(*sides) for name, sides in times.items()}
    prior = prior_of(spreads.values())
    # Each further test widens all intervals. Chosen by the spreads: a choice that knew the shift would favour one.
    noisy = (name for name in cycles if shift_of(*times[name], prior, len(times)).corrected > math.log1p(DEFAULT))
    steadier = {name for name in noisy if spread(*cycles[name]).variance < _STEADIER**2 * spreads[name].variance}
    count = len(times) + len(steadier)
    found = {}
    for name, sides in times.items():
        other = shift_of(*cycles[name], prior, count) if name in cycles else None
        found[name] = Trial(shift_of(*sides, prior, count), other, name in steadier)
    return found, count


def _logs(pair: Pair, in_cycles: bool) -> tuple[list[float], list[float]]:
    one, two = ([math.log(row.seconds) + (math.log(row.clock_hz) if in_cycles and row.clock_hz else 0.0)
                 for row in side.sound] for side in pair)  # fmt: skip
    return one, two


def mixed_code(a: Evidence, b: Evidence, shift: float) -> str:
    """Why a change says nothing where starts of one side ran different code; empty where like against like shows half.

    cuBLAS chooses an algorithm by timing a few, and may choose otherwise in the next start: two speeds, by chance.
    """
    one, two = _by_code(a), _by_code(b)
    if len(one) == len(two) == 1:
        return ""
    alike = [(two[code] - one[code]) / shift for code in one if code in two]
    if alike and min(alike) > 0.5:
        return ""
    return f"starts of one run ran different code: {' | '.join(one)} in A, {' | '.join(two)} in B"


def _by_code(side: Evidence) -> dict[str, float]:
    """The median log seconds of the starts that ran each code."""
    found: dict[str, list[float]] = {}
    for row in side.sound:
        found.setdefault(row.code, []).append(math.log(row.seconds))
    return {code: statistics.median(values) for code, values in sorted(found.items())}
