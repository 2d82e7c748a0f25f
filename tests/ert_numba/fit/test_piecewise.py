"""Curves with known knees, flat ones, outliers, every form of input. Full counts: test_piecewise_accuracy.py."""

from __future__ import annotations

import numpy as np
import pytest
from made_up_curves import KIB, MIB, SIZES, TRANSITIONS, flat, made_up, mixture

from ert_numba.errors import ErtError
from ert_numba.fit.piecewise import fit_series
from ert_numba.fit.selection import Series, dictionary
from ert_numba.fit.shapes import SHAPES


def two_levels(sizes: np.ndarray, transition: str = "cyclic") -> np.ndarray:
    return mixture([transition] * 2, sizes, np.array([48.0 * KIB, 3.0 * MIB]), np.array([1.0, 2.5, 8.0]) * 1e-11)


@pytest.mark.parametrize("transition", TRANSITIONS)
def test_without_noise_the_curve_is_found_again(transition):
    sizes = np.geomspace(4 * KIB, 512 * MIB, 160)
    fit = fit_series(sizes, two_levels(sizes, transition), replicates=20)
    assert [knee.capacity_bytes for knee in fit.knees] == pytest.approx([48 * KIB, 3 * MIB], rel=0.04)
    assert [plateau.value for plateau in fit.plateaus] == pytest.approx([1e-11, 2.5e-11, 8e-11], rel=0.01)
    assert {knee.shape for knee in fit.knees} <= {transition, "smeared" if transition == "cliff" else transition}


def test_a_cache_near_lru_ends_where_its_first_lines_miss():
    """Bytes per cycle of a 32 KiB cache of eight ways, a larger one behind it, measured: half-way is 37 KiB."""
    sizes = np.array([4, 5.6, 8, 11, 16, 22, 26, 32, 35, 40, 45, 53, 64, 90, 128, 181, 256, 362]) * KIB
    rates = [60.0, 59.9, 60.6, 60.4, 60.7, 60.2, 60.1, 60.9, 46.8, 37.5, 33.5, 32.9, 32.2, 32.1, 32.0, 32.0, 32.0, 32.0]
    (knee,) = fit_series(sizes, 1 / np.array(rates), replicates=50).knees
    assert knee.shape == "gradual"
    assert knee.capacity_bytes == pytest.approx(32 * KIB, rel=0.04)
    assert knee.low <= 32 * KIB <= knee.high


def test_sizes_far_apart_cannot_tell_a_gradual_end_from_a_cliff():
    gradual = next(number for number, row in enumerate(SHAPES) if row.name == "gradual")

    def offered(count: int) -> bool:
        sizes = np.geomspace(4 * KIB, 512 * MIB, count)
        columns = dictionary(Series(sizes, np.ones(count), np.ones(count)), [(-np.inf, np.inf)], 8)
        return gradual in columns.shape

    assert not offered(40)
    assert offered(160)


def test_a_flat_curve_has_no_knee_and_a_narrow_plateau():
    fit = fit_series(SIZES, flat(3))
    assert fit.knees == ()
    (plateau,) = fit.plateaus
    assert plateau.low <= 1e-11 <= plateau.high
    assert plateau.high / plateau.low < 1.05
    assert fit.noise == pytest.approx(0.05, rel=0.5)


def test_a_flat_curve_without_any_noise_has_no_knee():
    assert fit_series(SIZES, np.ones(40)).knees == ()


def test_a_falling_curve_has_no_knee():
    assert fit_series(SIZES, np.linspace(2.0, 1.0, 40)).knees == ()


def test_a_drift_of_a_few_percent_is_no_level():
    assert fit_series(SIZES, np.linspace(1.0, 1.08, 40)).knees == ()


def test_slow_outliers_grow_no_knees_and_move_none():
    rng = np.random.default_rng(5)
    times = two_levels(SIZES) * np.exp(rng.normal(0, 0.01, 40))
    disturbed = times.copy()
    disturbed[[3, 11, 25, 33]] *= 1.8
    fit = fit_series(SIZES, disturbed)
    assert [knee.capacity_bytes for knee in fit.knees] == pytest.approx([48 * KIB, 3 * MIB], rel=0.1)
    assert [plateau.value for plateau in fit.plateaus] == pytest.approx([1e-11, 2.5e-11, 8e-11], rel=0.03)
    assert fit.outliers >= 3


def test_one_slow_point_at_the_end_is_no_level():
    times = flat(1, noise=0.01)
    times[-1] *= 1.7
    assert fit_series(SIZES, times).knees == ()


