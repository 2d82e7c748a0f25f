"""Device memory read by 16-byte loads, a block a tile, every word added up.

Memory holds the word index, so the sum of what was read is known exactly, whatever the order. Each warp adds its sum to
one of a few results: a result a thread would be a write for every few reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda  # a global: the simulator swaps it

from ert_numba.kernels.cuda_code import Declared
from ert_numba.kernels.cuda_fill import fill_with_index, index_sum
from ert_numba.kernels.cuda_load import straight_loads
from ert_numba.kernels.cuda_program import CudaState, build_code
from ert_numba.kernels.cuda_tiles import LOAD, RESULTS, TileProgram, tile_of
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.ptx import asm_operation
from ert_numba.records import DeviceInfo, Point, Work

WORD, WARP = 4, 32
OPERATOR = "cg"


def add_of_a_warp() -> Callable[..., Any]:
    """``(address, value)``: the 32 values of a warp, summed and added to the word at the address, which all share."""
    lines = ["{", ".reg .b32 v, o, lane;", ".reg .pred p;", "mov.b32 v, $1;"]
    for distance in (16, 8, 4, 2, 1):
        lines += [f"shfl.sync.bfly.b32 o, v, {distance}, 31, -1;", "add.u32 v, v, o;"]
    lines += ["mov.u32 lane, %laneid;", "setp.eq.u32 p, lane, 0;", "@p red.global.add.u32 [$0], v;", "}"]
    return asm_operation("\n".join(lines), None, ("int64", "uint32"))


def make_read_kernel(operator: str, threads: int, loads: int) -> Callable[..., None]:
    return tile_loop(straight_loads(operator, loads, threads * LOAD), add_of_a_warp(), threads, loads)


def tile_loop(several: Any, add: Any, threads: int, loads: int) -> Callable[..., None]:
    """A block reads ``groups`` groups of ``loads`` x ``threads`` elements in a row."""
    from numba.core.types import int64, uint32

    group, warps, slots = threads * loads * LOAD, -(-threads // WARP), RESULTS

    def kernel(results, memory, groups):  # type: ignore[no-untyped-def]
        block = int64(cuda.blockIdx.x)
        address = memory + block * groups * int64(group) + int64(cuda.threadIdx.x) * int64(LOAD)
        total = uint32(0)
        for _ in range(groups):
            total += several(address)
            address += int64(group)
        warp = block * int64(warps) + int64(cuda.threadIdx.x) // int64(WARP)
        add(results + int64(WORD) * (warp % int64(slots)), total)

    return kernel


def recipe(threads: int, loads: int) -> Recipe:
    return Recipe(
        make=make_read_kernel,
        parameters={"operator": OPERATOR, "threads": threads, "loads": loads},
        types=("int64", "int64", "int64"),
        declared=(Declared(ptx=rf"ld\.global\.{OPERATOR}\.v4\.u32", count=loads, sass=r"LDG\.E\.128"),),
    )


def point_recipe(point: Point, device: DeviceInfo) -> Recipe:
    tile = tile_of(point)
    return recipe(tile.threads, tile.loads)


class TileReadProgram(TileProgram):
    """One buffer, read once a repetition. Axes: those of a tile, and ``working_set_bytes``."""

    def __init__(self, point: Point, device: DeviceInfo) -> None:
        super().__init__(build_code(point_recipe(point, device), device), tile_of(point), array_bytes(point), 1)

    def values(self, state: CudaState, repetitions: int) -> tuple[int, ...]:
        return (state.results.address, state.buffers[0].address, self.tile.groups)

    def check(self, state: CudaState) -> bool:
        fill_with_index(state.buffers[0])
        state.results.fill(0)
        self.run(state, 3)
        found = int(state.results.download(np.uint32).sum(dtype=np.uint64) % 2**32)
        return found == 3 * index_sum(self.array_bytes // WORD) % 2**32


def array_bytes(point: Point) -> int:
    return tile_of(point).whole(int(point.axes["working_set_bytes"]))


def work(point: Point) -> Work:
    size = float(array_bytes(point))
    return Work(bytes_counted=size, bytes_moved=size)
