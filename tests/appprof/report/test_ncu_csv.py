"""Files that imitate known faults, and H200 exports, each with its right result."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from appprof.report.ncu_csv import read_ncu_csv
from appprof.report.ncu_rep import read_ncu_rep
from ert_numba.errors import ErtError

TIME, DRAM = "gpu__time_duration.sum", "dram__bytes.sum"


def test_f01_groups_of_a_point_locale_are_no_fractions(faults: Path) -> None:
    report = read_ncu_csv(faults / "F01_locale_dot_grouping.csv")
    (kernel,) = report.kernels
    assert kernel.values[TIME] == 100e-6
    assert kernel.values[DRAM] == 200e6
    assert kernel.values["sm__throughput.avg.pct_of_peak_sustained_elapsed"] == 12.34


def test_f02_old_layout_is_read_by_header_names(faults: Path) -> None:
    (kernel,) = read_ncu_csv(faults / "F02_old_12_columns.csv").kernels
    assert kernel.kernel == "k(int, float)"
    assert kernel.values == {DRAM: 1e6, "sm__cycles_elapsed.avg": 13e3, "sm__cycles_elapsed.avg.per_second": 1.3e9}
    assert (kernel.grid, kernel.device.compute_capability) == (None, None)


def test_f03_noise_around_the_rows_is_no_row(faults: Path) -> None:
    report = read_ncu_csv(faults / "F03_noise_before_and_after.csv")
    (kernel,) = report.kernels
    assert kernel.values == {DRAM: 1e6}
    assert len(report.messages) == 5
    assert report.messages[-1] == "==WARNING== Found outstanding GPU clock reset"


def test_f04_unit_row_is_no_kernel(faults: Path) -> None:
    (kernel,) = read_ncu_csv(faults / "F04_raw_unit_row_empty_cells.csv").kernels
    assert kernel.values == {"dram__bytes_read.sum": 1.5e6, "dram__bytes_write.sum": 250e3, TIME: 10e-6}
    assert kernel.rounding["dram__bytes_read.sum"] == 5000
    assert "note" not in kernel.values | kernel.missing | kernel.texts


def test_f13_two_launches_of_one_kernel(faults: Path) -> None:
    first, second = read_ncu_csv(faults / "F13_aggregate_ratio_of_sums.csv").kernels
    assert (first.values[TIME], second.values[TIME]) == (1e-6, 9e-6)
    assert (first.occurrence, second.occurrence) == (0, 1)


def test_f19_not_available_is_not_zero(faults: Path) -> None:
    (kernel,) = read_ncu_csv(faults / "F19_blackwell_renamed_dram.csv").kernels
    assert kernel.missing == {"dram__bytes_read.sum": "n/a"}
    assert kernel.values["dram__bytes_op_write.sum"] == 0
    assert kernel.device.architecture == "sm_120"


def test_f21_short_rows_and_rule_rows(faults: Path) -> None:
    (kernel,) = read_ncu_csv(faults / "F21_ragged_details.csv").kernels
    assert kernel.values == {TIME: 6.75e-6}
    assert kernel.rounding == {TIME: 5e-9}
    assert kernel.advice == ('SOLBottleneck This kernel, as "grid" is small, is latency bound, see docs',)


def test_every_cell_of_the_base_units_export_equals_the_report(h200: Path) -> None:
    """413 columns by five rows: numbers to the last digit printed, texts to the letter."""
    exported = read_ncu_csv(h200 / "micro_raw_base.csv").kernels
    reported = read_ncu_rep(h200 / "micro.ncu-rep").kernels
    compared = 0
    for one, other in zip(exported, reported, strict=True):
        assert one.values.keys() == other.values.keys() - {"launch__kernel_name"}
        for name, value in one.values.items():
            assert value == pytest.approx(other.values[name], rel=0, abs=one.rounding.get(name, 0.0) * 1.000001), name
            compared += 1
        assert {name: text for name, text in one.texts.items() if text} == {n: t for n, t in other.texts.items() if t}
        mine, theirs = one.device.attributes, other.device.attributes
        assert {name: theirs[name] for name in mine} == pytest.approx(mine)
        assert (one.grid, one.block, one.stream, one.context) == (other.grid, other.block, other.stream, other.context)
    assert compared > 1000


@pytest.mark.parametrize("name", ["micro_raw.csv", "micro_raw_base.csv"])
def test_rounding_bounds_the_error_of_every_value(h200: Path, name: str) -> None:
    for one, other in zip(read_ncu_csv(h200 / name).kernels, read_ncu_rep(h200 / "micro.ncu-rep").kernels, strict=True):
        for metric, value in one.values.items():
            bound = one.rounding.get(metric, 0.0) + 1e-12 * abs(value)
            assert abs(value - other.values[metric]) <= bound, metric
        for metric, why in one.missing.items():
            assert "below" in why
            assert abs(other.values[metric]) <= 0.5 * 10 ** round(len(str(other.values[metric])))


def test_small_values_of_a_scaled_column_are_below_its_last_digit_not_zero(h200: Path) -> None:
    kernels = read_ncu_csv(h200 / "gemm_raw.csv").kernels
    assert "below 0.5 B" in kernels[0].missing["l1tex__t_bytes.min"]
    assert "l1tex__t_bytes.min" not in kernels[0].values


def test_a_whole_counter_rounded_to_less_than_one_event_is_exact(h200: Path) -> None:
    kernel = read_ncu_csv(h200 / "micro_raw.csv").kernels[0]
    assert kernel.values["dram__bytes_write.sum"] == 0.0
    assert "dram__bytes_write.sum" not in kernel.missing
    assert "dram__bytes.sum" not in kernel.rounding


def test_nvtx_ranges_and_the_prefix_they_put_before_names(h200: Path) -> None:
    kernels = read_ncu_csv(h200 / "gemm_raw.csv").kernels
    assert [kernel.nvtx[0].name for kernel in kernels] == [
        "torch.float16", "torch.bfloat16", "torch.float32", "torch.float64", "tf32", "int8", "fp8",
    ]  # fmt: skip
    assert kernels[0].nvtx[0].domain == ""
    assert kernels[0].nvtx[0].thread == 640
    assert kernels[0].kernel.startswith("nvjet_sm90_hsh_256x128_64x4")
    assert kernels[6].kernel.startswith("nvjet_sm90_qqtst_128x128_128x6")


def test_live_output_with_messages_before_the_header(h200: Path) -> None:
    report = read_ncu_csv(h200 / "micro_stdout.csv")
    assert [kernel.values[TIME] for kernel in report.kernels] == [
        285_472e-9, 535_264e-9, 298_400e-9, 223_744e-9, 234_272e-9,
    ]  # fmt: skip
    assert report.sources[0].clock_control == "none"
    assert len(report.messages) == 3


def test_details_page_of_a_roofline_set(h200: Path) -> None:
    report = read_ncu_csv(h200 / "micro_roofline_set_details.csv")
    assert [kernel.values[TIME] for kernel in report.kernels] == pytest.approx(
        [285.34e-6, 535.01e-6, 298.78e-6, 223.78e-6, 234.53e-6], rel=1e-15
    )
    kernel = report.kernels[4]
    assert kernel.values["dram__cycles_active.avg"] == 516757.0
    assert kernel.values["gpc__cycles_elapsed.avg.per_second"] == 1.95e9
    assert kernel.rounding["gpc__cycles_elapsed.avg.per_second"] == 5e6
    assert len(kernel.advice) == 2


def test_two_processes_with_equal_ids_stay_apart(long_csv: Callable[..., Path]) -> None:
    path = long_csv(("0", "k", TIME, "ns", "5"))
    text = path.read_text()
    row = text.splitlines()[1]
    path.write_text(text + row.replace('"0","7"', '"0","8"') + "\n" + row.replace('"k"', '"m"') + "\n")
    report = read_ncu_csv(path)
    assert [(kernel.process_id, kernel.kernel) for kernel in report.kernels] == [(7, "k"), (8, "k"), (7, "m")]


def test_two_devices_in_one_file(long_csv: Callable[..., Path]) -> None:
    path = long_csv(("0", "k", TIME, "ns", "5"), ("1", "k", TIME, "ns", "6"))
    path.write_text(path.read_text().replace('"0","9.0"', '"1","8.0"', 1))
    first, second = read_ncu_csv(path).kernels
    assert (first.device.index, first.device.compute_capability) == (1, (8, 0))
    assert (second.device.index, second.device.compute_capability) == (0, (9, 0))


def test_rows_of_a_launch_may_be_far_apart(long_csv: Callable[..., Path]) -> None:
    report = read_ncu_csv(
        long_csv(
            ("0", "k", TIME, "ns", "5"),
            ("1", "k", TIME, "ns", "6"),
            ("0", "k", DRAM, "byte", "70"),
            ("1", "k", DRAM, "byte", "80"),
        )
    )
    assert [kernel.values for kernel in report.kernels] == [{TIME: 5e-9, DRAM: 70}, {TIME: 6e-9, DRAM: 80}]


def test_two_values_of_one_metric_are_told(long_csv: Callable[..., Path]) -> None:
    report = read_ncu_csv(long_csv(("0", "k", DRAM, "byte", "70"), ("0", "k", DRAM, "byte", "80")))
    assert report.kernels[0].values == {DRAM: 70}
    assert any("two values" in line for line in report.warnings)


def test_a_wide_row_that_lacks_most_of_its_cells_is_lost(faults: Path, tmp_path: Path) -> None:
    text = (faults / "F04_raw_unit_row_empty_cells.csv").read_text()
    path = tmp_path / "short.csv"
    path.write_text(text + '"1","7","app"\n')
    report = read_ncu_csv(path)
    assert len(report.kernels) == 1
    assert "too short" in report.lost[0]


def test_files_one_after_the_other_are_launches_apart(faults: Path, tmp_path: Path) -> None:
    text = (faults / "F04_raw_unit_row_empty_cells.csv").read_text()
    path = tmp_path / "two.csv"
    path.write_text(text + text.replace("10.00", "20.00"))
    assert [kernel.values[TIME] for kernel in read_ncu_csv(path).kernels] == [10e-6, 20e-6]


@pytest.mark.parametrize(
    ("encoding", "prefix"), [("utf-8", "\ufeff"), ("utf-16-le", "\ufeff"), ("utf-16-be", "\ufeff"), ("utf-16-le", "")]
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_encodings_and_line_ends(long_csv: Callable[..., Path], encoding: str, prefix: str, ends: str) -> None:
    path = long_csv(("0", "größe<T>", TIME, "ns", "1,234"), ("0", "größe<T>", DRAM, "byte", "1,000,000"))
    text = prefix + path.read_text(encoding="utf-8").replace("\n", ends)
    path.write_bytes(text.encode(encoding))
    (kernel,) = read_ncu_csv(path).kernels
    assert kernel.kernel == "größe<T>"
    assert kernel.values == {TIME: 1234e-9, DRAM: 1e6}


def test_hostile_names_come_through_unchanged(long_csv: Callable[..., Path]) -> None:
    names = ["</script>", 'a "quoted", name', "void f<(bool)0>(int, float)", "t" * 3000, "x\ny", '","', "=1+1", "==k"]
    report = read_ncu_csv(long_csv(*((str(at), name, DRAM, "byte", "7") for at, name in enumerate(names))))
    assert [kernel.kernel for kernel in report.kernels] == names
    assert all(kernel.values == {DRAM: 7} for kernel in report.kernels)


def test_a_long_file_that_a_spreadsheet_wrote(long_csv: Callable[..., Path]) -> None:
    path = long_csv(("0", "k", TIME, "us", "1.50"), ("0", "k", DRAM, "byte", "1000"))
    rows = list(csv.reader(path.open()))
    path.write_text("\n".join(";".join(row) for row in rows))
    (kernel,) = read_ncu_csv(path).kernels
    assert kernel.values == {TIME: 1.5e-6, DRAM: 1000}


@pytest.mark.parametrize(
    ("cell", "value", "instances"),
    [
        ("10 (2; 3; 5)", 10.0, (2.0, 3.0, 5.0)),
        ("10 (0: 2; 1: 3; 7: 5)", 10.0, (2.0, 3.0, 5.0)),
        ("1,234.50 (1,000.25; 234.25)", 1234.5, (1000.25, 234.25)),
        ("n/a (1; 2)", None, (1.0, 2.0)),
    ],
)
def test_instance_cells(
    long_csv: Callable[..., Path], cell: str, value: float | None, instances: tuple[float, ...]
) -> None:
    report = read_ncu_csv(long_csv(("0", "k", "smsp__x.sum", "inst", cell), ("0", "k", DRAM, "byte", "1,000,000")))
    (kernel,) = report.kernels
    assert kernel.values.get("smsp__x.sum") == value
    assert kernel.instances["smsp__x.sum"] == instances


@pytest.mark.parametrize(("cell", "reason"), [("n/a", "n/a"), ("nan", "nan"), ("-nan(ind)", "nan"), ("inf", "inf")])
def test_what_is_no_number_is_missing_with_its_reason(long_csv: Callable[..., Path], cell: str, reason: str) -> None:
    (kernel,) = read_ncu_csv(long_csv(("0", "k", DRAM, "byte", cell))).kernels
    assert kernel.values == {}
    assert kernel.missing == {DRAM: reason}


@pytest.mark.parametrize(
    ("old", "new"), [("9.0", "9{}.0"), ("(128, 1, 1)", "({}, 1, 1)"), ('"1","7"', '"{}","{} (x)"')]
)
def test_numbers_of_thousands_of_digits_are_no_numbers(long_csv: Callable[..., Path], old: str, new: str) -> None:
    path = long_csv(("0", "k", DRAM, "byte", "5"), ("0", "k", TIME, "ns", "5"))
    path.write_text(path.read_text().replace(old, new.replace("{}", "9" * 5000)))
    (kernel,) = read_ncu_csv(path).kernels
    assert kernel.values[DRAM] == 5


def test_an_empty_cell_says_nothing_and_a_word_is_kept(long_csv: Callable[..., Path]) -> None:
    (kernel,) = read_ncu_csv(
        long_csv(("0", "k", "launch__tpc_enabled", "", "all"), ("0", "k", DRAM, "byte", ""))
    ).kernels
    assert (kernel.values, kernel.missing, kernel.texts) == ({}, {}, {"launch__tpc_enabled": "all"})


def test_an_unknown_unit_of_a_needed_metric_is_an_error_that_names_it(long_csv: Callable[..., Path]) -> None:
    with pytest.raises(ErtError, match="furlong"):
        read_ncu_csv(long_csv(("0", "k", DRAM, "furlong", "5")))


def test_an_unknown_unit_of_another_metric_costs_that_metric_alone(long_csv: Callable[..., Path]) -> None:
    report = read_ncu_csv(long_csv(("0", "k", "foo__bar.sum", "furlong", "5"), ("0", "k", DRAM, "byte", "5")))
    assert report.kernels[0].values == {DRAM: 5}
    assert "furlong" in report.kernels[0].missing["foo__bar.sum"]
    assert "furlong" in report.warnings[0]


def test_an_ambiguous_time_is_refused_until_the_user_says(long_csv: Callable[..., Path]) -> None:
    path = long_csv(("0", "k", TIME, "us", "117.344"))
    with pytest.raises(ErtError, match=r"117\.344"):
        read_ncu_csv(path)
    assert read_ncu_csv(path, ",").kernels[0].values[TIME] == 117_344e-6
    assert read_ncu_csv(path, ".").kernels[0].values[TIME] == 117.344e-6


def test_a_whole_count_of_nanoseconds_has_no_fraction(long_csv: Callable[..., Path]) -> None:
    (kernel,) = read_ncu_csv(long_csv(("0", "k", TIME, "ns", "117.344"))).kernels
    assert kernel.values[TIME] == 117_344e-9


def test_cells_that_contradict_each_other_are_refused(long_csv: Callable[..., Path]) -> None:
    path = long_csv(("0", "k", TIME, "ns", "1,234.50"), ("1", "k", TIME, "ns", "1.234,50"))
    with pytest.raises(ErtError, match="decimal comma"):
        read_ncu_csv(path)


def test_a_row_cut_at_the_end_is_lost_and_told(long_csv: Callable[..., Path]) -> None:
    path = long_csv(("0", "k", TIME, "ns", "5"), ("1", "k", TIME, "ns", "6"))
    whole = path.read_bytes()
    for cut in range(2, 60):
        path.write_bytes(whole[:-cut])
        report = read_ncu_csv(path)
        assert [kernel.id for kernel in report.kernels] == [0], cut
        assert len(report.lost) == 1, cut


def test_a_quote_that_never_closes_costs_one_row(long_csv: Callable[..., Path]) -> None:
    path = long_csv(*((str(at), "k", TIME, "ns", "5") for at in range(5)))
    lines = path.read_text().splitlines()
    lines[2] = lines[2][:-1]
    path.write_text("\n".join(lines) + "\n")
    report = read_ncu_csv(path)
    assert [kernel.id for kernel in report.kernels] == [0, 2, 3, 4]
    assert len(report.lost) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("==PROF== Connected\n==WARNING== No kernels were profiled.\n", "No kernels were profiled"),
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "not permitted"),
        ("==ERROR== The application returned an error code (1).\n", "returned an error code"),
        ('"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n', "no row"),
        ("a,b,c\n1,2,3\n", "no header"),
    ],
)
def test_a_file_without_kernels_says_why(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "nothing.csv"
    path.write_text(text)
    with pytest.raises(ErtError, match=says):
        read_ncu_csv(path)
