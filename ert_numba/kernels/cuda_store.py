"""Device memory written: write, copy and triad by 16 bytes, a block a tile.

Bytes are counted as STREAM does, what the kernel names; a GPU does not read a line before it writes all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
from numba import cuda  # a global: the simulator swaps it

from ert_numba.kernels.cuda_code import Declared
from ert_numba.kernels.cuda_driver import Buffer
from ert_numba.kernels.cuda_program import CudaState, build_code
from ert_numba.kernels.cuda_tiles import LOAD, TileProgram, tile_of
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.ptx import asm_operation
from ert_numba.records import DeviceInfo, Point, Work


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """One access: arrays it reads and writes, and the PTX of one 16-byte element of it.

    ``$1`` is the address in the first array; ``%2`` and ``%3`` in the text are those in the second and third.
    """

    name: str
    reads: int
    writes: int


ACCESSES: dict[str, Access] = {
    row.name: row
    for row in (
        Access(name="write", reads=0, writes=1),
        Access(name="copy", reads=1, writes=1),
        Access(name="triad", reads=2, writes=1),
    )
}


def group_operation(access: str, loads: int, stride_bytes: int) -> Callable[..., Any]:
    """``(target, first, second, scale)``: one group of ``loads`` elements, all loads before the first store."""
    row = ACCESSES[access]
    lines = ["{", f".reg .b32 a<{4 * loads}>, b<{4 * loads}>;", ".reg .f32 s;", "mov.b32 s, $3;"]
    if row.reads == 0:
        lines += [f"mov.b32 a{i}, $3;" for i in range(4 * loads)]
    for name, source in (("a", "$1"), ("b", "$2"))[: row.reads]:
        for k in range(loads):
            lines.append(f"ld.global.cs.v4.b32 {{{_words(name, k)}}}, [{source}+{k * stride_bytes}];")
    if row.reads == 2:
        lines += [f"fma.rn.f32 a{i}, b{i}, s, a{i};" for i in range(4 * loads)]
    for k in range(loads):
        lines.append(f"st.global.cs.v4.b32 [$0+{k * stride_bytes}], {{{_words('a', k)}}};")
    return asm_operation("\n".join([*lines, "}"]), None, ("int64", "int64", "int64", "float32"))


def _words(name: str, k: int) -> str:
    return ",".join(f"{name}{4 * k + j}" for j in range(4))


def make_store_kernel(access: str, threads: int, loads: int) -> Callable[..., None]:
    return store_loop(group_operation(access, loads, threads * LOAD), threads, loads)


def store_loop(group: Any, threads: int, loads: int) -> Callable[..., None]:
    """A block takes ``groups`` groups of ``loads`` x ``threads`` elements in a row."""
    from numba.core.types import int64

    size = threads * loads * LOAD

    def kernel(target, first, second, groups, scale):  # type: ignore[no-untyped-def]
        offset = int64(cuda.blockIdx.x) * groups * int64(size) + int64(cuda.threadIdx.x) * int64(LOAD)
        for _ in range(groups):
            group(target + offset, first + offset, second + offset, scale)
            offset += int64(size)

    return kernel


def recipe(access: str, threads: int, loads: int) -> Recipe:
    return Recipe(
        make=make_store_kernel,
        parameters={"access": access, "threads": threads, "loads": loads},
        types=("int64", "int64", "int64", "int64", "float32"),
        declared=(Declared(ptx=r"st\.global\.cs\.v4\.b32", count=loads, sass=r"STG\.E(\.EF)?\.128"),),
    )


def point_recipe(point: Point, device: DeviceInfo) -> Recipe:
    tile = tile_of(point)
    return recipe(str(point.axes["access"]), tile.threads, tile.loads)


class StoreProgram(TileProgram):
    """Write, copy or triad over arrays of equal size.

    Axes: ``access``; those of a tile; ``working_set_bytes``, of all arrays together.
    """

    scale = 3.0

    def __init__(self, point: Point, device: DeviceInfo) -> None:
        self.access = ACCESSES[str(point.axes["access"])]
        arrays = 1 + self.access.reads  # the target, then what is read
        super().__init__(build_code(point_recipe(point, device), device), tile_of(point), array_bytes(point), arrays)

    def values(self, state: CudaState, repetitions: int) -> tuple[int | float, ...]:
        addresses = [buffer.address for buffer in state.buffers]
        addresses += [addresses[0]] * (3 - len(addresses))
        return (*addresses, self.tile.groups, self.scale)

    def check(self, state: CudaState) -> bool:
        """Every word of a small target; of a large one its head, middle and tail."""
        words = self.array_bytes // 4
        state.buffers[0].fill(0xFFFFFFFF)
        for source in state.buffers[1:]:
            source.fill(int(np.float32(1.5).view(np.uint32)))
        self.run(state, 1)
        gold = {"write": self.scale, "copy": 1.5, "triad": 1.5 + self.scale * 1.5}[self.access.name]
        step = max(1, words // 2**22)
        sample = state.buffers[0].download(np.float32, words) if step == 1 else _every(state.buffers[0], words)
        return bool(np.all(sample == np.float32(gold)))


def _every(buffer: Buffer, words: int) -> Any:
    """Head, middle and tail of a buffer too large to copy whole: 4 MiB of words each."""
    from cuda.bindings import driver

    from ert_numba.kernels.cuda_driver import call, stream, synchronize

    count = 2**20
    parts = np.empty((3, count), np.float32)
    for k, begin in enumerate((0, words // 2, words - count)):
        call(driver.cuMemcpyDtoHAsync, parts[k].ctypes.data, buffer.address + 4 * begin, 4 * count, stream())
    synchronize()
    return parts


def array_bytes(point: Point) -> int:
    """Of one array."""
    access = ACCESSES[str(point.axes["access"])]
    return tile_of(point).whole(int(point.axes["working_set_bytes"]) // (access.reads + access.writes))


def work(point: Point) -> Work:
    access = ACCESSES[str(point.axes["access"])]
    size = float(array_bytes(point) * (access.reads + access.writes))
    return Work(bytes_counted=size, bytes_moved=size)
