"""Curves as knees and ceilings: names, shares, disagreements, and what has no point of its own."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from made_up_curves import KIB, MIB
from made_up_sweeps import CAPACITIES, LATENCIES, RATES, bandwidth, device, latency_curve, read_curve, sample, sweep

from ert_numba.errors import ErtError
from ert_numba.fit.ceilings import fit_sweep
from ert_numba.records import Cache, Work


def test_knees_are_named_and_agree_with_the_caches():
    model = fit_sweep(sweep(*read_curve()))
    assert [knee.level for knee in model.knees] == ["L1", "L2", "L3"]
    assert [knee.capacity_bytes for knee in model.knees] == pytest.approx(CAPACITIES * [1, 1, 2], rel=0.1)
    assert [knee.nominal_bytes for knee in model.knees] == [32 * KIB, 1 * MIB, 16 * MIB]
    assert all(knee.agrees and knee.witness == "bandwidth" and knee.low < knee.high for knee in model.knees)
    assert [knee.ceiling for knee in model.knees] == ["L1.read", "L2.read", "L3.read"]
    assert "2 workers shared it" in model.knees[2].note


def test_levels_without_points_of_their_own_take_the_plateau():
    model = fit_sweep(sweep(*read_curve()))
    rates = {roof.key: roof.value for roof in model.ceilings}
    assert list(rates) == ["L1.read", "L2.read", "L3.read", "DRAM.read"]
    assert list(rates.values()) == pytest.approx(RATES, rel=0.03)
    assert all("plateau of curve.read" in roof.note for roof in model.ceilings)
    first = model.ceiling("L1.read")
    assert first.limit == pytest.approx(64 * 2 * 3e9)
    assert first.low < first.value < first.high


def test_a_point_of_its_own_comes_before_the_plateau():
    model = fit_sweep(sweep(*read_curve(), bandwidth("L1.read", 380e9)))
    assert model.ceiling("L1.read").note == ""
    assert model.ceiling("L1.read").value == pytest.approx(380e9, rel=0.01)


def test_latency_is_a_second_witness():
    model = fit_sweep(sweep(*read_curve(), *latency_curve()))
    latency = [knee for knee in model.knees if knee.witness == "latency"]
    assert [knee.level for knee in latency] == ["L1", "L2", "L3"]
    assert [knee.capacity_bytes for knee in latency] == pytest.approx(CAPACITIES * [1, 1, 2], rel=0.1)
    assert [model.ceiling(f"{level}.latency").value for level in ("L1", "L2", "L3", "DRAM")] == pytest.approx(
        LATENCIES, rel=0.03
    )
    assert not any("puts its end" in note for note in model.notes)


def test_witnesses_that_contradict_each_other_are_shown():
    model = fit_sweep(sweep(*read_curve(), *latency_curve(CAPACITIES * [1, 1.6, 2])))
    assert any(note.startswith("L2: bandwidth puts its end") for note in model.notes)


def test_the_halves_of_a_gpus_l2_have_a_latency_each():
    caches = (
        Cache(level="L1", bytes=32 * KIB, instances=2, source="catalogue"),
        Cache(level="L2", bytes=8 * MIB, shared_by=2, source="driver"),
    )
    gpu = device(kind="gpu", caches=caches, limits=())
    model = fit_sweep(sweep(*latency_curve(CAPACITIES * [1, 3.5, 1]), device=gpu))
    assert [knee.level for knee in model.knees] == ["L1", "L2 near", "L2"]
    near = model.knees[1]
    assert near.ceiling == "L2.latency"
    assert "half of L2 that is near" in near.note
    assert near.nominal_bytes == 4 * MIB
    keys = ("L1.latency", "L2.latency", "L2.latency.far", "DRAM.latency")
    assert [model.ceiling(key).value for key in keys] == pytest.approx(LATENCIES, rel=0.03)


def test_chains_of_few_laps_do_not_make_a_level_of_a_gpus_empty_l1():
    """A launch finds L1 empty: from 10 KiB on these chains made few laps, and show the first one's misses."""
    caches = (
        Cache(level="L1", bytes=32 * KIB, instances=2, source="catalogue"),
        Cache(level="L2", bytes=8 * MIB, shared_by=2, source="driver"),
    )
    gpu = device(kind="gpu", caches=caches, limits=())
    whole = latency_curve(CAPACITIES * [1, 3.5, 1])
    cut = [few_laps(row, 4) if 10 * KIB < row.point.axes["working_set_bytes"] <= 32 * KIB else row for row in whole]
    model = fit_sweep(sweep(*cut, device=gpu))
    assert [knee.level for knee in model.knees] == ["L1", "L2 near", "L2"]
    l1 = model.knees[0]
    assert l1.low <= CAPACITIES[0] <= l1.high
    assert model.ceiling("L1.latency").value == pytest.approx(LATENCIES[0], rel=0.03)
    assert any("fewer than 16 laps" in note for note in model.notes)
    assert not any("laps" in note for note in fit_sweep(sweep(*whole, device=gpu)).notes)


