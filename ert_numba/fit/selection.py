"""How many knees, where, and of which shape: the models of one series, ranked by an information criterion."""

from __future__ import annotations

import math

import msgspec
import numpy as np
from scipy.optimize import least_squares

from ert_numba.fit.search import Array, Index, Problem, descend, grow
from ert_numba.fit.shapes import SHAPES, Shape

STEPS_PER_OCTAVE = 8
MOST_KNEES = 6
BEAM = 4
LEAST_SIZES = 8  # fewer sizes than this cannot tell a level from noise
MODEL_ERROR = 0.01  # real plateaus are not flat to better than this: no criterion may believe more
# Prices in the criterion, of the first two times log(n). A knee is a height, a place searched over all sizes, and a
# shape; calibrated so that flat series grow none. One access pattern crosses all levels: a knee unlike the commonest
# shape needs odds of exp(3), 20 to 1.
KNEE_PENALTY = 4.0
OVERHEAD_PENALTY = 3.0
MIXTURE_PENALTY = 6.0
NEAR = 8.0  # models within this of the best are likely enough (2 %) to widen the intervals


class Series(msgspec.Struct, frozen=True):
    """Sizes in rising order (N,), cost at each, and the relative standard deviation of each up to a common factor.

    ``shapes``: the rows that its knees may have.
    """

    size: Array
    cost: Array
    sigma: Array
    shapes: tuple[Shape, ...] = SHAPES


class Hypothesis(msgspec.Struct, frozen=True):
    """``base`` columns (2 with an overhead), and for every knee its log capacity and which row of its series it has."""

    base: int
    places: tuple[float, ...]
    shapes: tuple[int, ...]


class Model(msgspec.Struct, frozen=True):
    """A hypothesis with its coefficients, its curve over the series, and its criterion (lower is better)."""

    of: Hypothesis
    heights: Array
    curve: Array
    criterion: float


class Fitting(msgspec.Struct, frozen=True):
    """A series with the weight of each point and the curve that makes residuals relative."""

    series: Series
    weights: Array
    reference: Array

    @property
    def root(self) -> Array:
        return np.asarray(np.sqrt(self.weights) / self.reference)


class Dictionary(msgspec.Struct, frozen=True):
    """Model columns over the sizes of a series; ``shape`` counts in its rows, -1 for the base columns."""

    miss: Array  # (N, D)
    position: Array  # (D,)
    shape: Index  # (D,)
    base: int

    def problem(self, fitting: Fitting, data: Array) -> Problem:
        """Relative least squares for ``data`` (N, B)."""
        root = fitting.root[:, None]
        columns, target = self.miss * root, data * root
        power = np.sum(target**2, axis=0)
        return Problem(columns.T @ columns, (columns.T @ target).T, power, self.position, self.base)

    def with_overhead(self, series: Series) -> Dictionary:
        """The same knees behind a second base column: a cost per pass, which falls as 1/S in cost per byte."""
        late = np.insert(self.miss, 1, series.size[0] / series.size, axis=1)
        return Dictionary(late, np.insert(self.position, 1, -np.inf), np.insert(self.shape, 1, -1), 2)

    def hypothesis(self, state: Index) -> Hypothesis:
        return Hypothesis(self.base, tuple(self.position[state].tolist()), tuple(self.shape[state].tolist()))

    def nearest(self, place: float, shape: int) -> int:
        """The column of ``shape`` whose capacity lies nearest to ``place`` (log bytes)."""
        return int(np.argmin(np.where(self.shape == shape, np.abs(self.position - place), np.inf)))


