"""Names of knees: by capacity where caches are known, by order where none is, honest where nothing fits."""

from __future__ import annotations

import pytest
from made_up_curves import KIB, MIB
from made_up_sweeps import device

from ert_numba.fit.naming import agrees, name_knees
from ert_numba.records import Cache


def levels(capacities, workers=2, **changes):
    return [row.level for row in name_knees(capacities, device(**changes), workers)]


def test_each_knee_gets_the_cache_of_its_size():
    assert levels([33 * KIB, 0.9 * MIB, 8 * MIB]) == ["L1", "L2", "L3"]


def test_a_missing_knee_does_not_shift_the_names():
    assert levels([0.9 * MIB, 8 * MIB]) == ["L2", "L3"]
    assert levels([33 * KIB, 8 * MIB]) == ["L1", "L3"]


def test_an_extra_knee_does_not_shift_the_names():
    assert levels([33 * KIB, 0.9 * MIB, 8 * MIB, 200 * MIB]) == ["L1", "L2", "L3", "unknown"]
    assert levels([4 * KIB, 33 * KIB, 0.9 * MIB, 8 * MIB]) == ["unknown", "L1", "L2", "L3"]


GPU = {
    "kind": "gpu",
    "units": 132,
    "caches": (
        Cache(level="L1", bytes=256 * KIB, instances=132, source="catalogue"),
        Cache(level="L2", bytes=60 * MIB, shared_by=132, source="driver"),
    ),
}


def test_the_step_between_the_halves_of_a_gpus_l2_is_named_for_what_it_is():
    assert levels([250 * KIB, 30.5 * MIB, 54 * MIB], 1, **GPU) == ["L1", "L2 near", "L2"]
    near = name_knees([250 * KIB, 30.5 * MIB, 54 * MIB], device(**GPU), 1)[1]
    assert (near.nominal_bytes, near.guess) == (30 * MIB, False)


def test_one_sm_sees_no_end_of_l2_at_its_half():
    """A coarse curve may miss the end of L2 itself: the step that is left is still that between the halves."""
    one, all_of_them = (name_knees([250 * KIB, 33.6 * MIB], device(**GPU), 1, one_sm)[1] for one_sm in (True, False))
    assert one.level == "L2 near"
    assert all_of_them.level == "L2", "lines that every SM reads fill both halves"


def test_other_strangers_of_a_gpu_stay_unknown():
    assert levels([250 * KIB, 4 * MIB, 54 * MIB], 1, **GPU) == ["L1", "unknown", "L2"]
    assert levels([250 * KIB, 54 * MIB, 300 * MIB], 1, **GPU) == ["L1", "L2", "unknown"]
    assert levels([33 * KIB, 0.5 * MIB, 0.9 * MIB, 8 * MIB]) == ["L1", "unknown", "L2", "L3"], "no half of a CPU's L2"


def test_neighbours_may_leave_little_of_a_shared_cache():
    assert levels([33 * KIB, 1 * MIB, 1.7 * MIB]) == ["L1", "L2", "L3"]


def test_a_shared_cache_offers_its_share_to_each_worker():
    both, alone = name_knees([8 * MIB], device(), 2)[0], name_knees([16 * MIB], device(), 1)[0]
    assert (both.level, both.sharers, both.nominal_bytes) == ("L3", 2, 16 * MIB)
    assert (alone.level, alone.sharers, alone.nominal_bytes) == ("L3", 1, 16 * MIB)


def test_a_gpu_cache_is_shared_by_all_its_sms():
    caches = (
        Cache(level="L1", bytes=256 * KIB, instances=132, source="catalogue"),
        Cache(level="L2", bytes=60 * MIB, shared_by=132, source="driver"),
    )
    gpu = device(kind="gpu", units=132, caches=caches)
    assert [(row.level, row.sharers) for row in name_knees([208 * KIB, 52 * MIB / 132], gpu, 132)] == [
        ("L1", 1),
        ("L2", 132),
    ]


def test_without_known_caches_names_go_by_order_and_say_so():
    rows = name_knees([40 * KIB, 2 * MIB, 9 * MIB, 80 * MIB], device(caches=()), 2)
    assert [row.level for row in rows] == ["L1", "L2", "L3", "L4"]
    assert all(row.guess and row.nominal_bytes is None for row in rows)
    assert [row.sharers for row in rows[:3]] == [1, 1, 2]


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [(1.14, 1.13, 1.15, True), (1.3, 1.2, 1.4, False), (1.3, 0.9, 1.4, True), (0.5, 0.4, 0.6, False)],
)
def test_agreement_is_15_percent_or_an_interval_that_covers(value, low, high, expected):
    assert agrees(1.0, value, low, high) is expected
