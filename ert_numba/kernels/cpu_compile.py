"""From an emitter to machine code: on this host through numba, for another machine through LLVM alone.

``cache=True`` is not used: numba's cache key knows nothing of what an ``intrinsic`` generates, so it misses, or returns
the code of another kernel. A compile takes some 0.05 s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
from numba import cfunc, types
from numba.extending import intrinsic

from ert_numba.kernels.cpu_ir import Emitter, standalone_module
from ert_numba.kernels.spec import CompiledCodeMismatch

# Without it a kernel with inline assembly aborts the interpreter: "Inline asm not supported by this streamer".
llvm.initialize_native_asmparser()

SIGNATURE = types.float64(types.int64, types.int64, types.int64)


@dataclass(frozen=True)
class CompiledKernel:
    """Machine code of one kernel: its address, its assembly, and what keeps both alive."""

    address: int
    assembly: str
    owner: Any

    def __call__(self, repetitions: int, address: int = 0, size_bytes: int = 0) -> float:
        return float(self.owner.ctypes(repetitions, address, size_bytes))


def compile_kernel(emit: Emitter) -> CompiledKernel:
    """Compile for this host."""

    @intrinsic
    def body(typing_context: Any, repetitions: Any, address: Any, size: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return emit(builder, *arguments)

        return SIGNATURE, generate

    @cfunc(SIGNATURE)
    def kernel(repetitions: int, address: int, size: int) -> Any:
        return body(repetitions, address, size)

    # CFunc has no public inspect_asm; its library is what the dispatcher's inspect_asm reads too.
    return CompiledKernel(kernel.address, kernel._library.get_asm_str(), kernel)


def cross_assembly(emit: Emitter, triple: str, cpu: str, features: str = "") -> str:
    """Assembly of the kernel for another machine, optimised as numba does it (O3, vectorisers off)."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(str(standalone_module("kernel", emit, triple)))
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=3)
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    llvm.create_pass_builder(machine, options).getModulePassManager().run(
        module, llvm.create_pass_builder(machine, options)
    )
    return str(machine.emit_assembly(module))


def count(pattern: str, assembly: str) -> int:
    """Instructions in the assembly that match; a pair load or store of whole vectors (``ldp q0, q1``) counts as two.

    A pair of halves (``stnp d0, d1``: how LLVM stores one vector non-temporally) is one.
    """
    total = 0
    for line in assembly.splitlines():
        if re.search(pattern, line.split("#")[0]):
            total += 2 if re.search(r"\b(ldp|stp|ldnp|stnp)\s+q", line) else 1
    return total


def check_count(what: str, pattern: str, assembly: str, declared: int, beside: int = 0) -> str:
    """``'48 FMA = 1 x 48'``: the instructions are a whole multiple (LLVM unrolls what it likes) of the declared ones.

    ``beside`` more stand outside the loop.
    """
    found = count(pattern, assembly) - beside
    if found < declared or found % declared:
        raise CompiledCodeMismatch(f"{found} {what} instructions where {declared} are declared")
    return f"{found} {what} = {found // declared} x {declared}"


def check_counts(assembly: str, *kinds: tuple[str, str, int]) -> str:
    """Several kinds of instruction, each as (what, pattern, declared count): all the same whole multiple."""
    reports = [check_count(what, pattern, assembly, declared) for what, pattern, declared in kinds]
    if len({count(pattern, assembly) // declared for _, pattern, declared in kinds}) > 1:
        raise CompiledCodeMismatch(f"{', '.join(reports)}: not in the declared proportion")
    return ", ".join(reports)


def check_absent(what: str, pattern: str, assembly: str) -> None:
    """The kernel must not contain it (a spill, a call, a fused operation where none is declared)."""
    found = count(pattern, assembly)
    if found:
        raise CompiledCodeMismatch(f"{found} {what} instructions where none may be")
