"""The loop on a made-up device and a made-up clock: what it visits, refines, leaves out, and keeps."""

from __future__ import annotations

import random

import pytest
from fake_timer import KERNEL, FakeTimer, points
from hypothesis import given
from hypothesis import strategies as st
from made_up_sweeps import sweep as made_up_sweep

from ert_numba.errors import ErtError
from ert_numba.kernels.spec import CompiledCodeMismatch
from ert_numba.measure import sweep
from ert_numba.measure.sweep import Outcome, Plan, Progress, Track, measure, plan_points
from ert_numba.records import Point, Skipped
from ert_numba.store.checks import faults_of_sweep

PLAN = Plan(budget_seconds=1e6)


def run(timer: FakeTimer, tracks: list[Point], plan: Plan = PLAN, **options) -> Outcome:
    heard: list[Progress] = options.pop("heard", [])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "time", timer.time)
        return measure([Track(KERNEL, row) for row in tracks], timer, plan, heard.append, timer.now, **options)


def steady(rates: dict[str, float], noise: float = 0.001):
    """Seconds of a call of 3 MB; noise only ever slows it down."""
    generator = random.Random(1)
    return lambda point, call: 3e6 / rates[point.ceiling] * (1 + generator.random() * noise)


VARIANTS = [Point(kernel="fake", ceiling="DRAM.read", axes={"streams": count}) for count in (1, 2, 4, 8, 16)]
RATES = {1: 20e9, 2: 39e9, 4: 40e9, 8: 39.5e9, 16: 25e9}


def by_streams(point: Point, call: int) -> float:
    return 3e6 / RATES[point.axes["streams"]]


def test_every_point_is_visited_and_settles():
    names = ["L1.read", "L2.read", "DRAM.read", "L1.latency"]
    outcome = run(FakeTimer(steady(dict.fromkeys(names, 1e10))), points(names))
    assert sorted(row.point.ceiling for row in outcome.samples) == sorted(names)
    assert not any(row.noisy for row in outcome.samples)
    assert not outcome.partial
    assert outcome.skipped == []
    for row in outcome.samples:
        assert row.work.bytes_counted == 3e6
        assert len(row.clock_hz) == len(row.seconds) >= PLAN.rule.least
        assert row.code
        assert row.verified


def test_only_rivals_that_may_still_win_go_on():
    timer = FakeTimer(by_streams)
    outcome = run(timer, VARIANTS)
    visits = {row.axes["streams"]: [key for key, _ in timer.opened].count(row.key) for row in VARIANTS}
    assert len(outcome.samples) == len(VARIANTS)
    assert visits[1] == visits[16] == 1, "far behind"
    assert min(visits[2], visits[4], visits[8]) >= PLAN.least_visits


def test_no_point_of_a_series_is_a_rival_of_another():
    row = [Point(kernel="fake", ceiling="intensity.fp64.L1", axes={"flop_per_byte": 2.0**k}) for k in range(5)]
    outcome = run(FakeTimer(lambda point, call: 3e6 / 1e10 * point.axes["flop_per_byte"]), row)
    assert all(len(sample.seconds) >= PLAN.rule.least for sample in outcome.samples)
    assert len(outcome.samples) == 5


def test_a_point_that_never_agrees_is_marked_noisy_and_has_an_end():
    generator = random.Random(7)
    outcome = run(FakeTimer(lambda point, call: 1e-3 * (1.03**call + generator.random())), points(["L1.read"]))
    (sample,) = outcome.samples
    assert sample.noisy
    assert PLAN.rule.least <= len(sample.seconds) <= PLAN.rule.most + PLAN.visit_repeats + PLAN.visit_seconds / 1e-3


def test_a_point_is_looked_at_at_several_moments():
    timer = FakeTimer(steady({"L1.read": 1e10, "L2.read": 1e10}))
    run(timer, points(["L1.read", "L2.read"]))
    first = [key for key, _ in timer.opened]
    assert first.count(first[0]) >= PLAN.least_visits
    assert first[0] != first[1], "in rounds, not one point after the other"
    assert [count for _, count in timer.opened[:2]] == [None, None]
    assert {count for _, count in timer.opened[2:]} == {3}, "the same call each time"


CURVE_SIZES = [4096 * 2**power for power in range(12)]


def curve(cliff: int):
    return lambda point, call: 3e6 / (100e9 if point.axes["working_set_bytes"] <= cliff else 20e9)


@pytest.mark.parametrize("cliff", [48 << 10, 700 << 10, 3 << 20])
def test_new_sizes_are_put_where_the_curve_falls(cliff):
    row = [Point(kernel="fake", ceiling="curve.read", axes={"working_set_bytes": size}) for size in CURVE_SIZES]
    outcome = run(FakeTimer(curve(cliff)), row)
    sizes = [sample.point.axes["working_set_bytes"] for sample in outcome.samples]
    assert len(sizes) == len(set(sizes)), "no size twice"
    new = sorted(set(sizes) - set(CURVE_SIZES))
    assert new
    assert len(new) <= 2 * PLAN.refine_points
    below = max(size for size in CURVE_SIZES if size <= cliff)
    assert all(below / 2 <= size <= 4 * below for size in new), "at the fall and beside it"
    inside = [size for size in sorted(sizes) if below <= size <= 2 * below]
    assert len(inside) >= 4, "the gap that holds the fall is divided"
    assert all(size % 1024 == 0 for size in new)


