"""Peak arithmetic of a core's vector units, from registers alone: fused, unfused, and dot-product instructions.

The chains accumulate (``acc = b * c + acc``): NEON's ``fmla`` overwrites its addend, so the other form would copy ``c``
each time. The seeds pass through an empty assembly, so that no step folds into a constant; every chain reaches the
result. A gold value alone would not see a loop that was folded into that very formula: hence the check of the assembly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache

import msgspec
from llvmlite import ir
from numba.core import cgutils

from ert_numba.catalog.precisions import BY_KEY as PRECISION
from ert_numba.catalog.vector_isas import BY_KEY as ISA
from ert_numba.catalog.vector_isas import VectorIsa
from ert_numba.kernels import cpu_ir as vir
from ert_numba.kernels.cpu_compile import CompiledKernel, check_absent, check_count, compile_kernel
from ert_numba.kernels.cpu_program import CpuProgram, host_isa, scopes
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import DeviceInfo, Point, Skipped, Work

UNROLL = 4
# Powers of two, so that a short run is exact in every format: 0.5 * 0.125 = 2**-4 a step.
FACTOR, ADDEND, START = 0.5, 0.125, 0.25
CHECK_REPETITIONS = 5
RECURRENCE_TOLERANCE = 1e-6  # FP32 rounds x * 0.5 + 0.125; a missing step is ten times further off

Step = Callable[[ir.IRBuilder, ir.Value, ir.Value, ir.Value], ir.Value]


class VectorOperation(msgspec.Struct, frozen=True, kw_only=True):
    """One way to multiply and add a full register: a row of the table below.

    ``features`` are the host features that it needs beside its instruction set's, by instruction set (an absent one:
    not available there). ``operand_bits`` is the size of one multiplied number, so a register does
    ``2 x bits / operand_bits`` operations. ``gain`` is what one step adds to each lane (None: the unfused recurrence).
    """

    precision: str
    path: str
    features: dict[str, tuple[str, ...]]
    operand_bits: int
    lane_bits: int
    step: Step
    gain: float | None
    pattern: Callable[[VectorIsa], str]

    @property
    def ceiling(self) -> str:
        return f"{self.precision}.vector.{self.path}"

    def operations(self, isa: VectorIsa) -> int:
        return 2 * isa.bits // self.operand_bits


def _fused(builder: ir.IRBuilder, factor: ir.Value, addend: ir.Value, chain: ir.Value) -> ir.Value:
    vector = chain.type
    bits = {"double": 64, "float": 32, "half": 16}[str(vector.element)]
    fma = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{vector.count}f{bits}"
    )
    return builder.call(fma, [factor, addend, chain])


def _unfused(builder: ir.IRBuilder, factor: ir.Value, addend: ir.Value, chain: ir.Value) -> ir.Value:
    # Without the licence to contract: two instructions, as on hardware without FMA.
    return builder.fadd(builder.fmul(chain, factor), addend)


def _dot_asm(mnemonics: dict[int, str]) -> Step:
    """An instruction that has no type or no stable intrinsic in LLVM, as inline assembly by register width in bits."""

    def step(builder: ir.IRBuilder, factor: ir.Value, addend: ir.Value, chain: ir.Value) -> ir.Value:
        vector, operand = chain.type, factor.type
        text = mnemonics[vector.count * 32]
        asm = ir.InlineAsm(ir.FunctionType(vector, [operand, operand, vector]), text, "=v,v,v,0")
        return builder.call(asm, [factor, addend, chain])

    return step


def _dot_int8(builder: ir.IRBuilder, factor: ir.Value, addend: ir.Value, chain: ir.Value) -> ir.Value:
    if chain.type.count != 4:
        return _dot_asm({512: "vpdpbusd $2, $1, $0", 256: "{vex} vpdpbusd $2, $1, $0"})(builder, factor, addend, chain)
    bytes16 = ir.VectorType(vir.I8, 16)
    sdot = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(chain.type, [chain.type, bytes16, bytes16]),
        "llvm.aarch64.neon.sdot.v4i32.v16i8",
    )
    return builder.call(sdot, [chain, builder.bitcast(factor, bytes16), builder.bitcast(addend, bytes16)])


_FLOAT16: dict[str, tuple[str, ...]] = {"avx512": ("avx512fp16",), "neon": ("fullfp16",)}
_ANY_FMA: dict[str, tuple[str, ...]] = {row.key: () for row in ISA.values() if row.has_fma}
_ANY: dict[str, tuple[str, ...]] = {row.key: () for row in ISA.values()}

OPERATIONS: tuple[VectorOperation, ...] = (
    *(
        VectorOperation(
            precision=precision,
            path=path,
            features=features,
            operand_bits=PRECISION[precision].bits,
            lane_bits=PRECISION[precision].bits,
            step=_fused if path == "fma" else _unfused,
            gain=FACTOR * ADDEND if path == "fma" else None,
            pattern=(lambda isa: isa.fma_pattern) if path == "fma" else (lambda isa: isa.multiply_pattern),
        )
        for precision, path, features in (
            ("fp64", "fma", _ANY_FMA),
            ("fp64", "add", _ANY),
            ("fp32", "fma", _ANY_FMA),
            ("fp32", "add", _ANY),
            ("fp16", "fma", _FLOAT16),
        )
    ),
    VectorOperation(
        precision="bf16",
        path="dot",
        features={"avx512": ("avx512bf16",)},
        operand_bits=16,
        lane_bits=32,
        step=_dot_asm({512: "vdpbf16ps $2, $1, $0"}),
        gain=2 * FACTOR * ADDEND,
        pattern=lambda isa: r"\bvdpbf16ps\b.*%zmm",
    ),
    VectorOperation(
        precision="int8",
        path="dot",
        features={"avx512": ("avx512vnni",), "avx2": ("avxvnni",), "neon": ("dotprod",)},
        operand_bits=8,
        lane_bits=32,
        step=_dot_int8,
        gain=4 * 1 * 2,
        pattern=lambda isa: rf"\b(vpdpbusd|sdot)\b.*{isa.register_pattern}",
    ),
)
BY_CEILING = {row.ceiling: row for row in OPERATIONS}


def missing(operation: VectorOperation, isa: VectorIsa, features: tuple[str, ...]) -> str | None:
    """Why the operation cannot run here, or None."""
    needed = operation.features.get(isa.key)
    if needed is None:
        return f"{isa.label} has no vector instruction for it"
    absent = [name for name in needed if name not in features]
    return f"this core lacks {', '.join(absent)}" if absent else None


def _operands(builder: ir.IRBuilder, operation: VectorOperation, isa: VectorIsa) -> tuple[ir.Value, ir.Value]:
    """The two factors as full registers, hidden from the compiler."""
    lanes = isa.bits // operation.lane_bits
    if operation.path != "dot":
        element = vir.ELEMENTS[operation.precision]
        return (
            vir.splat(builder, vir.run_time_scalar(builder, FACTOR, element), lanes),
            vir.splat(builder, vir.run_time_scalar(builder, ADDEND, element), lanes),
        )
    # Packed words: bf16 is the upper half of an fp32 (0.5 = 0x3F00, 0.125 = 0x3E00); bytes 1 and 2 for int8.
    words = (0x3F003F00, 0x3E003E00) if operation.precision == "bf16" else (0x01010101, 0x02020202)
    hidden = [vir.run_time_word(builder, word) for word in words]
    return vir.splat(builder, hidden[0], lanes), vir.splat(builder, hidden[1], lanes)


def emit_chains(operation: VectorOperation, isa: VectorIsa, accumulators: int, unroll: int = UNROLL) -> vir.Emitter:
    """``repetitions x unroll x accumulators`` register-wide steps, each chain with a start of its own."""
    element: ir.Type = (
        vir.ELEMENTS[operation.precision]
        if operation.path != "dot"
        else ir.FloatType()
        if operation.precision == "bf16"
        else vir.I32
    )
    lanes = isa.bits // operation.lane_bits

    def emit(builder: ir.IRBuilder, repetitions: ir.Value, address: ir.Value, size: ir.Value) -> ir.Value:
        factor, addend = _operands(builder, operation, isa)
        starts = []
        for chain in range(accumulators):
            if element == vir.I32:
                start = vir.run_time_word(builder, chain + 1)
            else:
                start = vir.run_time_scalar(builder, START * (chain + 1), element)
            starts.append(vir.splat(builder, start, lanes))
        slots = vir.registers(builder, starts)
        with vir.loop(builder, repetitions):
            for _ in range(unroll):
                for slot in slots:
                    builder.store(operation.step(builder, factor, addend, builder.load(slot)), slot)
        return vir.sum_of_lanes(builder, [builder.load(slot) for slot in slots])

    return emit


def gold(operation: VectorOperation, isa: VectorIsa, accumulators: int, steps: int) -> float:
    """What the sum over all lanes and chains is after ``steps`` steps a chain."""
    lanes = isa.bits // operation.lane_bits
    unit = 1.0 if operation.precision == "int8" else START
    starts = [unit * (chain + 1) for chain in range(accumulators)]
    if operation.gain is not None:
        return lanes * math.fsum(start + steps * operation.gain for start in starts)
    decay = FACTOR**steps
    return lanes * math.fsum(start * decay + ADDEND * (1 - decay) / (1 - FACTOR) for start in starts)


def verify(operation: VectorOperation, isa: VectorIsa, accumulators: int, kernel: CompiledKernel) -> bool:
    """Compare with the gold value after a few repetitions: exact where each step adds a power of two, in every format.

    A tolerance as wide as the format's own would hide a dropped chain.
    """
    expected = gold(operation, isa, accumulators, CHECK_REPETITIONS * UNROLL)
    tolerance = RECURRENCE_TOLERANCE if operation.gain is None else 0.0
    return math.isclose(kernel(CHECK_REPETITIONS), expected, rel_tol=tolerance, abs_tol=0.0)


def check_code(operation: VectorOperation, isa: VectorIsa, accumulators: int, assembly: str) -> str:
    """The register-wide instructions are those declared, none is fused that should not be, none is spilled."""
    declared = UNROLL * accumulators
    check_absent("spill", isa.spill_pattern, assembly)
    report = check_count(operation.ceiling, operation.pattern(isa), assembly, declared)
    if operation.path == "add":
        check_absent("fused", isa.fma_pattern, assembly)
    return report


def _points(device: DeviceInfo, request: Request) -> Iterator[Point | Skipped]:
    isa = host_isa(device)
    for precision in request.precisions:
        if precision not in {operation.precision for operation in OPERATIONS}:
            yield Skipped(what=precision, reason="no vector unit of a CPU computes in it, as far as the kernels know")
    for operation in OPERATIONS:
        if not request.wants_precision(operation.precision):
            continue
        reason = missing(operation, isa, device.features)
        if reason is not None:
            yield Skipped(what=operation.ceiling, reason=reason)
            continue
        # One precision tells how many chains this core wants; the others take the likeliest two.
        tries = 1 if request.quick else len(isa.accumulators) if operation.ceiling == "fp64.vector.fma" else 2
        for accumulators in isa.accumulators[:tries]:
            for scope, threads in scopes(device, request):
                yield Point(
                    kernel="cpu_fma",
                    ceiling=operation.ceiling + scope,
                    axes={"accumulators": accumulators, "threads": threads, "isa": isa.key},
                )


def _parts(point: Point) -> tuple[VectorOperation, VectorIsa, int]:
    operation = BY_CEILING[point.ceiling.split("@")[0]]
    return operation, ISA[str(point.axes["isa"])], int(point.axes["accumulators"])


def _work(point: Point) -> Work:
    operation, isa, accumulators = _parts(point)
    return Work(flop=float(operation.operations(isa) * UNROLL * accumulators * int(point.axes["threads"])))


@cache
def _compiled(ceiling: str, isa_key: str, accumulators: int) -> tuple[CompiledKernel, str, bool]:
    operation, isa = BY_CEILING[ceiling], ISA[isa_key]
    kernel = compile_kernel(emit_chains(operation, isa, accumulators))
    code = check_code(operation, isa, accumulators, kernel.assembly)
    return kernel, code, verify(operation, isa, accumulators, kernel)


def _build(point: Point, device: DeviceInfo) -> CpuProgram:
    operation, isa, accumulators = _parts(point)
    kernel, code, right = _compiled(operation.ceiling, isa.key, accumulators)
    return CpuProgram(kernel=kernel, code=code, gold=lambda: right)


CPU_FMA = KernelSpec(name="cpu_fma", device_kind="cpu", kind="compute", points=_points, work=_work, build=_build)
