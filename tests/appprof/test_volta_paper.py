"""The method of 2020 on a V100: a hand-made report in that year's layout, and the paper's formulas beside ours.

FP64 and FP32: add + mul + 2 fma. FP16: hadd + hmul + 2 hfma. Tensor: 512 for each instruction. Time: cycles / rate.
Source of the formulas: NERSC's roofline-on-nvidia-gpus, ``postprocess.py`` and README.
"""

import pytest
from example_profiles import model_of

from appprof.analysis import analyse

CLOCK = 1.312e9
CYCLES = 1_312_000
METRICS = {
    "dram__bytes.sum": 90_000_000, "lts__t_bytes.sum": 200_000_000, "l1tex__t_bytes.sum": 400_000_000,
    "sm__cycles_elapsed.avg": CYCLES, "sm__cycles_elapsed.avg.per_second": CLOCK,
    "sm__inst_executed_pipe_tensor.sum": 0,
}  # fmt: skip
SASS = {
    "dadd": 1_000_000, "dfma": 3_000_000, "dmul": 2_000_000, "fadd": 10_000_000, "ffma": 30_000_000,
    "fmul": 20_000_000, "hadd": 0, "hfma": 0, "hmul": 0,
}  # fmt: skip
HEAD = (
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
    "Device", "CC", "Section Name", "Metric Name", "Metric Unit", "Metric Value",
)  # fmt: skip
UNITS = {"dram__bytes.sum": "byte", "lts__t_bytes.sum": "byte", "l1tex__t_bytes.sum": "byte",
         "sm__cycles_elapsed.avg": "cycle", "sm__cycles_elapsed.avg.per_second": "cycle/second"}  # fmt: skip


@pytest.fixture
def report(tmp_path):
    """Writes the fifteen metrics of one kernel, as Nsight Compute of 2020 exported them; 12 columns or 15."""

    def write(kernel="k(double *)", columns=15, **changes):
        values = {**METRICS, **{f"sm__sass_thread_inst_executed_op_{op}_pred_on.sum": n for op, n in SASS.items()}}
        values |= {next(name for name in values if key in name): value for key, value in changes.items()}
        identity = {"ID": "0", "Process ID": "7", "Process Name": "app", "Host Name": "127.0.0.1", "CC": "7.0",
                    "Kernel Name": kernel, "Kernel Time": "2020-Aug-27 18:57:25", "Context": "1", "Stream": "7",
                    "Block Size": "(128, 1, 1)", "Grid Size": "(640, 1, 1)", "Device": "0",
                    "Section Name": "Command line profiler metrics"}  # fmt: skip
        head = HEAD if columns == 15 else ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name",
                                           "Kernel Time", "Context", "Stream", *HEAD[-4:])  # fmt: skip
        lines = [",".join(f'"{name}"' for name in head)]
        for name, value in values.items():
            cells = {**identity, "Metric Name": name, "Metric Unit": UNITS.get(name, "inst"),
                     "Metric Value": f"{value:,.2f}" if "cycles" in name else f"{value:,}"}  # fmt: skip
            lines.append(",".join(f'"{cells[column]}"' for column in head))
        path = tmp_path / "v100.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return model_of(path)

    return write


def test_time_and_flop_by_precision_are_the_papers(report):
    (cell,) = report().cells
    assert cell.seconds == pytest.approx(1e-3)
    found = {row.key: row.value for row in cell.flop}
    assert found == {"fp64.vector": 1e6 + 2e6 + 2 * 3e6, "fp32.vector": 10e6 + 20e6 + 2 * 30e6}
    assert cell.flop_status == "complete"


def test_the_three_intensities_are_the_papers(report):
    (kernel,) = analyse(report()).kernels
    total = 9e6 + 90e6
    assert kernel.summary.point("L1").intensity == pytest.approx(total / 400e6)
    assert kernel.summary.point("L2").intensity == pytest.approx(total / 200e6)
    assert kernel.summary.point("DRAM").intensity == pytest.approx(total / 90e6)
    assert kernel.summary.rate == pytest.approx(total / 1e-3)


def test_tensor_flop_are_the_papers_where_it_accumulates_in_fp32_and_both_are_told(report):
    model = report(kernel="volta_gemm", pipe_tensor=1_000_000)
    (cell,) = model.cells
    tensor = next(row for row in cell.flop if row.path.startswith("tensor"))
    assert tensor.value == 512 * 1_000_000
    assert any("512000000" in line and "1024000000" in line for line in model.warnings)
    half = next(row for row in report(kernel="volta_h884gemm_128", pipe_tensor=1_000_000).cells[0].flop
                if row.path.startswith("tensor"))  # fmt: skip
    assert half.value == 1024 * 1_000_000


def test_packed_halves_are_twice_the_papers_and_both_are_told(report):
    (kernel,) = analyse(report(op_hfma=40_000_000, op_hadd=10_000_000, op_ffma=0, op_fadd=0, op_fmul=0)).kernels
    paper = 10e6 + 2 * 40e6
    assert next(row for row in kernel.summary.flop if row.key == "fp16.vector").value == 2 * paper
    assert any("180.0 MFLOP" in line and "90.00 MFLOP" in line for line in kernel.sentences)


def test_a_time_that_was_counted_with_the_instructions_is_doubted(report):
    assert any("155 times too many" in line for line in report().warnings)


def test_the_twelve_columns_hold_the_same_but_name_no_gpu(report):
    model = report(columns=12)
    (cell,) = model.cells
    assert model.chip.compute_capability is None
    assert {row.key: row.value for row in cell.flop} == {"fp64.vector": 9e6, "fp32.vector": 90e6}
    assert cell.seconds == pytest.approx(1e-3)
