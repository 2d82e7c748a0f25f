"""Latency of every memory level: a chase through one random ring over all the cache lines of a working set."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from llvmlite import ir

from ert_numba.kernels import cpu_ir as vir
from ert_numba.kernels.cpu_compile import CompiledKernel, check_count, compile_kernel
from ert_numba.kernels.cpu_levels import curve_sizes, dram_bytes, level_sizes
from ert_numba.kernels.cpu_memory import Bytes
from ert_numba.kernels.cpu_program import CpuProgram, scratch
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import DeviceInfo, Point, Skipped, Work

LINE_BYTES = 64
STEPS = 32  # dependent loads in one repetition
LOAD_PATTERN = r"\bmovq?\s+-?\w*\(%r(?!sp|ip)\w+\),\s*%r\w+|\bldr\s+x\d+, \[x\d+\]"
PER_OCTAVE = 2
BLOCK_LINES = 128 * 1024 // LINE_BYTES  # 32 small pages: every first-level TLB holds them
ORDERS = 64  # of the lines in a block, among which each block has one: to draw them all anew takes seconds


def emit_chase(builder: ir.IRBuilder, repetitions: ir.Value, address: ir.Value, size: ir.Value) -> ir.Value:
    """``STEPS`` dependent loads a repetition. The first word of the memory holds where the last call stopped.

    Going on from there matters: a call that began anew each time would find its own lines in the cache.
    """
    pointer = vir.I64.as_pointer()
    home = builder.inttoptr(address, pointer)
    here = vir.registers(builder, [builder.load(home)])[0]
    with vir.loop(builder, repetitions):
        for _ in range(STEPS):
            builder.store(builder.load(builder.inttoptr(builder.load(here), pointer)), here)
    last = builder.load(here)
    builder.store(last, home)
    return builder.sitofp(builder.sub(last, address), vir.DOUBLE)


def random_order(lines: int, seed: int) -> npt.NDArray[np.int64]:
    """The lines in the order of the chase: random, block by block, the even lines of all blocks before the odd ones.

    In blocks, so that page walks are few: what a chase tells is the latency of the memory, not of the translation. Half
    a lap between neighbours, because a core that misses a line fetches the other one of its pair too, and would find it
    in a cache if its turn came soon: without this, a Zen 3 read device memory in 310 cycles that takes 420.
    """
    generator = np.random.default_rng(seed)
    blocks = lines // BLOCK_LINES
    starts = BLOCK_LINES * generator.permutation(blocks)[:, None]
    parts = []
    for parity in (0, 1):
        inside = generator.permuted(np.tile(np.arange(parity, BLOCK_LINES, 2), (ORDERS, 1)), axis=1)
        parts.append((starts + inside[generator.integers(ORDERS, size=blocks)]).ravel())
        parts.append(generator.permutation(np.arange(blocks * BLOCK_LINES + parity, lines, 2)))
    return np.concatenate(parts)


def lay_ring(memory: Bytes, size_bytes: int, seed: int) -> int:
    """Write one random cycle over the lines of ``memory[64 : 64 + size_bytes]``; returns the kernel's address."""
    order = random_order(max(2, size_bytes // LINE_BYTES), seed)
    words = memory[: (len(order) + 1) * LINE_BYTES].view(np.int64)
    addresses = order * LINE_BYTES + (int(memory.ctypes.data) + LINE_BYTES)
    words[LINE_BYTES // 8 :: LINE_BYTES // 8][order] = np.roll(addresses, -1)
    words[0] = addresses[0]
    return int(memory.ctypes.data)


def verify(kernel: CompiledKernel) -> bool:
    """On a ring of 2 x STEPS lines, two repetitions come home and one does not; every line is visited."""
    lines = 2 * STEPS
    memory = scratch((lines + 1) * LINE_BYTES)
    address = lay_ring(memory, lines * LINE_BYTES, seed=7)
    start = int(memory.view(np.int64)[0]) - address
    visited = set()
    here = start
    for _ in range(lines):
        visited.add(here)
        here = int(memory.view(np.int64)[here // 8]) - address
    return len(visited) == lines and kernel(1, address) != start and kernel(1, address) == start


@lru_cache(maxsize=1)
def _compiled() -> CompiledKernel:
    return compile_kernel(emit_chase)


def _points(device: DeviceInfo, request: Request) -> Iterator[Point | Skipped]:
    axes: dict[str, int | float | str | bool] = {"threads": 1, "page": "huge", "seed": request.seed}
    for level, size in level_sizes(device, 1).items():
        # Laying a ring through device memory alone takes some seconds.
        if request.wants_level(level) and not (request.quick and level == "DRAM" and not request.levels):
            yield Point(kernel="cpu_latency", ceiling=f"{level}.latency", axes={**axes, "working_set_bytes": size})
    if not request.quick and not request.levels:
        # Past a quarter of the memory set nothing new is to be learnt, and laying the ring takes seconds.
        for size in curve_sizes(device, 1, PER_OCTAVE):
            if size <= dram_bytes(device, 1) // 4:
                yield Point(kernel="cpu_latency", ceiling="curve.latency", axes={**axes, "working_set_bytes": size})


def _work(point: Point) -> Work:
    return Work(accesses=float(STEPS))


def _build(point: Point, device: DeviceInfo) -> CpuProgram:
    kernel = _compiled()
    size, seed = int(point.axes["working_set_bytes"]), int(point.axes["seed"])
    return CpuProgram(
        kernel=kernel,
        code=check_count("dependent load", LOAD_PATTERN, kernel.assembly, STEPS, beside=1),
        gold=lambda: verify(kernel),
        size_bytes=size,
        memory_bytes=size + LINE_BYTES,
        pass_repetitions=max(1, size // LINE_BYTES // STEPS),
        page=str(point.axes["page"]),
        lay_out=lambda memory: lay_ring(memory, size, seed),
    )


CPU_LATENCY = KernelSpec(
    name="cpu_latency", device_kind="cpu", kind="latency", points=_points, work=_work, build=_build
)
