"""Hopper's Tensor Cores by ``wgmma``: a group of four warps, operands in shared memory. Compiled for sm_90a only.

``mma.sync`` reaches two thirds of this rate on Hopper. Every descriptor names the same tile of shared memory: what is
timed is issue, not a product of matrices. Zeros are measured, ones checked, as in ``cuda_mma``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numba import cuda  # a global: the simulator swaps it

from ert_numba.kernels.cuda_code import Declared
from ert_numba.kernels.cuda_driver import LaunchShape
from ert_numba.kernels.cuda_mma import RESULT, accumulator_lines, matches_gold
from ert_numba.kernels.cuda_program import CudaProgram, CudaState, build_code, capability
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.mma_shapes import PAIRS, WGMMA_SHAPES, WgmmaShape
from ert_numba.kernels.ptx import asm_operation
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import AxisValue, DeviceInfo, Point, Skipped, Work

# A is 64 rows of 32 bytes and B 256 rows of 32 (sparse: 64), whatever the format; rows of 128 bytes under a 128-byte
# swizzle leave room.
_A_BYTES, _B_BYTES = 64 * 128, 256 * 128


def make_wgmma_kernel(ptx: str, unroll: int) -> Callable[..., None]:
    """``unroll`` asynchronous products of one group a repetition, all into the same accumulators."""
    from numba.core.types import int32, int64

    shape = _row(ptx)
    tile = asm_operation(
        f"{{\n.shared .align 1024 .b8 tile_${{:uid}}[{_A_BYTES + _B_BYTES}];\nmov.u32 $0, tile_${{:uid}};\n}}",
        "int32",
        (),
    )
    store_shared = asm_operation("st.shared.b32 [$0], $1;", None, ("int32", "uint32"))
    # The tensor cores read shared memory through the asynchronous proxy: ordinary stores must be fenced for it.
    fence = asm_operation("fence.proxy.async.shared::cta;", None, ())
    result = RESULT[shape.kind]
    products = asm_operation(_loop(shape, unroll), result, ("int32", "int32", "uint32"))
    store = asm_operation("st.global.b32 [$0], $1;", None, ("int64", result))

    def kernel(results, repetitions, operand):  # type: ignore[no-untyped-def]
        address = tile()
        i = cuda.threadIdx.x
        while i < (_A_BYTES + _B_BYTES) // 4:
            store_shared(address + int32(4 * i), operand)
            i += cuda.blockDim.x
        fence()
        cuda.syncthreads()
        store(results + int64(4) * int64(cuda.grid(1)), products(repetitions, address, operand))

    return kernel


def _loop(shape: WgmmaShape, unroll: int) -> str:
    zeroed, summed = accumulator_lines(shape.kind, shape.c)
    c = ",".join(f"c{i}" for i in range(shape.c))
    lines = ["{", ".reg .b64 da, db;", ".reg .s32 i, t;", ".reg .pred p, q;", *zeroed]
    # Descriptor: address and strides in 16-byte units; 128-byte swizzle (1 at bit 62), 1024 bytes between row groups.
    for name, offset in (("da", 0), ("db", _A_BYTES)):
        lines += [f"add.s32 t, $2, {offset};", "shr.u32 t, t, 4;", "and.b32 t, t, 0x3FFF;", f"cvt.u64.u32 {name}, t;"]
        lines += [f"or.b64 {name}, {name}, {1 << 62 | (1024 >> 4) << 32 | 1 << 16};"]
    if shape.sparse:
        lines += [".reg .b32 a<4>, pairs;", f"mov.b32 pairs, {PAIRS:#x};", *(f"mov.b32 a{j}, $3;" for j in range(4))]
    operands = "{a0,a1,a2,a3}, db, pairs, 0" if shape.sparse else "da, db"
    lines += ["setp.eq.s32 q, 0, 0;", "mov.s32 i, $1;", "wgmma.fence.sync.aligned;", "LOOP_${:uid}:"]
    lines += [f"{shape.instruction} {{{c}}}, {operands}, q{shape.tail};"] * unroll
    lines += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"]
    lines += ["sub.s32 i, i, 1;", "setp.gt.s32 p, i, 0;", "@p bra LOOP_${:uid};", *summed, "}"]
    return "\n".join(lines)


def recipe(shape: WgmmaShape, unroll: int) -> Recipe:
    return Recipe(
        make=make_wgmma_kernel,
        parameters={"ptx": shape.name, "unroll": unroll},
        types=("int64", "int32", "uint32"),
        declared=(Declared(ptx=r"wgmma\.mma_async\.\S+", count=unroll, sass=shape.sass),),
        architecture_specific=True,
    )


def point_recipe(point: Point, device: DeviceInfo) -> Recipe:
    return recipe(_shape(point), int(point.axes["unroll"]))


class WgmmaProgram(CudaProgram):
    """One shape with its launch."""

    def __init__(self, shape: WgmmaShape, point: Point, device: DeviceInfo) -> None:
        self.wgmma, self.unroll = shape, int(point.axes["unroll"])
        launch = LaunchShape(int(point.axes["blocks"]), int(point.axes["block_threads"]))
        super().__init__(build_code(point_recipe(point, device), device), launch)

    def values(self, state: CudaState, repetitions: int) -> tuple[int | float, ...]:
        return (state.results.address, repetitions, 0)

    def check(self, state: CudaState) -> bool:
        state.function.launch(self.shape, (state.results.address, 1, self.wgmma.one))
        words = state.results.download(np.uint32, self.shape.blocks * self.shape.threads)
        return matches_gold(self.wgmma.c, self.wgmma.growth, self.wgmma.kind, self.unroll, words)


def _points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    for shape in WGMMA_SHAPES:
        if not request.wants_precision(shape.precision):
            continue
        if capability(device) != (9, 0):
            yield Skipped(what=shape.key, reason=f"wgmma is sm_90a's, this is {device.architecture}")
            continue
        axes: dict[str, AxisValue] = {"blocks": device.units, "block_threads": 256, "unroll": 8, "shape": shape.name}
        yield Point(kernel="cuda_wgmma", ceiling=shape.key, axes=axes)


def _row(name: str) -> WgmmaShape:
    return next(row for row in WGMMA_SHAPES if row.name == name)


def _shape(point: Point) -> WgmmaShape:
    return _row(str(point.axes["shape"]))


def work(point: Point) -> Work:
    groups = int(point.axes["blocks"]) * int(point.axes["block_threads"]) // 128
    return Work(flop=float(groups * int(point.axes["unroll"]) * _shape(point).operations))


def _build(point: Point, device: DeviceInfo) -> WgmmaProgram:
    return WgmmaProgram(_shape(point), point, device)


SPEC = KernelSpec(name="cuda_wgmma", device_kind="gpu", kind="compute", points=_points, work=work, build=_build)
