import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_benchmarks import SUITE, USER, foreign, made_up_run, name_of, on_a_cpu

from ert_numba.errors import ErtError, NotComparable
from ert_numba.judge.conditions import Difference
from ert_numba.judge.evidence import SuiteRun
from ert_numba.judge.judgement import Judged, Judgement, exit_code
from ert_numba.judge.suite import judge
from ert_numba.judge.thresholds import Thresholds
from ert_numba.records import Work
from ert_numba.starts import SUITE_VERSION, RoofHit
from ert_numba.store.documents import encode

replace = msgspec.structs.replace
NOISY = "HOST.h2d_pageable"
A = made_up_run("a")


def rows(judgement: Judgement) -> dict[str, Judged]:
    return {row.key: row for row in judgement.benchmarks}


def each_start(run: SuiteRun, change, only=None) -> SuiteRun:
    """The run with ``change`` applied to every start, or to those whose index is in ``only``."""
    starts = [change(start) if only is None or index in only else start for index, start in enumerate(run.starts)]
    return replace(run, starts=tuple(starts))


def each_record(run: SuiteRun, key: str, only=None, **fields) -> SuiteRun:
    """The run with fields of one benchmark's record replaced."""

    def change(start):
        observed = (
            replace(row, said=replace(row.said, **fields)) if row.said.key == key else row for row in start.observed
        )
        return replace(start, observed=tuple(observed))

    return each_start(run, change, only)


def test_what_changed_is_found_and_what_did_not_is_the_same():
    b = made_up_run("b", seed=2, times={"DRAM.read": 1.03, "L1.read": 1 / 1.03})
    found = rows(judge(A, b))
    assert (found["DRAM.read"].verdict, found["L1.read"].verdict) == ("SLOWER", "FASTER")
    assert found["DRAM.read"].change == pytest.approx(0.03, abs=0.002)
    assert found["DRAM.read"].low < found["DRAM.read"].change < found["DRAM.read"].high
    assert found[NOISY].verdict == "UNKNOWN"
    others = [row for key, row in found.items() if key not in ("DRAM.read", "L1.read", NOISY)]
    assert {row.verdict for row in others} == {"SAME"}
    assert all(row.threshold and row.noise for row in found.values())


def test_the_worst_come_first():
    b = made_up_run("b", seed=2, times={"DRAM.read": 1.03, "L1.read": 1 / 1.03, "fp64.vector.fma": 1.2})
    judgement = judge(A, b)
    assert [row.key for row in judgement.benchmarks[:2]] == ["fp64.vector.fma", "DRAM.read"]
    assert judgement.benchmarks[-1].verdict == "SAME"
    assert list(judgement.counts) == ["SLOWER", "UNKNOWN", "FASTER", "SAME"]


@given(seed=st.integers(0, 10**6), key=st.sampled_from([row[0] for row in SUITE]), factor=st.floats(0.8, 1.25))
def test_swapped_sides_mirror(seed, key, factor):
    mirror = {"SLOWER": "FASTER", "MISSING": "NEW", "SAME": "SAME", "UNKNOWN": "UNKNOWN"}
    mirror |= {value: key for key, value in mirror.items()}
    a = made_up_run("a", seed=seed, without=("L1.read",))
    b = made_up_run("b", seed=seed, times={key: factor})
    there, back = rows(judge(a, b)), rows(judge(b, a))
    assert {key: mirror[row.verdict] for key, row in back.items()} == {key: row.verdict for key, row in there.items()}
    for name, row in there.items():
        if row.change is not None:
            assert (1 + row.change) * (1 + back[name].change) == pytest.approx(1)
            assert (1 + row.low) * (1 + back[name].high) == pytest.approx(1)


@given(scale=st.sampled_from([1e-6, 1e-3, 7.0, 1e6]), order=st.permutations(range(5)))
def test_neither_the_unit_of_time_nor_the_order_of_starts_matters(scale, order):
    b = made_up_run("b", seed=2, times={"DRAM.read": 1.03})

    def scaled(start):
        observed = (replace(row, seconds=tuple(scale * value for value in row.seconds)) for row in start.observed)
        return replace(start, observed=tuple(observed))

    plain = rows(judge(A, b))
    other = rows(judge(each_start(A, scaled), each_start(replace(b, starts=tuple(b.starts[i] for i in order)), scaled)))
    assert {key: row.verdict for key, row in other.items()} == {key: row.verdict for key, row in plain.items()}
    for key, row in plain.items():
        assert other[key].change == pytest.approx(row.change, abs=1e-9)


