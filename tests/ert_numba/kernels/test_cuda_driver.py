"""A status of the driver as an error: which ones lose the device, and that each remedy belongs to one that exists."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("cuda.bindings.driver")

from cuda.bindings import driver

from ert_numba.errors import DeviceLost
from ert_numba.kernels import cuda_driver
from ert_numba.kernels.cuda_driver import STICKY, CudaError, GpuLost, call

NAMES = {row.name for row in driver.CUresult}


def answering(name: str) -> Any:
    def function(*arguments: Any) -> tuple[Any, int]:
        return getattr(driver.CUresult, name), 7

    return function


def test_names_are_cudas_own() -> None:
    newest = {"CUDA_ERROR_TENSOR_MEMORY_LEAK", "CUDA_ERROR_CONTAINED"}  # older bindings lack them
    assert newest >= STICKY - NAMES
    assert set(cuda_driver._REMEDIES) <= NAMES


def test_success_gives_the_value() -> None:
    assert call(answering("CUDA_SUCCESS")) == 7


@pytest.mark.parametrize(
    "name",
    sorted(
        (STICKY & NAMES) | {f"CUDA_ERROR_{name}" for name in ("ILLEGAL_ADDRESS", "ECC_UNCORRECTABLE", "LAUNCH_FAILED")}
    ),
)
def test_a_sticky_failure_loses_the_device(name: str) -> None:
    with pytest.raises(GpuLost, match=name) as caught:
        call(answering(name))
    assert isinstance(caught.value, DeviceLost)


@pytest.mark.parametrize("name", ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_INVALID_IMAGE"])
def test_another_failure_does_not(name: str) -> None:
    with pytest.raises(CudaError, match=name) as caught:
        call(answering(name))
    assert not isinstance(caught.value, DeviceLost)


@pytest.mark.parametrize("name", ["CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "CUDA_ERROR_INVALID_IMAGE"])
def test_a_driver_older_than_the_compiler_says_what_mends_it(name: str) -> None:
    with pytest.raises(CudaError, match=r"update it, or install ert-numba\[cuda12\]"):
        call(answering(name))
