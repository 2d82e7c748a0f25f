"""cuBLASLt's prototypes against a library that is not one: what is passed, and what becomes of a status."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from ert_numba.kernels.cublas_ffi import PROTOTYPES, STATUS, TYPE, CublasError, Heuristic, Lt, Plan, Product, declare

PRODUCT = Product(m=64, n=32, k=16, inputs="f16", output="f16", compute="f32", scale="f32")


class FakeFunction:
    """Records calls through the declared types, as ctypes would convert them."""

    def __init__(self, library: FakeLibrary, name: str) -> None:
        self.library, self.name = library, name
        self.argtypes: list[Any] = []
        self.restype: Any = None

    def __call__(self, *arguments: Any) -> int:
        assert len(arguments) == len(self.argtypes), f"{self.name} got {len(arguments)} of {len(self.argtypes)}"
        for kind, value in zip(self.argtypes, arguments, strict=True):
            kind.from_param(value)  # raises where ctypes would refuse
        self.library.calls.append((self.name, arguments))
        return self.library.answer(self.name, arguments)


class FakeLibrary:
    """Every function of the table; creates answer with a handle, the heuristic with ``proposals``."""

    def __init__(self, proposals: int = 2, failing: dict[str, int] | None = None) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.proposals, self.failing = proposals, failing or {}
        for name in (*PROTOTYPES, "cublasLtGetVersion"):
            setattr(self, name, FakeFunction(self, name))

    def answer(self, name: str, arguments: tuple[Any, ...]) -> int:
        if name == "cublasLtGetVersion":
            return 130100
        if name == "cublasLtMatmulAlgoGetHeuristic":
            for row in arguments[8][: self.proposals]:
                row.state = 0
            arguments[9]._obj.value = self.proposals
        return self.failing.get(name, 0)

    def named(self, name: str) -> list[tuple[Any, ...]]:
        return [arguments for called, arguments in self.calls if called == name]


def test_heuristic_has_the_size_of_the_header() -> None:
    assert ctypes.sizeof(Heuristic) == 96
    assert Heuristic.workspace_bytes.offset == 64


def test_a_product_is_planned_as_transposed_times_plain() -> None:
    library = FakeLibrary()
    plan = Plan(Lt(declare(library)), PRODUCT, 1 << 20, 8)
    layouts = [arguments[1:] for arguments in library.named("cublasLtMatrixLayoutCreate")]
    assert layouts == [(TYPE["f16"], 16, 64, 16), (TYPE["f16"], 16, 32, 16), (TYPE["f16"], 64, 32, 64)]
    attributes = {
        arguments[1]: arguments[2]._obj.value for arguments in library.named("cublasLtMatmulDescSetAttribute")
    }
    assert attributes == {3: 1}
    assert len(plan.candidates) == 2
    assert library.named("cublasLtMatmulDescCreate")[0][1:] == (68, 0)


def test_fast_accumulation_is_asked_for_where_wanted() -> None:
    library = FakeLibrary()
    wanted = Product(m=64, n=32, k=16, inputs="e4m3", output="bf16", compute="f32", scale="f32", fast_accumulation=True)
    Plan(Lt(declare(library)), wanted, 1 << 20, 8)
    assert {arguments[1] for arguments in library.named("cublasLtMatmulDescSetAttribute")} == {3, 25}


def test_launch_passes_d_as_c_and_the_workspace() -> None:
    library = FakeLibrary()
    plan = Plan(Lt(declare(library)), PRODUCT, 1 << 20, 8)
    plan.launch(plan.candidates[0], (0x1000, 0x2000, 0x3000), (0x4000, 1 << 20), 7)
    arguments = library.named("cublasLtMatmul")[0]
    assert arguments[3] == 0x1000
    assert arguments[5] == 0x2000
    assert arguments[8] == arguments[10] == 0x3000
    assert arguments[13:] == (0x4000, 1 << 20, 7)
    assert arguments[2]._obj.value == 1
    assert arguments[7]._obj.value == 0


@pytest.mark.parametrize("status", [code for code in STATUS if code])
def test_a_status_becomes_an_error_with_its_name(status: int) -> None:
    library = declare(FakeLibrary(failing={"cublasLtMatmul": status}))
    plan = Plan(Lt(library), PRODUCT, 1 << 20, 8)
    with pytest.raises(CublasError, match=f"CUBLAS_STATUS_{STATUS[status]}") as caught:
        plan.launch(plan.candidates[0], (1, 2, 3), (4, 5), 6)
    assert caught.value.status == status
    assert caught.value.exit_code == 3


def test_no_proposal_is_said_to_be_not_supported() -> None:
    with pytest.raises(CublasError, match="NOT_SUPPORTED"):
        Plan(Lt(declare(FakeLibrary(proposals=0))), PRODUCT, 1 << 20, 8)


def test_version_is_readable() -> None:
    assert Lt(declare(FakeLibrary())).version() == "13.1.0"
