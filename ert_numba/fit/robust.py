"""What a machine can do, from repeats that the rest of the world slows down.

Neighbours, stolen time and interrupts only ever make a run slower; the timer and the clock's own small
movements err both ways. So the capability lies at the upper end of the rates, but the best single sample is
not it: the estimate is an order statistic below the maximum, which no one lucky sample can move.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from ert_numba.errors import ErtError

# Of a 95 % interval. All of the 5 % is the upper end's (the lower one hardly ever fails: noise does not make samples
# faster), a quarter for each of the up to four depths at which the end point is sought (Bonferroni).
TAIL = 0.05 / 4
JITTER = 1.8  # largest slowdown seen between equal runs on shared virtual machines: nothing is believed to hide more
FLOOR = 0.005  # the clock moves by this much between two probes of a quiet core; no interval claims less
LUCK = 0.05  # nothing makes a sample faster than the machine by more: boosts of the clock, errors of the timer
DRIFT_PART = 5  # repeats of a third, at least, to judge whether the machine changed while it was measured
NOISY = 0.04  # an interval that reaches further than this from its value is noise that a reader must know of


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A location with its 95 % interval, in the unit of the samples; ``noisy`` where the interval passes 4 %."""

    value: float
    low: float
    high: float
    noisy: bool = False

    @property
    def relative_sigma(self) -> float:
        """One standard deviation of the value, relative to it, as the interval tells it."""
        return (self.high - self.low) / (4.0 * self.value)


def estimate_rate(rates: Sequence[float], candidates: int = 1) -> Estimate:
    """The capability behind one configuration's ``rates`` (any unit, higher is better).

    The value is the m-th best of n with m = max(2, sqrt(n)/2): consistent, because m/n falls to 0, and safe
    from m - 1 lucky samples. The upper end is the confidence limit of an end point (Robson and Whitlock,
    Biometrika 51, 1964): where the best samples lie apart, better ones may exist that were not seen. The lower
    end is as far below the value as the best samples spread, but no further than luck can reach. ``candidates``
    says among how many configurations this one was picked as the best: luck is then likelier, and reaches further.
    """
    best_first = np.sort(np.asarray(rates, dtype=float))[::-1]
    count = len(best_first)
    if count == 0 or not np.all(np.isfinite(best_first)) or best_first[-1] <= 0:
        raise ErtError("rates to estimate from", f"{list(rates)[:5]!r}", "Every rate must be a positive number")
    best = float(best_first[0])
    if count == 1:
        return Estimate(value=best, low=best * (1 - FLOOR), high=best * JITTER, noisy=True)
    rank = _rank(count)
    value = float(best_first[rank - 1])
    spread = best - float(best_first[deciding(count) - 1])
    luck = 1.0 + 0.5 * math.sqrt(2.0 * math.log(max(candidates, 1)))
    low = value - luck * min(max(spread, FLOOR * value), LUCK * value)
    depths = [depth for depth in (3, 5, max(4, 2 * rank), count) if depth <= count] or [count]
    reach = min(best + _end_point(best - float(best_first[depth - 1]), depth) for depth in depths)
    high = min(max(reach, value * (1 + FLOOR)), best * JITTER)
    noisy = high > value * (1 + NOISY) or low < value * (1 - NOISY) or _drifts(rates)
    return Estimate(value=value, low=low, high=high, noisy=noisy)


def _drifts(rates: Sequence[float]) -> bool:
    """Whether the best of one third of the repeats, in the order of time, is out of another third's reach.

    A neighbour who comes or goes for seconds leaves each moment's repeats in good agreement.
    """
    if len(rates) < 3 * DRIFT_PART:
        return False
    bests = [float(np.sort(part)[-2]) for part in np.array_split(np.asarray(rates, dtype=float), 3)]
    return max(bests) > min(bests) * (1 + NOISY)


def _rank(count: int) -> int:
    """Which of the best carries the value."""
    return max(2, math.ceil(math.sqrt(count) / 2)) if count > 2 else 1


def deciding(count: int) -> int:
    """How many of the best of ``count`` samples the value and its spread are read from."""
    return min(count, 2 * _rank(count))


def estimate_time(seconds: Sequence[float], candidates: int = 1) -> Estimate:
    """The shortest time that one configuration's ``seconds`` (any unit, lower is better) bear witness to."""
    times = np.asarray(seconds, dtype=float)
    if times.size == 0 or not np.all(np.isfinite(times)) or times.min() <= 0:
        raise ErtError("times to estimate from", f"{list(seconds)[:5]!r}", "Every time must be a positive number")
    rate = estimate_rate([float(1.0 / time) for time in times], candidates)
    return Estimate(value=1 / rate.value, low=1 / rate.high, high=1 / rate.low, noisy=rate.noisy)


def _end_point(spread: float, depth: int) -> float:
    """How far past the best sample the end point may lie, if the best ``depth`` samples spread so."""
    return float(spread * (TAIL ** (-1.0 / (depth - 1)) - 1.0))