def few_laps(row, laps):
    """The same chain cut short: one lap of it misses."""
    accesses = laps * row.point.axes["working_set_bytes"] / 128
    share = accesses / row.work.accesses
    missed = (LATENCIES[1] - LATENCIES[0]) * accesses / laps
    return msgspec.structs.replace(
        row, work=Work(accesses=accesses), seconds=tuple(time * share + missed for time in row.seconds)
    )


def test_a_gpus_shared_lines_lie_in_both_halves_and_contradict_nothing():
    l2 = (Cache(level="L2", bytes=16 * MIB, shared_by=2, source="driver"),)
    gpu = device(kind="gpu", caches=l2, limits=())
    shared = read_curve(np.geomspace(2 * MIB, 64 * MIB, 30), ceiling="curve.read.shared")
    model = fit_sweep(sweep(*shared, *latency_curve(CAPACITIES * [1, 1, 2]), device=gpu))
    (both,) = [knee for knee in model.knees if knee.witness == "bandwidth" and knee.level == "L2"]
    assert both.agrees is False
    assert "each half of L2 keeps a copy" in both.note
    assert not any("puts its end" in note for note in model.notes)


def test_a_disagreement_with_the_nominal_size_is_shown():
    caches = (
        Cache(level="L1", bytes=64 * KIB, instances=2, source="sysfs"),
        Cache(level="L2", bytes=1 * MIB, instances=2, source="sysfs"),
        Cache(level="L3", bytes=16 * MIB, shared_by=2, source="sysfs"),
    )
    model = fit_sweep(sweep(*read_curve(), device=device(caches=caches)))
    first = model.knees[0]
    assert (first.level, first.agrees) == ("L1", False)
    assert "64 KiB nominal" in first.note
    assert all(knee.agrees for knee in model.knees[1:])


def test_without_known_caches_names_are_guesses_that_say_so():
    model = fit_sweep(sweep(*read_curve(), device=device(caches=())))
    assert [knee.level for knee in model.knees] == ["L1", "L2", "L3"]
    assert all("named by order" in knee.note and knee.agrees is None for knee in model.knees)
    assert [roof.key for roof in model.ceilings] == ["L1.read", "L2.read", "L3.read", "DRAM.read"]
    assert all("named by order" in roof.note for roof in model.ceilings)


def test_a_curve_that_ends_inside_a_cache_does_not_call_it_memory():
    model = fit_sweep(sweep(*read_curve(np.geomspace(4 * KIB, 6 * MIB, 36))))
    assert [roof.key for roof in model.ceilings] == ["L1.read", "L2.read", "L3.read"]
    assert any("shows no end of L3" in note for note in model.notes)


def test_one_worker_has_a_shared_cache_to_itself():
    short = [row for row in latency_curve() if row.point.axes["working_set_bytes"] < 13 * MIB]
    model = fit_sweep(sweep(*short))
    assert [roof.key for roof in model.ceilings] == ["L1.latency", "L2.latency", "L3.latency"]


def test_no_knee_is_an_answer():
    model = fit_sweep(sweep(*read_curve(np.geomspace(4 * KIB, 24 * KIB, 16))))
    assert model.knees == ()
    assert [roof.key for roof in model.ceilings] == ["L1.read"]
    assert any("no knee found from 4 KiB to 24 KiB" in note for note in model.notes)


def test_variant_and_scope_pass_on_to_ceilings():
    model = fit_sweep(sweep(*read_curve(ceiling="curve.read.private@core")))
    assert [knee.ceiling for knee in model.knees][:2] == ["L1.read.private@core", "L2.read.private@core"]
    assert model.ceiling("L1.read.private@core").scope == "core"


def test_where_all_workers_read_the_same_lines_the_whole_cache_is_theirs():
    model = fit_sweep(sweep(*read_curve(ceiling="curve.read.shared"), device=device()))
    assert model.knees[2].capacity_bytes == pytest.approx(CAPACITIES[2], rel=0.1)
    assert model.knees[2].agrees is False  # 8 MiB against the 16 MiB that one shared set could fill


def test_configurations_are_never_mixed_in_one_curve():
    other = [
        sample("curve.read", list(row.seconds), Work(bytes_counted=5 * row.work.bytes_counted), {**row.point.axes, "streams": 8})  # noqa: E501
        for row in read_curve()[::3]
    ]  # fmt: skip
    assert fit_sweep(sweep(*read_curve(), *other)).knees == fit_sweep(sweep(*read_curve())).knees


def test_a_curve_point_without_its_size_is_named():
    with pytest.raises(ErtError, match="working_set_bytes"):
        fit_sweep(sweep(sample("curve.read", [1.0, 1.0, 1.0], Work(bytes_counted=1.0), {"threads": 2})))
