"""Roofs out of a report: those of an H200, each of its own counter and at its own clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from appprof.counts.peaks import report_peaks
from appprof.report.ncu_rep import read_ncu_rep

PER_SM = {  # FLOP or OP a cycle and SM
    ("fp64.vector", False): 128, ("fp32.vector", False): 256, ("fp16.vector", False): 512,
    ("fp16.tensor.wgmma", False): 4096, ("fp16.tensor.wgmma", True): 8192,
    ("bf16.tensor.wgmma", False): 4096, ("bf16.tensor.wgmma", True): 8192,
    ("tf32.tensor.wgmma", False): 2048, ("tf32.tensor.wgmma", True): 4096,
    ("fp8.tensor.wgmma", False): 8192, ("fp8.tensor.wgmma", True): 16384,
    ("int8.tensor.wgmma", False): 8192, ("int8.tensor.wgmma", True): 16384,
    ("int1.tensor.wgmma", False): 65536,
    ("fp16.tensor.mma.sync", False): 8192 / 3, ("fp16.tensor.mma.sync", True): 4096,
    ("bf16.tensor.mma.sync", False): 8192 / 3, ("bf16.tensor.mma.sync", True): 4096,
    ("tf32.tensor.mma.sync", False): 4096 / 3, ("tf32.tensor.mma.sync", True): 2048,
    ("int8.tensor.mma.sync", False): 16384 / 3, ("int8.tensor.mma.sync", True): 8192,
    ("int1.tensor.mma.sync", False): 131072 / 3,
    ("fp64.tensor.mma.sync", False): 256,
    ("L1.wb", False): 128,
}  # fmt: skip


def test_every_roof_of_an_h200(h200: Path) -> None:
    for kernel in read_ncu_rep(h200 / "micro_roofline_set.ncu-rep").kernels:
        peaks = {(peak.key, peak.sparse): peak for peak in report_peaks(kernel.values, (9, 0))}
        assert peaks.pop(("L2.out", False)).per_second == pytest.approx(10.27e12, rel=2e-3)
        assert peaks.pop(("DRAM", False)).per_second == pytest.approx(4.811e12, rel=2e-3)
        assert {key: peak.per_cycle / 132 for key, peak in peaks.items()} == pytest.approx(PER_SM)


def test_achieved_share_of_the_roof_of_the_same_instruction(h200: Path) -> None:
    kernel = read_ncu_rep(h200 / "micro_roofline_set.ncu-rep").kernels[3]
    peak = next(
        row for row in report_peaks(kernel.values, (9, 0)) if row.key == "fp16.tensor.mma.sync" and not row.sparse
    )
    rate = 138_412_032_000 / kernel.values["gpu__time_duration.sum"]
    assert rate / peak.per_second == pytest.approx(0.955, abs=1e-3)


def test_a_report_without_peaks_has_no_roofs(h200: Path) -> None:
    assert report_peaks(read_ncu_rep(h200 / "micro.ncu-rep").kernels[0].values, (9, 0)) == ()


def test_a_clock_that_stands_still_makes_no_roof() -> None:
    values = {"dram__bytes.sum.peak_sustained": 1504.0, "dram__cycles_elapsed.avg.per_second": 3.2e9}
    assert [peak.key for peak in report_peaks(values, (9, 0))] == ["DRAM"]
    assert report_peaks({**values, "dram__cycles_elapsed.avg.per_second": 0.0}, (9, 0)) == ()
