"""Reads of L1 and L2: 16-byte loads with a cache operator, every word added up.

Memory holds the word index, so the sum of what was read is known exactly, whatever the order. ``cg`` bypasses L1; with
``ca`` the L1s of 132 SMs (33 MB) would fake an L2 of 20 TB/s. Where all SMs read the same lines at the same moment, the
H200 serves up to 18 TB/s, more than its L2 can send (10.3): requests merge on the way, as its counters show. So in the
shared pattern the blocks start evenly spread over the buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda  # a global: the simulator swaps it

from ert_numba.kernels.cuda_code import Declared
from ert_numba.kernels.cuda_driver import Buffer, LaunchShape
from ert_numba.kernels.cuda_fill import fill_with_index, index_sum
from ert_numba.kernels.cuda_program import CudaProgram, CudaState, build_code
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.ptx import asm_operation
from ert_numba.records import DeviceInfo, Point, Work

WORD, LOAD, LINE = 4, 16, 128  # bytes


def ring_loads(operator: str, loads: int, stride_bytes: int) -> Callable[..., Any]:
    """``(base, offset, span) -> uint32``: loads ``stride_bytes`` apart round a ring of ``span`` bytes, summed."""
    lines = ["{", f".reg .b32 v<{4 * loads}>, o;", ".reg .b64 a, w;", ".reg .pred p;", "mov.b32 o, $2;"]
    lines += [f".reg .b64 a{k};" for k in range(loads)]
    for k in range(loads):
        lines += ["cvt.u64.u32 w, o;", f"add.s64 a{k}, $1, w;", f"add.u32 o, o, {stride_bytes};"]
        lines += ["setp.ge.u32 p, o, $3;", "@p sub.u32 o, o, $3;"]
    return asm_operation(_loads_and_sum(lines, operator, [f"a{k}" for k in range(loads)]), "uint32",
                         ("int64", "uint32", "uint32"))  # fmt: skip


def straight_loads(operator: str, loads: int, stride_bytes: int) -> Callable[..., Any]:
    """``(address) -> uint32``: ``loads`` 16-byte loads ``stride_bytes`` apart, all issued before the first is used."""
    lines = ["{", f".reg .b32 v<{4 * loads}>;"]
    addresses = [f"$1+{k * stride_bytes}" for k in range(loads)]
    return asm_operation(_loads_and_sum(lines, operator, addresses), "uint32", ("int64",))


def _loads_and_sum(lines: list[str], operator: str, addresses: list[str]) -> str:
    for k, address in enumerate(addresses):
        words = ",".join(f"v{4 * k + j}" for j in range(4))
        lines.append(f"ld.global.{operator}.v4.u32 {{{words}}}, [{address}];")
    lines += [f"add.u32 v0, v0, v{i};" for i in range(1, 4 * len(addresses))]
    return "\n".join([*lines, "mov.u32 $0, v0;", "}"])


def make_ring_kernel(operator: str, threads: int, loads: int) -> Callable[..., None]:
    """See :func:`ring_loop`; the operations are PTX."""
    row = threads * LOAD
    several, one = ring_loads(operator, loads, row), ring_loads(operator, 1, row)
    return ring_loop(several, one, _store(), threads, loads)


def ring_loop(several: Any, one: Any, store: Any, threads: int, loads: int) -> Callable[..., None]:
    """Block ``b`` reads the ring ``[b * block_stride, + span)`` of memory over and over, from ``b * first`` on.

    A repetition is one lap. Laps follow each other without a seam, so any multiple of 16 bytes from one group
    (``loads`` x ``threads`` x 16) up to 2 GiB is read at full speed.
    """
    from numba.core.types import int64, uint32

    row, group = threads * LOAD, threads * LOAD * loads

    def kernel(results, repetitions, memory, block_stride, span, first):  # type: ignore[no-untyped-def]
        block = int64(cuda.blockIdx.x)
        base = memory + block * block_stride
        own = int64(cuda.threadIdx.x) * int64(LOAD)
        length = int64(span)
        offset = uint32((block * first + own) % length)
        total = uint32(0)
        left = int64(repetitions) * length
        while left >= int64(group):
            total += several(base, offset, span)
            offset = uint32(offset + uint32(group))
            offset = uint32(offset - span) if offset >= span else offset
            left -= int64(group)
        while own < left:
            total += one(base, offset, span)
            offset = uint32(offset + uint32(row))
            offset = uint32(offset - span) if offset >= span else offset
            left -= int64(row)
        store(results + int64(WORD) * int64(cuda.grid(1)), total)

    return kernel


def _store() -> Callable[..., Any]:
    return asm_operation("st.global.u32 [$0], $1;", None, ("int64", "uint32"))


def recipe(operator: str, threads: int, loads: int) -> Recipe:
    return Recipe(
        make=make_ring_kernel,
        parameters={"operator": operator, "threads": threads, "loads": loads},
        types=("int64", "int32", "int64", "int64", "uint32", "int64"),
        declared=(Declared(ptx=rf"ld\.global\.{operator}\.v4\.u32", count=1, at_least=loads, sass=r"LDG\.E\.128"),),
    )


def point_recipe(point: Point, device: DeviceInfo) -> Recipe:
    axes = point.axes
    return recipe(str(axes["operator"]), int(axes["block_threads"]), int(axes["loads"]))


class ReadProgram(CudaProgram):
    """One pattern over one buffer. Axes: ``pattern`` "private" or "shared"; ``working_set_bytes``, of one SM for
    private lines, of the whole device for shared ones.
    """

    result_bytes = WORD

    def __init__(self, point: Point, device: DeviceInfo) -> None:
        axes = point.axes
        self.pattern, self.total_bytes = str(axes["pattern"]), total_bytes(point)
        blocks = int(axes["blocks"])
        # All of the joint memory to L1: a carve-out of 0 % still leaves what the kernel itself needs.
        shape = LaunchShape(blocks, int(axes["block_threads"]), carveout_percent=0)
        super().__init__(build_code(point_recipe(point, device), device), shape)
        own = self.total_bytes // blocks
        first = own // LINE * LINE
        self.geometry = {"private": (own, own, 0), "shared": (0, self.total_bytes, first)}[self.pattern]

    def allocate(self) -> list[Buffer]:
        memory = Buffer(self.total_bytes)
        fill_with_index(memory)
        return [memory]

    def values(self, state: CudaState, repetitions: int) -> tuple[int, ...]:
        return (state.results.address, repetitions, state.buffers[0].address, *self.geometry)

    def check(self, state: CudaState) -> bool:
        state.results.fill(0xDEADBEEF)
        self.run(state, 3)
        sums = state.results.download(np.uint32)
        readers = self.shape.blocks if self.pattern == "shared" else 1
        gold = 3 * readers * index_sum(self.total_bytes // WORD) % 2**32
        return int(sums.sum(dtype=np.uint64) % 2**32) == gold


def total_bytes(point: Point) -> int:
    """Distinct bytes that all blocks together read, at least one group for each."""
    axes = point.axes
    blocks, group = int(axes["blocks"]), int(axes["block_threads"]) * int(axes["loads"]) * LOAD
    wanted = int(axes["working_set_bytes"])
    if axes["pattern"] == "private":
        return max(group, wanted * int(axes["units"]) // blocks // LINE * LINE) * blocks
    return max(group, wanted // LINE * LINE)


def work(point: Point) -> Work:
    readers = int(point.axes["blocks"]) if point.axes["pattern"] == "shared" else 1
    moved = float(total_bytes(point) * readers)
    return Work(bytes_counted=moved, bytes_moved=moved)
