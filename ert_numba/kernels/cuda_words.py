"""Single words from device memory: 8 bytes of each 32-byte sector, at a stride of one sector or at random.

What a gather or a column of records reaches: bytes are counted as the kernel names them, moved by whole sectors. (HBM
itself moves 64 bytes for a lone sector: seen in an H200's counters.)
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

SECTOR = 32  # bytes
_MULTIPLIER, _INCREMENT = 1664525, 1013904223  # Numerical Recipes' 32-bit generator


def make_word_kernel(pattern: str, loads: int) -> Callable[..., None]:
    """``loads`` independent 8-byte reads a step and thread: each ``SECTOR`` bytes after the last, or anywhere."""
    lines = ["{", f".reg .b32 v<{2 * loads}>;"]
    lines += [f"ld.global.cg.v2.u32 {{v{2 * k},v{2 * k + 1}}}, [${k + 1}];" for k in range(loads)]
    lines += [f"add.u32 v0, v0, v{i};" for i in range(1, 2 * loads)]  # both words: ptxas narrows a load to what is used
    reads = asm_operation("\n".join([*lines, "mov.u32 $0, v0;", "}"]), "uint32", ("int64",) * loads)
    store = asm_operation("st.global.u32 [$0], $1;", None, ("int64", "uint32"))
    return (strided_loop if pattern == "strided" else random_loop)(reads, store)


def strided_loop(reads: Any, store: Any) -> Callable[..., None]:
    """Byte offsets a ``stride`` apart, each once a repetition; ``count`` is a multiple of 4 x the grid's threads."""
    from numba.core.types import int64, uint32

    def kernel(results, repetitions, memory, count, stride):  # type: ignore[no-untyped-def]
        threads = int64(cuda.gridsize(1))
        total = uint32(0)
        for _ in range(repetitions):
            i = int64(cuda.grid(1))
            while i < count:
                near = memory + i * stride
                jump = threads * stride
                total += reads(near, near + jump, near + int64(2) * jump, near + int64(3) * jump)
                i += int64(4) * threads
        store(results + int64(4) * int64(cuda.grid(1)), total)

    return kernel


def random_loop(reads: Any, store: Any) -> Callable[..., None]:
    """``count`` / threads reads a thread of sectors that a generator picks among ``sectors``."""
    from numba.core.types import int64, uint32

    multiplier, increment = uint32(_MULTIPLIER), uint32(_INCREMENT)

    def kernel(results, repetitions, memory, count, sectors):  # type: ignore[no-untyped-def]
        state = uint32(cuda.grid(1)) * uint32(2654435761)
        steps = count // int64(cuda.gridsize(1)) // int64(4)
        total = uint32(0)
        for _ in range(repetitions):
            for _step in range(steps):
                a = uint32(state * multiplier + increment)
                b = uint32(a * multiplier + increment)
                c = uint32(b * multiplier + increment)
                state = uint32(c * multiplier + increment)
                total += reads(
                    memory + int64(SECTOR) * ((int64(a) * sectors) >> int64(32)),
                    memory + int64(SECTOR) * ((int64(b) * sectors) >> int64(32)),
                    memory + int64(SECTOR) * ((int64(c) * sectors) >> int64(32)),
                    memory + int64(SECTOR) * ((int64(state) * sectors) >> int64(32)),
                )
        store(results + int64(4) * int64(cuda.grid(1)), total)

    return kernel


def recipe(pattern: str) -> Recipe:
    return Recipe(
        make=make_word_kernel,
        parameters={"pattern": pattern, "loads": 4},
        types=("int64", "int32", "int64", "int64", "int64"),
        declared=(Declared(ptx=r"ld\.global\.cg\.v2\.u32", count=4, sass=r"LDG\.E\.64"),),
    )


def point_recipe(point: Point, device: DeviceInfo) -> Recipe:
    return recipe(str(point.axes["access"]))


class WordProgram(CudaProgram):
    """8 bytes of each sector touched. Axes: ``access`` "strided" or "random"; ``working_set_bytes``."""

    result_bytes = 4

    def __init__(self, point: Point, device: DeviceInfo) -> None:
        self.access, self.count = str(point.axes["access"]), word_count(point)
        shape = LaunchShape(int(point.axes["blocks"]), int(point.axes["block_threads"]))
        super().__init__(build_code(point_recipe(point, device), device), shape)

    def allocate(self) -> list[Buffer]:
        memory = Buffer(self.count * SECTOR)
        fill_with_index(memory)
        return [memory]

    def values(self, state: CudaState, repetitions: int) -> tuple[int, ...]:
        last = SECTOR if self.access == "strided" else self.count
        return (state.results.address, repetitions, state.buffers[0].address, self.count, last)

    def check(self, state: CudaState) -> bool:
        """All sectors at a stride; of the random ones the first few of every thread, over all of memory."""
        threads = self.shape.blocks * self.shape.threads
        if self.access == "strided":
            reads, sectors = self.count, index_sum(self.count)
        else:
            reads = min(self.count, 8 * threads)
            sectors = random_index_sum(threads, reads, self.count)
        *head, _, last = self.values(state, 1)
        state.function.launch(self.shape, (*head, reads, last))
        found = int(state.results.download(np.uint32).sum(dtype=np.uint64) % 2**32)
        return found == (2 * (SECTOR // 4) * sectors + reads) % 2**32  # words 8 s and 8 s + 1 of sector s


def random_index_sum(threads: int, count: int, sectors: int) -> int:
    """Sum of the sector numbers that ``random_loop`` picks in one repetition, modulo 2^32."""
    state = np.arange(threads, dtype=np.uint64) * 2654435761 % 2**32
    total = 0
    for _ in range(count // threads // 4 * 4):
        state = (state * _MULTIPLIER + _INCREMENT) % 2**32
        total += int((state * np.uint64(sectors) >> np.uint64(32)).sum())
    return total % 2**32


def word_count(point: Point) -> int:
    """Sectors touched in one repetition: a multiple of 4 x the threads that is near the working set."""
    unit = 4 * int(point.axes["blocks"]) * int(point.axes["block_threads"])
    return max(unit, int(point.axes["working_set_bytes"]) // SECTOR // unit * unit)


def work(point: Point) -> Work:
    count = float(word_count(point))
    return Work(bytes_counted=8 * count, bytes_moved=SECTOR * count)
