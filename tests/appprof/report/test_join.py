"""Files of one run are completed launch by launch; files of different runs, and launches in doubt, stay apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from appprof.counts.resolve import count
from appprof.report.join import complete_each_other, join_reports
from appprof.report.names import base_name, normalise
from appprof.report.read import read_file, read_report
from ert_numba.errors import ErtError

TIME, DRAM = "gpu__time_duration.sum", "dram__bytes.sum"
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
CYCLES, CLOCK = "sm__cycles_elapsed.avg", "sm__cycles_elapsed.avg.per_second"
Writer = Callable[..., Path]


def rows(kernels: str, *metrics: tuple[str, str, str]) -> list[tuple[str, str, str, str, str]]:
    return [(str(at), kernel, *metric) for at, kernel in enumerate(kernels) for metric in metrics]


def test_bytes_and_flop_of_two_files_meet(long_csv: Writer) -> None:
    dram = long_csv(
        *rows("aba", (DRAM, "byte", "1,000,000"), (CYCLES, "cycle", "10"), (CLOCK, "hz", "2")), name="dram.csv"
    )
    sass = long_csv(*rows("aba", (FFMA, "inst", "7"), (CYCLES, "cycle", "1500"), (CLOCK, "hz", "2")), name="sass.csv")
    for order in ([dram, sass], [sass, dram]):
        report = read_report(order)
        assert [kernel.kernel for kernel in report.kernels] == ["a", "b", "a"]
        for kernel in report.kernels:
            counts = count(kernel)
            assert counts.seconds is not None
            assert counts.seconds.value == 5.0  # of the run that counted no instructions
            assert counts.total_flop == 14.0
            assert kernel.other_sources == {FFMA: "sass.csv"}
            assert kernel.source.label == "dram.csv"


def test_three_files(long_csv: Writer) -> None:
    paths = [
        long_csv(*rows("ab", (TIME, "ns", "5")), name="time.csv"),
        long_csv(*rows("ab", (DRAM, "byte", "6"), (TIME, "ns", "9")), name="dram.csv"),
        long_csv(*rows("ab", (FFMA, "inst", "7"), (TIME, "ns", "99")), name="sass.csv"),
    ]
    for kernel in read_report(paths).kernels:
        assert kernel.values == {TIME: 5e-9, DRAM: 6, FFMA: 7}


def test_ranks_stay_side_by_side(long_csv: Writer) -> None:
    paths = [long_csv(*rows("ab", (DRAM, "byte", str(at)), (TIME, "ns", "5")), name=f"rank{at}.csv") for at in range(3)]
    report = read_report(paths)
    assert [kernel.values[DRAM] for kernel in report.kernels] == [0, 0, 1, 1, 2, 2]
    assert [source.label for source in report.sources] == ["rank0.csv", "rank1.csv", "rank2.csv"]


def test_ranks_with_two_files_each_pair_up(long_csv: Writer) -> None:
    dram = [long_csv(*rows("ab", (DRAM, "byte", f"{at}0")), name=f"dram{at}.csv") for at in range(2)]
    sass = [long_csv(*rows("ab", (FFMA, "inst", f"{at}1")), name=f"sass{at}.csv") for at in range(2)]
    for order in ([*dram, *sass], [dram[0], sass[0], dram[1], sass[1]]):
        assert [(kernel.values[DRAM], kernel.values[FFMA]) for kernel in read_report(order).kernels] == [
            (0, 1), (0, 1), (10, 11), (10, 11),
        ]  # fmt: skip


def test_unequal_numbers_of_launches_are_not_joined_by_order(long_csv: Writer) -> None:
    one = long_csv(*rows("abab", (DRAM, "byte", "6")), name="one.csv")
    other = long_csv(*rows("aab", (FFMA, "inst", "7")), name="other.csv")
    report = read_report([one, other])
    assert [(kernel.kernel, sorted(kernel.values)) for kernel in report.kernels] == [
        ("a", [DRAM, FFMA]), ("b", [DRAM]), ("a", [DRAM, FFMA]), ("b", [DRAM]), ("b", [FFMA]),
    ]  # fmt: skip
    assert any("2 times in one.csv and 1 times in other.csv" in line for line in report.warnings)


def test_launches_of_other_shapes_are_not_joined(long_csv: Writer) -> None:
    one = long_csv(*rows("a", (DRAM, "byte", "6")), name="one.csv")
    other = long_csv(*rows("a", (FFMA, "inst", "7")), name="other.csv")
    other.write_text(other.read_text().replace("(64, 1, 1)", "(65, 1, 1)"))
    assert len(read_report([one, other]).kernels) == 2


def test_names_that_differ_in_spelling_are_matched_and_told(long_csv: Writer) -> None:
    one = long_csv(("0", "void k<(bool)0>(int)", DRAM, "byte", "6"), name="one.csv")
    other = long_csv(("0", "k<0>(int)", FFMA, "inst", "7"), name="other.csv")
    report = read_report([one, other])
    assert [sorted(kernel.values) for kernel in report.kernels] == [[DRAM, FFMA]]
    assert any("differs in spelling" in line for line in report.warnings)


def test_rates_are_made_sums_by_their_own_run(long_csv: Writer) -> None:
    rate = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed"
    dram = long_csv(*rows("a", (DRAM, "byte", "6"), (TIME, "ns", "10")), name="dram.csv")
    sass = long_csv(
        *rows("a", (rate, "inst/cycle", "2"), ("smsp__cycles_elapsed.avg", "cycle", "500"), (TIME, "ns", "90")),
        name="sass.csv",
    )
    (kernel,) = read_report([dram, sass]).kernels
    assert kernel.values == {DRAM: 6, TIME: 10e-9, FFMA: 1000}


def test_two_gpus_are_no_one_run(long_csv: Writer) -> None:
    one = long_csv(*rows("a", (DRAM, "byte", "6")), name="one.csv")
    other = long_csv(*rows("a", (FFMA, "inst", "7")), name="other.csv", chip="8.0")
    with pytest.raises(ErtError, match="different compute capability"):
        read_report([one, other])


def test_equal_file_names_get_labels_of_their_own(long_csv: Writer, tmp_path: Path) -> None:
    one = long_csv(*rows("a", (DRAM, "byte", "6")))
    (tmp_path / "sub").mkdir()
    other = tmp_path / "sub" / one.name
    other.write_text(one.read_text())
    report = read_report([one, other])
    assert [source.label for source in report.sources] == ["long.csv", "long.csv (2)"]
    assert [kernel.source.label for kernel in report.kernels] == ["long.csv", "long.csv (2)"]


def test_a_report_and_its_own_export_are_two_of_one(h200: Path) -> None:
    reports = [read_file(h200 / name) for name in ("micro.ncu-rep", "micro_raw_base.csv")]
    assert not complete_each_other(*reports)
    assert len(join_reports(reports).kernels) == 10


def test_names_of_the_export_and_the_report_normalise_to_one(h200: Path) -> None:
    one, other = (read_file(h200 / name) for name in ("micro.ncu-rep", "micro_raw_base.csv"))
    names = [[normalise(kernel.kernel) for kernel in report.kernels] for report in (one, other)]
    assert names[0] == names[1]
    assert len(set(names[0])) == 5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("void k<int>(float *)", "k<int>(float*)"),
        ("std::enable_if<!T7, void>::type ns::f<int, (bool)0>(T1)", "enable_if<!T7, void>::type ns::f<int, 0>(T1)"),
        ("<unnamed>::f(int)", "(anonymous namespace)::f(int)"),
        ("unnamed>::f(int)", "(anonymous namespace)::f(int)"),
        ("f<a<b> >(int)", "f<a<b>>(int)"),
        ("f<float, 4ul>(int)", "f<float, 4>(int)"),
    ],
)
def test_spellings_of_one_kernel(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"), [("f<int>(T)", "f<float>(T)"), ("a::f(int)", "b::f(int)"), ("k[abi:v1,x](T)", "k[abi:v2,x](T)")]
)
def test_different_kernels_stay_different(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("void at::native::(anonymous namespace)::vec<float, 4ul, X{lambda()#1}>(int, T)", "vec"),
        ("nvjet_sm90_hsh_256x128", "nvjet_sm90_hsh_256x128"),
        ("_3cdynamic_3e::k[abi:v1,cw51](Array<float, (int)1>)", "k"),
        ("", ""),
        ("(((", "((("),
        ("[lambda(float) (instance 1)]", "[lambda(float)(instance1)]"),
    ],
)
def test_base_name(name: str, base: str) -> None:
    assert base_name(name) == base
