"""The suite as it was counted by hand on an H200 (results/nvidia-h200/counters.json), as declared and as a report.

Which counter holds the work of which kernel is written by hand here: the code under test has a table of its own.
"""

from __future__ import annotations

import json
from pathlib import Path

from appprof.verify import Launched, LaunchedSuite
from appprof.witnesses import metrics_for
from ert_numba.records import Work

ROOT = Path(__file__).parents[2]
H200 = (9, 0)
ROWS = json.loads((ROOT / "results" / "nvidia-h200" / "counters.json").read_text(encoding="utf-8"))
OPS, SASS = "sm__ops_path_tensor_", "smsp__sass_thread_inst_executed_op_"
# (counter, how much of the work one count is) of each ceiling, written by hand.
COUNTERS = {
    "L1.read": ("l1tex__lsu_writeback_active_mem_lgds.sum", 128),
    "L2.read.private": ("l1tex__m_xbar2l1tex_read_bytes.sum", 1),
    "L2.read.shared": ("l1tex__m_xbar2l1tex_read_bytes.sum", 1),
    "DRAM.read": ("dram__bytes_read.sum", 1),
    "DRAM.write": ("dram__bytes_write.sum", 1),
    "DRAM.copy": ("dram__bytes.sum", 1),
    "DRAM.triad": ("dram__bytes.sum", 1),
    "DRAM.strided": ("dram__bytes_read.sum", 1),
    "DRAM.random": ("lts__t_sectors_srcunit_tex.sum", 32),
    "SHARED.read": ("smsp__sass_data_bytes_mem_shared_op_ld.sum", 1),
    "fp64.vector.fma": (f"{SASS}dfma_pred_on.sum", 2),
    "fp64.vector.add": (f"{SASS}dadd_pred_on.sum", 1),
    "fp32.vector.fma": (f"{SASS}ffma_pred_on.sum", 2),
    "fp32.vector.add": (f"{SASS}fadd_pred_on.sum", 1),
    "fp16.vector.fma": (f"{SASS}hfma_pred_on.sum", 4),
    "bf16.vector.fma": (f"{SASS}hfma_pred_on.sum", 4),
    "fp16.tensor.mma.sync": (f"{OPS}op_hmma_src_fp16_dst_fp32_sparsity_off.sum", 1),
    "fp16.tensor.mma.sync.acc16": (f"{OPS}op_hmma_src_fp16_dst_fp16_sparsity_off.sum", 1),
    "bf16.tensor.mma.sync": (f"{OPS}op_hmma_src_bf16_dst_fp32_sparsity_off.sum", 1),
    "tf32.tensor.mma.sync": (f"{OPS}op_hmma_src_tf32_dst_fp32_sparsity_off.sum", 1),
    "fp64.tensor.mma.sync": (f"{OPS}src_fp64.sum", 1),
    "int8.tensor.mma.sync": (f"{OPS}op_imma_src_int8_sparsity_off.sum", 1),
    "fp8_e4m3.tensor.mma.sync": (f"{OPS}op_hmma_src_fp16_dst_fp32_sparsity_off.sum", 1),
    "fp8_e5m2.tensor.mma.sync": (f"{OPS}op_hmma_src_fp16_dst_fp32_sparsity_off.sum", 1),
    "fp16.tensor.wgmma": (f"{OPS}op_hgmma_src_fp16_sparsity_off.sum", 1),
    "fp16.tensor.wgmma.acc16": (f"{OPS}op_hgmma_src_fp16_sparsity_off.sum", 1),
    "bf16.tensor.wgmma": (f"{OPS}op_hgmma_src_bf16_dst_fp32_sparsity_off.sum", 1),
    "tf32.tensor.wgmma": (f"{OPS}op_hgmma_src_tf32_dst_fp32_sparsity_off.sum", 1),
    "fp8_e4m3.tensor.wgmma": (f"{OPS}src_fp8_sparsity_off.sum", 1),
    "fp8_e5m2.tensor.wgmma": (f"{OPS}src_fp8_sparsity_off.sum", 1),
    "int8.tensor.wgmma": (f"{OPS}op_igmma_src_int8_sparsity_off.sum", 1),
}
NAMES = [row["ceiling"] for row in ROWS]
IDENTITY = (
    "ID",
    "Kernel Name",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
    "Metric Name",
    "Metric Unit",
    "Metric Value",
)


def launches(rows):
    """Launches of the shape that the made-up CSV says."""
    fields = {name: "bytes_moved" if name[0].isupper() else "flop" for name in NAMES}
    return tuple(
        Launched(name=row["kernel"], ceiling=row["ceiling"], blocks=64, threads=128,
                 work=Work(**{fields[row["ceiling"]]: row["declared"]}))
        for row in rows
    )  # fmt: skip


def suite(rows=ROWS):
    return LaunchedSuite(device="NVIDIA H200", launches=launches(rows))


def cells(rows, scale=None, **other):
    """One row a metric: what was counted on an H200, times ``scale`` at one ceiling; ``other`` texts by ceiling."""
    for number, row in enumerate(rows):
        counter, weight = COUNTERS[row["ceiling"]]
        amount = row["counted"] / weight * (scale or {}).get(row["ceiling"], 1.0)
        for metric in metrics_for(H200):
            value = f"{amount:.0f}" if metric == counter else "0"
            unit = "byte" if "bytes" in metric else "%" if metric.endswith(".pct") else ""
            yield str(number), row["kernel"], metric, unit, other.get(metric, value)


def write_csv(path, rows, chip="9.0"):
    """A long CSV of such rows, as Nsight Compute writes it."""
    lines = [IDENTITY]
    for number, kernel, *metric in rows:
        lines.append((number, kernel, "(128, 1, 1)", "(64, 1, 1)", "0", chip, *metric))
    path.write_text("".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines), encoding="utf-8")
    return path