@pytest.mark.parametrize(("transition", "seed"), [("smeared", 25), ("cyclic", 17)])
def test_the_foot_of_a_transition_is_no_level_of_its_own(transition, seed):
    sizes = SIZES.astype(int) // 1024 * 1024.0
    case = made_up(seed, 1, transition, sizes=sizes, noise=0.02)
    (knee,) = fit_series(case.sizes, case.times, replicates=20).knees
    assert knee.capacity_bytes == pytest.approx(case.capacities[0], rel=0.1)


def test_the_cost_of_a_pass_is_told_from_a_level():
    times = two_levels(SIZES) + 2e-8 / SIZES  # 20 ns a pass: half of the smallest set's time
    fit = fit_series(SIZES, times * np.exp(np.random.default_rng(2).normal(0, 0.01, 40)))
    assert [knee.capacity_bytes for knee in fit.knees] == pytest.approx([48 * KIB, 3 * MIB], rel=0.1)
    assert fit.overhead == pytest.approx(2e-8, rel=0.1)
    assert fit.plateaus[0].value == pytest.approx(1e-11, rel=0.03)


def test_order_duplicates_and_uneven_sizes_do_not_matter():
    rng = np.random.default_rng(4)
    sizes = np.concatenate([SIZES[::2], np.geomspace(30 * KIB, 90 * KIB, 9), SIZES[:6], SIZES[:6]])
    times = two_levels(sizes) * np.exp(rng.normal(0, 0.02, len(sizes)))
    fit = fit_series(sizes, times, seed=1)
    assert fit.knees[0].capacity_bytes == pytest.approx(48 * KIB, rel=0.05)
    assert len(fit.knees) == 2
    shuffled = rng.permutation(len(sizes))
    again = fit_series(sizes[shuffled], times[shuffled], seed=1)
    assert [knee.capacity_bytes for knee in again.knees] == pytest.approx(
        [knee.capacity_bytes for knee in fit.knees], rel=1e-3
    )


def test_points_of_little_noise_decide():
    rng = np.random.default_rng(8)
    sigma = np.where(np.arange(40) % 2 == 0, 0.01, 0.30)
    fit = fit_series(SIZES, two_levels(SIZES) * np.exp(sigma * rng.normal(size=40)), sigma)
    assert [knee.capacity_bytes for knee in fit.knees] == pytest.approx([48 * KIB, 3 * MIB], rel=0.15)
    assert fit.plateaus[2].value == pytest.approx(8e-11, rel=0.03)


def test_unit_of_the_values_does_not_matter():
    case = made_up(1, 2, "cyclic")
    one, other = fit_series(case.sizes, case.times), fit_series(case.sizes, case.times * 1e9)
    assert [knee.capacity_bytes for knee in one.knees] == pytest.approx([knee.capacity_bytes for knee in other.knees])
    assert [p.value * 1e9 for p in one.plateaus] == pytest.approx([p.value for p in other.plateaus])


def test_the_same_seed_gives_the_same_fit():
    case = made_up(2, 3, "random")
    assert fit_series(case.sizes, case.times, seed=5) == fit_series(case.sizes, case.times, seed=5)


def test_a_cliff_between_two_sizes_has_an_interval_that_reaches_both():
    sizes = np.geomspace(4 * KIB, 4 * MIB, 21)
    fit = fit_series(sizes, np.where(sizes <= sizes[9] * 1.05, 1.0, 3.0))
    (knee,) = fit.knees
    assert (knee.low, knee.high) == pytest.approx((sizes[9], sizes[10]), rel=0.02)


def test_few_sizes_make_a_plateau_and_no_knee():
    fit = fit_series([4096, 8192, 16384], [1.0, 1.0, 3.0])
    assert fit.knees == ()
    assert len(fit.plateaus) == 1


@pytest.mark.parametrize(
    ("sizes", "values", "words"),
    [
        ([1, 2], [1, 1], "2 sizes"),
        ([1, 2, 3], [1, 1], "2 values"),
        ([1, 2, 3], [1, float("nan"), 1], "value nan at point 1"),
        ([1, 2, 3], [1, 1, -2], "value -2.0 at point 2"),
        ([0, 2, 3], [1, 1, 1], "size 0.0 at point 0"),
    ],
)
def test_bad_input_is_named(sizes, values, words):
    with pytest.raises(ErtError, match=words):
        fit_series(sizes, values)
