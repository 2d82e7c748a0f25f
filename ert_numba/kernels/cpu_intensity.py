"""Kernels of known arithmetic intensity, ERT's way: read a vector, do k multiply-adds on it, write it back.

They prove the model: each must lie on or under the lower of its two roofs, and near it away from the ridge. Its
bandwidth roof is the ``update`` access, which moves bytes in the same mix and does no arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from llvmlite import ir

from ert_numba.catalog.vector_isas import BY_KEY as ISA
from ert_numba.catalog.vector_isas import VectorIsa
from ert_numba.kernels import cpu_ir as vir
from ert_numba.kernels.cpu_compile import CompiledKernel, check_absent, check_count, check_counts, compile_kernel
from ert_numba.kernels.cpu_fma import ADDEND, BY_CEILING, FACTOR
from ert_numba.kernels.cpu_levels import level_sizes
from ert_numba.kernels.cpu_program import CpuProgram, host_isa, scratch
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import DeviceInfo, Point, Skipped, Work

BYTES_PER_ELEMENT = 16  # one FP64 word read and written
INTENSITIES = tuple(2.0**power for power in range(-4, 7))  # 1/16 to 64 FLOP/byte
# On device memory a call takes long: every second octave shows the roofs as well, as far as a pass is affordable.
SLOW_INTENSITIES = INTENSITIES[::2]
AFFORDABLE_SECONDS = (
    0.25  # of one pass, at the nominal rate below; behind a cache of 300 MiB a pass takes over a second
)
NOMINAL_CLOCK_HZ = 3e9
QUICK_INTENSITIES = (0.0625, 1.0, 16.0)
INNER = 16  # multiply-adds a vector in one turn of the inner loop
STREAMS = {"DRAM": 4, "L3": 4}  # as the roof's best; one stream elsewhere


def steps_of(intensity: float) -> int:
    """Multiply-adds per element, 2 FLOP each; 0 stands for the single addition of 1/16 FLOP/byte."""
    return int(intensity * BYTES_PER_ELEMENT) // 2


def emit_intensity(isa: VectorIsa, steps: int, streams: int) -> vir.Emitter:
    """``repetitions`` passes over ``bytes`` bytes, in place, over ``streams`` parts."""
    vector = vir.vector_type(isa, "fp64")
    operation = BY_CEILING["fp64.vector.fma" if isa.has_fma else "fp64.vector.add"]
    per_stream = isa.chains // streams

    def emit(builder: ir.IRBuilder, repetitions: ir.Value, address: ir.Value, size: ir.Value) -> ir.Value:
        factor = vir.splat(builder, vir.run_time_scalar(builder, FACTOR, vir.DOUBLE), vector.count)
        addend = vir.splat(builder, vir.run_time_scalar(builder, ADDEND, vir.DOUBLE), vector.count)
        part = builder.udiv(size, vir.I64(streams))
        iterations = builder.udiv(part, vir.I64(isa.bytes * per_stream))
        bases = [builder.add(address, builder.mul(part, vir.I64(stream))) for stream in range(streams)]
        with vir.loop(builder, repetitions):
            with vir.loop(builder, iterations) as index:
                offset = builder.mul(index, vir.I64(isa.bytes * per_stream))
                pointers = [
                    builder.inttoptr(
                        builder.add(builder.add(base, offset), vir.I64(k * isa.bytes)), vector.as_pointer()
                    )
                    for base in bases
                    for k in range(per_stream)
                ]
                slots = vir.registers(builder, [builder.load(pointer, align=isa.bytes) for pointer in pointers])

                def advance(times: int) -> None:
                    for _ in range(times):
                        for slot in slots:
                            value = builder.load(slot)
                            done = (
                                operation.step(builder, factor, addend, value) if steps else builder.fadd(value, addend)
                            )
                            builder.store(done, slot)

                if steps <= INNER:
                    advance(max(1, steps))
                else:
                    with vir.loop(builder, vir.I64(steps // INNER)):
                        advance(INNER)
                for slot, pointer in zip(slots, pointers, strict=True):
                    builder.store(builder.load(slot), pointer, align=isa.bytes)
            vir.opaque_barrier(builder)
        return ir.Constant(vir.DOUBLE, 0.0)

    return emit


def check_code(isa: VectorIsa, steps: int, streams: int, assembly: str) -> str:
    """Multiply-adds (or additions), loads and stores of full width, as declared."""
    pattern = (isa.fma_pattern if isa.has_fma else isa.multiply_pattern) if steps else isa.add_pattern
    check_absent("spill", isa.spill_pattern, assembly)
    if not steps:
        check_absent("multiply", rf"{isa.multiply_pattern}|{isa.fma_pattern}", assembly)
    vectors = isa.chains // streams * streams
    # The inner loop of constant trip count may be unrolled in full: whole multiples are right either way.
    return ", ".join(
        (
            check_count("multiply-add" if steps else "add", pattern, assembly, vectors * max(1, min(steps, INNER))),
            check_counts(assembly, ("load", isa.load_pattern, vectors), ("store", isa.store_pattern, vectors)),
        )
    )


def verify(isa: VectorIsa, steps: int, streams: int, kernel: CompiledKernel) -> bool:
    """One pass over known numbers; what lies behind the set stays as it was."""
    size = block_bytes(isa, streams) * 4
    words = scratch(size + 4096).view(np.float64)
    words[:] = np.arange(len(words)) % 13 + 1.0
    expected = words.copy()
    head = expected[: size // 8]
    if not steps:
        head += ADDEND
    elif isa.has_fma:
        head += steps * FACTOR * ADDEND
    else:
        decay = FACTOR**steps
        head[:] = head * decay + ADDEND * (1 - decay) / (1 - FACTOR)
    kernel(1, int(words.ctypes.data), size)
    return bool(np.allclose(words, expected, rtol=1e-12, atol=0.0))


def block_bytes(isa: VectorIsa, streams: int) -> int:
    return isa.bytes * (isa.chains // streams) * streams


def _points(device: DeviceInfo, request: Request) -> Iterator[Point | Skipped]:
    if not request.wants_precision("fp64"):
        return
    isa, threads = host_isa(device).key, request.threads or device.units
    levels = level_sizes(device, threads)
    chosen = [level for level in levels if level in ("L1", "L2", "DRAM") and request.wants_level(level)]
    for level in dict.fromkeys(chosen[-1:] + chosen[:1]) if request.quick else chosen:
        slow = level == "DRAM" and not request.full
        for intensity in QUICK_INTENSITIES if request.quick else SLOW_INTENSITIES if slow else INTENSITIES:
            if slow and _pass_seconds(device, intensity, levels[level]) > AFFORDABLE_SECONDS:
                continue
            yield Point(
                kernel="cpu_intensity",
                ceiling=f"intensity.fp64.{level}",
                axes={
                    "flop_per_byte": intensity,
                    "working_set_bytes": levels[level],
                    "streams": STREAMS.get(level, 1),
                    "page": "huge",
                    "threads": threads,
                    "isa": isa,
                },
            )


def _pass_seconds(device: DeviceInfo, intensity: float, working_set_bytes: int) -> float:
    """What the arithmetic of one pass over a core's working set takes, roughly: 0 where no limit is known."""
    limit = device.limit("fp64.vector.fma")
    if limit is None or limit.per_cycle is None:
        return 0.0
    return 2 * working_set_bytes * intensity / (limit.per_cycle * NOMINAL_CLOCK_HZ)


