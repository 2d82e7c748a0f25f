"""The rows of Tensor Core shapes: sparse ones apart from dense ones, and what each is worth."""

from __future__ import annotations

import pytest

from ert_numba.catalog.gpus import gpu_of
from ert_numba.fit.keys import parse_ceiling
from ert_numba.kernels.mma_shapes import MMA_SHAPES, WGMMA_SHAPES

ROWS = (*MMA_SHAPES, *WGMMA_SHAPES)
SPARSE = [row for row in ROWS if row.sparse]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.key} {row.name}")
def test_a_key_says_whether_it_is_sparse(row) -> None:  # type: ignore[no-untyped-def]
    key = parse_ceiling(row.key)
    assert key.sparse is row.sparse
    assert key.precision == row.precision
    assert (".sp" in row.instruction) is row.sparse
    assert (r"\.SP" in row.sass) is row.sparse


@pytest.mark.parametrize("row", SPARSE, ids=lambda row: f"{row.key} {row.name}")
def test_half_of_a_sparse_product_is_not_there(row) -> None:  # type: ignore[no-untyped-def]
    """Declared work counts the zeros, as data sheets do; ones times ones add up to half as much."""
    assert row.growth == row.k // 2
    dense = next(one for one in ROWS if one.key == row.key.removesuffix(".sparse") and one.k * 2 == row.k)
    assert row.operations == 2 * dense.operations
    assert row.growth == dense.growth


def test_a_sparse_limit_is_twice_the_dense_one() -> None:
    hopper = gpu_of("NVIDIA H200", (9, 0))
    assert hopper is not None
    rates = {rate.key: rate.per_cycle for rate in hopper.rates}
    sparse = [key for key in rates if key.endswith(".sparse")]
    assert len(sparse) == 5
    assert all(rates[key] == 2 * rates[key.removesuffix(".sparse")] for key in sparse)


def test_a_form_that_is_emulated_is_skipped_with_that_reason() -> None:
    pytest.importorskip("numba_cuda")
    from ert_numba.kernels.cuda_mma import SPEC
    from ert_numba.kernels.spec import Request
    from ert_numba.records import DeviceInfo, Skipped

    def reasons(architecture: str) -> dict[str, str]:
        device = DeviceInfo(kind="gpu", name="x", vendor="NVIDIA", architecture=architecture, units=1)
        return {row.what: row.reason for row in SPEC.points(device, Request()) if isinstance(row, Skipped)}

    assert reasons("sm_90") == {"fp8_e4m3.tensor.mma.sync.sparse": "sm_90 makes it of many other instructions"}
    assert reasons("sm_80")["fp8_e4m3.tensor.mma.sync.sparse"] == "sm_80 has no such mma.sync"
    assert "fp8_e4m3.tensor.mma.sync.sparse" not in reasons("sm_89")
