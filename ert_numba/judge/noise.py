"""How far process starts of one benchmark lie apart, and the shift between two sides of them, with its intervals.

All in logarithms of seconds: a ratio mirrors when the sides are swapped, and no unit matters.

**Shift**: the Hodges-Lehmann estimator, the median of all differences between a start of B and a start of A (Annals of
Mathematical Statistics 34, 1963): one odd start in five moves it little, for 5 % more noise than a mean.

**Noise**: the pooled standard deviation of the per-start values around their side's mean. Rank tests are no use here:
with five starts a side the smallest p-value is 1/126, and the correction for 60 benchmarks asks for 1/6000. So the
intervals are Student's t, and where five starts happen to agree too well, the noise is raised by what the other
benchmarks of the suite show (empirical Bayes: Smyth, Statistical Applications in Genetics and Molecular Biology 3,
2004). Smyth lowers high variances too; here the suite lends caution and no confidence, so a noisy benchmark keeps its
own, and the degrees of freedom stay its own. Where sides of unlike numbers of starts have unlike noise, Welch's
error counts: many quiet starts must not vouch for a few noisy ones.

**Correction**: over the suite by Bonferroni, which holds whatever the benchmarks' correlation: all shifts of one
comparison lie in their corrected intervals in 99 of 100 comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

FAMILY_RISK = 0.01  # that any interval of a whole comparison misses its shift
SINGLE_RISK = 0.05  # of one benchmark's own interval
_FEWEST_FOR_PRIOR = 8  # benchmarks, below which their noises say nothing about each other
_NOTHING = 1e-30  # a variance of logarithms that no timer can tell from none
_MEDIAN_COST = 1.05  # standard error of Hodges-Lehmann over that of the mean, five normal values a side


class Spread(msgspec.Struct, frozen=True):
    """Pooled variance of log seconds over both sides, and its degrees of freedom."""

    variance: float
    degrees: int


class Prior(msgspec.Struct, frozen=True):
    """What a suite's variances have in common: as if each came with ``degrees`` more values of ``variance``."""

    variance: float
    degrees: float

    def at_least(self, own: Spread) -> float:
        """The variance to reckon with: never below its own."""
        if self.degrees == 0:
            return own.variance
        if math.isinf(self.degrees):
            return max(own.variance, self.variance)
        total = self.degrees + own.degrees
        return max(own.variance, (self.degrees * self.variance + own.degrees * own.variance) / total)


NO_PRIOR = Prior(0.0, 0.0)


class Shift(msgspec.Struct, frozen=True, kw_only=True):
    """log(B/A) of the seconds, with half the widths of its own 95 % interval and of the corrected one.

    ``noise`` is the between-start standard deviation that both rest on; ``apart``: no start of one side lies within
    the range of the other.
    """

    value: float
    own: float
    corrected: float
    noise: float
    apart: bool


def spread(a: Sequence[float], b: Sequence[float]) -> Spread:
    """Of log seconds; both sides need two values."""
    squares = sum(float(np.var(side)) * len(side) for side in (a, b))
    degrees = len(a) + len(b) - 2
    return Spread(squares / degrees, degrees)


def prior_of(spreads: Iterable[Spread]) -> Prior:
    """Smyth's moments of log variances. Variances of 0 (a timer's last digit) have no logarithm and are left out."""
    from scipy import special

    kept = [row for row in spreads if row.variance > 0]
    if len(kept) < _FEWEST_FOR_PRIOR:
        return NO_PRIOR
    half = np.array([row.degrees / 2 for row in kept])
    logs = np.log([row.variance for row in kept]) - special.digamma(half) + np.log(half)
    excess = float(np.var(logs, ddof=1) - np.mean(special.polygamma(1, half)))
    if excess <= 0:
        return Prior(float(np.exp(np.mean(logs))), math.inf)
    halved = _inverse_trigamma(excess)
    return Prior(float(np.exp(np.mean(logs) + special.digamma(halved) - math.log(halved))), 2 * halved)


def _inverse_trigamma(value: float) -> float:
    """By Newton's steps on 1/trigamma, which is convex: Smyth's appendix."""
    from scipy import special

    found = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(special.polygamma(1, found))
        step = trigamma * (1 - trigamma / value) / float(special.polygamma(2, found))
        found += step
        if abs(step) < 1e-10 * found:
            break
    return found


def shift_of(a: Sequence[float], b: Sequence[float], prior: Prior, comparisons: int) -> Shift:
    """The shift of B's log seconds against A's, corrected for so many ``comparisons``."""
    own = spread(a, b)
    noise = math.sqrt(prior.at_least(own))
    error, degrees = noise * math.sqrt(1 / len(a) + 1 / len(b)), float(own.degrees)
    unlike, fewer = _welch(a, b)
    if len(a) != len(b) and unlike > error:
        error, degrees = unlike, fewer
    error *= _MEDIAN_COST
    return Shift(
        value=hodges_lehmann(a, b),
        own=error * _quantile(degrees, SINGLE_RISK),
        corrected=error * _quantile(degrees, FAMILY_RISK / comparisons),
        noise=noise,
        apart=max(a) < min(b) or max(b) < min(a),
    )


def _welch(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Welch's standard error of a shift between sides of unlike noise, and its degrees of freedom."""
    parts = [float(np.var(side, ddof=1)) / len(side) for side in (a, b)]
    total = sum(parts)
    if total < _NOTHING:
        return 0.0, float(len(a) + len(b) - 2)
    shares = [part / total for part in parts]
    return math.sqrt(total), 1 / sum(share**2 / (len(side) - 1) for share, side in zip(shares, (a, b), strict=True))


def hodges_lehmann(a: Sequence[float], b: Sequence[float]) -> float:
    return float(np.median(np.subtract.outer(np.asarray(b), np.asarray(a))))


def _quantile(degrees: float, risk: float) -> float:
    from scipy import special  # 0.2 s: every stored document imports this module, and few need a quantile

    return float(special.stdtrit(degrees, 1 - risk / 2))
