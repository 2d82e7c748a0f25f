"""Matrix products by cuBLASLt: what a library reaches, on zeros (the rate of issue) and on random data for long.

Several proposals of the heuristic are timed and the best is kept: the first alone can be half as fast. Sizes are rivals
for one ceiling, since power and the fit of tiles decide, not size. Random data is what an application has.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ert_numba.catalog.precisions import BY_KEY
from ert_numba.kernels.cublas_ffi import CublasError, Heuristic, Lt, Plan, Product, open_library
from ert_numba.kernels.cuda_driver import Buffer, Event, call, stream, synchronize
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import AxisValue, DeviceInfo, Point, Skipped, Work

WORKSPACE_BYTES = 32 << 20  # what NVIDIA advises for Hopper; smaller hides split-k algorithms
PROPOSALS = 8
TRIAL_SECONDS = 2e-3
FINALISTS, CLOSE, TURNS = 3, 1.05, 3  # proposals that are tried again, their time against the best's, and how often
_TILE_ELEMENTS = 1_000_003  # random elements made on the host, then repeated: prime, so that no two columns are alike


class GemmType(msgspec.Struct, frozen=True, kw_only=True):
    """One way of multiplying: the types that cuBLASLt is asked for."""

    key: str  # ceiling key of the low-entropy figure
    precision: str
    inputs: str
    output: str
    compute: str
    scale: str
    at_least: tuple[int, int]
    fast_accumulation: bool = False
    sustained: bool = False  # measured for a second on random data by default
    deep_first: bool = False  # the deeper product led in every run on an H200, by 1.6 to 12 %


GEMM_TYPES: tuple[GemmType, ...] = (
    GemmType(key="fp64.tensor.cublas", precision="fp64", inputs="f64", output="f64", compute="f64", scale="f64",
             at_least=(8, 0), sustained=True),
    GemmType(key="fp32.vector.cublas", precision="fp32", inputs="f32", output="f32", compute="f32", scale="f32",
             at_least=(7, 0)),
    GemmType(key="tf32.tensor.cublas", precision="tf32", inputs="f32", output="f32", compute="tf32", scale="f32",
             at_least=(8, 0), sustained=True, deep_first=True),
    GemmType(key="fp16.tensor.cublas", precision="fp16", inputs="f16", output="f16", compute="f32", scale="f32",
             at_least=(7, 0)),
    GemmType(key="bf16.tensor.cublas", precision="bf16", inputs="bf16", output="bf16", compute="f32", scale="f32",
             at_least=(8, 0), sustained=True),
    GemmType(key="int8.tensor.cublas", precision="int8", inputs="s8", output="s32", compute="s32", scale="s32",
             at_least=(7, 5), deep_first=True),
    GemmType(key="fp8_e4m3.tensor.cublas", precision="fp8_e4m3", inputs="e4m3", output="bf16", compute="f32",
             scale="f32", at_least=(8, 9), fast_accumulation=True, sustained=True, deep_first=True),
)  # fmt: skip
BY_CEILING = {row.key: row for row in GEMM_TYPES}
_BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "s8": 1, "e4m3": 1, "s32": 4}


@dataclass
class GemmState:
    """Matrices, the plan and the algorithm that won."""

    plan: Plan
    best: Heuristic
    a: Buffer
    b: Buffer
    d: Buffer
    workspace: Buffer


@functools.cache
def _lt(context: int) -> Lt:
    return Lt(open_library())


def current_lt() -> Lt:
    """cuBLASLt on the current device; opened once."""
    from cuda.bindings import driver

    return _lt(int(call(driver.cuCtxGetCurrent)))


class GemmProgram:
    """One product. Axes: ``m``, ``n``, ``k``, ``data`` "zeros" or "random", and ``proposals``: among how many of the
    library's algorithms the fastest is taken (1: its own first choice, the same in every process)."""

    def __init__(self, point: Point) -> None:
        self.kind = BY_CEILING[point.ceiling.removesuffix(".sustained")]
        axes = point.axes
        self.random, self.seed = axes["data"] == "random", int(axes.get("seed", 1))
        kind = self.kind
        self.proposals = int(axes.get("proposals", PROPOSALS))
        self.product = Product(
            m=int(axes["m"]), n=int(axes["n"]), k=int(axes["k"]), inputs=kind.inputs, output=kind.output,
            compute=kind.compute, scale=kind.scale, fast_accumulation=kind.fast_accumulation,
        )  # fmt: skip
        self.code = f"cuBLASLt {current_lt().version()}"

    def prepare(self, worker: int) -> GemmState:
        product, size = self.product, _BYTES[self.kind.inputs]
        a, b = Buffer(product.k * product.m * size), Buffer(product.k * product.n * size)
        d, workspace = Buffer(product.m * product.n * _BYTES[self.kind.output]), Buffer(WORKSPACE_BYTES)
        plan = Plan(current_lt(), product, WORKSPACE_BYTES, self.proposals)
        state = GemmState(plan, plan.candidates[0], a, b, d, workspace)
        self._fill(state)
        state.best = self._fastest(state)
        found = plan.describe(state.best)
        self.code = f"cuBLASLt {plan.lt.version()}, {found}, best of {len(plan.candidates)}"
        return state

    def _fill(self, state: GemmState) -> None:
        for number, matrix in enumerate((state.a, state.b)):
            if self.random:
                fill_by_repetition(matrix, random_elements(self.kind.inputs, self.seed + number))
            else:
                matrix.fill(0)

    def _fastest(self, state: GemmState) -> Heuristic:
        """Each proposal once to load it and twice for its time; the best ones again, in turns. One that fails is out.

        In turns, since the clock moves under the power cap by more than the best ones differ.
        """
        candidates = state.plan.candidates
        times: dict[int, float] = {}
        for index, candidate in enumerate(candidates):
            try:
                self._launch(state, candidate, 1)
                times[index] = self._seconds_each(state, candidate, self._seconds_each(state, candidate, None))
            except CublasError:
                continue
        if not times:
            raise CublasError("cublasLtMatmul", 15)
        ranked = sorted(times, key=times.__getitem__)
        final = [index for index in ranked[:FINALISTS] if times[index] <= CLOSE * times[ranked[0]]]
        if len(final) == 1:
            return candidates[final[0]]
        turns = [[self._seconds_each(state, candidates[index], times[index]) for index in final] for _ in range(TURNS)]
        return candidates[final[int(np.argmin(np.median(turns, axis=0)))]]

    def _seconds_each(self, state: GemmState, candidate: Heuristic, expected: float | None) -> float:
        """Of one product, over TRIAL_SECONDS of them; over a single one where no time is ``expected`` yet."""
        repetitions = 1 if expected is None else max(1, min(1000, round(TRIAL_SECONDS / expected)))
        start, stop = Event(), Event()
        start.record()
        self._launch(state, candidate, repetitions)
        stop.record()
        return stop.seconds_since(start) / repetitions

    def _launch(self, state: GemmState, candidate: Heuristic, repetitions: int) -> None:
        matrices = (state.a.address, state.b.address, state.d.address)
        workspace, where = (state.workspace.address, state.workspace.size_bytes), int(stream())
        for _ in range(repetitions):
            state.plan.launch(candidate, matrices, workspace, where)

    def run(self, state: GemmState, repetitions: int) -> float:
        self._launch(state, state.best, repetitions)
        return 0.0

    def check(self, state: GemmState) -> bool:
        """16 x 4 elements of D against FP64 on the host; on zeros, that D is zero where it was not before."""
        product, rows, columns = self.product, 16, 4
        state.d.fill(0x11111111)
        self.run(state, 1)
        kind = self.kind
        a = decode(kind.inputs, head(state.a, kind.inputs, product.k * rows)).reshape(rows, product.k)
        b = decode(kind.inputs, head(state.b, kind.inputs, product.k * columns)).reshape(columns, product.k)
        found = decode(kind.output, head(state.d, kind.output, product.m * columns)).reshape(columns, product.m)[
            :, :rows
        ]
        gold = b @ a.T
        scale = float(np.sqrt(np.mean(gold**2)))
        return bool(np.max(np.abs(found - gold)) <= BY_KEY[kind.precision].relative_tolerance * scale)


