"""Peak arithmetic: every operation on every processor by its assembly, gold values on this host, and broken kernels."""

from __future__ import annotations

import msgspec
import pytest
from cpu_targets import BY_NAME, TARGETS, Target, computing, host, instructions, made_up_device, widest
from llvmlite import ir

from ert_numba.catalog.vector_isas import VECTOR_ISAS
from ert_numba.kernels import cpu_fma
from ert_numba.kernels import cpu_ir as vir
from ert_numba.kernels.cpu_compile import compile_kernel
from ert_numba.kernels.cpu_fma import BY_CEILING, CPU_FMA, OPERATIONS, UNROLL, VectorOperation
from ert_numba.kernels.cpu_program import host_isa
from ert_numba.kernels.spec import CompiledCodeMismatch, Request
from ert_numba.records import Point, Skipped

# What computes, by ceiling: (x86, Arm), and operations of one instruction on one lane of its result.
MNEMONICS = {
    "fp64.vector.fma": (r"vfmadd\d+pd", "fmla", 2, 8),
    "fp32.vector.fma": (r"vfmadd\d+ps", "fmla", 2, 4),
    "fp16.vector.fma": (r"vfmadd\d+ph", "fmla", 2, 2),
    "fp64.vector.add": (r"v?mulpd", "fmul", 2, 8),
    "fp32.vector.add": (r"v?mulps", "fmul", 2, 4),
    "bf16.vector.dot": ("vdpbf16ps", "", 4, 4),
    "int8.vector.dot": ("vpdpbusd", "sdot", 8, 4),
}


def runs_on(target: Target) -> list[VectorOperation]:
    return [row for row in OPERATIONS if cpu_fma.missing(row, target.isa, target.features) is None]


def used_accumulators(operation: VectorOperation, isa) -> tuple[int, ...]:
    return isa.accumulators if operation.ceiling == "fp64.vector.fma" else isa.accumulators[:2]


CASES = [
    pytest.param(target, operation, accumulators, id=f"{target.name}-{operation.ceiling}-{accumulators}")
    for target in TARGETS
    for operation in runs_on(target)
    for accumulators in used_accumulators(operation, target.isa)
]


