"""The robust location: coverage under one-sided noise, and no power to a lucky sample."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ert_numba.errors import ErtError
from ert_numba.fit.robust import FLOOR, JITTER, estimate_rate, estimate_time

TIMER = 0.002  # two-sided error of every made-up sample
SLOWDOWNS = {
    "quiet": lambda rng, n: np.zeros(n),
    "short interrupts": lambda rng, n: rng.exponential(0.05, n),
    "long interrupts": lambda rng, n: rng.exponential(0.20, n),
    "half-normal": lambda rng, n: np.abs(rng.normal(0, 0.05, n)),
    "a neighbour half of the time": lambda rng, n: (rng.random(n) < 0.5) * rng.uniform(0.05, 0.8, n),
    "a neighbour most of the time": lambda rng, n: (rng.random(n) < 0.8) * rng.uniform(0.0, 0.8, n),
    "evenly up to 30 %": lambda rng, n: rng.uniform(0, 0.3, n),
}


def made_up(rng: np.random.Generator, noise: str, count: int) -> list[float]:
    """Rates of a machine that can do exactly 1."""
    rates = (1 + rng.normal(0, TIMER, count)) / (1 + SLOWDOWNS[noise](rng, count))
    return rates.tolist()


@pytest.mark.parametrize("count", [3, 5, 10, 20, 50, 200])
@pytest.mark.parametrize("noise", SLOWDOWNS)
def test_interval_covers_the_capability(noise, count):
    rng = np.random.default_rng(count)
    estimates = [estimate_rate(made_up(rng, noise, count)) for _ in range(300)]
    covered = np.mean([one.low <= 1.0 <= one.high for one in estimates])
    assert covered >= 0.95 - 0.02  # 300 draws: 1.6 standard deviations


@pytest.mark.parametrize("noise", SLOWDOWNS)
def test_value_converges_to_the_capability(noise):
    rng = np.random.default_rng(7)
    values = [estimate_rate(made_up(rng, noise, 400)).value for _ in range(50)]
    assert np.abs(np.asarray(values) - 1).max() < 0.015


@pytest.mark.parametrize("noise", SLOWDOWNS)
@pytest.mark.parametrize("count", [5, 10, 20])
def test_two_runs_agree_as_far_as_their_intervals_say(noise, count):
    rng = np.random.default_rng(count)
    pairs = [(estimate_rate(made_up(rng, noise, count)), estimate_rate(made_up(rng, noise, count))) for _ in range(200)]
    overlaps = np.mean([max(a.low, b.low) <= min(a.high, b.high) for a, b in pairs])
    assert overlaps >= 0.97


@pytest.mark.parametrize("noise", ["quiet", "short interrupts", "half-normal"])
def test_the_best_of_many_equal_points_is_not_biased_past_its_interval(noise):
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(150):
        points = [made_up(rng, noise, 10) for _ in range(20)]
        best = max(points, key=lambda rates: estimate_rate(rates).value)
        estimate = estimate_rate(best, candidates=20)
        covered += estimate.low <= 1.0 <= estimate.high
    assert covered >= 0.95 * 150


@given(st.lists(st.floats(0.9, 1.0), min_size=3, max_size=60), st.floats(1.0, 100.0))
def test_one_lucky_sample_never_decides(rates, luck):
    before = estimate_rate(rates)
    after = estimate_rate([*rates, luck])
    assert after.value <= max(rates)
    assert after.value >= before.value * 0.9
    assert after.low <= max(rates)


@given(st.lists(st.floats(1e-9, 1e15), min_size=1, max_size=60))
def test_interval_is_ordered_and_never_narrower_than_the_clock(rates):
    one = estimate_rate(rates)
    assert one.low <= one.value * (1 - FLOOR) * (1 + 1e-12)
    assert one.high >= one.value * (1 + FLOOR) * (1 - 1e-12)


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=30), st.floats(1e-6, 1e6))
def test_unit_of_the_samples_does_not_matter(rates, factor):
    plain, scaled = estimate_rate(rates), estimate_rate([rate * factor for rate in rates])
    assert scaled.value == pytest.approx(plain.value * factor)
    assert scaled.low == pytest.approx(plain.low * factor)
    assert scaled.high == pytest.approx(plain.high * factor)


def test_a_single_sample_is_noise_until_shown_otherwise():
    one = estimate_rate([5.0])
    assert one.noisy
    assert one.high == pytest.approx(5.0 * JITTER)


def test_agreeing_samples_are_not_noisy_and_scattered_ones_are():
    assert not estimate_rate([1.0, 0.999, 0.998, 0.997, 0.6]).noisy
    assert estimate_rate([1.0, 0.9, 0.8, 0.7]).noisy


def test_latency_is_the_mirror_of_a_rate():
    times = [2.0, 2.01, 2.02, 2.5, 3.0]
    time, rate = estimate_time(times), estimate_rate([1 / one for one in times])
    assert (time.value, time.low, time.high) == pytest.approx((1 / rate.value, 1 / rate.high, 1 / rate.low))
    assert time.low < 2.01 <= time.high


@pytest.mark.parametrize("bad", [[], [float("nan")], [1.0, -1.0], [0.0], [float("inf")]])
def test_bad_numbers_are_a_clear_error(bad):
    for estimate in (estimate_rate, estimate_time):
        with pytest.raises(ErtError, match="positive number"):
            estimate(bad)


def test_a_machine_that_changes_while_it_is_measured_is_noisy():
    rng = np.random.default_rng(5)
    quiet = [100.0 * (1 - rng.exponential(0.002)) for _ in range(48)]
    assert not estimate_rate(quiet).noisy
    disturbed = quiet[:32] + [0.92 * rate for rate in quiet[32:]]
    assert estimate_rate(disturbed).noisy
    assert estimate_rate(disturbed).value == pytest.approx(estimate_rate(quiet).value, rel=2e-3)