def test_a_user_kernel_that_does_other_work_is_not_comparable_and_the_others_are_judged():
    b = each_record(made_up_run("b", seed=2), USER, work=Work(bytes_counted=1.6e9, bytes_moved=1.6e9))
    judgement = judge(A, b)
    assert rows(judgement)[USER].verdict == "NOT COMPARABLE"
    assert "work.bytes_counted: 8e+08 in A, 1.6e+09 in B" in rows(judgement)[USER].reason
    assert rows(judgement)["DRAM.read"].verdict == "SAME"
    assert exit_code(judgement) == 4


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"axes": {"blocks": 264}}, "blocks: 132 in A, 264 in B"),
        ({"kernel": "other"}, "kernel: example in A, other in B"),
        ({"kind": "user"}, "kind: bandwidth in A, user in B"),
    ],
)
def test_benchmarks_of_one_name_that_are_not_one_are_not_comparable(fields, reason):
    found = rows(judge(A, each_record(made_up_run("b"), "DRAM.read", **fields)))
    assert (found["DRAM.read"].verdict, found["DRAM.read"].reason) == ("NOT COMPARABLE", reason)


def test_what_is_new_and_what_is_missing_is_listed():
    found = rows(judge(made_up_run("a", without=("L1.read",)), made_up_run("b", without=("DRAM.read",))))
    assert (found["L1.read"].verdict, found["DRAM.read"].verdict) == ("NEW", "MISSING")
    assert found["L1.read"].a is None
    assert found["DRAM.read"].a.value == pytest.approx(1.6e10 / 3.5e-3, rel=0.01)


@pytest.mark.parametrize(
    ("b", "strict", "code"),
    [
        (made_up_run("b", seed=2, without=(NOISY,)), False, 0),
        (made_up_run("b", seed=2, without=(NOISY,)), True, 1),  # missing
        (made_up_run("b", seed=2), False, 0),
        (made_up_run("b", seed=2), True, 1),  # unknown
        (made_up_run("b", seed=2, times={"DRAM.read": 1.03}), False, 1),
        (made_up_run("b", seed=2, times={"DRAM.read": 0.97}), False, 0),
    ],
)
def test_exit_codes(b, strict, code):
    assert exit_code(judge(A, b), strict) == code


def test_one_start_a_side_is_unknown_with_the_remedy():
    judgement = judge(made_up_run("a", starts=1), made_up_run("b", starts=1))
    assert {row.verdict for row in judgement.benchmarks} == {"UNKNOWN"}
    assert all("bench --starts 5" in row.reason for row in judgement.benchmarks)
    assert all(row.a.value > 0 and row.change is None for row in judgement.benchmarks)


@pytest.mark.parametrize(
    ("fields", "doubt"),
    [
        ({"conditions": {"throttle": "power cap, thermal, hardware"}}, "throttled (thermal, hardware)"),
        ({"conditions": {"other_processes": 2}}, "2 other processes on the GPU"),
        ({"clock_hz": (1.93e9,) * 8}, "clock -2.5 % off that of the other starts"),
        ({"verified": False}, "its result was wrong"),
    ],
)
def test_a_start_that_something_speaks_against_is_left_out_and_named(fields, doubt):
    five = each_record(made_up_run("b", seed=2), "DRAM.read", only={2}, **fields)
    found = judge(A, five)
    assert rows(found)["DRAM.read"].verdict == "UNKNOWN"
    assert doubt in rows(found)["DRAM.read"].reason
    assert f"B, 0003_b.json: {doubt}: left out of DRAM.read" in found.notes
    assert rows(found)["L1.read"].verdict == "SAME"
    six = each_record(made_up_run("b", starts=6, seed=2), "DRAM.read", only={2}, **fields)
    assert rows(judge(A, six))["DRAM.read"].verdict == "SAME"
    assert (rows(judge(A, six))["DRAM.read"].b.starts, rows(judge(A, six))["DRAM.read"].b.of_starts) == (5, 6)


