"""The judge on stored starts of real machines, drawn again and again: how often it cries wolf, and what it finds.

``ERT_NUMBA_DRAWS=1000`` makes the full number of draws; ``python tests/support/resampling.py h200 1000`` prints all.
"""

from __future__ import annotations

import os
from collections import Counter

import msgspec
import pytest
from resampling import A_SIDE, alarms, pairs, slowed, stored

from ert_numba.judge.evidence import SuiteRun
from ert_numba.judge.judgement import SAME, SLOWER, UNKNOWN
from ert_numba.judge.suite import judge

DRAWS = int(os.environ.get("ERT_NUMBA_DRAWS", "40"))
SLOWER_KERNELS = {"fp32.vector.fma", "fp32.vector.add", "fp16.vector.fma"}
# What no five starts can tell by 3 %: host copies and launches that differ by 9 to 15 % between starts.
HOPELESS = {"HOST.d2h_pageable", "HOST.h2d_pageable", "launch.stream", "launch.round_trip"}


def test_the_draws_share_no_start():
    for a, b in pairs(stored("h200"), 20):
        labels = [start.label for run in (a, b) for start in run.starts]
        assert len(labels) == len(set(labels)) == 2 * A_SIDE


@pytest.mark.parametrize("kind", ["h200", "cpu"])
def test_at_most_1_of_100_comparisons_of_the_same_with_the_same_cries_wolf(kind):
    judgements = [judge(a, b) for a, b in pairs(stored(kind), DRAWS)]
    crying = [names for judgement in judgements if (names := alarms(judgement))]
    assert len(crying) <= max(1, DRAWS // 100), crying
    # It must not be quiet by saying nothing: on the GPU nearly all is called the same.
    verdicts = Counter(row.verdict for judgement in judgements for row in judgement.benchmarks)
    assert verdicts[SAME] > (0.9 if kind == "h200" else 0.7) * verdicts.total()


def test_3_percent_slower_is_found_in_95_of_100_on_the_gpu():
    """Also where one of the starts ran at 1755 instead of 1800 MHz: its clock cycles tell."""
    found: Counter[str] = Counter()
    keys = set()
    for a, b in pairs(stored("h200"), DRAWS):
        # A factor changes no spread, so what is found does not depend on what else is slowed (see below): all at once.
        for row in judge(a, slowed(b, 1.03)).benchmarks:
            keys.add(row.key)
            found[row.key] += row.verdict == SLOWER
    able = keys - HOPELESS
    assert len(able) == 66
    assert {key: found[key] for key in able if found[key] < 0.95 * DRAWS} == {}


def test_slowing_one_benchmark_is_found_as_when_all_are_slowed():
    a, b = next(pairs(stored("h200"), 1))
    everything = {row.name: row.verdict for row in judge(a, slowed(b)).benchmarks}
    same = {row.name: row.verdict for row in judge(a, b).benchmarks}
    for name in list(everything)[::6]:
        alone = {row.name: row.verdict for row in judge(a, slowed(b, only=name)).benchmarks}
        assert alone == same | {name: everything[name]}


def test_quiet_benchmarks_of_a_noisy_cpu_are_found_and_the_others_say_their_threshold():
    found: Counter[str] = Counter()
    quiet: Counter[str] = Counter()
    for a, b in pairs(stored("cpu"), DRAWS):
        for row in judge(a, slowed(b)).benchmarks:
            assert row.threshold is not None
            if row.threshold.source == "default":
                quiet[row.key] += 1
                found[row.key] += row.verdict == SLOWER
            elif row.threshold.fraction > 0.2:
                assert (row.verdict, "too noisy" in row.reason) == (UNKNOWN, True)
    assert sum(count > 0.9 * DRAWS for count in quiet.values()) >= 19
    assert found.total() > 0.99 * quiet.total()


def test_neither_in_turns_nor_one_after_the_other_do_the_starts_of_a_run_differ():
    starts = stored("h200").starts
    for a, b in ((starts[:6], starts[6:]), (starts[::2], starts[1::2])):
        assert alarms(judge(SuiteRun(name="a", starts=a), SuiteRun(name="b", starts=b))) == []


def test_kernels_with_more_instructions_are_found_and_nothing_else():
    """Three kernels run 3.1 % more instructions, on the card; the other seven of these starts are as they were."""
    slower = stored("h200", "slower")
    for a, _ in pairs(stored("h200"), max(5, DRAWS // 10), seed=3):
        rows = {row.key: row for row in judge(a, slower).benchmarks if row.change is not None}
        assert {key for key, row in rows.items() if row.verdict == SLOWER} == SLOWER_KERNELS
        assert all(rows[key].change == pytest.approx(0.031, abs=0.004) for key in SLOWER_KERNELS)
        assert {row.verdict for key, row in rows.items() if key not in SLOWER_KERNELS} == {SAME}
        assert {found.name for found in rows["fp32.vector.fma"].differences} == {"code"}
        assert "with other code" in rows["fp32.vector.fma"].cause


def test_the_same_in_a_whole_suite():
    slower = stored("h200", "slower")
    for a, b in pairs(stored("h200"), max(5, DRAWS // 10), seed=4):
        starts = []
        for start, other in zip(b.starts, slower.starts, strict=True):
            new = {row.name: row for row in other.observed if row.said and row.said.key in SLOWER_KERNELS}
            observed = tuple(new.get(row.name, row) for row in start.observed)
            starts.append(msgspec.structs.replace(start, observed=observed))
        assert set(alarms(judge(a, SuiteRun(name="b", starts=tuple(starts))))) == SLOWER_KERNELS


def test_kernels_at_the_power_cap_are_judged_by_their_cycles():
    told = Counter(
        row.moved
        for a, b in pairs(stored("h200"), 10)
        for row in judge(a, slowed(b)).benchmarks
        if row.key in ("fp16.tensor.wgmma.acc16", "tf32.tensor.wgmma") and "wanders" in row.cause
    )
    assert told["ceiling"] >= 4
