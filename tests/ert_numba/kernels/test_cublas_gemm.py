"""The host side of the products: formats, random data, which shapes are asked for."""

from __future__ import annotations

import numpy as np
import pytest

from ert_numba.kernels import cublas_gemm
from ert_numba.kernels.cublas_gemm import GEMM_TYPES, SHAPES, shapes
from ert_numba.kernels.spec import Request
from ert_numba.records import DeviceInfo, Point, Skipped


def gpu(architecture: str) -> DeviceInfo:
    return DeviceInfo(kind="gpu", name="x", vendor="NVIDIA", architecture=architecture, units=10)


def test_e4m3_is_decoded_as_the_format_says() -> None:
    codes = np.array([0x00, 0x01, 0x08, 0x38, 0x39, 0x7E, 0xB8], np.uint8)
    assert cublas_gemm.decode("e4m3", codes).tolist() == [0.0, 2.0**-9, 2.0**-6, 1.0, 1.125, 448.0, -1.0]


def test_random_e4m3_has_every_number_and_no_nan() -> None:
    drawn = np.unique(cublas_gemm.random_elements("e4m3", 1))
    assert len(drawn) == 254
    assert not {0x7F, 0xFF} & set(drawn.tolist())


def test_bf16_elements_are_normal_numbers() -> None:
    values = cublas_gemm.decode("bf16", cublas_gemm.random_elements("bf16", 2))
    assert abs(float(values.mean())) < 0.01
    assert abs(float(values.std()) - 1) < 0.01


@pytest.mark.parametrize("kind", ["f64", "f32", "f16", "bf16", "s8", "e4m3"])
def test_random_elements_repeat_by_seed(kind: str) -> None:
    assert np.array_equal(cublas_gemm.random_elements(kind, 5), cublas_gemm.random_elements(kind, 5))
    assert not np.array_equal(cublas_gemm.random_elements(kind, 5), cublas_gemm.random_elements(kind, 6))


def test_what_an_architecture_lacks_is_skipped_with_a_reason() -> None:
    offered = list(cublas_gemm.SPEC.points(gpu("sm_75"), Request()))
    skipped = {row.what for row in offered if isinstance(row, Skipped)}
    assert skipped == {"fp64.tensor.cublas", "tf32.tensor.cublas", "bf16.tensor.cublas", "fp8_e4m3.tensor.cublas"}


def test_sustained_figures_are_on_random_data_alone() -> None:
    offered = [row for row in cublas_gemm.SPEC.points(gpu("sm_90"), Request(full=True)) if isinstance(row, Point)]
    for point in offered:
        assert (point.axes["data"] == "random") == point.ceiling.endswith(".sustained")
    assert {point.ceiling for point in offered if point.axes["data"] == "random"} == {
        f"{row.key}.sustained" for row in cublas_gemm.GEMM_TYPES
    }


def test_work_is_two_flop_a_multiply_add() -> None:
    point = Point(kernel="cublas_gemm", ceiling="fp16.tensor.cublas", axes={"m": 2, "n": 3, "k": 5})
    assert cublas_gemm.work(point).flop == 60


@pytest.mark.parametrize(
    "row", [row for row in GEMM_TYPES if row.precision not in ("fp64", "fp32")], ids=lambda r: r.key
)
def test_the_product_that_leads_is_measured_first(row):
    """A quick sweep measures no other one, and a budget that ends early reaches no other one."""
    (quick,), both = shapes(row, Request(quick=True)), shapes(row, Request())
    assert quick == both[0]
    assert sorted(both) == sorted(SHAPES)
    assert (quick[2] == 16384) == (row.precision in ("tf32", "int8", "fp8_e4m3"))
