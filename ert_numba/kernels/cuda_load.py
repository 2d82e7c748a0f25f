"""Reads of L1, L2 and device memory: 16-byte loads with a cache operator, every word added up.

One kernel reads in every pattern, since the size and the strides are arguments: a slice of its own for each block, one
buffer for all blocks, or the whole memory once. Memory holds the word index, so the sum of what was read is known
exactly, whatever the order. ``cg`` bypasses L1; with ``ca`` the L1s of 132 SMs (33 MB) would fake an L2 of 20 TB/s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ert_numba.kernels.cuda_code import Declared
from ert_numba.kernels.cuda_driver import Buffer, LaunchShape
from ert_numba.kernels.cuda_fill import fill_with_index, index_sum
from ert_numba.kernels.cuda_program import CudaProgram, CudaState, build_code, capability
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.ptx import asm_operation
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import Cache, DeviceInfo, Point, Skipped, Work

WORD, LOAD = 4, 16  # bytes


def load_sum(operator: str, loads: int, stride_bytes: int) -> Callable[..., Any]:
    """``(address) -> uint32``: ``loads`` 16-byte loads ``stride_bytes`` apart, all issued first, then added up."""
    lines = ["{", f".reg .b32 v<{4 * loads}>;"]
    for k in range(loads):
        words = ",".join(f"v{4 * k + j}" for j in range(4))
        lines.append(f"ld.global.{operator}.v4.u32 {{{words}}}, [$1+{k * stride_bytes}];")
    lines += [f"add.u32 v0, v0, v{i};" for i in range(1, 4 * loads)]
    return asm_operation("\n".join([*lines, "mov.u32 $0, v0;", "}"]), "uint32", ("int64",))


def make_read_kernel(operator: str, threads: int, loads: int) -> Callable[..., None]:
    """See :func:`read_loop`; the operations are PTX."""
    several, one = load_sum(operator, loads, threads * LOAD), load_sum(operator, 1, 0)
    return read_loop(several, one, asm_operation("st.global.u32 [$0], $1;", None, ("int64", "uint32")), threads, loads)


def read_loop(several: Any, one: Any, store: Any, threads: int, loads: int) -> Callable[..., None]:
    """Block ``b`` reads ``[b * block_stride, + span)`` of memory in groups of ``loads`` loads a thread, ``step`` apart.

    ``first`` (bytes, a multiple of ``step``) turns the order: from ``b * first`` modulo the span to its end, then the
    rest. ``span`` is a multiple of 16 bytes x threads; what a last group of full length would overrun is read one by one.
    """
    from numba import cuda
    from numba.core.types import int64, uint32

    row = threads * LOAD

    def kernel(results, repetitions, memory, block_stride, span, step, first):  # type: ignore[no-untyped-def]
        base = memory + int64(cuda.blockIdx.x) * block_stride + int64(cuda.threadIdx.x) * int64(LOAD)
        begin = (int64(cuda.blockIdx.x) * first) % span
        total = uint32(0)
        for _ in range(repetitions):
            offset = begin
            while offset + int64(loads * row) <= span:
                total += several(base + offset)
                offset += step
            while offset < span:
                total += one(base + offset)
                offset += int64(row)
            offset = int64(0)
            while offset < begin:
                total += several(base + offset)
                offset += step
        store(results + int64(WORD) * int64(cuda.grid(1)), total)

    return kernel


def recipe(operator: str, threads: int, loads: int) -> Recipe:
    return Recipe(
        make=make_read_kernel,
        parameters={"operator": operator, "threads": threads, "loads": loads},
        types=("int64", "int32", "int64", "int64", "int64", "int64", "int64"),
        declared=(Declared(ptx=rf"ld\.global\.{operator}\.v4\.u32", count=1, sass=r"LDG\.E\.128"),),
    )


class ReadProgram(CudaProgram):
    """One pattern over one buffer. Axes: ``pattern`` "private", "shared" or "stream"; ``working_set_bytes``."""

    result_bytes = WORD

    def __init__(self, point: Point, device: DeviceInfo) -> None:
        axes = point.axes
        self.pattern, self.loads = str(axes["pattern"]), int(axes["loads"])
        self.total_bytes = total_bytes(point)
        blocks, threads = int(axes["blocks"]), int(axes["threads"])
        shape = LaunchShape(blocks, threads, carveout_percent=0)
        super().__init__(build_code(recipe(str(axes["operator"]), threads, self.loads), device), shape)
        group = self.loads * threads * LOAD
        private = self.total_bytes // blocks
        self.strides = {
            "private": (private, private, group, 0),
            "shared": (0, self.total_bytes, group, group * int(axes.get("stagger", 0))),
            "stream": (group, self.total_bytes - (blocks - 1) * group, blocks * group, 0),
        }[self.pattern]

    def allocate(self) -> list[Buffer]:
        memory = Buffer(self.total_bytes)
        fill_with_index(memory)
        return [memory]

    def values(self, state: CudaState, repetitions: int) -> tuple[int, ...]:
        return (state.results.address, repetitions, state.buffers[0].address, *self.strides)

    def check(self, state: CudaState) -> bool:
        state.results.fill(0xDEADBEEF)
        self.run(state, 3)
        sums = state.results.download(np.uint32)
        readers = self.shape.blocks if self.pattern == "shared" else 1
        gold = 3 * readers * index_sum(self.total_bytes // WORD) % 2**32
        return int(sums.sum(dtype=np.uint64) % 2**32) == gold


def total_bytes(point: Point) -> int:
    """All bytes that the blocks read in one repetition, over distinct addresses: whole groups for every block."""
    axes = point.axes
    blocks, row = int(axes["blocks"]), int(axes["threads"]) * LOAD
    wanted = int(axes["working_set_bytes"])
    if axes["pattern"] == "private":
        per_block = wanted * int(axes["units"]) // blocks
        return max(row, per_block // row * row) * blocks
    group = row * int(axes["loads"])
    each = group * blocks if axes["pattern"] == "stream" else group
    return max(each, wanted // each * each)


def work(point: Point) -> Work:
    readers = int(point.axes["blocks"]) if point.axes["pattern"] == "shared" else 1
    moved = float(total_bytes(point) * readers)
    return Work(bytes_counted=moved, bytes_moved=moved)
