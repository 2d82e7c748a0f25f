"""Where L1 and L2 end: dependent reads in random order, few in flight, so that a miss costs its latency at once.

A bandwidth kernel hides the end of L2: misses and hits overlap, so an H200 reads 105 MB, which its 60 MB cannot hold,
at 90 % of full speed, and blocks that walk one buffer in order gather behind the first and then share its misses. In
random order a set of S bytes hits a cache of C bytes with C / S, whatever the replacement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda  # a global: the simulator swaps it

from ert_numba.kernels.cuda_code import Declared
from ert_numba.kernels.cuda_driver import Buffer, LaunchShape
from ert_numba.kernels.cuda_fill import fill_with_index
from ert_numba.kernels.cuda_program import CudaProgram, CudaState, build_code
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.ptx import asm_operation
from ert_numba.records import DeviceInfo, Point, Work

THREADS, LOAD = 256, 16
CHUNK = THREADS * LOAD  # bytes that a block reads at once
READS = 64  # chunks of one repetition
WARM_LAPS = 6  # of random chunks over the set: leaves exp(-6) of it untouched
_MULTIPLIER, _INCREMENT, _SPREAD = 1664525, 1013904223, 2654435761


def make_knee_kernel(operator: str) -> Callable[..., None]:
    """See :func:`knee_loop`; the operation is one load of four words, added up."""
    text = (
        f"{{\n.reg .b32 v<4>;\nld.global.{operator}.v4.u32 {{v0,v1,v2,v3}}, [$1];\nadd.u32 v0, v0, v1;\n"
        "add.u32 v0, v0, v2;\nadd.u32 $0, v0, v3;\n}"
    )
    load = asm_operation(text, "uint32", ("int64",))
    return knee_loop(load, asm_operation("st.global.u32 [$0], $1;", None, ("int64", "uint32")))


def knee_loop(load: Any, store: Any) -> Callable[..., None]:
    """Block ``b`` reads ``READS`` chunks a repetition, of the ``chunks`` from ``b * block_stride`` on, at random.

    ``nothing`` is 0, which the compiler cannot know: it ties each choice to what the last read brought.
    """
    from numba.core.types import int64, uint32

    reads, chunk = READS, CHUNK
    multiplier, increment, spread = uint32(_MULTIPLIER), uint32(_INCREMENT), uint32(_SPREAD)

    def kernel(results, repetitions, memory, block_stride, chunks, seed, nothing):  # type: ignore[no-untyped-def]
        block = int64(cuda.blockIdx.x)
        base = memory + block * block_stride + int64(LOAD) * int64(cuda.threadIdx.x)
        state = uint32(seed + uint32(block) * spread)
        total = uint32(0)
        for _ in range(repetitions * reads):
            state = uint32(state * multiplier + increment)
            choice = (int64(state) * chunks) >> int64(32)
            found = load(base + choice * int64(chunk))
            total = uint32(total + found)
            state = uint32(state + uint32(found & nothing))
        store(results + int64(4) * int64(cuda.grid(1)), total)

    return kernel


def recipe(operator: str) -> Recipe:
    return Recipe(
        make=make_knee_kernel,
        parameters={"operator": operator},
        types=("int64", "int32", "int64", "int64", "int64", "uint32", "uint32"),
        declared=(Declared(ptx=rf"ld\.global\.{operator}\.v4\.u32", count=1, sass=r"LDG\.E\.128"),),
    )


def point_recipe(point: Point, device: DeviceInfo) -> Recipe:
    return recipe(str(point.axes["operator"]))


class KneeProgram(CudaProgram):
    """Axes: ``operator`` "ca" or "cg"; ``shared``: one buffer for all SMs; ``working_set_bytes``, else of one SM."""

    result_bytes = 4

    def __init__(self, point: Point, device: DeviceInfo) -> None:
        self.chunks, self.shared = chunks(point), bool(point.axes.get("shared", False))
        self.launches, self.seed = 0, int(point.axes["seed"])
        shape = LaunchShape(int(point.axes["blocks"]), THREADS, carveout_percent=0)
        super().__init__(build_code(point_recipe(point, device), device), shape)

    def allocate(self) -> list[Buffer]:
        memory = Buffer(self.chunks * CHUNK * (1 if self.shared else self.shape.blocks))
        fill_with_index(memory)
        return [memory]

    def warm(self, state: CudaState) -> None:
        readers = self.shape.blocks if self.shared else 1
        self.run(state, -(-WARM_LAPS * self.chunks // (READS * readers)))

    def values(self, state: CudaState, repetitions: int) -> tuple[int, ...]:
        """Another seed for each launch: the same choices again would be another, smaller set."""
        self.launches += 1
        stride = 0 if self.shared else self.chunks * CHUNK
        seed = (self.seed + self.launches * 40503) % 2**32
        return (state.results.address, repetitions, state.buffers[0].address, stride, self.chunks, seed, 0)

    def check(self, state: CudaState) -> bool:
        *_, stride, _chunks, seed, _ = values = self.values(state, 2)
        state.function.launch(self.shape, values)
        found = state.results.download(np.uint32).reshape(self.shape.blocks, THREADS)
        return bool(np.array_equal(found, gold(self.shape.blocks, stride // CHUNK, self.chunks, seed, 2)))


def gold(blocks: int, stride_chunks: int, chunk_count: int, seed: int, repetitions: int) -> Any:
    """What every thread must find, block by block: words hold their index."""
    block = np.arange(blocks, dtype=np.uint64)
    state = (seed + block * _SPREAD) % 2**32
    total = np.zeros((blocks, THREADS), np.uint64)
    words = 4 * np.arange(THREADS, dtype=np.uint64)
    for _ in range(repetitions * READS):
        state = (state * _MULTIPLIER + _INCREMENT) % 2**32
        chunk = block * stride_chunks + (state * np.uint64(chunk_count) >> np.uint64(32))
        total += 4 * (chunk[:, None] * (CHUNK // 4) + words) + 6
    return (total % 2**32).astype(np.uint32)


def chunks(point: Point) -> int:
    return max(1, int(point.axes["working_set_bytes"]) // CHUNK)


def work(point: Point) -> Work:
    size = float(READS * CHUNK * int(point.axes["blocks"]))
    return Work(bytes_counted=size, bytes_moved=size)
