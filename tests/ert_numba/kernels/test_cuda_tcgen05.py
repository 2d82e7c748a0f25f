"""Blackwell's own path is named as missing where it exists, and nowhere else."""

from __future__ import annotations

import pytest

pytest.importorskip("numba_cuda")

from ert_numba.kernels.cuda_tcgen05 import PRECISIONS, SPEC
from ert_numba.kernels.spec import Request
from ert_numba.records import DeviceInfo, Skipped


def offered(architecture: str, request: Request = Request()) -> list[str]:  # noqa: B008
    device = DeviceInfo(kind="gpu", name="x", vendor="NVIDIA", architecture=architecture, units=1)
    rows = list(SPEC.points(device, request))
    assert all(isinstance(row, Skipped) and row.reason for row in rows)
    return [row.what for row in rows if isinstance(row, Skipped)]


@pytest.mark.parametrize("architecture", ["sm_100", "sm_103", "sm_110"])
def test_where_tcgen05_is_its_absence_is_said(architecture: str) -> None:
    assert offered(architecture) == [f"{precision}.tensor.tcgen05" for precision in PRECISIONS]
    assert offered(architecture, Request(precisions=("bf16", "fp64"))) == ["bf16.tensor.tcgen05"]


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90", "sm_120"])
def test_elsewhere_nothing_is_missed(architecture: str) -> None:
    assert offered(architecture) == []
