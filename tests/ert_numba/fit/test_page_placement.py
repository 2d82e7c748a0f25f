"""Pages that fall on a cache's sets at random: the shapes against sets played line by line, and against real curves."""

from __future__ import annotations

import numpy as np
import pytest
from made_up_curves import KIB, MIB, SIZES, WAYS, flat, paged, set_misses
from made_up_sweeps import device, sample, sweep
from scipy.stats import poisson

from ert_numba.fit.ceilings import fit_sweep
from ert_numba.fit.page_placement import miss_marking, scattered, scattered_shapes, slowest_of
from ert_numba.fit.piecewise import fit_series
from ert_numba.fit.selection import Series, dictionary
from ert_numba.fit.shapes import miss_cliff
from ert_numba.records import Work

# Two cores of 32 KiB and 512 KiB (8 ways) in a virtual machine with busy neighbours: KiB a core, bytes a cycle of both.
READ_KIB = [4, 5, 8, 11, 16, 22, 26, 32, 35, 40, 45, 53, 64, 90, 128, 181, 256, 304, 362, 394, 430, 469, 512, 608]
READ_KIB += [724, 1024, 1448, 2048, 2896, 4096, 5792]
READ = [111.7, 111.8, 107.5, 117.9, 127.3, 127.6, 102.0, 127.7, 64.4, 58.8, 64.1, 56.5, 64.3, 63.9, 63.9, 64.4, 64.3]
READ += [52.1, 54.9, 46.7, 46.7, 40.9, 33.8, 32.7, 28.6, 28.4, 31.7, 37.8, 39.6, 42.3, 40.8]
CHASE_KIB = [4, 5, 8, 11, 16, 22, 26, 32, 35, 40, 45, 53, 64, 90, 128, 181, 215, 256, 287, 322, 362, 430, 512, 724]
CHASE_KIB += [1024, 1448, 1722, 2048, 2298]
CHASE = [3.99, 3.99, 3.99, 3.99, 3.96, 3.97, 3.97, 4.21, 6.48, 11.78, 11.9, 12.01, 11.92, 11.85, 11.93, 12.02, 12.05]
CHASE += [11.89, 12.99, 16.0, 17.72, 24.22, 25.46, 37.09, 45.12, 47.51, 56.2, 55.34, 54.58]


@pytest.mark.parametrize("lines", range(WAYS, 2 * WAYS + 3))
def test_a_set_that_marks_what_it_used_misses_as_often_as_one_that_is_played(lines):
    assert miss_marking(np.array([lines / WAYS]))[0] == pytest.approx(set_misses(lines), abs=0.035)


@pytest.mark.parametrize("ways", [8, 16])
def test_sets_under_lru_miss_where_one_line_more_than_the_ways_would_fit(ways):
    """The chance that a line's set holds as many others as there are ways."""
    ratio = np.array([0.5, 0.7, 1.0, 1.4, 2.0])
    assert scattered(ways, miss_cliff)(ratio) == pytest.approx(poisson.sf(ways - 1, ways * ratio), abs=0.002)


def test_a_step_of_four_streams_is_fast_where_all_four_hit():
    miss = scattered(WAYS, miss_marking)
    ratio = np.array([0.3, 0.7, 1.0, 3.0])
    assert slowest_of(4, miss)(ratio) == pytest.approx(1 - (1 - miss(ratio)) ** 4)
    assert scattered_shapes(1)[-1].miss(ratio) == pytest.approx(miss(ratio))


@pytest.mark.parametrize("capacity", [512 * KIB, 1 * MIB])
def test_a_chase_finds_the_second_level_that_other_rows_misread(capacity):
    cases = [paged(seed, capacity) for seed in range(6)]

    def errors(**rows: object) -> list[float]:
        fits = [fit_series(case.sizes, case.times, replicates=2, **rows) for case in cases]
        return [fit.knees[1].capacity_bytes / capacity - 1 for fit in fits if len(fit.knees) == 2]

    found = errors(shapes=scattered_shapes(1))
    assert len(found) >= 5
    assert max(np.abs(found)) < 0.15
    assert np.median(errors()) < -0.15


