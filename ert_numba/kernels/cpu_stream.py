"""Bandwidth of a memory level: read, write, copy, triad and update in place, over one or several streams.

One repetition passes once over the working set. An opaque barrier stands between passes, so that none is merged with
the next; every load of a read reaches its result. Several streams a thread keep more lines in flight: on device memory
they and huge pages decide the roof.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import numpy.typing as npt
from llvmlite import ir

from ert_numba.catalog.vector_isas import VectorIsa
from ert_numba.kernels import cpu_ir as vir
from ert_numba.kernels.cpu_compile import CompiledKernel, check_absent, check_counts
from ert_numba.kernels.cpu_program import scratch

# Arrays of one kernel start at different offsets within a page: a load that matches an earlier store in its low 12 bits
# would wait for it ("4K aliasing").
SKEW = 1088
SCALAR = 0.5

Words = npt.NDArray[np.float64]
Body = Callable[[ir.IRBuilder, list[ir.Value], "Operands"], ir.Value]


class Operands(msgspec.Struct, frozen=True):
    """Run-time constants of a kernel, in every lane."""

    scalar: ir.Value  # doubles
    mask: ir.Value  # 64-bit integers, zero in truth


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel: arrays read and written, and what. ``write_allocate`` counts lines read only to be overwritten."""

    key: str
    reads: int
    writes: int
    write_allocate: int
    nontemporal: bool = False
    in_place: bool = False
    body: Body | None = None  # None: a read, whose vectors are summed
    gold: Callable[[list[Words]], Words] = lambda arrays: arrays[0]  # what the written array must hold

    @property
    def arrays(self) -> int:
        return max(self.reads, self.writes) if self.in_place else self.reads + self.writes

    @property
    def counted(self) -> int:
        """Words per element by STREAM's count."""
        return self.reads + self.writes

    @property
    def traffic_ratio(self) -> float:
        return (self.counted + self.write_allocate) / self.counted


def _fill(builder: ir.IRBuilder, loaded: list[ir.Value], operands: Operands) -> ir.Value:
    return operands.scalar


def _copy(builder: ir.IRBuilder, loaded: list[ir.Value], operands: Operands) -> ir.Value:
    return loaded[0]


def _triad(builder: ir.IRBuilder, loaded: list[ir.Value], operands: Operands) -> ir.Value:
    return builder.fadd(loaded[0], builder.fmul(operands.scalar, loaded[1]))


def _filled(arrays: list[Words]) -> Words:
    return np.full_like(arrays[0], SCALAR)


def _scaled_sum(arrays: list[Words]) -> Words:
    return np.asarray(arrays[0] + SCALAR * arrays[1], np.float64)


def _flip(builder: ir.IRBuilder, loaded: list[ir.Value], operands: Operands) -> ir.Value:
    # An exclusive or with a mask that is zero, unknown to the compiler: a write-back with no floating-point work.
    kind = operands.mask.type
    return builder.bitcast(builder.xor(builder.bitcast(loaded[0], kind), operands.mask), loaded[0].type)


ACCESSES: tuple[Access, ...] = (
    Access(key="read", reads=1, writes=0, write_allocate=0),
    Access(key="write", reads=0, writes=1, write_allocate=1, body=_fill, gold=_filled),
    Access(key="write_nt", reads=0, writes=1, write_allocate=0, nontemporal=True, body=_fill, gold=_filled),
    Access(key="copy", reads=1, writes=1, write_allocate=1, body=_copy),
    Access(key="copy_nt", reads=1, writes=1, write_allocate=0, nontemporal=True, body=_copy),
    Access(key="triad", reads=2, writes=1, write_allocate=1, body=_triad, gold=_scaled_sum),
    Access(key="triad_nt", reads=2, writes=1, write_allocate=0, nontemporal=True, body=_triad, gold=_scaled_sum),
    Access(key="update", reads=1, writes=1, write_allocate=0, in_place=True, body=_flip),
)
BY_KEY = {row.key: row for row in ACCESSES}


