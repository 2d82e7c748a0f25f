"""Declared against counted: the figures counted by hand on an H200 as known answers, and verdicts that fail."""

from pathlib import Path

import example_models
import msgspec
import pytest
from counted_suite import COUNTERS, H200, NAMES, ROWS, SASS, cells, suite, write_csv

from appprof import api
from appprof.report.read import read_file
from appprof.verify import Launched, LaunchedSuite, capability_of, judge, parse_suite
from appprof.witnesses import HIT_RATE, Witness, metrics_for, witness_of
from ert_numba.counted import HIT_SHARE, Verdict
from ert_numba.errors import ErtError, NotComparable
from ert_numba.records import Skipped, Work
from ert_numba.store.documents import load, registered, save
from ert_numba.store.schema import file_name, schema_text

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "nvidia-h200" / "2026-11-30T1218-gpu"


@pytest.fixture
def machine():
    return example_models.h200_model()


def verdict_of(path, machine, found=None):
    return judge(found or suite(), read_file(path), machine)


def test_what_was_counted_by_hand_on_an_h200_passes(long_csv, machine):
    checks, skipped = verdict_of(long_csv(*cells(ROWS)), machine)
    assert [row.ceiling for row in checks if row.what != HIT_SHARE] == NAMES
    assert [row.ceiling for row in checks if row.what == HIT_SHARE] == ["L2.read.private", "L2.read.shared"]
    assert not [row for row in checks if not row.passed]
    ratios = {row["ceiling"]: row["ratio"] for row in ROWS}
    for row in checks:
        if row.what != HIT_SHARE:
            assert row.error == pytest.approx(ratios[row.ceiling] - 1, abs=1e-5)
            assert COUNTERS[row.ceiling][0] in row.counter
    reasons = {row.what: row.reason for row in skipped}
    assert all(row.key in reasons or row.key in NAMES for row in machine.ceilings)
    assert all(reasons.values())


def test_a_real_report_of_the_suite_passes_in_every_kernel(machine):
    """`appprof verify` on an H200: what ncu wrote and the suite printed. Reads by `ld.global.cg` never hit L1."""
    data = ROOT / "tests" / "data" / "ncu" / "h200"
    found = parse_suite((data / "suite_launched.json").read_text(encoding="utf-8"))
    checks, _ = judge(found, read_file(data / "suite.ncu-rep.gz"), machine)
    assert {row.ceiling for row in checks} == {row.ceiling for row in found.launches}
    assert len(checks) == 56
    assert not [row for row in checks if not row.passed]
    assert [row.counted for row in checks if row.what == HIT_SHARE] == [0.0] * 4
    exact = [row for row in checks if ".tensor." in row.ceiling]
    assert len(exact) == 24
    assert sum(row.ceiling.endswith(".sparse") for row in exact) == 9, "the counters hold the zeros, as declared"
    assert all(row.counted == row.declared for row in exact)


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """The report of all launches, and each launch's own by its ceiling."""
    path = write_csv(tmp_path_factory.mktemp("counted") / "all.csv", cells(ROWS))
    report = read_file(path)
    return report, dict(zip(NAMES, report.kernels, strict=True))


@pytest.mark.parametrize("ceiling", NAMES)
@pytest.mark.parametrize("factor", [0.96, 0.985, 1.015, 1.04])
def test_a_wrong_count_is_found_and_no_other(counted, machine, ceiling, factor):
    report, kernels = counted
    wrong = {COUNTERS[ceiling][0]: kernels[ceiling].values[COUNTERS[ceiling][0]] * factor}
    changed = tuple(
        msgspec.structs.replace(row, values=row.values | wrong) if row is kernels[ceiling] else row
        for row in report.kernels
    )
    checks, _ = judge(suite(), msgspec.structs.replace(report, kernels=changed), machine)
    beyond = abs(factor - 1) > (0.03 if ceiling[0].isupper() else 0.01)
    assert [row.ceiling for row in checks if not row.passed] == [ceiling] * beyond


def test_hits_in_l1_fail_the_l2_test_alone(long_csv, machine):
    checks, _ = verdict_of(long_csv(*cells(ROWS, **{HIT_RATE: "1.5"})), machine)
    failed = [row for row in checks if not row.passed]
    assert {(row.ceiling, row.what) for row in failed} == {
        ("L2.read.private", HIT_SHARE),
        ("L2.read.shared", HIT_SHARE),
    }
    assert failed[0].counted == pytest.approx(0.015)


@pytest.mark.parametrize("metric", ["dram__bytes_read.sum", HIT_RATE, "l1tex__m_xbar2l1tex_read_bytes.sum"])
def test_a_counter_without_a_value_fails_and_is_never_zero(long_csv, machine, metric):
    checks, _ = verdict_of(long_csv(*cells(ROWS, **{metric: "n/a"})), machine)
    failed = [row for row in checks if not row.passed]
    assert failed
    assert all(row.counted is None and row.error is None and row.note for row in failed)


def test_work_that_was_not_done_is_counted_as_zero(long_csv, machine):
    checks, _ = verdict_of(long_csv(*cells(ROWS, {"int8.tensor.wgmma": 0.0})), machine)
    (failed,) = [row for row in checks if not row.passed]
    assert (failed.counted, failed.error) == (0.0, -1.0)


def test_a_launch_that_was_not_profiled_fails(long_csv, machine):
    checks, _ = verdict_of(long_csv(*cells(ROWS[1:])), machine)
    (failed,) = [row for row in checks if not row.passed]
    assert failed.ceiling == NAMES[0]
    assert "not in the report" in failed.note


