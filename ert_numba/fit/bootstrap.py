"""Intervals for knees and plateaus: a bootstrap over residuals and over the models that cannot be told apart."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from ert_numba.fit.search import Array, Index, descend, heights
from ert_numba.fit.selection import Fitting, Model, dictionary

WINDOW = math.log(2.2)  # how far a replicate may carry a knee from where a likely model has it
STEPS_PER_OCTAVE = 16


class Draws(msgspec.Struct, frozen=True):
    """Replicates of the log capacities (B, K) and the plateaus (B, K + 1); ``noise`` is the relative scatter."""

    places: Array
    plateaus: Array
    noise: float


def resample(fitting: Fitting, near: list[Model], replicates: int, rng: np.random.Generator) -> Draws:
    """Replicates drawn from the models ``near`` the best, by their odds, each refitted with places and shapes free."""
    best = min(near, key=lambda model: model.criterion)
    used = fitting.weights > 0
    residual = (np.log(fitting.series.cost / best.curve) / fitting.series.sigma)[used]
    spare = max(len(residual) - best.of.base - 2 * len(best.of.places), 1)
    scale = math.sqrt(len(residual) / spare)
    odds = np.exp(-0.5 * np.asarray([one.criterion - best.criterion for one in near]))
    chosen = rng.choice(len(near), size=replicates, p=odds / odds.sum())
    drawn = rng.choice((residual - residual.mean()) * scale, size=(replicates, len(fitting.series.size)))
    data = np.stack([one.curve for one in near])[chosen] * np.exp(drawn * fitting.series.sigma)
    places, plateaus = _refitted(fitting, near, chosen, data, rng)
    return Draws(places, plateaus, float(np.sqrt(np.mean(residual**2))) * scale)


def _refitted(
    fitting: Fitting, near: list[Model], chosen: Index, data: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    base, places = near[0].of.base, np.asarray([one.of.places for one in near])
    spans = list(zip(places.min(axis=0) - WINDOW, places.max(axis=0) + WINDOW, strict=True))
    columns = dictionary(fitting.series, spans, STEPS_PER_OCTAVE)
    columns = columns.with_overhead(fitting.series) if base == 2 else columns
    problem = columns.problem(fitting, data.T)
    candidates = [np.flatnonzero((columns.position >= low) & (columns.position <= high)) for low, high in spans]
    starts = np.zeros((len(near), len(spans)), dtype=np.intp)
    for row, one in enumerate(near):
        starts[row] = [columns.nearest(*knee) for knee in zip(one.of.places, one.of.shapes, strict=True)]
    states, _ = descend(problem, starts[chosen], candidates, rounds=4)
    found = columns.position[states] + _within_step(fitting, columns.shape[states], columns.position[states], rng)
    found += (
        rng.normal(size=found.shape) * np.asarray([row.luck for row in fitting.series.shapes])[columns.shape[states]]
    )
    rises = np.delete(heights(problem, states), range(1, base), axis=1)
    return np.asarray(found), np.asarray(np.cumsum(rises, axis=1))


def _within_step(fitting: Fitting, shapes: Index, places: Array, rng: np.random.Generator) -> Array:
    """A knee may lie at either end of its step: for a sharp one, the gap between two sizes."""
    sizes = np.log(np.unique(fitting.series.size))
    after = np.clip(np.searchsorted(sizes, places), 1, len(sizes) - 1)
    sharp = np.asarray([row.sharp for row in fitting.series.shapes])[shapes]
    width = np.where(sharp, sizes[after] - sizes[after - 1], math.log(2.0) / STEPS_PER_OCTAVE)
    return np.asarray(width * rng.choice([-0.5, 0.5], size=places.shape))
