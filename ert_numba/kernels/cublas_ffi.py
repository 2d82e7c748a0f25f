"""cuBLASLt through ctypes: one table of prototypes, and one place where a status becomes an error.

Numbers of enumerations are those of cublasLt.h and library_types.h, which NVIDIA keeps stable.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_float, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

import msgspec

from ert_numba.errors import ErtError

STATUS = {
    0: "SUCCESS", 1: "NOT_INITIALIZED", 3: "ALLOC_FAILED", 7: "INVALID_VALUE", 8: "ARCH_MISMATCH", 11: "MAPPING_ERROR",
    13: "EXECUTION_FAILED", 14: "INTERNAL_ERROR", 15: "NOT_SUPPORTED", 16: "LICENSE_ERROR",
}  # fmt: skip

TYPE = {"f32": 0, "f64": 1, "f16": 2, "s8": 3, "s32": 10, "bf16": 14, "e4m3": 28, "e5m2": 29}
COMPUTE = {"f16": 64, "f32": 68, "f64": 70, "s32": 72, "tf32": 77}
_DESC_TRANSA, _DESC_FAST_ACCUM, _PREFERENCE_WORKSPACE = 3, 25, 1
_OP_T = 1
_CONFIG = {"algorithm": 0, "tile": 1, "split-k": 2, "stages": 15}


class Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", c_uint64 * 8),
        ("workspace_bytes", c_size_t),
        ("state", c_int),
        ("waves", c_float),
        ("reserved", c_int * 4),
    )


PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "cublasLtCreate": (POINTER(c_void_p),),
    "cublasLtDestroy": (c_void_p,),
    "cublasLtMatmulDescCreate": (POINTER(c_void_p), c_int, c_int),
    "cublasLtMatmulDescDestroy": (c_void_p,),
    "cublasLtMatmulDescSetAttribute": (c_void_p, c_int, c_void_p, c_size_t),
    "cublasLtMatrixLayoutCreate": (POINTER(c_void_p), c_int, c_uint64, c_uint64, c_int64),
    "cublasLtMatrixLayoutDestroy": (c_void_p,),
    "cublasLtMatmulPreferenceCreate": (POINTER(c_void_p),),
    "cublasLtMatmulPreferenceDestroy": (c_void_p,),
    "cublasLtMatmulPreferenceSetAttribute": (c_void_p, c_int, c_void_p, c_size_t),
    "cublasLtMatmulAlgoGetHeuristic": (
        c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_int, POINTER(Heuristic), POINTER(c_int),
    ),
    "cublasLtMatmulAlgoConfigGetAttribute": (c_void_p, c_int, c_void_p, c_size_t, POINTER(c_size_t)),
    "cublasLtMatmul": (
        c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,
        c_void_p, c_void_p, c_void_p, c_size_t, c_void_p,
    ),
}  # fmt: skip


class CublasError(ErtError):
    """A cuBLASLt call did not succeed; ``status`` is the library's number."""

    def __init__(self, function: str, status: int) -> None:
        self.status = status
        remedy = {
            3: "Free device memory",
            8: "This cuBLAS is older than the GPU: update ert-numba[cuda13]",
            15: "This cuBLAS has no kernel for these types and sizes on this GPU",
        }.get(status, "See `ert-numba devices` for the versions of driver and cuBLAS")
        super().__init__(function, f"CUBLAS_STATUS_{STATUS.get(status, status)}", remedy)


class NoCublas(ErtError):
    """The library is not there."""


def open_library() -> Any:
    """libcublasLt of the pip packages, a toolkit or the system, with its prototypes set."""
    from cuda import pathfinder

    try:
        path = pathfinder.load_nvidia_dynamic_lib("cublasLt").abs_path
    except (pathfinder.DynamicLibNotFoundError, RuntimeError) as error:
        found = str(error).strip().splitlines()[0]
        raise NoCublas("cuBLASLt", found, "pip install nvidia-cublas (or nvidia-cublas-cu12)") from error
    return declare(ctypes.CDLL(path))


def declare(library: Any) -> Any:
    """Set the prototypes on a loaded library (or on what stands for one in a test)."""
    for name, types in PROTOTYPES.items():
        function = getattr(library, name)
        function.argtypes, function.restype = list(types), c_int
    library.cublasLtGetVersion.argtypes, library.cublasLtGetVersion.restype = [], c_size_t
    return library