@pytest.mark.parametrize(("target", "operation", "accumulators"), CASES)
def test_the_code_is_what_is_declared(target, operation, accumulators):
    isa = target.isa
    assembly = target.assembly(cpu_fma.emit_chains(operation, isa, accumulators))
    cpu_fma.check_code(operation, isa, accumulators, assembly)
    x86, arm, per_lane, lane_bytes = MNEMONICS[operation.ceiling]
    found = computing(assembly, arm if isa.key == "neon" else x86, isa)
    declared = UNROLL * accumulators
    assert found >= declared
    assert found % declared == 0
    assert widest(assembly) == isa.bytes
    assert not any(row.spills for row in instructions(assembly))
    # The declared work is that of the instructions: lanes x operations a lane.
    assert operation.operations(isa) == per_lane * (isa.bytes // lane_bytes)


def test_every_operation_is_seen_on_some_processor():
    assert {operation.ceiling for target in TARGETS for operation in runs_on(target)} == set(BY_CEILING)
    assert {target.isa_key for target in TARGETS} == {row.key for row in VECTOR_ISAS}


def on_this_host() -> list[pytest.param]:
    isa = host_isa(host())
    return [
        pytest.param(operation, accumulators, id=f"{operation.ceiling}-{accumulators}")
        for operation in OPERATIONS
        if cpu_fma.missing(operation, isa, host().features) is None
        for accumulators in used_accumulators(operation, isa)
    ]


@pytest.mark.parametrize(("operation", "accumulators"), on_this_host())
def test_gold_on_this_host(operation, accumulators):
    isa = host_isa(host())
    kernel = compile_kernel(cpu_fma.emit_chains(operation, isa, accumulators))
    cpu_fma.check_code(operation, isa, accumulators, kernel.assembly)
    assert cpu_fma.verify(operation, isa, accumulators, kernel)
    # Another number of chains has another value: the comparison is no formality.
    assert not cpu_fma.verify(operation, isa, accumulators + 1, kernel)
    assert not cpu_fma.verify(operation, isa, accumulators - 1, kernel)


@pytest.mark.parametrize("ceiling", sorted(BY_CEILING))
def test_gold_is_what_a_plain_loop_computes(ceiling):
    operation, isa = BY_CEILING[ceiling], BY_NAME["sapphirerapids"].isa
    lanes, steps, accumulators = isa.bits // operation.lane_bits, 7, 3
    products = {"bf16": 2 * 0.5 * 0.125, "int8": 4 * 1 * 2}.get(operation.precision, 0.5 * 0.125)
    total = 0.0
    for chain in range(accumulators):
        value = (chain + 1) * (1.0 if operation.precision == "int8" else 0.25)
        for _ in range(steps):
            value = value * 0.5 + 0.125 if operation.path == "add" else value + products
        total += lanes * value
    assert cpu_fma.gold(operation, isa, accumulators, steps) == pytest.approx(total, rel=1e-15)


FMA = BY_CEILING["fp64.vector.fma"]


@pytest.mark.parametrize("name", ["sapphirerapids", "haswell", "neoverse-v2"])
def test_a_dropped_chain_is_caught(name):
    target = BY_NAME[name]
    assembly = target.assembly(cpu_fma.emit_chains(FMA, target.isa, 11))
    with pytest.raises(CompiledCodeMismatch):
        cpu_fma.check_code(FMA, target.isa, 12, assembly)


def folded(builder: ir.IRBuilder, factor: ir.Value, addend: ir.Value, chain: ir.Value) -> ir.Value:
    """What a compiler that may see through the factors makes of a step: their product, computed once, is added."""
    return builder.fadd(chain, builder.fmul(factor, addend))


@pytest.mark.parametrize("name", ["sapphirerapids", "haswell", "neoverse-v2"])
def test_a_folded_product_is_caught(name):
    target = BY_NAME[name]
    broken = msgspec.structs.replace(FMA, step=folded)
    assembly = target.assembly(cpu_fma.emit_chains(broken, target.isa, 12))
    with pytest.raises(CompiledCodeMismatch):
        cpu_fma.check_code(FMA, target.isa, 12, assembly)


def test_its_value_alone_would_not_tell():
    isa = host_isa(host())
    if not isa.has_fma:
        pytest.skip("this processor fuses nothing")
    kernel = compile_kernel(cpu_fma.emit_chains(msgspec.structs.replace(FMA, step=folded), isa, 12))
    assert cpu_fma.verify(FMA, isa, 12, kernel)
    with pytest.raises(CompiledCodeMismatch):
        cpu_fma.check_code(FMA, isa, 12, kernel.assembly)


@pytest.mark.parametrize("ceiling", ["fp64.vector.fma", "fp64.vector.add"])
def test_half_the_steps_are_caught_by_the_code_and_by_the_value(ceiling):
    isa = host_isa(host())
    operation = BY_CEILING[ceiling if isa.has_fma else "fp64.vector.add"]
    kernel = compile_kernel(cpu_fma.emit_chains(operation, isa, 12, unroll=UNROLL // 2))
    assert not cpu_fma.verify(operation, isa, 12, kernel)
    one_too_few = compile_kernel(cpu_fma.emit_chains(operation, isa, 12, unroll=UNROLL - 1))
    assert not cpu_fma.verify(operation, isa, 12, one_too_few)
    with pytest.raises(CompiledCodeMismatch):
        cpu_fma.check_code(operation, isa, 12, one_too_few.assembly)


@pytest.mark.parametrize("ceiling", ["fp64.vector.fma", "fp64.vector.add"])
@pytest.mark.parametrize("divisor", [2, 4, 8])
def test_narrower_or_scalar_code_is_caught(ceiling, divisor):
    target, operation = BY_NAME["sapphirerapids"], BY_CEILING[ceiling]
    narrow = msgspec.structs.replace(target.isa, bits=target.isa.bits // divisor)
    assembly = target.assembly(cpu_fma.emit_chains(operation, narrow, 12))
    with pytest.raises(CompiledCodeMismatch):
        cpu_fma.check_code(operation, target.isa, 12, assembly)


def test_scalar_code_in_vector_registers_is_caught():
    target, operation = BY_NAME["x86-64"], BY_CEILING["fp64.vector.add"]
    scalar = msgspec.structs.replace(target.isa, bits=64)
    assembly = target.assembly(cpu_fma.emit_chains(operation, scalar, 12))
    with pytest.raises(CompiledCodeMismatch):
        cpu_fma.check_code(operation, target.isa, 12, assembly)


@pytest.mark.parametrize(("name", "accumulators"), [("sapphirerapids", 34), ("haswell", 18), ("neoverse-v2", 34)])
def test_a_spill_is_caught(name, accumulators):
    target = BY_NAME[name]
    assembly = target.assembly(cpu_fma.emit_chains(FMA, target.isa, accumulators))
    with pytest.raises(CompiledCodeMismatch, match="spill"):
        cpu_fma.check_code(FMA, target.isa, accumulators, assembly)


def test_a_fused_step_where_none_is_declared_is_caught():
    target, unfused = BY_NAME["haswell"], BY_CEILING["fp64.vector.add"]
    with pytest.raises(CompiledCodeMismatch):
        cpu_fma.check_code(unfused, target.isa, 12, target.assembly(cpu_fma.emit_chains(FMA, target.isa, 12)))
    mixed = target.assembly(cpu_fma.emit_chains(unfused, target.isa, 12)) + "\tvfmadd231pd\t%ymm0, %ymm1, %ymm2\n"
    with pytest.raises(CompiledCodeMismatch, match="fused"):
        cpu_fma.check_code(unfused, target.isa, 12, mixed)


def test_a_chain_that_never_reaches_the_result_is_caught_by_its_value(monkeypatch):
    whole = vir.sum_of_lanes
    monkeypatch.setattr(vir, "sum_of_lanes", lambda builder, vectors: whole(builder, vectors[:-1]))
    isa = host_isa(host())
    operation = BY_CEILING["fp64.vector.fma" if isa.has_fma else "fp64.vector.add"]
    kernel = compile_kernel(cpu_fma.emit_chains(operation, isa, 10))
    assert not cpu_fma.verify(operation, isa, 10, kernel)


def points(request: Request, **changes: object) -> list[Point | Skipped]:
    return list(CPU_FMA.points(made_up_device(**changes), request))


def test_an_operation_that_the_core_lacks_is_skipped_with_its_reason():
    skipped = {row.what: row.reason for row in points(Request()) if isinstance(row, Skipped)}
    assert skipped["bf16.vector.dot"] == "this core lacks avx512bf16"
    assert "avx512fp16" in skipped["fp16.vector.fma"]
    sse = points(Request(), features=("sse2",))
    skipped = {row.what: row.reason for row in sse if isinstance(row, Skipped)}
    assert skipped["fp64.vector.fma"] == "SSE2 has no vector instruction for it"
    assert {row.ceiling.split("@")[0] for row in sse if isinstance(row, Point)} == {
        "fp64.vector.add",
        "fp32.vector.add",
    }


def test_a_precision_without_a_vector_unit_is_skipped_with_its_reason():
    found = points(Request(precisions=("tf32", "fp32")))
    assert [row.what for row in found if isinstance(row, Skipped)] == ["tf32"]
    assert {row.ceiling.split(".")[0] for row in found if isinstance(row, Point)} == {"fp32"}


def test_work_is_that_of_all_workers():
    for item in points(Request()):
        if isinstance(item, Point):
            lanes = 8 if item.ceiling.startswith("fp64") else 16
            expected = 2 * lanes * UNROLL * item.axes["accumulators"] * item.axes["threads"]
            assert CPU_FMA.work(item).flop == expected
            assert item.axes["threads"] == {"": 16, "core": 1, "socket": 8}[item.ceiling.partition("@")[2]]


def test_a_socket_is_measured_with_all_its_cores_in_use_and_no_other():
    uneven = points(Request(precisions=("fp64",)), units=12, socket_units=10)
    assert {row.axes["threads"] for row in uneven if row.ceiling.endswith("@socket")} == {10}
    single = points(Request(precisions=("fp64",)), sockets=1, socket_units=16)
    assert not any(row.ceiling.endswith("@socket") for row in single)
    asked = points(Request(precisions=("fp64",), threads=4))
    assert not any(row.ceiling.endswith("@socket") for row in asked)