def dictionary(series: Series, windows: list[tuple[float, float]], per_octave: int) -> Dictionary:
    """The first plateau, and every knee in one of the ``windows`` (log bytes) that two sizes support on either side.

    One slow point at an end is no level.
    """
    sizes = np.unique(series.size)
    columns, position, shape = [np.ones((len(series.size), 1))], [-np.inf], [-1]
    even = np.arange(math.log(sizes[0]), math.log(sizes[-1]), math.log(2.0) / per_octave)
    between = 0.5 * (np.log(sizes[1:]) + np.log(sizes[:-1]))
    for number, row in enumerate(series.shapes):
        places = between if row.sharp else even
        places = places[[any(low <= place <= high for low, high in windows) for place in places]]
        miss = row.miss(sizes[:, None] / np.exp(places)[None, :])
        supported = (np.sum(miss < 0.3, axis=0) >= 2) & (np.sum(miss > 0.3, axis=0) >= 2)
        supported &= np.sum((miss > 0.05) & (miss < 0.95), axis=0) >= row.sizes_inside
        supported &= (np.exp(places) >= row.least_bytes) & (np.exp(places) <= row.most_bytes)
        places = places[supported]
        columns.append(row.miss(series.size[:, None] / np.exp(places)[None, :]))
        position += places.tolist()
        shape += [number] * len(places)
    return Dictionary(np.concatenate(columns, axis=1), np.asarray(position), np.asarray(shape, dtype=np.intp), 1)


def select(fitting: Fitting) -> tuple[Model, list[Model]]:
    """The best model, and all of as many knees that come near it (the best among them)."""
    rough = sorted(_beam(fitting), key=lambda model: model.criterion)
    fine = [polish(fitting, model) for model in [*_near(rough), *_of_one_shape(rough)]]
    best = min(fine, key=lambda model: model.criterion)
    kind = (best.of.base, len(best.of.places))
    near = [one for one in fine if (one.of.base, len(one.of.places)) == kind and one.criterion < best.criterion + NEAR]
    return best, near


def _near(rough: list[Model]) -> list[Model]:
    return [model for model in rough[:12] if model.criterion < rough[0].criterion + NEAR]


def _of_one_shape(rough: list[Model]) -> list[Model]:
    """The best model of each shape alone with as many knees as the leader: on the grid a good shape may trail."""
    count = len(rough[0].of.places)
    alone: dict[tuple[int, ...], Model] = {}
    for model in rough:
        if len(model.of.places) == count and len(set(model.of.shapes)) == 1:
            alone.setdefault(model.of.shapes, model)
    return [model for model in alone.values() if model.criterion >= rough[0].criterion + NEAR]


def _beam(fitting: Fitting) -> list[Model]:
    """Hypotheses of 0, 1, 2 ... knees, each grown from those before it, until more knees no longer pay."""
    everywhere = [(-math.inf, math.inf)]
    plain = dictionary(fitting.series, everywhere, STEPS_PER_OCTAVE)
    problem = plain.problem(fitting, fitting.series.cost[:, None])
    late = plain.with_overhead(fitting.series)
    late_problem = late.problem(fitting, fitting.series.cost[:, None])
    every = np.arange(plain.base, len(plain.position))
    states: Index = np.zeros((1, 0), dtype=np.intp)
    models: list[Model] = []
    best, stale = math.inf, 0
    for count in range(_most_knees(fitting.series) + 1):
        if count:
            states = grow(problem, states, every, BEAM)
            states = _settled(problem, states, [every] * count)
            states = np.concatenate([states, _uniform(problem, plain, states)])
        if not len(states):
            break
        shifted = _settled(late_problem, states + 1, [every + 1] * count, keep=3)
        found = [rate(fitting, plain.hypothesis(state)) for state in states]
        found += [model for state in shifted if (model := rate(fitting, late.hypothesis(state))).heights[1] > 0]
        models += found
        lowest = min(model.criterion for model in found)
        stale = stale + 1 if lowest >= best else 0
        best = min(best, lowest)
        if stale == 2:
            break
    return models


