"""The gold values of the chains: rounding by format, and that they move when the kernel would."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ert_numba.kernels import cuda_fma
from ert_numba.kernels.cuda_fma import FORMS, Form
from ert_numba.kernels.spec import Request
from ert_numba.records import DeviceInfo, Point, Skipped

BF16 = next(row for row in FORMS if row.precision == "bf16")
EACH = pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.precision}.{form.path}")


@given(st.floats(-(2.0**100), 2.0**100, width=32))
def test_bf16_rounds_to_the_nearest_neighbour(value: float) -> None:
    found = float(cuda_fma.rounded(BF16, np.array([value]))[0])
    bits = int(np.float32(value).view(np.uint32)) & 0xFFFF0000
    neighbours = [float(np.uint32((bits + step) % 2**32).view(np.float32)) for step in (0, 0x10000)]
    assert found in neighbours
    assert abs(found - value) == min(abs(row - value) for row in neighbours)


@EACH
def test_the_check_sees_one_step_too_few(form: Form) -> None:
    """Else a kernel that skips work could pass."""
    steps = 2 * form.body
    full = cuda_fma.emulate(form, form.chains, steps, form.moving)
    fewer = cuda_fma.emulate(form, form.chains, steps - form.body // 2, form.moving)
    tolerance = cuda_fma.BY_KEY[form.precision].relative_tolerance
    assert math.isfinite(full)
    assert abs(full - fewer) > 2 * tolerance * abs(full) or (tolerance == 0 and full != fewer)


@EACH
def test_the_measured_run_stays_where_it_begins(form: Form) -> None:
    if form.precision == "int32":
        pytest.skip("integers wrap and stay bounded by themselves")
    assert cuda_fma.emulate(form, form.chains, 4 * form.body, form.still) == 36.0


@EACH
def test_packed_words_hold_the_pair(form: Form) -> None:
    if form.type != "uint32" or form.precision == "int32":
        pytest.skip("not packed")
    word = int(cuda_fma.encode(form, 1.5))
    assert cuda_fma.decode(form, np.array([word], np.uint32)).tolist() == [1.5, 1.5]


def test_what_an_architecture_lacks_is_skipped_with_a_reason() -> None:
    turing = DeviceInfo(kind="gpu", name="x", vendor="NVIDIA", architecture="sm_75", units=40, threads=40 * 1024)
    offered = list(cuda_fma.SPEC.points(turing, Request()))
    skipped = [row for row in offered if isinstance(row, Skipped)]
    assert {row.what for row in skipped} == {"bf16.vector.fma", "bf16.vector.add"}
    assert all("sm_75" in row.reason for row in skipped)
    assert {point.axes["blocks"] for point in offered if isinstance(point, Point)} == {40}


def test_work_counts_both_operations_of_both_halves() -> None:
    axes = {"blocks": 2, "block_threads": 32, "chains": 8, "body": 512}
    point = Point(kernel="cuda_fma", ceiling="fp16.vector.fma", axes=axes)
    assert cuda_fma.work(point).flop == 2 * 32 * 512 * 4
