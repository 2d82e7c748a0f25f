"""Shared memory read bandwidth: 16-byte loads without bank conflicts, 128 bytes a clock and SM on all chips so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numba import cuda  # a global: the simulator swaps it

from ert_numba.kernels.cuda_code import Declared
from ert_numba.kernels.cuda_driver import LaunchShape
from ert_numba.kernels.cuda_program import CudaProgram, CudaState, build_code
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.ptx import asm_operation
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import AxisValue, DeviceInfo, Point, Skipped, Work


def make_shared_kernel(threads: int, loads: int) -> Callable[..., None]:
    """Each thread reads ``loads`` 16-byte elements of a tile a repetition, over and over."""
    size = threads * loads * 16
    tile = asm_operation(
        f"{{\n.shared .align 16 .b8 tile_${{:uid}}[{size}];\nmov.u32 $0, tile_${{:uid}};\n}}", "int32", ()
    )
    write = asm_operation("st.shared.u32 [$0], $1;", None, ("int32", "uint32"))
    lines = ["{", f".reg .b32 v<{4 * loads}>, t;", ".reg .s32 i;", ".reg .pred p;", "mov.u32 t, 0;", "mov.s32 i, $1;"]
    lines.append("LOOP_${:uid}:")
    for k in range(loads):  # volatile: else ptxas may take the loads, which no store in the loop changes, out of it
        words = ",".join(f"v{4 * k + j}" for j in range(4))
        lines.append(f"ld.volatile.shared.v4.u32 {{{words}}}, [$2+{k * threads * 16}];")
    lines += [f"add.u32 t, t, v{i};" for i in range(4 * loads)]
    lines += ["sub.s32 i, i, 1;", "setp.gt.s32 p, i, 0;", "@p bra LOOP_${:uid};", "mov.u32 $0, t;", "}"]
    read = asm_operation("\n".join(lines), "uint32", ("int32", "int32"))
    store = asm_operation("st.global.u32 [$0], $1;", None, ("int64", "uint32"))
    return shared_loop(tile, write, read, store, size // 4)


def shared_loop(tile: Any, write: Any, read: Any, store: Any, words: int) -> Callable[..., None]:
    from numba.core.types import int32, int64, uint32

    def kernel(results, repetitions):  # type: ignore[no-untyped-def]
        address = tile()
        i = int32(cuda.threadIdx.x)
        while i < words:
            write(address + int32(4) * i, uint32(i))
            i += int32(cuda.blockDim.x)
        cuda.syncthreads()
        total = read(repetitions, address + int32(16) * int32(cuda.threadIdx.x))
        store(results + int64(4) * int64(cuda.grid(1)), total)

    return kernel


def recipe(threads: int, loads: int) -> Recipe:
    return Recipe(
        make=make_shared_kernel,
        parameters={"threads": threads, "loads": loads},
        types=("int64", "int32"),
        declared=(Declared(ptx=r"ld\.volatile\.shared\.v4\.u32", count=loads, sass=r"LDS(\.U)?\.128"),),
    )


def point_recipe(point: Point, device: DeviceInfo) -> Recipe:
    return recipe(int(point.axes["block_threads"]), int(point.axes["loads"]))


class SharedProgram(CudaProgram):
    """One tile a block."""

    result_bytes = 4

    def __init__(self, point: Point, device: DeviceInfo) -> None:
        shape = LaunchShape(int(point.axes["blocks"]), int(point.axes["block_threads"]))
        self.loads = int(point.axes["loads"])
        super().__init__(build_code(point_recipe(point, device), device), shape)

    def values(self, state: CudaState, repetitions: int) -> tuple[int, ...]:
        return (state.results.address, repetitions)

    def check(self, state: CudaState) -> bool:
        self.run(state, 3)
        words = self.shape.threads * self.loads * 4
        found = state.results.download(np.uint32).reshape(self.shape.blocks, -1).sum(axis=1, dtype=np.uint64)
        return bool(np.all(found % 2**32 == 3 * (words * (words - 1) // 2) % 2**32))


def _points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    if request.wants_level("SHARED"):
        axes: dict[str, AxisValue] = {"blocks": 2 * device.units, "block_threads": 512, "loads": 4}
        yield Point(kernel="cuda_shared", ceiling="SHARED.read", axes=axes)


def work(point: Point) -> Work:
    size = float(int(point.axes["blocks"]) * int(point.axes["block_threads"]) * int(point.axes["loads"]) * 16)
    return Work(bytes_counted=size, bytes_moved=size)


def _build(point: Point, device: DeviceInfo) -> SharedProgram:
    return SharedProgram(point, device)


SPEC = KernelSpec(name="cuda_shared", device_kind="gpu", kind="bandwidth", points=_points, work=work, build=_build)
