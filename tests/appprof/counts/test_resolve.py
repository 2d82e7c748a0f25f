"""FLOP, bytes and time of kernels whose work is known, and the reason wherever a file does not tell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from appprof.counts.record import Counts
from appprof.counts.resolve import count, count_all
from appprof.report.profile import KernelProfile
from appprof.report.read import read_file

FMA = 17_303_396_352.0  # 8,650,752,000 fused and 1,892,352 plain
GEMM = 2.0 * 4096**3
TRIAD = 2.0**26
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on"
TENSOR = "sm__ops_path_tensor_"
VECTOR = {SASS.format(f"{letter}{op}") + ".sum": 0.0 for letter in "fdh" for op in ("add", "mul", "fma")}
TIME = "gpu__time_duration.sum"
INSTRUCTIONS = "sm__inst_executed_pipe_tensor"


def flop(counts: Counts) -> dict[str, float]:
    return {row.key + (".sparse" if row.sparse else ""): row.value for row in counts.flop}


def counted(path: Path) -> list[Counts]:
    return count_all(read_file(path).kernels)


MICRO = [
    {"fp32.vector": FMA},
    {"fp64.vector": FMA},
    {"fp16.vector": 34_603_008_000.0},
    {"fp32.vector": 8_380_416.0, "fp16.tensor.mma.sync": 138_412_032_000.0},
    {"fp32.vector": 2 * TRIAD},
]
MICRO_TIMES = [285_600, 535_968, 298_688, 223_744, 233_440]
MICRO_DRAM = [7_168, 7_168, 6_912, 5_632, 793_800_192]
MICRO_L2_ALL = [2_098_272, 3_755_488, 2_057_024, 1_921_728, 1_218_347_552]
MICRO_L1 = [1_081_344, 2_162_688, 1_081_344, 1_081_344, 805_306_368]


@pytest.mark.parametrize("name", ["micro.ncu-rep", "micro_raw.csv", "micro_raw_base.csv"])
def test_micro_kernels_give_their_declared_work(h200: Path, name: str) -> None:
    found = counted(h200 / name)
    assert [flop(counts) for counts in found] == MICRO
    assert [counts.flop_status for counts in found] == ["complete"] * 5
    assert [counts.seconds.value for counts in found if counts.seconds] == [time / 1e9 for time in MICRO_TIMES]
    for definition, expected in (("DRAM", MICRO_DRAM), ("L1.tag", MICRO_L1), ("L2.sm", MICRO_L1)):
        assert [row.value for counts in found if (row := counts.bytes_at(definition))] == expected
    for counts, expected_bytes in zip(found, MICRO_L2_ALL, strict=True):
        row = counts.bytes_at("L2.all")
        assert row is not None
        assert abs(row.value - expected_bytes) <= row.rounding
        assert row.rounding == (500.0 if name == "micro_raw.csv" else 0.0)


def test_five_definitions_of_the_triads_bytes(h200: Path) -> None:
    triad = counted(h200 / "micro_raw_base.csv")[4]
    assert {row.definition: row.value for row in triad.traffic} == {
        "L1.tag": 805_306_368,
        "L1.wb": 805_306_368,
        "L2.sm": 805_306_368,
        "L2.out": 537_407_392,
        "L2.all": 1_218_347_552,
        "DRAM": 793_800_192,
    }
    assert all(row.bound == "exact" and not row.withheld for row in triad.traffic)


def test_roofline_set_gives_exact_work_out_of_rates(h200: Path) -> None:
    found = counted(h200 / "micro_roofline_set.ncu-rep")
    assert [flop(counts) for counts in found] == MICRO
    assert [counts.flop_status for counts in found] == ["complete"] * 5
    expected = {
        "L1.wb": [1_081_344, 1_081_344, 1_081_344, 1_081_344, 805_306_368],
        "L2.out": [208_480, 268_160, 201_312, 240_224, 537_536_704],
        "DRAM": [7_168, 7_168, 6_912, 5_632, 793_738_752],
    }
    for definition, values in expected.items():
        assert [row.value for counts in found if (row := counts.bytes_at(definition))] == values
    assert found[0].flop[0].origin.form == "per cycle x cycles"
    assert found[0].clocks_hz["lts"] == pytest.approx(1.7065e9, rel=1e-4)


def test_details_page_has_time_and_no_work(h200: Path) -> None:
    for counts in counted(h200 / "micro_roofline_set_details.csv"):
        assert counts.seconds is not None
        assert (counts.flop, counts.traffic, counts.flop_status) == ((), (), "unknown")
        assert [row.what for row in counts.absent] == ["L1", "L2", "DRAM", "flop"]
        assert all(row.ask for row in counts.absent)


def test_live_output_knows_tensor_work_only_where_its_counters_do(h200: Path) -> None:
    found = counted(h200 / "micro_stdout.csv")
    assert [counts.flop_status for counts in found] == ["complete", "complete", "partial", "unknown", "complete"]
    assert "33792000 instructions" in found[3].flop_reason
    assert found[3].total_flop is None
    assert found[2].total_flop == 34_603_008_000.0  # its tensor-pipe count is packed halves: no matrix work


GEMMS = [
    {"fp16.tensor.wgmma": GEMM},
    {"bf16.tensor.wgmma": GEMM},
    {"fp32.vector": 137_472_507_904.0, "fp16.vector": 524_288.0},
    {"fp64.vector": 16_777_216.0, "fp64.tensor.mma.sync": GEMM},
    {"fp32.vector": 33_706_496.0, "tf32.tensor.wgmma": GEMM},
    {"int8.tensor.mma.sync": GEMM},
    {"fp32.vector": 537_395_200.0, "fp8.tensor.wgmma": GEMM},
]


def test_products_give_twice_m_n_k_by_instruction(h200: Path) -> None:
    found = counted(h200 / "gemm_raw.csv")
    assert [flop(counts) for counts in found] == GEMMS
    assert [counts.flop_status for counts in found] == ["complete"] * 7
    assert [counts.seconds.value for counts in found if counts.seconds] == [
        181_056e-9, 176_192e-9, 2_693_472e-9, 2_200_480e-9, 343_008e-9, 160_480e-9, 101_824e-9,
    ]  # fmt: skip


def test_l1_of_tma_kernels_is_withheld(h200: Path) -> None:
    found = counted(h200 / "gemm_raw.csv")
    withheld = [bool(row.withheld) for counts in found if (row := counts.bytes_at("L1.tag"))]
    assert withheld == [True, True, False, False, True, False, True]
    row = found[0].bytes_at("L1.tag")
    assert row is not None
    assert (row.value, row.rounding) == (12_000.0, 500.0)


def test_f05_an_impossible_rate_is_counted_as_it_stands(faults: Path) -> None:
    (counts,) = counted(faults / "F05_achieved_above_peak.csv")
    assert counts.seconds is not None
    assert counts.total_flop is not None
    assert counts.total_flop / counts.seconds.value == 1e16
    assert counts.flop_status == "partial"


def test_f08_tensor_kernel_is_not_its_multiplications(faults: Path) -> None:
    (counts,) = counted(faults / "F08_tensor_kernel_ffma_zero.csv")
    assert (counts.flop_status, counts.total_flop) == ("unknown", None)
    asked = next(row.ask for row in counts.absent if row.what == "flop")
    assert "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum" in asked


def test_f13_ratio_of_sums(faults: Path) -> None:
    found = counted(faults / "F13_aggregate_ratio_of_sums.csv")
    work = sum(counts.total_flop or 0.0 for counts in found)
    moved = sum(row.value for counts in found if (row := counts.bytes_at("DRAM")))
    seconds = sum(counts.seconds.value for counts in found if counts.seconds)
    assert (work / moved, work / seconds) == (2.0, pytest.approx(200e9, rel=1e-15))


def test_f19_renamed_halves_are_summed(faults: Path) -> None:
    (counts,) = counted(faults / "F19_blackwell_renamed_dram.csv")
    row = counts.bytes_at("DRAM")
    assert row is not None
    assert (row.value, row.bound) == (600.0, "exact")


@pytest.mark.parametrize(
    ("file", "seconds", "dram"),
    [
        ("F01_locale_dot_grouping.csv", 100e-6, 200e6),
        ("F02_old_12_columns.csv", 10e-6, 1e6),
        ("F03_noise_before_and_after.csv", None, 1e6),
        ("F04_raw_unit_row_empty_cells.csv", 10e-6, 1.75e6),
        ("F21_ragged_details.csv", 6.75e-6, None),
    ],
)
def test_bandwidth_of_files_without_flop(faults: Path, file: str, seconds: float | None, dram: float | None) -> None:
    (counts,) = counted(faults / file)
    assert (counts.seconds and counts.seconds.value) == seconds
    row = counts.bytes_at("DRAM")
    assert (row and row.value) == dram
    assert (counts.flop_status, counts.total_flop) == ("unknown", None)
    assert ("time" in [absent.what for absent in counts.absent]) == (seconds is None)


def test_one_half_of_the_bytes_is_a_lower_bound(make_kernel: Callable[..., KernelProfile]) -> None:
    row = count(make_kernel({"dram__bytes_read.sum": 7.0})).bytes_at("DRAM")
    assert row is not None
    assert (row.value, row.bound) == (7.0, "lower")


def test_the_whole_is_preferred_to_its_halves(make_kernel: Callable[..., KernelProfile]) -> None:
    values = {"dram__bytes_read.sum": 7.0, "dram__bytes_write.sum": 5.0, "dram__bytes.sum": 12.0}
    row = count(make_kernel(values)).bytes_at("DRAM")
    assert row is not None
    assert (row.value, row.origin.metrics) == (12.0, ("dram__bytes.sum",))


def test_no_flop_is_known_only_when_all_was_counted(make_kernel: Callable[..., KernelProfile]) -> None:
    none = count(make_kernel({**VECTOR, f"{INSTRUCTIONS}.sum": 0.0}))
    assert (none.flop_status, none.total_flop) == ("complete", 0.0)
    for name in VECTOR:
        values = {other: 0.0 for other in VECTOR if other != name} | {f"{INSTRUCTIONS}.sum": 0.0}
        partial = count(make_kernel(values))
        assert partial.flop_status == "partial"
        assert name.split("_op_")[1].split("_")[0] in partial.flop_reason


def test_without_any_tensor_counter_the_sum_is_partial(make_kernel: Callable[..., KernelProfile]) -> None:
    counts = count(make_kernel(VECTOR))
    assert (counts.flop_status, counts.flop_reason) == ("partial", "not counted: tensor cores")


@pytest.mark.parametrize("kernel", ["ampere_fp16_s16816gemm_fp16_128x128", "nvjet_sm90_hsh", "flash_fwd_kernel<x>"])
def test_a_tensor_kernels_name_is_evidence_where_nothing_better_is(
    make_kernel: Callable[..., KernelProfile], kernel: str
) -> None:
    counts = count(make_kernel({**VECTOR, SASS.format("fmul") + ".sum": 131_072.0}, kernel=kernel))
    assert (counts.flop_status, counts.total_flop) == ("unknown", None)


def test_a_tensor_kernels_name_is_no_evidence_against_a_count(make_kernel: Callable[..., KernelProfile]) -> None:
    values = {**VECTOR, f"{INSTRUCTIONS}.sum": 0.0}
    assert count(make_kernel(values, kernel="s16816gemm_splitk_reduce")).flop_status == "complete"


def test_packed_fp32_of_blackwell(make_kernel: Callable[..., KernelProfile]) -> None:
    values = {**VECTOR, f"{INSTRUCTIONS}.sum": 0.0}
    values |= {
        SASS.format("fadd2") + ".sum": 1.0,
        SASS.format("fmul2") + ".sum": 10.0,
        SASS.format("ffma2") + ".sum": 100.0,
    }
    counts = count(make_kernel(values, chip=(10, 0)))
    assert flop(counts) == {"fp32.vector": 2 + 20 + 400}
    assert counts.flop[0].fused == 400
    del values[SASS.format("ffma2") + ".sum"]
    assert "ffma2" in count(make_kernel(values, chip=(10, 0))).flop_reason
    assert count(make_kernel(values, chip=(9, 0))).flop_status == "complete"


V100 = {
    "sm__cycles_elapsed.avg": 1_300_000.0,
    "sm__cycles_elapsed.avg.per_second": 1.3e9,
    **{f"sm__sass_thread_inst_executed_op_{op}_pred_on.sum": float(at) for at, op in enumerate(
        ("dadd", "dmul", "dfma", "fadd", "fmul", "ffma", "hadd", "hmul", "hfma"), start=1
    )},
    f"{INSTRUCTIONS}.sum": 1000.0,
    "dram__bytes.sum": 5000.0,
    "lts__t_bytes.sum": 6000.0,
    "l1tex__t_bytes.sum": 7000.0,
}  # fmt: skip


def test_papers_method_on_v100(make_kernel: Callable[..., KernelProfile]) -> None:
    """Its 15 metrics and formulas; ours differ on purpose in packed halves, twice what the paper counts."""
    counts = count(make_kernel(V100, chip=(7, 0)))
    assert counts.seconds is not None
    assert counts.seconds.value == 1e-3
    assert flop(counts) == {
        "fp64.vector": 1 + 2 + 2 * 3,
        "fp32.vector": 4 + 5 + 2 * 6,
        "fp16.vector": 2 * (7 + 8 + 2 * 9),
        "fp16.tensor.mma.sync": 512 * 1000,
    }
    assert {row.definition: row.value for row in counts.traffic} == {"L1.tag": 7000, "L2.all": 6000, "DRAM": 5000}
    assert "1024000" in counts.warnings[1]  # what it would be if it accumulated in FP16
    assert "155 times" in counts.warnings[0]
    assert counts.flop_status == "complete"


@pytest.mark.parametrize(
    ("name", "factor", "bound"), [("volta_h884gemm", 1024, "exact"), ("volta_fp16_s884gemm", 512, "exact")]
)
def test_volta_kernel_names_tell_the_accumulator(
    make_kernel: Callable[..., KernelProfile], name: str, factor: int, bound: str
) -> None:
    counts = count(make_kernel(V100, chip=(7, 0), kernel=name))
    row = next(row for row in counts.flop if row.path.startswith("tensor"))
    assert (row.value, row.bound) == (1000 * factor, bound)


def test_the_fixed_factor_is_used_on_volta_alone(make_kernel: Callable[..., KernelProfile]) -> None:
    for chip in ((7, 5), (8, 0), (9, 0), (12, 0), None):
        counts = count(make_kernel({**V100, "sm__sass_thread_inst_executed_op_hfma_pred_on.sum": 0.0}, chip=chip))
        assert not any(row.path.startswith("tensor") for row in counts.flop)


def test_voltas_own_operation_counters_come_first(make_kernel: Callable[..., KernelProfile]) -> None:
    values = {**V100, f"{TENSOR}src_fp16_dst_fp16.sum": 1_024_000.0, f"{TENSOR}src_fp16_dst_fp32.sum": 0.0}
    assert flop(count(make_kernel(values, chip=(7, 0))))["fp16.tensor.mma.sync"] == 1_024_000.0


def test_times_by_preference(make_kernel: Callable[..., KernelProfile]) -> None:
    values = {TIME: 7.0, "sm__cycles_elapsed.avg": 10.0, "sm__cycles_elapsed.avg.per_second": 4.0}
    for expected in (7.0, 2.5, None):
        found = count(make_kernel(values)).seconds
        assert (found and found.value) == expected
        values.pop(next(iter(values)))


def test_a_time_of_zero_is_no_time(make_kernel: Callable[..., KernelProfile]) -> None:
    assert count(make_kernel({TIME: 0.0})).seconds is None


def test_a_missing_time_names_its_reason(make_kernel: Callable[..., KernelProfile]) -> None:
    counts = count(make_kernel({"dram__bytes.sum": 1.0}, missing={TIME: "n/a"}))
    assert counts.absent[0].what == "time"
    assert "n/a" in counts.absent[0].reason


@pytest.mark.parametrize("chip", [(7, 2), (8, 7), (11, 0), (12, 1)])
def test_chips_without_memory_of_their_own_say_so(
    make_kernel: Callable[..., KernelProfile], chip: tuple[int, int]
) -> None:
    dram = next(row for row in count(make_kernel({TIME: 1.0}, chip=chip)).absent if row.what == "DRAM")
    assert dram.ask == ()
    assert "this chip" in dram.reason


def test_rounding_of_a_rate_reaches_the_count(make_kernel: Callable[..., KernelProfile]) -> None:
    name = SASS.format("ffma") + ".sum.per_cycle_elapsed"
    values = {name: 3.35, "smsp__cycles_elapsed.avg": 1000.0}
    counts = count(make_kernel(values, rounding={name: 0.005}))
    assert counts.flop[0].value == 2 * 3350
    assert counts.flop[0].rounding == pytest.approx(2 * 5)


def test_doubled_values_of_the_roofline_chart(make_kernel: Callable[..., KernelProfile]) -> None:
    values = {
        "derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2": 20.0,
        "derived__smsp__sass_thread_inst_executed_op_hfma_pred_on_x4": 40.0,
        "derived__sm__sass_thread_inst_executed_op_dfma_pred_on_x2": 99.0,  # a peak, not what was done
        "smsp__cycles_elapsed.avg": 100.0,
    }
    assert flop(count(make_kernel(values))) == {"fp32.vector": 2000.0, "fp16.vector": 4000.0}
