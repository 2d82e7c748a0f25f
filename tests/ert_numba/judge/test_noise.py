import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ert_numba.judge.noise import (
    FAMILY_RISK,
    NO_PRIOR,
    Prior,
    Spread,
    hodges_lehmann,
    prior_of,
    shift_of,
    spread,
)

logs = st.lists(st.floats(-1, 1), min_size=5, max_size=9)


def test_the_shift_is_the_median_of_all_differences():
    a, b = [1.0, 2.0, 4.0], [3.0, 3.5, 10.0]
    assert hodges_lehmann(a, b) == statistics.median(y - x for x, y in itertools.product(a, b))


def test_one_odd_start_in_five_hardly_moves_the_shift():
    a, b = [0.0, 0.001, 0.002, 0.003, 0.004], [0.03, 0.031, 0.032, 0.033, 0.9]
    assert hodges_lehmann(a, b) == pytest.approx(0.03, abs=0.002)


def test_the_spread_is_pooled_about_each_sides_own_mean():
    found = spread([1.0, 2.0, 3.0], [101.0, 102.0, 103.0, 104.0])
    assert found.variance == pytest.approx((2 + 5) / 5)
    assert found.degrees == 5


@pytest.mark.parametrize(("degrees", "variance"), [(4.0, 1e-6), (1.0, 1e-4), (12.0, 2.0)])
def test_the_prior_is_found_again_in_variances_that_were_drawn_from_one(degrees, variance):
    chance = np.random.default_rng(5)
    true = degrees * variance / chance.chisquare(degrees, 20_000)
    seen = true * chance.chisquare(8, len(true)) / 8
    found = prior_of(Spread(float(value), 8) for value in seen)
    assert found.degrees == pytest.approx(degrees, rel=0.1)
    assert found.variance == pytest.approx(variance, rel=0.1)


def test_variances_that_scatter_no_more_than_chance_are_all_the_same_one():
    chance = np.random.default_rng(5)
    found = prior_of(Spread(float(value), 8) for value in np.full(40, 3e-6) * chance.chisquare(8, 40) / 8**1)
    assert found.degrees > 50


def test_a_few_benchmarks_or_a_timers_last_digit_say_nothing_of_the_others():
    assert prior_of([Spread(1e-6, 8)] * 7) == NO_PRIOR
    assert prior_of([Spread(0.0, 8)] * 40) == NO_PRIOR
    some = [Spread(10.0**-power, 8) for power in range(4, 16)]
    assert prior_of([*some, Spread(0.0, 8)]) == prior_of(some)


@given(own=st.floats(0, 1), prior=st.floats(0, 1), degrees=st.sampled_from([0.0, 0.3, 4.0, math.inf]))
def test_the_suite_lends_caution_and_no_confidence(own, prior, degrees):
    found = Prior(prior, degrees).at_least(Spread(own, 8))
    assert own <= found <= max(own, prior) * (1 + 1e-12)


def test_widths_are_students_for_each_and_bonferronis_for_all():
    a, b = [0.0, 1.0, 2.0, 3.0, 4.0], [0.5, 1.5, 2.5, 3.5, 4.5]
    found = shift_of(a, b, NO_PRIOR, 60)
    error = found.noise * math.sqrt(2 / 5)
    assert found.noise == pytest.approx(math.sqrt(2.5))
    assert found.own / error == pytest.approx(1.05 * stats.t.ppf(0.975, 8))
    assert found.corrected / error == pytest.approx(1.05 * stats.t.ppf(1 - 0.01 / 120, 8))


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [
        ([1, 2, 3], [4, 5, 6], True),
        ([4, 5, 6], [1, 2, 3], True),
        ([1, 2, 4], [4, 5, 6], False),
        ([1, 9], [4, 5], False),
    ],
)
def test_sides_are_apart_where_no_start_lies_in_the_others_range(a, b, apart):
    assert shift_of(a, b, NO_PRIOR, 1).apart is apart


@given(a=logs, b=logs)
def test_swapped_sides_mirror(a, b):
    there, back = shift_of(a, b, NO_PRIOR, 9), shift_of(b, a, NO_PRIOR, 9)
    assert back.value == pytest.approx(-there.value)
    assert (back.own, back.corrected, back.apart) == pytest.approx((there.own, there.corrected, there.apart))


@pytest.mark.parametrize("draw", ["normal", "laplace"])
def test_corrected_intervals_hold_for_a_whole_suite_in_99_of_100(draw):
    """Noise of very different size, as measured: 0.01 % to 10 %, over 50 benchmarks and 400 comparisons."""
    chance = np.random.default_rng(11)
    sizes = np.logspace(-4, -1, 50)
    missed = 0
    for _ in range(400):
        sides = [(getattr(chance, draw)(0, s, 5), getattr(chance, draw)(0, s, 5)) for s in sizes]
        prior = prior_of(spread(a, b) for a, b in sides)
        found = [shift_of(a, b, prior, len(sides)) for a, b in sides]
        missed += any(abs(row.value) > row.corrected for row in found)
    assert missed <= 400 * FAMILY_RISK + 6  # three standard deviations of a count of 4


def test_an_interval_of_its_own_holds_in_95_of_100():
    chance = np.random.default_rng(12)
    found = [shift_of(*chance.normal(0, 1, (2, 5)), NO_PRIOR, 1) for _ in range(4000)]
    held = sum(abs(row.value) <= row.own for row in found) / len(found)
    assert 0.945 <= held <= 0.965


@pytest.mark.parametrize("sizes", [(5, 5), (5, 20), (20, 5), (8, 6)])
def test_corrected_intervals_hold_for_sides_of_unlike_number_and_noise(sizes):
    chance = np.random.default_rng(13)
    missed = 0
    for _ in range(6000):
        a, b = chance.normal(0, 0.001, sizes[0]), chance.normal(0, 0.004, sizes[1])
        found = shift_of(a, b, NO_PRIOR, 1)
        missed += abs(found.value) > found.corrected
    assert missed / 6000 <= 2.2 * FAMILY_RISK  # of one test; pooled degrees of freedom are too many by a factor below 2