def _size(point: Point) -> int:
    block = block_bytes(ISA[str(point.axes["isa"])], int(point.axes["streams"]))
    return max(block, int(point.axes["working_set_bytes"]) // block * block)


def _work(point: Point) -> Work:
    threads, intensity = int(point.axes["threads"]), float(point.axes["flop_per_byte"])
    moved = float(2 * _size(point) * threads)
    return Work(flop=moved * intensity, bytes_counted=moved, bytes_moved=moved)


@cache
def _compiled(isa_key: str, steps: int, streams: int) -> tuple[CompiledKernel, str, bool]:
    isa = ISA[isa_key]
    kernel = compile_kernel(emit_intensity(isa, steps, streams))
    return kernel, check_code(isa, steps, streams, kernel.assembly), verify(isa, steps, streams, kernel)


def _build(point: Point, device: DeviceInfo) -> CpuProgram:
    steps, size = steps_of(float(point.axes["flop_per_byte"])), _size(point)
    kernel, code, right = _compiled(str(point.axes["isa"]), steps, int(point.axes["streams"]))
    return CpuProgram(
        kernel=kernel, code=code, gold=lambda: right, size_bytes=size, memory_bytes=size, page=str(point.axes["page"])
    )


CPU_INTENSITY = KernelSpec(
    name="cpu_intensity", device_kind="cpu", kind="intensity", points=_points, work=_work, build=_build
)
