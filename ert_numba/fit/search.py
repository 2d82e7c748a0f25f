"""Least squares over a dictionary of knees, for many data sets at once.

A curve of k knees is linear in its plateaus once each knee is one column of a dictionary (a shape at a
capacity). With the Gram matrix of the columns at hand, replacing one knee by every other column costs a few
small products, so a whole beam of hypotheses, or a whole bootstrap, descends together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

MINIMUM_GAP = 1.6  # two levels of nearer capacities are one: the two halves of a GPU's L2 lie 1.9 apart
MINIMUM_STEP = 0.10  # a rise of less is a drift (clock, pages, loop ends) and not a level
RIDGE = 1e-12  # of the trace: keeps the solver quiet where two columns coincide; such fits are refused later


@dataclass(frozen=True)
class Problem:
    """Normal equations of D columns; the first ``base`` are always in, the others are knees at ``position``."""

    gram: Array  # (D, D)
    cross: Array  # (B, D): one row a data set
    power: Array  # (B,): squared length of each data set
    position: Array  # (D,): log of the capacity; -inf for base columns
    base: int

    def repeated(self, times: int) -> Problem:
        """The same single data set for ``times`` states."""
        cross, power = np.repeat(self.cross, times, axis=0), np.repeat(self.power, times)
        return Problem(self.gram, cross, power, self.position, self.base)

    def columns(self, states: Index) -> Index:
        """Column numbers (B, base + K) of the states (B, K): base columns, then knees by rising capacity."""
        return np.concatenate([np.tile(np.arange(self.base), (len(states), 1)), states], axis=1)

    def normal(self, columns: Index) -> Array:
        inner = self.gram[columns[:, :, None], columns[:, None, :]]
        return np.asarray(inner + RIDGE * np.trace(inner, axis1=1, axis2=2)[:, None, None] * np.eye(columns.shape[1]))


def heights(problem: Problem, states: Index) -> Array:
    """Coefficients (B, base + K): the first plateau (and an overhead), then the rise at each knee."""
    columns = problem.columns(states)
    crossed = np.take_along_axis(problem.cross, columns, axis=1)[:, :, None]
    return np.asarray(np.linalg.solve(problem.normal(columns), crossed)[:, :, 0])


def replace_knee(problem: Problem, states: Index, slot: int, candidates: Index) -> Array:
    """Residual sums (B, C) of the states (B, K) if knee ``slot`` were each of ``candidates`` (C,).

    Infinite where the order, the least gap, the least step or the sign of a plateau would break.
    """
    others = problem.columns(np.delete(states, slot, axis=1))
    inverse = np.linalg.inv(problem.normal(others))
    mixed = problem.gram[others[:, :, None], candidates[None, None, :]]
    projected = inverse @ mixed
    crossed = np.take_along_axis(problem.cross, others, axis=1)
    plain = np.einsum("bij,bj->bi", inverse, crossed)
    diagonal = np.diagonal(problem.gram)[candidates]
    own = diagonal - np.einsum("bpc,bpc->bc", mixed, projected)
    overlap = problem.cross[:, candidates] - np.einsum("bp,bpc->bc", crossed, projected)
    usable = own > 1e-6 * diagonal
    rise = np.where(usable, overlap / np.where(usable, own, 1.0), -1.0)
    rest = problem.power - np.einsum("bi,bi->b", plain, crossed)
    cost = np.maximum(rest[:, None] - rise * overlap, 0.0)
    height = plain[:, :, None] - projected * rise[:, None, :]
    legal = usable & _rising(height, rise, problem.base, slot) & _apart(problem.position, states, slot, candidates)
    return np.where(legal, cost, np.inf)


def _rising(height: Array, rise: Array, base: int, slot: int) -> Mask:
    level = height[:, 0, :]
    good = level > 0
    for knee in range(height.shape[1] - base + 1):
        step = rise if knee == slot else height[:, base + knee - (knee > slot), :]
        good &= step >= MINIMUM_STEP * level
        level = level + step
    return np.asarray(good)


def _apart(position: Array, states: Index, slot: int, candidates: Index) -> Mask:
    gap, place = np.log(MINIMUM_GAP), position[candidates][None, :]
    good = np.ones((len(states), len(candidates)), dtype=bool)
    if slot > 0:
        good &= place > position[states[:, slot - 1]][:, None] + gap
    if slot + 1 < states.shape[1]:
        good &= place < position[states[:, slot + 1]][:, None] - gap
    return good


def descend(problem: Problem, states: Index, candidates: list[Index], rounds: int = 6) -> tuple[Index, Array]:
    """Re-pick each knee among its candidates, given the others, until none moves: states (B, K), residual sums (B,)."""
    states, cost = states.copy(), np.asarray(problem.power)
    for _ in range(rounds):
        before = states.copy()
        for slot in range(states.shape[1]):
            costs = replace_knee(problem, states, slot, candidates[slot])
            pick = np.argmin(costs, axis=1)
            cost = costs[np.arange(len(states)), pick]
            states[:, slot] = np.where(np.isfinite(cost), candidates[slot][pick], states[:, slot])
        if np.array_equal(before, states):
            break
    return states, cost


def grow(problem: Problem, states: Index, candidates: Index, keep: int) -> Index:
    """The best extensions of the states (B, K) by one knee, at places that differ: (at most ``keep``, K + 1)."""
    many, found = problem.repeated(len(states)), []
    for slot in range(states.shape[1] + 1):
        trial = np.insert(states, slot, 0, axis=1)
        costs = replace_knee(many, trial, slot, candidates)
        for row, state in enumerate(trial):
            for pick in _distinct(costs[row], problem.position[candidates], keep):
                longer = state.copy()
                longer[slot] = candidates[pick]
                found.append((float(costs[row, pick]), tuple(longer.tolist())))
    best = sorted(set(found))[:keep]
    return np.asarray([state for _, state in best], dtype=np.intp).reshape(len(best), states.shape[1] + 1)


def _distinct(costs: Array, position: Array, keep: int) -> list[int]:
    """Up to ``keep`` cheapest columns no two of which lie within half the least gap."""
    open_costs = costs.copy()
    picks: list[int] = []
    while len(picks) < keep:
        pick = int(np.argmin(open_costs))
        if not np.isfinite(open_costs[pick]):
            break
        picks.append(pick)
        open_costs[np.abs(position - position[pick]) < 0.5 * np.log(MINIMUM_GAP)] = np.inf
    return picks