def test_a_power_cap_is_a_steady_state_and_a_cpus_clock_wanders():
    b = each_record(made_up_run("b", seed=2), "DRAM.read", conditions={"throttle": "power cap"})
    assert rows(judge(A, b))["DRAM.read"].verdict == "SAME"
    cpu = each_record(on_a_cpu("b", seed=2), "DRAM.read", only={2}, clock_hz=(1.8e9,) * 8)
    assert rows(judge(on_a_cpu("a"), cpu))["DRAM.read"].verdict == "SAME"


def test_a_clock_that_moved_is_named_as_the_cause():
    b = made_up_run("b", seed=2, times={"fp64.vector.fma": 1.05}, clocks={"fp64.vector.fma": 1 / 1.05})
    row = rows(judge(A, b))["fp64.vector.fma"]
    assert (row.verdict, row.moved) == ("SLOWER", "clock")
    assert [found.name for found in row.differences] == ["clock"]


def test_a_users_kernel_under_a_roof_that_moved():
    b = made_up_run("b", seed=2, times={"DRAM.read": 1.05, USER: 1.05})
    assert rows(judge(A, b))[USER].moved == "roof"
    b = made_up_run("b", seed=2, times={USER: 1.05})
    assert rows(judge(A, b))[USER].moved == "kernel"
    assert rows(judge(A, b))[USER].file == "tests/bench_model.py"
    assert rows(judge(A, b))["DRAM.read"].file is None


def test_a_roof_that_was_taken_from_another_run_is_named():
    other = RoofHit(attainable=4.5e12, bandwidth_key="DRAM.read", model="another")
    (found,) = rows(judge(A, made_up_run("b", seed=2, roof=other)))[USER].differences
    assert (found.name, found.b) == ("roof", "DRAM.read, none of another")


def test_a_stated_threshold_counts():
    b = made_up_run("b", seed=2, times={"DRAM.read": 1.03})
    row = rows(judge(A, b, Thresholds(named={"DRAM.*": 0.05})))["DRAM.read"]
    assert (row.verdict, row.threshold.fraction, row.threshold.source) == ("SAME", 0.05, "stated for DRAM.*")
    with pytest.raises(ErtError, match=r"DRAM\.read"):
        judge(A, b, Thresholds(named={"DRAM.raed": 0.05}))


def test_conditions_of_the_runs_that_differ_are_named():
    b = made_up_run("b", seed=2, driver="590.1")
    judgement = judge(A, b)
    assert judgement.differences == (Difference(name="version of driver", a="580.159", b="590.1"),)
    assert (judgement.driver_a, judgement.driver_b) == ("580.159", "590.1")


def of_device(run: SuiteRun, **fields) -> SuiteRun:
    return each_start(
        run, lambda start: replace(start, info=replace(start.info, device=replace(start.info.device, **fields)))
    )


@pytest.mark.parametrize(
    ("b", "found", "forced"),
    [
        (on_a_cpu("b"), "kinds of device: A has gpu, B has cpu", False),
        (of_device(made_up_run("b"), name="NVIDIA H100"), "devices: A has NVIDIA H200, B has NVIDIA H100", True),
        (of_device(made_up_run("b"), units=16), "SMs (MIG): A has 132, B has 16", True),
        (each_start(made_up_run("b"), lambda start: replace(
            start, info=replace(start.info, suite_version=SUITE_VERSION + 1))), "the suites differ", False),
    ],
)  # fmt: skip
def test_unlike_runs_are_refused(b, found, forced):
    with pytest.raises(NotComparable) as caught:
        judge(A, b)
    assert found in caught.value.found
    assert ("--force" in caught.value.remedy) == forced
    if forced:
        judge(A, b, force=True)
    else:
        with pytest.raises(NotComparable):
            judge(A, b, force=True)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda run: of_device(replace(run, starts=run.starts[:1]), name="NVIDIA H100"), "devices"),
        (lambda run: made_up_run("b", starts=1, seed=3, driver="590.1"), "drivers: 580.159, 590.1"),
        (lambda run: foreign(replace(run, starts=run.starts[:1])), "suites"),
    ],
)
def test_starts_of_one_run_must_be_alike(change, found):
    b = made_up_run("b", seed=2)
    with pytest.raises(NotComparable, match=found):
        judge(A, replace(b, starts=(*b.starts, *change(made_up_run("b", seed=4)).starts)))


