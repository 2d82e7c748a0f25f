"""The timed region of a CPU worker as one native call: wait for the start, probe the clock, work, and so on.

Python's own overhead and the scheduling of its threads stay outside; all workers read the same monotonic clock.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

WARM_PART = 4  # of a clock probe, as a fraction, runs before it
CLOCK_MONOTONIC = 1  # Linux; the clock behind time.monotonic_ns()


@intrinsic
def _now(typing_context: Any) -> Any:
    """Nanoseconds of CLOCK_MONOTONIC."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        i32, i64 = ir.IntType(32), ir.IntType(64)
        spec = ir.LiteralStructType([i64, i64])
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(i32, [i32, spec.as_pointer()]), "clock_gettime"
        )
        slot = cgutils.alloca_once(builder, spec)
        builder.call(function, [i32(CLOCK_MONOTONIC), slot])
        seconds = builder.load(cgutils.gep_inbounds(builder, slot, 0, 0))
        nanoseconds = builder.load(cgutils.gep_inbounds(builder, slot, 0, 1))
        return builder.add(builder.mul(seconds, i64(1_000_000_000)), nanoseconds)

    return types.int64(), generate


@intrinsic
def _call(typing_context: Any, function: Any, repetitions: Any, address: Any, size: Any) -> Any:
    """Call ``double f(i64, i64, i64)`` at an address."""
    signature = types.float64(types.int64, types.int64, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        i64 = ir.IntType(64)
        # A C function of numba's returns its value plainly; see cpu_compile.compile_kernel.
        kind = ir.FunctionType(ir.DoubleType(), [i64, i64, i64])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), list(arguments[1:]))

    return signature, generate


@njit(types.float64(*[types.int64] * 10, types.int64[:, ::1]), nogil=True)
def timed_calls(  # noqa: PLR0917 - a compiled signature has no keywords
    kernel: int,
    repetitions: int,
    address: int,
    size: int,
    probe: int,
    probe_repetitions: int,
    start_ns: int,
    lead_ns: int,
    period_ns: int,
    grace_ns: int,
    marks: Any,
) -> float:
    """Time a kernel ``len(marks) - 1`` times on a schedule that all workers share, with a clock probe around each.

    Call k probes at ``start_ns + k x period_ns`` and works from ``lead_ns`` later. A worker that is more than
    ``grace_ns`` late leaves the call out (its marks stay 0) and is in time for a later one: else it would lag behind
    the others for the whole batch, and every call would seem as long as the lag. A row of ``marks`` receives the
    probe's start and end and the work's start and end in ns; the last row only a probe. Returns the kernels' values,
    so that nothing can be left out.
    """
    total = 0.0
    last = marks.shape[0] - 1
    for turn in range(last + 1):
        begin = start_ns + turn * period_ns
        while _now() < begin:
            pass
        # Wide vectors begin slowly after scalar code: without a run before it the probe told a clock 1.3 % too low,
        # and true figures stood above their limits.
        total += 0.0 * _call(probe, probe_repetitions // WARM_PART, 0, 0)
        marks[turn, 0] = _now()
        total += 0.0 * _call(probe, probe_repetitions, 0, 0)
        marks[turn, 1] = _now()
        if turn < last and marks[turn, 1] <= begin + lead_ns + grace_ns:
            while _now() < begin + lead_ns:
                pass
            marks[turn, 2] = _now()
            total += _call(kernel, repetitions, address, size)
            marks[turn, 3] = _now()
    return total
