"""Time per byte (or latency) against working set: plateaus, and where and how each ends.

The model is a mixture: the first plateau's cost, plus for every knee the share of accesses that miss its capacity
(``shapes``) times the rise to the next plateau. The number of knees and the shape of each are chosen by an
information criterion that is scaled by the noise of the series itself, so "no knee" is an answer like any other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from ert_numba.errors import ErtError
from ert_numba.fit.bootstrap import Draws, resample
from ert_numba.fit.search import Array
from ert_numba.fit.selection import MODEL_ERROR, Fitting, Model, Series, select
from ert_numba.fit.shapes import SHAPES, Shape

OUTLIER = 4.0  # standard deviations


class Plateau(msgspec.Struct, frozen=True, kw_only=True):
    """One level's cost in the unit of the series (lower is better), with its 95 % interval."""

    value: float
    low: float
    high: float


class SeriesKnee(msgspec.Struct, frozen=True, kw_only=True):
    """The capacity in bytes (per core or SM, as the sizes are) at which hits begin to fail, with its 95 % interval.

    ``onset_bytes`` and ``midpoint_bytes``: where 5 % and half of the accesses miss.
    """

    capacity_bytes: float
    low: float
    high: float
    shape: str
    onset_bytes: float
    midpoint_bytes: float


class SeriesFit(msgspec.Struct, frozen=True, kw_only=True):
    """``plateaus`` has one entry more than ``knees``; ``noise`` is the relative scatter about the model.

    ``overhead`` is what one pass costs beside its bytes, in (unit of the series) x bytes; 0 where none was found.
    """

    plateaus: tuple[Plateau, ...]
    knees: tuple[SeriesKnee, ...]
    noise: float
    outliers: int
    overhead: float


def fit_series(
    working_set_bytes: Sequence[float],
    cost: Sequence[float],
    relative_sigma: Sequence[float] | None = None,
    *,
    shapes: tuple[Shape, ...] = SHAPES,
    replicates: int = 200,
    seed: int = 1,
) -> SeriesFit:
    """Fit ``cost`` (s/byte, or s per access) against the working set; sizes in any order, duplicates welcome.

    ``relative_sigma`` weighs the points against each other (their common scale is taken from the scatter); ``shapes``
    are the rows that a knee may have.
    Raises ErtError for sizes or costs that are not positive numbers, and for fewer than three points.
    """
    series = _checked(working_set_bytes, cost, relative_sigma, shapes)
    fitting = _pilot(series)
    model, near = select(fitting)
    for _ in range(2):
        again = _reweighed(series, model)
        if np.array_equal(again.weights > 0, fitting.weights > 0) and _near(again.reference, fitting.reference):
            break
        fitting = again
        model, near = select(fitting)
    draws = resample(fitting, near, replicates, np.random.default_rng(seed))
    return _report(fitting, model, draws)


def _checked(
    sizes: Sequence[float], cost: Sequence[float], sigma: Sequence[float] | None, shapes: tuple[Shape, ...]
) -> Series:
    size, value = np.asarray(sizes, dtype=float), np.asarray(cost, dtype=float)
    spread = np.ones_like(size) if sigma is None else np.asarray(sigma, dtype=float)
    if not len(size) == len(value) == len(spread) or len(size) < 3:
        found = f"{len(size)} sizes, {len(value)} values, {len(spread)} sigmas"
        raise ErtError("a curve to fit", found, "Give three points or more, and a value for each")
    for name, numbers in (("size", size), ("value", value), ("relative_sigma", spread)):
        bad = ~(np.isfinite(numbers) & (numbers > 0))
        if bad.any():
            where = int(np.argmax(bad))
            raise ErtError("a curve to fit", f"{name} {numbers[where]} at point {where}", "Give positive numbers only")
    if sigma is not None:
        spread = np.hypot(spread, MODEL_ERROR)
        spread = spread / np.exp(np.mean(np.log(spread)))
    order = np.argsort(size, kind="stable")
    return Series(size[order], value[order], spread[order], shapes)


def _near(one: Array, other: Array) -> bool:
    return bool(np.all(np.abs(np.log(one / other)) < 0.1))


def _pilot(series: Series) -> Fitting:
    """Weights and a smooth curve by a running median: exact on a rising curve, deaf to lone outliers."""
    log = np.log(series.cost)
    padded = np.pad(log, 2, mode="reflect")
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(padded, 5), axis=1)
    return Fitting(series, _robust((log - smooth) / series.sigma, 0.5) / series.sigma**2, np.exp(smooth))


def _reweighed(series: Series, model: Model) -> Fitting:
    free = 1.0 - min((model.of.base + 2 * len(model.of.places)) / len(series.size), 0.5)
    weights = _robust(np.log(series.cost / model.curve) / series.sigma, free) / series.sigma**2
    return Fitting(series, weights, model.curve)


def _robust(residual: Array, free: float) -> Array:
    """Nothing for what lies far above the curve (disturbed); what lies far below it counts as if it lay nearer."""
    spread = max(1.4826 * float(np.median(np.abs(residual))) / math.sqrt(free), MODEL_ERROR)
    distance = np.maximum(np.abs(residual) / spread, 1e-9)
    return np.where(distance <= OUTLIER, 1.0, np.where(residual > 0, 0.0, OUTLIER / distance))


def _report(fitting: Fitting, model: Model, draws: Draws) -> SeriesFit:
    plateaus = np.cumsum(np.delete(model.heights, range(1, model.of.base))).tolist()
    return SeriesFit(
        plateaus=tuple(
            Plateau(value=value, low=min(low, value), high=max(high, value))
            for value, (low, high) in zip(plateaus, _intervals(draws.plateaus), strict=True)
        ),
        knees=tuple(
            _knee(place, fitting.series.shapes[shape], interval)
            for place, shape, interval in zip(model.of.places, model.of.shapes, _intervals(draws.places), strict=True)
        ),
        noise=draws.noise,
        outliers=int(np.sum(fitting.weights == 0)),
        overhead=float(model.heights[1] * fitting.series.size[0]) if model.of.base == 2 else 0.0,
    )


def _intervals(draws: Array) -> list[tuple[float, float]]:
    return [(float(low), float(high)) for low, high in np.quantile(draws, [0.025, 0.975], axis=0).T]


def _knee(place: float, shape: Shape, interval: tuple[float, float]) -> SeriesKnee:
    capacity = math.exp(place)
    return SeriesKnee(
        capacity_bytes=capacity,
        low=min(math.exp(interval[0]), capacity),
        high=max(math.exp(interval[1]), capacity),
        shape=shape.name,
        onset_bytes=capacity * shape.onset,
        midpoint_bytes=capacity * shape.midpoint,
    )