def test_most_sweeps_of_four_streams_find_the_second_level():
    cases = [paged(seed, 512 * KIB, streams=4) for seed in range(8)]
    fits = [fit_series(case.sizes, case.times, replicates=2, shapes=scattered_shapes(4)) for case in cases]
    near = [abs(fit.knees[1].capacity_bytes / (512 * KIB) - 1) < 0.15 for fit in fits if len(fit.knees) == 2]
    assert sum(near) >= 5


@pytest.mark.parametrize(
    ("sizes", "costs", "streams"),
    [(READ_KIB, 1 / np.array(READ), 4), (CHASE_KIB, np.array(CHASE), 1)],
    ids=["read", "chase"],
)
def test_measured_curves_of_a_guest_end_where_the_system_says(sizes, costs, streams):
    fit = fit_series(np.array(sizes) * KIB, costs, replicates=50, shapes=scattered_shapes(streams))
    assert [knee.capacity_bytes / KIB for knee in fit.knees] == pytest.approx([32, 512], rel=0.15)
    assert fit.knees[1].shape == "scattered"
    assert fit.knees[1].low <= 512 * KIB <= fit.knees[1].high


def test_the_sets_of_a_first_level_fill_evenly_and_those_of_the_others_do_not():
    rows, sizes = scattered_shapes(4), np.geomspace(4 * KIB, 512 * MIB, 160)
    columns = dictionary(Series(sizes, np.ones(160), np.ones(160), rows), [(-np.inf, np.inf)], 8)
    reach = {
        name: [
            np.exp(place)
            for place, row in zip(columns.position, columns.shape, strict=True)
            if rows[row].name == name and place > 0
        ]
        for name in ("gradual", "smeared", "scattered")
    }
    assert max(reach["gradual"]) < 180 * KIB < 200 * KIB < max(reach["scattered"])
    assert min(reach["smeared"]) > 128 * KIB
    assert min(reach["scattered"]) > 128 * KIB


def test_an_interval_allows_for_the_luck_of_one_placement():
    cases = [paged(seed, 1 * MIB) for seed in range(8)]
    fits = [fit_series(case.sizes, case.times, replicates=60, shapes=scattered_shapes(1)) for case in cases]
    second = [fit.knees[1] for fit in fits if len(fit.knees) == 2]
    assert sum(knee.low <= 1 * MIB <= knee.high for knee in second) >= len(second) - 1 >= 6
    assert all(knee.high / knee.low > 1.15 for knee in second)


@pytest.mark.parametrize("streams", [1, 4])
def test_flat_curves_grow_no_knees_of_these_shapes(streams):
    rows = scattered_shapes(streams)
    assert sum(len(fit_series(SIZES, flat(seed), replicates=2, shapes=rows).knees) > 0 for seed in range(20)) == 0


@pytest.mark.parametrize(
    ("hypervisor", "huge", "expected"), [("yes", True, True), ("no", False, True), ("no", True, False)]
)
def test_small_pages_and_those_of_a_guest_lie_at_random(hypervisor, huge, expected):
    case = paged(1, 1 * MIB)
    samples = [
        sample(
            "curve.latency", [time * 1e-3] * 6, Work(accesses=1e6), {"threads": 1, "working_set_bytes": int(size)},
            conditions={"huge_pages": huge},
        )
        for size, time in zip(case.sizes, case.times, strict=True)
    ]  # fmt: skip
    model = fit_sweep(sweep(*samples, device=device(properties={"hypervisor": hypervisor})))
    (second,) = [knee for knee in model.knees if knee.level == "L2"]
    assert (second.shape == "scattered") is expected
    assert (abs(second.capacity_bytes / (1 * MIB) - 1) < 0.15) is expected