class Lt:
    """A handle of cuBLASLt."""

    def __init__(self, library: Any) -> None:
        self.library, self.handle = library, c_void_p()
        self.call("cublasLtCreate", byref(self.handle))

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.library, name)(*arguments)
        if status:
            raise CublasError(name, status)

    def version(self) -> str:
        number = self.library.cublasLtGetVersion()
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


class Product(msgspec.Struct, frozen=True, kw_only=True):
    """D = A^T B, column-major: A is k x m, B is k x n, D is m x n. TN is the form that FP8 and INT8 need."""

    m: int
    n: int
    k: int
    inputs: str  # keys of TYPE
    output: str
    compute: str  # key of COMPUTE
    scale: str  # type of alpha and beta
    fast_accumulation: bool = False  # FP8: partial sums with fewer bits


class Plan:
    """One product ready to be launched, with the algorithms that cuBLASLt proposes for it."""

    def __init__(self, lt: Lt, product: Product, workspace_bytes: int, at_most: int) -> None:
        self.lt, self.product = lt, product
        self.description = c_void_p()
        lt.call("cublasLtMatmulDescCreate", byref(self.description), COMPUTE[product.compute], TYPE[product.scale])
        self._describe(_DESC_TRANSA, c_int32(_OP_T))
        if product.fast_accumulation:
            self._describe(_DESC_FAST_ACCUM, ctypes.c_int8(1))
        self.a = self._layout(product.inputs, product.k, product.m)
        self.b = self._layout(product.inputs, product.k, product.n)
        self.d = self._layout(product.output, product.m, product.n)
        scalar: Any = {"f32": c_float, "f64": ctypes.c_double, "s32": c_int32}[product.scale]
        self.alpha, self.beta = scalar(1), scalar(0)
        self.candidates = self._heuristics(workspace_bytes, at_most)

    def _describe(self, attribute: int, value: Any) -> None:
        size = ctypes.sizeof(value)
        self.lt.call("cublasLtMatmulDescSetAttribute", self.description, attribute, byref(value), size)

    def _layout(self, kind: str, rows: int, columns: int) -> c_void_p:
        layout = c_void_p()
        self.lt.call("cublasLtMatrixLayoutCreate", byref(layout), TYPE[kind], rows, columns, rows)
        return layout

    def _heuristics(self, workspace_bytes: int, at_most: int) -> list[Heuristic]:
        preference, limit = c_void_p(), c_uint64(workspace_bytes)
        self.lt.call("cublasLtMatmulPreferenceCreate", byref(preference))
        found, count = (Heuristic * at_most)(), c_int(0)
        try:
            self.lt.call(
                "cublasLtMatmulPreferenceSetAttribute",
                preference,
                _PREFERENCE_WORKSPACE,
                byref(limit),
                ctypes.sizeof(limit),
            )
            self.lt.call(
                "cublasLtMatmulAlgoGetHeuristic", self.lt.handle, self.description, self.a, self.b, self.d, self.d,
                preference, at_most, found, byref(count),
            )  # fmt: skip
        finally:
            self.lt.library.cublasLtMatmulPreferenceDestroy(preference)
        usable = [row for row in found[: count.value] if row.state == 0]
        if not usable:
            raise CublasError("cublasLtMatmulAlgoGetHeuristic", 15)
        return usable

    def launch(
        self, candidate: Heuristic, matrices: tuple[int, int, int], workspace: tuple[int, int], stream: int
    ) -> None:
        """Enqueue; ``matrices`` are the addresses of A, B and D, ``workspace`` its address and bytes."""
        a, b, d = matrices
        self.lt.call(
            "cublasLtMatmul", self.lt.handle, self.description, byref(self.alpha), a, self.a, b, self.b,
            byref(self.beta), d, self.d, d, self.d, byref(candidate.algorithm), *workspace, stream,
        )  # fmt: skip

    def describe(self, candidate: Heuristic) -> str:
        """``"algorithm 66, tile 20, split-k 1, stages 36"``: cuBLASLt's own numbers."""
        words = []
        for name, attribute in _CONFIG.items():
            value, written = c_uint32(0), c_size_t(0)
            status = self.lt.library.cublasLtMatmulAlgoConfigGetAttribute(
                byref(candidate.algorithm), attribute, byref(value), ctypes.sizeof(value), byref(written)
            )
            if status == 0:
                words.append(f"{name} {ctypes.c_int32(value.value).value}")
        return ", ".join(words)

    def close(self) -> None:
        self.lt.library.cublasLtMatmulDescDestroy(self.description)
        for layout in (self.a, self.b, self.d):
            self.lt.library.cublasLtMatrixLayoutDestroy(layout)