def test_a_flat_curve_gets_no_new_sizes():
    row = [Point(kernel="fake", ceiling="curve.read", axes={"working_set_bytes": size}) for size in CURVE_SIZES]
    outcome = run(FakeTimer(curve(1 << 40)), row)
    assert len(outcome.samples) == len(CURVE_SIZES)


def test_a_resumed_sweep_measures_no_point_twice():
    """Its refinement must not come upon a size of the run before: one point with two works cannot be fitted."""
    first, *between, last = [
        Point(kernel="fake", ceiling="curve.read", axes={"working_set_bytes": 4096 << power}) for power in range(5)
    ]
    known = {point.key for point in between}
    anew = {sample.point.key for sample in run(FakeTimer(curve(48 << 10)), [first, last]).samples}
    assert known <= anew, "these are the sizes that a refinement would choose"
    resumed = {sample.point.key for sample in run(FakeTimer(curve(48 << 10)), [first, last], done=known).samples}
    assert resumed == anew - known


def test_a_budget_that_ends_early_says_what_was_not_reached():
    names = [f"L{number}.read" for number in range(1, 40)]
    outcome = run(FakeTimer(lambda point, call: 0.05), points(names), Plan(budget_seconds=2.0))
    measured = [row.point.ceiling for row in outcome.samples]
    assert 0 < len(measured) < len(names)
    assert measured == names[: len(measured)]
    assert {row.what for row in outcome.skipped} == set(names) - set(measured)
    assert all("budget of 2 s" in row.reason and "--budget" in row.reason for row in outcome.skipped)
    assert not outcome.partial, "no interruption: what was asked is done"


def test_a_budget_that_ends_early_costs_variants_before_ceilings():
    tracks = [*VARIANTS, *points(["L1.read", "L2.read"])]
    outcome = run(FakeTimer(lambda point, call: 0.1), tracks, Plan(budget_seconds=1.0, visit_repeats=1))
    assert {row.point.ceiling for row in outcome.samples} == {"DRAM.read", "L1.read", "L2.read"}
    assert outcome.skipped == []


def test_what_is_refused_is_named_once_and_not_tried_again():
    refusals = {
        "L1.read": CompiledCodeMismatch("3 load instructions where 8 are declared"),
        "L2.read": ErtError("a working set of 1 TiB", "2 GiB of memory that may be used", "Ask for smaller --sizes"),
    }
    timer = FakeTimer(steady({"DRAM.read": 1e10}), refusals)
    outcome = run(timer, points([*refusals, "DRAM.read"]))
    assert [row.point.ceiling for row in outcome.samples] == ["DRAM.read"]
    reasons = {row.what: row.reason for row in outcome.skipped}
    assert len(outcome.skipped) == 2
    assert "3 load instructions where 8 are declared" in reasons[points(["L1.read"])[0].key]
    assert "2 GiB of memory that may be used" in reasons[points(["L2.read"])[0].key]
    assert [key for key, _ in timer.opened].count(points(["L1.read"])[0].key) == 1


@given(st.integers(1, 400))
def test_an_interrupt_at_any_moment_keeps_what_was_measured_and_nothing_else(moment):
    names = ["L1.read", "L2.read", "L3.read", "DRAM.read"]
    curve_points = [Point(kernel="fake", ceiling="curve.read", axes={"working_set_bytes": s}) for s in CURVE_SIZES[:4]]
    rates = {**dict.fromkeys(names, 1e10), "curve.read": 1e10}
    timer = FakeTimer(steady(rates), interrupt_at=moment)
    outcome = run(timer, [*points(names), *curve_points])
    document = made_up_sweep(*outcome.samples, partial=outcome.partial)
    assert list(faults_of_sweep(document)) == [], "every sample is whole"
    measured = {row.point.key for row in outcome.samples}
    assert measured == set(timer.calls), "all that was timed, and only that"
    missed = {row.key for row in [*points(names), *curve_points]} - measured
    interrupted = timer.events == moment
    assert outcome.partial == (interrupted and bool(missed))
    reached = {row.point.ceiling for row in outcome.samples}
    assert {row.what for row in outcome.skipped} == {*names, "curve.read"} - reached
    assert all(row.reason == "interrupted before its turn" for row in outcome.skipped)


def test_a_wrong_result_stays_wrong():
    timer = FakeTimer(steady({"L1.read": 1e10}))
    timer.verified["L1.read"] = False
    outcome = run(timer, points(["L1.read"]))
    assert [row.verified for row in outcome.samples] == [False]


def test_progress_counts_up_to_the_budget():
    heard: list[Progress] = []
    run(FakeTimer(lambda point, call: 0.05), points(["L1.read", "L2.read"]), Plan(budget_seconds=3.0), heard=heard)
    spent = [row.seconds_spent for row in heard]
    assert spent == sorted(spent)
    assert all(0 <= row.seconds_spent < row.budget_seconds == 3.0 and row.done < row.of for row in heard)


def test_planning_skips_what_is_done_and_keeps_reasons():
    offered = [*VARIANTS, Skipped(what="AMX", reason="not yet"), VARIANTS[2]]
    tracks, skipped = plan_points([KERNEL], lambda _: offered, [VARIANTS[0].key, "no such point"])
    assert [track.point for track in tracks] == VARIANTS[1:]
    assert skipped == [Skipped(what="AMX", reason="not yet")]
