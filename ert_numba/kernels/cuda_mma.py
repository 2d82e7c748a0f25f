"""Tensor Cores by ``mma.sync``, dense and 2:4 sparse: warp-wide products of registers, many accumulator tiles a warp.

The check multiplies ones by ones: every element of every tile then grows by K a product, whatever the layout of
fragments. The measured run multiplies zeros, so that power hardly limits the clock: the issue-rate ceiling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numba import cuda  # a global: the simulator swaps it
from numpy.typing import NDArray

from ert_numba.kernels.cuda_code import Declared
from ert_numba.kernels.cuda_driver import LaunchShape
from ert_numba.kernels.cuda_program import CudaProgram, CudaState, build_code, capability
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.mma_shapes import MMA_SHAPES, PAIRS, MmaShape
from ert_numba.kernels.ptx import asm_operation
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import AxisValue, DeviceInfo, Point, Skipped, Work

RESULT = {"f32": "float32", "f64": "float64", "s32": "int32", "b32": "uint32"}
ADD = {"f32": "add.rn.f32", "f64": "add.rn.f64", "s32": "add.s32", "b32": "add.rn.f16x2"}


def accumulator_lines(kind: str, registers: int) -> tuple[list[str], list[str]]:
    """PTX that declares and zeroes the registers ``c``, and PTX that adds them all into ``$0``."""
    register = "b32" if kind == "s32" else kind
    zero = {"f64": "0d0000000000000000", "f32": "0f00000000"}.get(kind, "0")
    before = [f".reg .{register} c<{registers}>;"]
    before += [f"mov.{register} c{i}, {zero};" for i in range(registers)]
    after = [f"{ADD[kind]} c0, c0, c{i};" for i in range(1, registers)]
    return before, [*after, f"mov.{register} $0, c0;"]


def make_mma_kernel(ptx: str, tiles: int, unroll: int, own_operands: bool) -> Callable[..., None]:
    """``tiles`` x ``unroll`` products a repetition. ``own_operands``: an A for each tile, against folding."""
    from numba.core.types import int64

    shape = _row(ptx)
    operand_type = "float64" if shape.operand == "f64" else "uint32"
    sets = tiles if own_operands else 1
    zeroed, summed = accumulator_lines(shape.kind, shape.c * tiles)
    lines = ["{", f".reg .{shape.operand} a<{shape.a * sets}>, b<{shape.b}>;", ".reg .s32 i;", ".reg .pred p;", *zeroed]
    lines += [f"mov.{shape.operand} b{j}, $2;" for j in range(shape.b)]
    lines += [f"mov.{shape.operand} a{j}, $2;" for j in range(shape.a)]
    # $3 is 0, which ptxas cannot know: operands of another tile stay operands of their own.
    lines += [f"mad.lo.s32 a{j}, $3, {j}, a{j % shape.a};" for j in range(shape.a, shape.a * sets)]
    lines += [f".reg .b32 pairs;\nmov.b32 pairs, {PAIRS:#x};"] if shape.sparse else []
    chosen = ", pairs, 0x0" if shape.sparse else ""
    lines += ["mov.s32 i, $1;", "LOOP_${:uid}:"]
    for product in range(tiles * unroll):
        tile = product % tiles
        c = ",".join(f"c{tile * shape.c + j}" for j in range(shape.c))
        a = ",".join(f"a{(tile % sets) * shape.a + j}" for j in range(shape.a))
        b = ",".join(f"b{j}" for j in range(shape.b))
        lines.append(f"{shape.instruction} {{{c}}}, {{{a}}}, {{{b}}}, {{{c}}}{chosen};")
    lines += ["sub.s32 i, i, 1;", "setp.gt.s32 p, i, 0;", "@p bra LOOP_${:uid};", *summed, "}"]
    result = RESULT[shape.kind]
    products = asm_operation("\n".join(lines), result, ("int32", operand_type, "int32"))
    width = 8 if result == "float64" else 4
    store = asm_operation(f"st.global.b{8 * width} [$0], $1;", None, ("int64", result))

    def kernel(results, repetitions, operand, nothing):  # type: ignore[no-untyped-def]
        store(results + int64(width) * int64(cuda.grid(1)), products(repetitions, operand, nothing))

    return kernel


def recipe(shape: MmaShape, tiles: int, unroll: int, compute: tuple[int, int]) -> Recipe:
    emulated = shape.emulation(compute)
    sass, each = emulated or (shape.sass, 1)
    pattern = shape.instruction.removesuffix(f"aligned.{shape.ptx}").replace(".", r"\.") + r"\S+"
    return Recipe(
        make=make_mma_kernel,
        parameters={"ptx": shape.name, "tiles": tiles, "unroll": unroll, "own_operands": emulated is not None},
        types=("int64", "int32", "float64" if shape.operand == "f64" else "uint32", "int32"),
        declared=(Declared(ptx=pattern, count=tiles * unroll, sass=sass, sass_per_ptx=each),),
    )


def point_recipe(point: Point, device: DeviceInfo) -> Recipe:
    return recipe(_shape(point), int(point.axes["tiles"]), int(point.axes["unroll"]), capability(device))


def matches_gold(registers: int, k: int, kind: str, products: int, words: NDArray[Any]) -> bool:
    """Whether every thread stored the sum of ``registers`` accumulators that each grew by ``k`` a product.

    Exact even in FP16: every partial sum is a multiple of one accumulator and has few significant bits.
    """
    dtype = {"f32": np.float32, "f64": np.float64, "s32": np.int32, "b32": np.float16}[kind]
    return bool(np.all(words.view(dtype).astype(np.float64) == float(k) * products * registers))


class MmaProgram(CudaProgram):
    """One shape with its launch."""

    def __init__(self, shape: MmaShape, point: Point, device: DeviceInfo) -> None:
        self.mma, self.tiles, self.unroll = shape, int(point.axes["tiles"]), int(point.axes["unroll"])
        launch = LaunchShape(int(point.axes["blocks"]), int(point.axes["block_threads"]))
        compute = capability(device)
        super().__init__(build_code(point_recipe(point, device), device), launch)
        if emulated := shape.emulation(compute):
            self.code += f"; emulated: each mma.sync is {emulated[1]} {emulated[0]}"

    def values(self, state: CudaState, repetitions: int) -> tuple[int | float, ...]:
        return (state.results.address, repetitions, 0, 0)

    def check(self, state: CudaState) -> bool:
        one = 1.0 if self.mma.operand == "f64" else self.mma.one
        state.function.launch(self.shape, (state.results.address, 1, one, 0))
        threads = self.shape.blocks * self.shape.threads
        words = state.results.download(np.uint64 if self.mma.kind == "f64" else np.uint32, threads)
        registers = self.mma.c * self.tiles
        return matches_gold(registers, self.mma.growth, self.mma.kind, self.unroll, words)


def shapes_of(compute: tuple[int, int]) -> tuple[MmaShape, ...]:
    return tuple(row for row in MMA_SHAPES if row.supports(compute))


def _points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    compute = capability(device)
    usable = {row.key: row for row in shapes_of(compute)}
    for key in dict.fromkeys(row.key for row in MMA_SHAPES):
        if not request.wants_precision(key.split(".", maxsplit=1)[0]):
            continue
        if key not in usable:
            known = any(row.at_least <= compute for row in MMA_SHAPES if row.key == key)
            lacks = "makes it of many other instructions" if known else "has no such mma.sync"
            yield Skipped(what=key, reason=f"{device.architecture} {lacks}")
            continue
        axes: dict[str, AxisValue] = {
            "blocks": 4 * device.units,
            "block_threads": 256,
            "tiles": usable[key].tiles,
            "unroll": 1,
        }
        yield Point(kernel="cuda_mma", ceiling=key, axes=axes | {"shape": usable[key].name})


def _row(name: str) -> MmaShape:
    return next(row for row in MMA_SHAPES if row.name == name)


def _shape(point: Point) -> MmaShape:
    return _row(str(point.axes["shape"]))


def work(point: Point) -> Work:
    warps = int(point.axes["blocks"]) * int(point.axes["block_threads"]) // 32
    products = int(point.axes["tiles"]) * int(point.axes["unroll"])
    return Work(flop=float(warps * products * _shape(point).operations))


def _build(point: Point, device: DeviceInfo) -> MmaProgram:
    return MmaProgram(_shape(point), point, device)


SPEC = KernelSpec(name="cuda_mma", device_kind="gpu", kind="compute", points=_points, work=work, build=_build)