def test_launches_that_nobody_declared_are_refused(long_csv, machine):
    with pytest.raises(ErtError, match="1 more were profiled"):
        verdict_of(long_csv(*cells(ROWS)), machine, suite(ROWS[:-1]))


def test_half_additions_count_each_instruction_once(long_csv, machine):
    """On an H200 half of add.f16x2 issues as HFMA2: 4,984,725,504 of each for 19,931,332,608 FLOP."""
    row = {"ceiling": "fp16.vector.add", "kernel": "k", "declared": 19931332608.0}
    found = LaunchedSuite(
        device="NVIDIA H200",
        launches=(Launched(name="k", ceiling=row["ceiling"], blocks=64, threads=128, work=Work(flop=row["declared"])),),
    )
    values = [("0", "k", f"{SASS}{op}_pred_on.sum", "inst", "4984725504") for op in ("hadd", "hfma")]
    ((check,), _) = verdict_of(long_csv(*values), machine, found)
    assert check.counted == 19938902016.0
    assert check.passed


def test_another_gpu_is_not_compared(long_csv, machine):
    with pytest.raises(NotComparable, match="sm_80 beside sm_90"):
        verdict_of(long_csv(*cells(ROWS), chip="8.0"), machine)
    with pytest.raises(NotComparable, match="NVIDIA H100"):
        verdict_of(long_csv(*cells(ROWS)), machine, msgspec.structs.replace(suite(), device="NVIDIA H100"))


def test_a_cpu_has_no_verdict():
    with pytest.raises(ErtError, match="NVIDIA GPUs"):
        capability_of(example_models.cpu_model())


@pytest.mark.parametrize(
    ("ceiling", "chip", "counted_by"),
    [
        ("fp8_e4m3.tensor.mma.sync", (9, 0), "fp16.tensor.mma.sync"),
        ("fp8_e4m3.tensor.mma.sync", (8, 9), "fp8.tensor.mma.sync"),
        ("fp64.tensor.mma.sync", (8, 0), "fp64.tensor.mma.sync"),
        ("DRAM.read", (12, 0), "dram__bytes_op_read.sum"),
        ("DRAM.write", (8, 0), "dram__bytes_write.sum"),
    ],
)
def test_each_chip_has_its_own_counter(ceiling, chip, counted_by):
    found = witness_of(ceiling, chip)
    assert isinstance(found, Witness)
    assert counted_by in (found.flop, *(name for name, _ in found.metrics))


@pytest.mark.parametrize(
    ("ceiling", "chip"),
    [("DRAM.read", (8, 7)), ("DRAM.copy", (12, 1)), ("int8.tensor.wgmma", (8, 0)), ("fp6.tensor.mma.sync", (12, 0))],
)
def test_what_has_no_counter_says_why(ceiling, chip):
    assert "this chip" in witness_of(ceiling, chip)


def test_every_metric_asked_of_an_h200_is_one_of_its_own():
    listed = (ROOT / "tests" / "data" / "ncu" / "h200" / "metric_names_gh100.txt").read_text(encoding="utf-8").split()
    assert {name.rsplit(".", 1)[0] for name in metrics_for(H200)} <= set(listed)
    assert len(set(metrics_for(H200))) == len(metrics_for(H200))


def test_the_suite_is_found_among_other_lines():
    text = "==PROF== x\n" + msgspec.json.format(msgspec.json.encode(suite()), indent=2).decode() + "\n==PROF== y\n"
    assert parse_suite(text) == suite()
    for broken in ("", "{\n}\n", text.replace("flop", "flap").replace("]", ")")):
        with pytest.raises(ErtError):
            parse_suite(broken)


@pytest.fixture
def verdict(long_csv, machine):
    checks, skipped = verdict_of(long_csv(*cells(ROWS)), machine)
    return Verdict(run="run", device="NVIDIA H200", architecture="sm_90", tool="Nsight Compute 2025.3.1.0",
                   checks=checks, skipped=(*skipped, Skipped(what="a", reason="b")),
                   provenance=machine.provenance)  # fmt: skip


def test_a_verdict_comes_back_as_it_was_saved(verdict, tmp_path):
    assert load(save(verdict, tmp_path / "verdict.json"), Verdict) == verdict
    assert not verdict.failed


def test_a_verdict_that_contradicts_itself_is_refused(verdict, tmp_path):
    wrong = msgspec.structs.replace(verdict.checks[0], error=0.5)
    for broken in ({"checks": (wrong,)}, {"checks": ()}):
        with pytest.raises(ErtError):
            save(msgspec.structs.replace(verdict, **broken), tmp_path / "verdict.json")


def test_the_stored_schema_is_todays():
    row = next(row for row in registered() if row.type is Verdict)
    stored = ROOT / "results" / "schema" / file_name(row)
    assert stored.read_text(encoding="utf-8") == schema_text(row), "make schema"


def test_the_page_of_the_machine_is_drawn_again_with_the_verdict(tmp_path):
    for name in ("machine.json", "verdict.json"):
        (tmp_path / name).write_bytes((RESULTS / name).read_bytes())
    (tmp_path / "machine.html").write_text("the page of the sweep", encoding="utf-8")
    model, verdict = api.load_machine(tmp_path), load(tmp_path / "verdict.json", Verdict)
    page = api.draw_machine_again(tmp_path, model, verdict)
    assert page == tmp_path / "machine.html"
    assert "what the hardware counted" in page.read_text(encoding="utf-8")
    assert {path.name for path in tmp_path.iterdir()} == {"machine.json", "verdict.json", "machine.html"}