def unroll_of(streams: int) -> int:
    """Vectors per stream and iteration: at least 8 loads in an iteration, to hide the loop's own instructions."""
    return max(2, 8 // streams)


def array_bytes(access: Access, isa: VectorIsa, streams: int, working_set_bytes: int) -> int:
    """Bytes of each array, so that all arrays together are the working set, in whole iterations (at least one)."""
    block = isa.bytes * streams * unroll_of(streams)
    return max(block, working_set_bytes // access.arrays // block * block)


def array_stride(size_bytes: int) -> int:
    """Distance between the starts of two arrays: a whole page more than their size, and the skew."""
    return -(-size_bytes // 4096) * 4096 + (SKEW // 64) * 64


def emit_stream(access: Access, isa: VectorIsa, streams: int) -> vir.Emitter:
    """``repetitions`` passes over arrays of ``bytes`` bytes each; array k stands ``k x array_stride`` on."""
    vector = vir.vector_type(isa, "fp64")
    unroll = unroll_of(streams)

    def emit(builder: ir.IRBuilder, repetitions: ir.Value, address: ir.Value, size: ir.Value) -> ir.Value:
        operands = Operands(
            vir.splat(builder, vir.run_time_scalar(builder, SCALAR, vir.DOUBLE), vector.count),
            vir.splat(builder, vir.run_time_word(builder, 0, vir.I64), vector.count),
        )
        rounded = builder.and_(builder.add(size, vir.I64(4095)), vir.I64(-4096))
        stride = builder.add(rounded, vir.I64(SKEW // 64 * 64))
        part = builder.udiv(size, vir.I64(streams))
        iterations = builder.udiv(part, vir.I64(isa.bytes * unroll))
        bases = [
            [
                builder.add(
                    builder.add(address, builder.mul(stride, vir.I64(array))), builder.mul(part, vir.I64(stream))
                )
                for stream in range(streams)
            ]
            for array in range(access.arrays)
        ]
        zero = ir.Constant(vector, [0.0] * vector.count)
        sums = vir.registers(builder, [zero] * (streams * unroll)) if access.body is None else []
        with vir.loop(builder, repetitions):
            with vir.loop(builder, iterations) as index:
                offset = builder.mul(index, vir.I64(isa.bytes * unroll))
                for stream in range(streams):
                    for step in range(unroll):
                        here = builder.add(offset, vir.I64(step * isa.bytes))
                        _element(builder, access, vector, [base[stream] for base in bases], here, operands, sums)
                        sums = sums[1:] + sums[:1]
            vir.opaque_barrier(builder)
        if not sums:
            return ir.Constant(vir.DOUBLE, 0.0)
        return vir.sum_of_lanes(builder, [builder.load(slot) for slot in sums])

    return emit


def _element(
    builder: ir.IRBuilder,
    access: Access,
    vector: ir.VectorType,
    bases: list[ir.Value],
    offset: ir.Value,
    operands: Operands,
    sums: list[ir.Value],
) -> None:
    """One vector of each array: load the read ones, compute, store to the written one (the last array)."""
    pointers = [builder.inttoptr(builder.add(base, offset), vector.as_pointer()) for base in bases]
    loaded = [builder.load(pointer, align=vector.count * 8) for pointer in pointers[: access.reads]]
    if access.body is None:
        builder.store(builder.fadd(builder.load(sums[0]), loaded[0]), sums[0])
        return
    store = builder.store(access.body(builder, loaded, operands), pointers[-1], align=vector.count * 8)
    if access.nontemporal:
        store.set_metadata("nontemporal", builder.module.add_metadata([vir.I32(1)]))


def check_code(access: Access, isa: VectorIsa, streams: int, assembly: str) -> str:
    """The loads and stores of full width are the declared ones, ordinary or non-temporal as declared."""
    declared = streams * unroll_of(streams)
    plain, nontemporal = isa.store_pattern, isa.nontemporal_pattern
    wanted, unwanted = (nontemporal, plain) if access.nontemporal else (plain, nontemporal)
    check_absent("spill", isa.spill_pattern, assembly)
    check_absent("other store", unwanted, assembly)
    kinds = (("load", isa.load_pattern, access.reads), ("store", wanted, access.writes))
    for what, pattern, each in kinds:
        if not each:
            check_absent(what, pattern, assembly)
    return check_counts(assembly, *((what, pattern, each * declared) for what, pattern, each in kinds if each))


def verify(access: Access, isa: VectorIsa, streams: int, kernel: CompiledKernel) -> bool:
    """Two passes over small arrays of known numbers: the sum read, or every word written, and nothing beside them."""
    size = array_bytes(access, isa, streams, 16384 * access.arrays)
    stride = array_stride(size)
    memory = scratch(access.arrays * stride)
    words = memory.view(np.float64)
    words[:] = np.arange(len(words)) % 97 + 1.0
    before = words.copy()
    arrays = [slice(k * stride // 8, k * stride // 8 + size // 8) for k in range(access.arrays)]
    result = kernel(2, int(memory.ctypes.data), size)
    if access.body is None:
        return bool(result == 2 * before[arrays[0]].sum() and np.array_equal(words, before))
    expected = before.copy()
    expected[arrays[-1]] = access.gold([before[part] for part in arrays])
    return bool(np.array_equal(words, expected))


def memory_bytes(access: Access, size_bytes: int) -> int:
    """What a worker must hold for arrays of this size."""
    return access.arrays * array_stride(size_bytes)
