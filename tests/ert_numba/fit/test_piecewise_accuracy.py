"""How near the fit comes to the truth, and to what any fit could know.

As it stands this runs a few series of each kind; ``ERT_NUMBA_FIT_SERIES=100`` runs the full count (and 1,000 flat
series; some minutes), prints the table, and holds each cell to its own bound.

What no fit can do: sizes lie a factor of 1.352 apart, so a cliff is known to its gap alone (+-16 %: some 63 % of all
cliffs lie within 10 % of their gap's middle), and with 5 % noise a step of 1.5 under random order fixes a capacity to
+-10 % at one standard deviation (Cramer-Rao). So each cell is held against an oracle: least squares that is told the
number of levels, the shape, and where to start.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np
import pytest
from made_up_curves import KIB, SIZES, TRANSITIONS, MadeUp, flat, made_up, mixture, paged
from scipy.optimize import least_squares

from ert_numba.fit.page_placement import scattered_shapes
from ert_numba.fit.piecewise import SeriesFit, fit_series
from ert_numba.fit.shapes import SHAPES

SERIES = int(os.environ.get("ERT_NUMBA_FIT_SERIES", "0"))
QUICK = 3
GAP = float(SIZES[1] / SIZES[0])


@dataclass(frozen=True)
class Outcome:
    """One series: whether the count was right, the relative errors, and which intervals held the truth."""

    counted: bool
    errors: tuple[float, ...]
    plateau_errors: tuple[float, ...]
    covered: tuple[bool, ...]


def outcome(case: MadeUp, fit: SeriesFit) -> Outcome:
    if len(fit.knees) != len(case.capacities):
        return Outcome(False, (), (), ())
    pairs = list(zip(fit.knees, case.capacities, strict=True))
    return Outcome(
        True,
        tuple(abs(knee.capacity_bytes / true - 1) for knee, true in pairs),
        tuple(abs(one.value / true - 1) for one, true in zip(fit.plateaus, case.plateaus, strict=True)),
        tuple(knee.low <= true <= knee.high for knee, true in pairs),
    )


def oracle_errors(case: MadeUp, transition: str) -> np.ndarray:
    count = len(case.capacities)
    start = np.concatenate([np.log(case.capacities), np.log(case.plateaus)])

    def residual(at: np.ndarray) -> np.ndarray:
        curve = mixture([transition] * count, case.sizes, np.exp(at[:count]), np.exp(at[count:]))
        return np.log(case.times / np.maximum(curve, 1e-30))

    found = least_squares(residual, start, x_scale=0.1, diff_step=1e-4, max_nfev=60).x[:count]
    return np.abs(np.exp(found) / case.capacities - 1)


def run(transition: str, knees: int, count: int, replicates: int) -> tuple[list[MadeUp], list[Outcome]]:
    cases = [made_up(seed, knees, transition) for seed in range(count)]
    return cases, [outcome(case, fit_series(case.sizes, case.times, replicates=replicates)) for case in cases]


@pytest.mark.parametrize("transition", TRANSITIONS)
def test_levels_are_counted_and_knees_lie_within_their_intervals(transition):
    rows = [row for knees in (1, 2, 3, 4) for row in run(transition, knees, QUICK, 60)[1]]
    errors = np.array([error for row in rows for error in row.errors])
    covered = [hit for row in rows for hit in row.covered]
    assert sum(row.counted for row in rows) >= len(rows) - 1
    assert np.mean(covered) >= 0.85
    bound = math.sqrt(GAP) - 1 + 0.02 if transition == "cliff" else 0.10
    assert np.mean(errors <= bound) >= 0.75
    assert np.median([error for row in rows for error in row.plateau_errors]) < 0.03


def test_flat_series_grow_no_knees():
    assert sum(len(fit_series(SIZES, flat(seed), replicates=2).knees) > 0 for seed in range(40)) == 0


full = pytest.mark.skipif(SERIES == 0, reason="the full count takes minutes: set ERT_NUMBA_FIT_SERIES=100")


@full
@pytest.mark.parametrize("knees", [1, 2, 3, 4])
@pytest.mark.parametrize("transition", TRANSITIONS)
def test_full_count(transition, knees, capsys):
    cases, rows = run(transition, knees, SERIES, 200)
    errors = np.array([error for row in rows for error in row.errors])
    within = np.mean([row.counted and max(row.errors) < 0.10 for row in rows])
    counted = np.mean([row.counted for row in rows])
    covered = np.mean([hit for row in rows for hit in row.covered])
    plateau = np.median([error for row in rows for error in row.plateau_errors])
    if transition == "cliff":
        middles = np.sqrt(SIZES[1:] * SIZES[:-1])
        best = [np.abs(middles[None, :] / case.capacities[:, None] - 1).min(axis=1) for case in cases]
    else:
        best = [oracle_errors(case, transition) for case in cases]
    possible = np.mean([error.max() < 0.10 for error in best])
    with capsys.disabled():
        print(
            f"\n{transition:8} {knees} knees: counted {counted:.2f}, all in 10 % {within:.2f} (oracle {possible:.2f}),"
            f" each {np.mean(errors < 0.1):.2f} (oracle {np.mean(np.concatenate(best) < 0.1):.2f}),"
            f" median error {np.median(errors):.3f} (oracle {np.median(np.concatenate(best)):.3f}),"
            f" in interval {covered:.2f}, plateau error {plateau:.3f}"
        )
    assert counted >= 0.95
    assert covered >= 0.90
    assert within >= min(0.95, possible - 0.25)
    assert plateau < 0.03


@full
@pytest.mark.parametrize("streams", [1, 4])
@pytest.mark.parametrize("capacity", [256 * KIB, 512 * KIB, 1024 * KIB])
def test_full_count_of_second_levels_with_small_pages(capacity, streams, capsys):
    """One placement a series; one of four streams has a fall that begins at a third of the capacity."""
    cases = [paged(seed, capacity, streams) for seed in range(SERIES)]
    fits = [fit_series(case.sizes, case.times, shapes=scattered_shapes(streams)) for case in cases]
    knees = [fit.knees[1] for fit in fits if len(fit.knees) == 2]
    errors = np.array([knee.capacity_bytes / capacity - 1 for knee in knees])
    within, covered = np.mean(np.abs(errors) < 0.15), np.mean([knee.low <= capacity <= knee.high for knee in knees])
    with capsys.disabled():
        print(
            f"\nsmall pages, {streams} streams, {capacity // KIB} KiB: counted {len(knees) / SERIES:.2f}, "
            f"in 15 % {within:.2f}, median {np.median(errors):+.3f}, in interval {covered:.2f}"
        )
    assert len(knees) >= 0.5 * SERIES
    assert within >= (0.9 if streams == 1 else 0.4)
    assert covered >= (0.85 if streams == 1 else 0.1)


@full
@pytest.mark.parametrize("shapes", [SHAPES, scattered_shapes(1), scattered_shapes(4)], ids=["any", "chase", "read"])
def test_full_count_of_flat_series(shapes, capsys):
    false = sum(len(fit_series(SIZES, flat(seed), replicates=2, shapes=shapes).knees) > 0 for seed in range(1000))
    with capsys.disabled():
        print(f"\nfalse knees on 1,000 flat series: {false}")
    assert false <= 10
