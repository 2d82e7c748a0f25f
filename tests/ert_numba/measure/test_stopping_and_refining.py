"""When a point has settled, which rivals go on, and where new sizes are put."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from ert_numba.measure.refine import FALL, FINEST, contenders, finer_sizes
from ert_numba.measure.stopping import Settled

RULE = Settled(tolerance=0.01, agreeing=5, least=8, most=60)
seconds = st.floats(1e-6, 1.0)


def test_settled_when_the_fastest_agree():
    assert not RULE.settled([1.0] * 7), "too few"
    assert RULE.settled([1.0] * 8)
    assert RULE.settled([1.0, 1.001, 1.002, 1.003, 1.009, 5.0, 6.0, 7.0]), "slow ones do not matter"
    assert not RULE.settled([0.9, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]), "one lucky repeat ends nothing"
    assert not RULE.settled([])


def test_finished_at_the_latest_after_the_most():
    wild = [1.0 + 0.1 * k for k in range(60)]
    assert not RULE.finished(wild[:59])
    assert RULE.finished(wild)


@given(st.lists(seconds, max_size=80), st.randoms())
def test_the_order_of_repeats_does_not_matter(times, chance):
    mixed = list(times)
    chance.shuffle(mixed)
    assert RULE.settled(times) == RULE.settled(mixed)


@given(st.lists(st.floats(1e3, 1e12), min_size=1, max_size=30), st.booleans())
def test_the_best_is_a_contender_and_what_is_left_out_is_behind(rates, costly):
    chosen = contenders(rates, costly)
    assert rates[chosen[0]] == max(rates)
    assert [rates[index] for index in chosen] == sorted((rates[index] for index in chosen), reverse=True)
    margin = 0.05 if costly else 0.15
    for index, rate in enumerate(rates):
        assert (index in chosen) or rate < max(rates) * (1 - margin)


@given(
    st.lists(st.integers(2, 1 << 20), min_size=2, max_size=40, unique=True),
    st.data(),
    st.integers(1, 30),
)
def test_new_sizes_are_new_few_inside_and_not_too_close(kibibytes, data, at_most):
    sizes = [1024 * size for size in kibibytes]
    rates = data.draw(st.lists(st.floats(1e6, 1e12), min_size=len(sizes), max_size=len(sizes)))
    new = finer_sizes(sizes, rates, at_most)
    assert len(new) <= at_most
    assert len(set(new)) == len(new)
    assert not set(new) & set(sizes)
    for size in new:
        assert min(sizes) <= size <= max(sizes)
        assert size % 1024 == 0
        nearest = max(old for old in sizes if old <= size)
        # Rounding down to whole KiB may bring two small sizes closer than the finest ratio by one of them.
        assert (size + 1024) / nearest >= FINEST


@given(st.lists(st.integers(2, 1 << 20), min_size=2, max_size=40, unique=True), st.floats(0, FALL * 0.99))
def test_what_is_no_more_than_noise_draws_no_sizes(kibibytes, change):
    sizes = sorted(1024 * size for size in kibibytes)
    rates = [1e10 * math.exp(-change * (index % 2)) for index in range(len(sizes))]
    assert finer_sizes(sizes, rates, 20) == []


def test_the_steepest_fall_comes_first():
    sizes = [1024 * 4**k for k in range(1, 9)]
    rates = [100.0, 100.0, 85.0, 85.0, 85.0, 20.0, 20.0, 20.0]
    few = finer_sizes(sizes, rates, 3)
    assert few
    assert all(sizes[3] <= size <= sizes[6] for size in few), "at the fall from 85 to 20, not at that from 100 to 85"