def test_a_copied_file_is_no_start_of_its_own():
    b = made_up_run("b", starts=3)
    copied = replace(b, starts=(*b.starts, *(replace(start, label=f"copy {start.label}") for start in b.starts)))
    with pytest.raises(NotComparable, match="one is a copy"):
        judge(A, copied)


def test_files_that_are_not_ours_are_compared_by_name_and_time():
    b = made_up_run("b", seed=2, times={"DRAM.read": 1.08})
    found = {row.name: row for row in judge(foreign(A), foreign(b)).benchmarks}
    row = found[name_of("DRAM.read")]
    assert (row.verdict, row.unit, row.kind, row.a.value) == ("SLOWER", "s", "", pytest.approx(3.5e-3, rel=0.01))
    assert row.file == "ert_numba/benchmarks/test_ceilings.py"


def test_ours_against_somebody_elses_is_not_comparable_one_by_one():
    judgement = judge(A, foreign(made_up_run("b", seed=2)))
    assert {row.verdict for row in judgement.benchmarks} == {"NOT COMPARABLE"}
    assert "B was not made by this suite" in judgement.notes[0]


def with_codes(run: SuiteRun, key: str, codes: str, times: dict[str, float] | None = None) -> SuiteRun:
    """One letter of code a start, and a factor on the time for each code."""
    for index, code in enumerate(codes):

        def change(start, code=code):
            observed = []
            for row in start.observed:
                if row.said.key == key:
                    seconds = tuple((times or {}).get(code, 1.0) * value for value in row.seconds)
                    said = replace(row.said, code=code, clock_hz=())
                    row = replace(row, said=said, seconds=seconds)  # noqa: PLW2901
                observed.append(row)
            return replace(start, observed=tuple(observed))

        run = each_start(run, change, only={index})
    return run


@pytest.mark.parametrize(
    ("a", "b", "times", "verdict"),
    [
        ("xxxxx", "xxxxx", {}, "SAME"),
        ("xxxxx", "yyyyy", {"y": 1.05}, "SLOWER"),  # another program
        ("xxxxx", "xxxxy", {"y": 1.0}, "SAME"),
        # Two speeds, and by chance the slow one more often in B: no common code, or no slower by it.
        ("xxxxx", "yyyyz", {"y": 1.05, "z": 1.05}, "UNKNOWN"),
        ("xxxxy", "yyyyz", {"y": 1.05, "z": 1.05, "x": 1.0}, "UNKNOWN"),
    ],
)
def test_a_change_among_starts_of_different_code_is_no_change(a, b, times, verdict):
    key = "DRAM.triad"
    row = rows(judge(with_codes(A, key, a, times), with_codes(made_up_run("b", seed=2), key, b, times)))[key]
    assert row.verdict == verdict
    if verdict == "UNKNOWN" and row.threshold.source == "default":
        assert "ran different code" in row.reason


def test_like_against_like_shows_a_change_behind_two_codes_of_one_speed():
    key = "DRAM.triad"
    a, b = with_codes(A, key, "xxyyx"), with_codes(made_up_run("b", seed=2, times={key: 1.03}), key, "yyxxx")
    assert rows(judge(a, b))[key].verdict == "SLOWER"


def test_a_clock_at_the_power_cap_is_no_doubt():
    fields = {"clock_hz": (1.93e9,) * 8, "conditions": {"throttle": "power cap"}}
    b = each_record(made_up_run("b", seed=2), "DRAM.read", only={2}, **fields)
    assert rows(judge(A, b))["DRAM.read"].b.starts == 5


def test_starts_that_are_in_both_runs_are_named():
    assert judge(A, replace(A, name="b")).notes == (
        "5 of the process starts are in both runs: of these nothing can be told",
    )
    assert judge(A, made_up_run("b", seed=2)).notes == ()


def test_hopeless_noise_still_makes_a_document():
    chance = random.Random(1)

    def wild(start):
        observed = (replace(row, seconds=(10 ** chance.uniform(-50, 50),) * 8) for row in start.observed)
        return replace(start, observed=tuple(observed))

    judgement = judge(each_start(A, wild), each_start(made_up_run("b"), wild))
    assert {row.verdict for row in judgement.benchmarks} == {"UNKNOWN"}
    assert msgspec.json.decode(encode(judgement), type=Judgement) == judgement