def _most_knees(series: Series) -> int:
    sizes = len(np.unique(series.size))
    return 0 if sizes < LEAST_SIZES else min(MOST_KNEES, sizes // 4)


def _settled(problem: Problem, states: Index, candidates: list[Index], keep: int = BEAM) -> Index:
    """The states after descent, without doubles and without dead ends, best first."""
    if not len(states):
        return states
    states, cost = descend(problem.repeated(len(states)), states, candidates)
    _, first = np.unique(states, axis=0, return_index=True)
    order = first[np.argsort(cost[first])]
    return np.asarray(states[order[np.isfinite(cost[order])]][:keep])


def _uniform(problem: Problem, columns: Dictionary, states: Index) -> Index:
    """The best state again with every knee of one shape, for each shape in turn."""
    found = [states[:0]]
    for number in range(int(columns.shape.max()) + 1):
        mine = np.flatnonzero(columns.shape == number)
        if len(states) and len(mine):
            start = [columns.nearest(float(columns.position[column]), number) for column in states[0]]
            found.append(_settled(problem, np.asarray([start], dtype=np.intp), [mine] * len(start)))
    return np.concatenate(found)


def _misses(series: Series, of: Hypothesis) -> Array:
    """The share of accesses that miss each knee's capacity: (N, K)."""
    knees = zip(of.places, of.shapes, strict=True)
    rows = [series.shapes[shape].miss(series.size / math.exp(place)) for place, shape in knees]
    return np.stack(rows, axis=1) if rows else np.zeros((len(series.size), 0))


def _seen(size: Array, misses: Array) -> bool:
    """Whether each inner level serves half of the accesses at two sizes: if not, it is part of a transition."""
    shares = misses[:, :-1] - misses[:, 1:]
    return all(len(np.unique(size[share >= 0.5])) >= 2 for share in shares.T)


def _fitted(fitting: Fitting, base: int, misses: Array) -> tuple[Array, Array]:
    size, root = fitting.series.size, fitting.root
    columns = np.column_stack([*[np.ones_like(size), size[0] / size][:base], misses])
    height = np.linalg.lstsq(columns * root[:, None], fitting.series.cost * root, rcond=None)[0]
    return np.asarray(height, dtype=float), np.asarray(columns @ height, dtype=float)


def rate(fitting: Fitting, of: Hypothesis) -> Model:
    """The model with its criterion: n log(variance), and a price for every parameter and every choice."""
    shapes = [fitting.series.shapes[shape] for shape in of.shapes]
    misses = _misses(fitting.series, of)
    height, curve = _fitted(fitting, of.base, misses)
    if not _seen(fitting.series.size, misses):
        return Model(of, height, curve, math.inf)
    count = int(np.sum(fitting.weights > 0))
    variance = float(np.sum((fitting.root * (fitting.series.cost - curve)) ** 2)) / count
    price = (KNEE_PENALTY * len(of.places) + OVERHEAD_PENALTY * (of.base - 1)) * math.log(count)
    price *= count / max(count - of.base - 2 * len(of.places), 1)  # few points fit anything
    names = [row.name for row in shapes]
    price += MIXTURE_PENALTY * (len(names) - max((names.count(name) for name in names), default=0))
    price += sum(row.price for row in shapes)
    return Model(of, height, curve, count * math.log(variance + MODEL_ERROR**2) + price)


def polish(fitting: Fitting, model: Model) -> Model:
    """The same hypothesis with its smooth knees moved off the grid of the dictionary."""
    of = model.of
    smooth = [slot for slot, shape in enumerate(of.shapes) if not fitting.series.shapes[shape].sharp]
    if not smooth:
        return model

    def moved(to: Array) -> Hypothesis:
        places = list(of.places)
        for slot, place in zip(smooth, to, strict=True):
            places[slot] = float(place)
        return Hypothesis(of.base, tuple(places), of.shapes)

    def residual(to: Array) -> Array:
        curve = _fitted(fitting, of.base, _misses(fitting.series, moved(to)))[1]
        return fitting.root * (fitting.series.cost - curve)

    start = np.asarray([of.places[slot] for slot in smooth])
    reach = math.log(2.0) / STEPS_PER_OCTAVE
    step = np.full(len(start), 1e-4)
    found = least_squares(
        residual, start, bounds=(start - reach, start + reach), diff_step=step, xtol=1e-4, ftol=1e-5, max_nfev=8
    )
    better = rate(fitting, moved(found.x))
    return better if better.criterion < model.criterion else model
