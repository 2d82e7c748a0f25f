"""Which point becomes the roof, and when a roof is impossible."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from made_up_sweeps import CLOCK_HZ, bandwidth, compute, device, repeats, sample, sweep

from ert_numba.errors import ErtError
from ert_numba.fit.ceilings import fit_sweep
from ert_numba.records import Work

LIMIT = 16 * CLOCK_HZ  # of one core


def test_the_best_point_is_the_roof_with_its_axes():
    samples = [bandwidth("DRAM.read", rate, axes={"threads": 2, "streams": n}) for n, rate in ((1, 30e9), (4, 45e9), (8, 41e9))]  # fmt: skip  # noqa: E501
    (roof,) = fit_sweep(sweep(*samples)).ceilings
    assert roof.value == pytest.approx(45e9, rel=0.01)
    assert roof.low < roof.value < roof.high
    assert roof.conditions["streams"] == 4
    assert (roof.unit, roof.level, roof.access, roof.samples) == ("B/s", "DRAM", "read", 12)


def test_samples_of_one_point_are_one():
    first, second = compute("fp64.vector.fma", 90e9), compute("fp64.vector.fma", 90e9)
    (roof,) = fit_sweep(sweep(first, second)).ceilings
    assert roof.samples == 24


def test_latency_is_the_least_time_of_an_access():
    rng = np.random.default_rng(1)
    slow, fast = (
        sample("L1.latency", repeats(1e6 * time, rng), Work(accesses=1e6), {"threads": 1, "page": page})
        for time, page in ((1.4e-9, "small"), (1.1e-9, "huge"))
    )
    (roof,) = fit_sweep(sweep(slow, fast)).ceilings
    assert (roof.kind, roof.unit, roof.level) == ("latency", "s", "L1")
    assert roof.value == pytest.approx(1.1e-9, rel=0.01)
    assert roof.conditions["page"] == "huge"
    assert roof.low <= 1.1e-9 <= roof.high


def test_traffic_is_what_moved_over_what_was_counted():
    (roof,) = fit_sweep(sweep(bandwidth("DRAM.write", 20e9, moved=2.0))).ceilings
    assert roof.traffic_ratio == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("key", "threads", "limit"),
    [
        ("fp64.vector.fma", 2, 2 * LIMIT),
        ("fp64.vector.fma", 1, LIMIT),
        ("fp64.vector.fma", 4, 2 * LIMIT),
        ("fp64.vector.fma@core", 1, LIMIT),
        ("fp32.vector.fma", 2, None),
    ],
)
def test_limit_follows_the_units_in_use(key, threads, limit):
    (roof,) = fit_sweep(sweep(compute(key, 40e9, axes={"threads": threads}))).ceilings
    assert roof.limit == (None if limit is None else pytest.approx(limit))


def test_limit_is_taken_at_the_upper_end_of_the_clock():
    clocks = (2.9e9, 3.1e9, 3.0e9) * 4
    (roof,) = fit_sweep(sweep(compute("fp64.vector.fma", 90e9, clock_hz=clocks[:11]))).ceilings
    assert roof.clock_hz == (2.9e9, 3.1e9)
    assert roof.limit == pytest.approx(2 * 16 * 3.1e9)
    (unknown,) = fit_sweep(sweep(compute("fp64.vector.fma", 90e9, clock_hz=()))).ceilings
    assert unknown.limit == pytest.approx(2 * 16 * device().maximum_clock_hz)


def test_only_clocks_beside_the_repeats_that_carry_the_value_count():
    made = compute("fp64.vector.fma", 90e9)
    order = sorted(made.seconds)
    clocks = tuple(3.0e9 if second in order[:6] else 3.4e9 for second in made.seconds)
    (roof,) = fit_sweep(sweep(msgspec.structs.replace(made, clock_hz=clocks))).ceilings
    assert roof.clock_hz == (3.0e9, 3.0e9)
    assert roof.limit == pytest.approx(2 * 16 * 3.0e9)


def test_limit_of_a_bus_is_per_second_and_variants_share_it():
    (roof,) = fit_sweep(sweep(bandwidth("DRAM.read.private", 40e9))).ceilings
    assert roof.limit == 50e9


def test_impossible_is_a_low_end_above_the_limit_exactly():
    seconds = [1e9 / (2 * LIMIT)] * 12  # at the limit: the interval reaches half a percent below it
    (at_limit,) = fit_sweep(sweep(sample("fp64.vector.fma", seconds, Work(flop=1e9)))).ceilings
    assert at_limit.value == pytest.approx(at_limit.limit)
    assert not at_limit.impossible
    (slightly,) = fit_sweep(sweep(sample("fp64.vector.fma", [t / 1.004 for t in seconds], Work(flop=1e9)))).ceilings
    assert slightly.value > slightly.limit
    assert not slightly.impossible
    model = fit_sweep(sweep(sample("fp64.vector.fma", [t / 1.02 for t in seconds], Work(flop=1e9))))
    (above,) = model.ceilings
    assert above.low > above.limit
    assert above.impossible
    assert model.roofs("compute") == ()
    assert any("above the physical limit" in note for note in model.notes)


def test_noise_flags_carry_over():
    quiet, noisy = compute("fp64.vector.fma", 90e9), compute("fp32.vector.fma", 180e9, noisy=True)
    model = fit_sweep(sweep(quiet, noisy))
    assert {roof.key: roof.noisy for roof in model.ceilings} == {"fp64.vector.fma": False, "fp32.vector.fma": True}
    assert any("1 of 2 ceilings are noisy" in note for note in model.notes)


@pytest.mark.parametrize("key", ["fp64.vector.fma", "L1.read", "L1.latency", "launch.plain"])
def test_a_point_that_declares_nothing_of_its_kind_is_named(key):
    with pytest.raises(ErtError, match=key):
        fit_sweep(sweep(sample(key, [1.0, 1.0, 1.0], Work())))


def test_a_probe_that_a_neighbour_slowed_makes_nothing_impossible():
    """The clock beside one point read 3 % low; elsewhere in the run the core was seen at its true clock."""
    slowed = compute("fp64.vector.fma", 1.01 * 2 * LIMIT, clock_hz=(0.97 * CLOCK_HZ,) * 12)
    other = compute("fp32.vector.fma", 1e9, clock_hz=(1.02 * CLOCK_HZ,) * 12)
    alone, beside = fit_sweep(sweep(slowed)), fit_sweep(sweep(slowed, other))
    assert alone.ceilings[0].impossible
    assert not beside.ceiling("fp64.vector.fma").impossible
    folded = compute("fp64.vector.fma", 8 / 7 * 2 * LIMIT, clock_hz=(0.97 * CLOCK_HZ,) * 12)
    assert fit_sweep(sweep(folded, other)).ceiling("fp64.vector.fma").impossible
