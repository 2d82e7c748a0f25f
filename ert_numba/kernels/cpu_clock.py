"""The core clock without counters: a chain of dependent instructions of known latency.

One accumulator of the vector FMA, in the full width of the kernels, so that it runs at the clock that they run at (wide
vectors lower it on some cores). Its latency in cycles is calibrated once against a chain of integer additions, which
take one cycle each on every core.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec
from llvmlite import ir

from ert_numba.catalog.vector_isas import VectorIsa
from ert_numba.kernels import cpu_ir as vir
from ert_numba.kernels.cpu_compile import CompiledKernel, check_count, compile_kernel
from ert_numba.kernels.cpu_fma import BY_CEILING, emit_chains

CHAIN = 32  # instructions of the chain in one repetition
PROBE_SECONDS = 20e-6
TOLERANCE = 0.03  # a latency must come out as a whole number of cycles within this
EXPECTED_LATENCY = 4  # of a vector FMA in cycles, nearly everywhere
CALIBRATIONS = 5  # tries before the chain is given up


class ClockProbe(msgspec.Struct, frozen=True):
    """A kernel whose ``cycles`` per repetition are known: clock = repetitions x cycles / seconds.

    ``trusted`` is False when the calibration gave no whole number: the integer chain then stands in, blind to what wide
    vectors do to the clock.
    """

    kernel: CompiledKernel
    cycles: float
    repetitions: int
    trusted: bool

    def clock_hz(self, nanoseconds: int) -> float:
        return self.repetitions * self.cycles / (nanoseconds * 1e-9)


def emit_additions(builder: ir.IRBuilder, repetitions: ir.Value, address: ir.Value, size: ir.Value) -> ir.Value:
    """``CHAIN`` dependent integer additions a repetition; the assembly hides from LLVM that they could be one shift."""
    hidden = ir.InlineAsm(ir.FunctionType(vir.I64, [vir.I64]), "", "=r,0", side_effect=True)
    slot = vir.registers(builder, [vir.run_time_word(builder, 3, vir.I64)])[0]
    with vir.loop(builder, repetitions):
        for _ in range(CHAIN):
            value = builder.load(slot)
            builder.store(builder.call(hidden, [builder.add(value, value)]), slot)
    return builder.sitofp(builder.load(slot), vir.DOUBLE)


def _fastest(kernels: Mapping[CompiledKernel, int], rounds: int = 60) -> list[float]:
    """Seconds per repetition of each, in turns, so that a busy neighbour slows all of them or none.

    The repetitions are chosen so that the calls last alike: what calling costs then weighs alike too.
    """
    best = [float("inf")] * len(kernels)
    for _ in range(rounds):
        for index, (kernel, repetitions) in enumerate(kernels.items()):
            start = time.perf_counter()
            kernel(repetitions)
            best[index] = min(best[index], (time.perf_counter() - start) / repetitions)
    return best


def make_probe(isa: VectorIsa) -> ClockProbe:
    """Compile and calibrate, on the calling thread's core; some 0.2 s."""
    operation = BY_CEILING["fp64.vector.fma" if isa.has_fma else "fp64.vector.add"]
    chain = compile_kernel(emit_chains(operation, isa, accumulators=1, unroll=CHAIN))
    check_count("chain", operation.pattern(isa), chain.assembly, CHAIN)
    additions = compile_kernel(emit_additions)
    for _ in range(CALIBRATIONS):
        chained, added = _fastest({chain: 1000, additions: 1000 * EXPECTED_LATENCY})
        latency = round(chained / added)
        trusted = latency >= 1 and abs(chained / added - latency) <= TOLERANCE * latency
        if trusted:
            break
    kernel, cycles, seconds = (chain, CHAIN * float(latency), chained) if trusted else (additions, float(CHAIN), added)
    return ClockProbe(kernel, cycles, max(1, int(PROBE_SECONDS / seconds)), trusted)