_STORED: dict[str, Any] = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.uint16, "s8": np.int8,
                           "e4m3": np.uint8, "s32": np.int32}  # fmt: skip


def head(buffer: Buffer, kind: str, count: int) -> NDArray[Any]:
    synchronize()
    return buffer.download(_STORED[kind], count)


def decode(kind: str, stored: NDArray[Any]) -> NDArray[np.float64]:
    """Stored elements as numbers."""
    if kind == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if kind == "e4m3":
        exponent, mantissa = (stored >> 3).astype(np.int64) & 15, (stored & 7).astype(np.float64)
        size = np.where(exponent == 0, mantissa * 2.0**-9, (1 + mantissa / 8) * 2.0 ** (exponent - 7))
        return np.where(stored & 0x80, -size, size)
    return stored.astype(np.float64)


def random_elements(kind: str, seed: int) -> NDArray[Any]:
    """Normal numbers for floating formats, every value alike for 8-bit ones (without e4m3's NaN)."""
    generator = np.random.default_rng(seed)
    if kind == "s8":
        return generator.integers(-128, 128, _TILE_ELEMENTS, dtype=np.int8)
    if kind == "e4m3":
        drawn = generator.integers(0, 254, _TILE_ELEMENTS, dtype=np.uint8)
        return drawn + (drawn >= 0x7F).astype(np.uint8)
    normal = generator.standard_normal(_TILE_ELEMENTS)
    if kind == "bf16":
        return (normal.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return normal.astype(_STORED[kind])


def fill_by_repetition(buffer: Buffer, elements: NDArray[Any]) -> None:
    """The elements, then what stands already, doubled until the buffer is full."""
    from cuda.bindings import driver

    first = elements.view(np.uint8)[: buffer.size_bytes]
    call(driver.cuMemcpyHtoDAsync, buffer.address, first.ctypes.data, first.nbytes, stream())
    synchronize()
    done = first.nbytes
    while done < buffer.size_bytes:
        size = min(done, buffer.size_bytes - done)
        call(driver.cuMemcpyDtoDAsync, buffer.address + done, buffer.address, size, stream())
        done += size


SUSTAINED_SHAPE = (8192, 8192, 8192)
SHAPES = (SUSTAINED_SHAPE, (8192, 4096, 16384))
SLOW_SHAPES = ((4096, 4096, 8192),)  # FP64 and FP32: long enough, and a tenth of the time


def shapes(row: GemmType, request: Request) -> tuple[tuple[int, int, int], ...]:
    if row.precision in ("fp64", "fp32") and not request.full:
        return SLOW_SHAPES
    ordered = SHAPES[::-1] if row.deep_first else SHAPES
    return ordered[:1] if request.quick else ordered  # the first one is there however early the budget ends


def _points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    digits = device.architecture.removeprefix("sm_")
    compute = (int(digits[:-1]), int(digits[-1]))
    for row in GEMM_TYPES:
        if not request.wants_precision(row.precision):
            continue
        if compute < row.at_least:
            yield Skipped(what=row.key, reason=f"{device.architecture} has no such Tensor Cores")
            continue
        for m, n, k in shapes(row, request):
            yield Point(kernel="cublas_gemm", ceiling=row.key, axes={"m": m, "n": n, "k": k, "data": "zeros"})
        if request.full or (row.sustained and not request.quick):
            m, n, k = SUSTAINED_SHAPE
            axes: dict[str, AxisValue] = {"m": m, "n": n, "k": k, "data": "random", "seed": request.seed}
            yield Point(kernel="cublas_gemm", ceiling=f"{row.key}.sustained", axes=axes)


def work(point: Point) -> Work:
    m, n, k = (int(point.axes[name]) for name in ("m", "n", "k"))
    return Work(flop=2.0 * m * n * k)


def _build(point: Point, device: DeviceInfo) -> GemmProgram:
    return GemmProgram(point)


SPEC = KernelSpec(name="cublas_gemm", device_kind="gpu", kind="compute", points=_points, work=work, build=_build)
