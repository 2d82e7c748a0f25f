"""Building blocks of the CPU kernels in explicit LLVM vector IR.

Explicit vectors, because what LLVM's vectoriser makes of a Python loop depends on its cost model: on Intel servers it
stops at half the AVX-512 width, and a block shorter than 64 elements falls apart into scalars.

Every kernel is a function ``double f(i64 repetitions, i64 address, i64 bytes)``, emitted by an :data:`Emitter`, so that
one timer can call them all through a pointer and one cross-compiler can check them all.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from llvmlite import ir
from numba.core import cgutils

from ert_numba.catalog.vector_isas import VectorIsa

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
DOUBLE = ir.DoubleType()

Emitter = Callable[[ir.IRBuilder, ir.Value, ir.Value, ir.Value], ir.Value]
"""(builder, repetitions, address, bytes) -> the value that every chain and every load has reached."""

ELEMENTS: dict[str, ir.Type] = {"fp64": DOUBLE, "fp32": ir.FloatType(), "fp16": ir.HalfType()}
BITS: dict[str, int] = {"fp64": 64, "fp32": 32, "fp16": 16}


def vector_type(isa: VectorIsa, precision: str) -> ir.VectorType:
    """One full-width register of the instruction set, in the elements of the precision."""
    return ir.VectorType(ELEMENTS[precision], isa.bits // BITS[precision])


def splat(builder: ir.IRBuilder, scalar: ir.Value, lanes: int) -> ir.Value:
    """The scalar in every lane."""
    vector = ir.VectorType(scalar.type, lanes)
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(I32, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(I32, lanes), [0] * lanes))


def run_time_word(builder: ir.IRBuilder, word: int, kind: ir.IntType = I32) -> ir.Value:
    """An integer that the compiler cannot see: it has passed through an empty volatile assembly."""
    hidden = ir.InlineAsm(ir.FunctionType(kind, [kind]), "", "=r,0", side_effect=True)
    return builder.call(hidden, [ir.Constant(kind, word)])


def run_time_scalar(builder: ir.IRBuilder, value: float, kind: ir.Type) -> ir.Value:
    """A floating-point constant that the compiler cannot see."""
    bits = struct.unpack("<q", struct.pack("<d", value))[0]
    number = builder.bitcast(run_time_word(builder, bits, I64), DOUBLE)
    return number if kind == DOUBLE else builder.fptrunc(number, kind)


def sum_of_lanes(builder: ir.IRBuilder, vectors: list[ir.Value]) -> ir.Value:
    """All lanes of all vectors added up in double precision: the way by which every chain reaches the result."""
    wide = ir.VectorType(DOUBLE, vectors[0].type.count)
    total: ir.Value | None = None
    for vector in vectors:
        term = vector
        if isinstance(vector.type.element, ir.IntType):
            term = builder.sitofp(vector, wide)
        elif vector.type != wide:
            term = builder.fpext(vector, wide)
        total = term if total is None else builder.fadd(total, term)
    lanes = [builder.extract_element(total, ir.Constant(I32, lane)) for lane in range(wide.count)]
    result = lanes[0]
    for value in lanes[1:]:
        result = builder.fadd(result, value)
    return result


def registers(builder: ir.IRBuilder, values: list[ir.Value]) -> list[ir.Value]:
    """One stack slot a value; LLVM's mem2reg turns each into a register that lives across the loop."""
    slots = []
    for value in values:
        slot = cgutils.alloca_once(builder, value.type)
        builder.store(value, slot)
        slots.append(slot)
    return slots


def opaque_barrier(builder: ir.IRBuilder) -> None:
    """Nothing may be carried over or merged between the passes before and after."""
    builder.call(ir.InlineAsm(ir.FunctionType(ir.VoidType(), []), "", "~{memory}", side_effect=True), [])


@contextmanager
def loop(builder: ir.IRBuilder, count: ir.Value) -> Iterator[ir.Value]:
    """``count`` iterations; yields the index (i64)."""
    with cgutils.for_range(builder, count) as iteration:
        yield iteration.index


def standalone_module(name: str, emit: Emitter, triple: str) -> ir.Module:
    """The kernel alone in a module, for a compiler of another machine (no numba, no host)."""
    module = ir.Module(name)
    module.triple = triple
    function = ir.Function(module, ir.FunctionType(DOUBLE, [I64, I64, I64]), name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    builder.ret(emit(builder, *function.args))
    return module
