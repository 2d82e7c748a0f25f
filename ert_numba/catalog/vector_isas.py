"""The vector instruction sets that the CPU kernels are written for, widest first, one row each.

``registers`` is the architectural count: a kernel keeps its accumulators and two operands in them. The patterns
find one vector instruction of full width in a line of assembly (AT&T syntax on x86): they are what the check
of the compiled code counts.
"""

from __future__ import annotations

import msgspec


class VectorIsa(msgspec.Struct, frozen=True, kw_only=True):
    """One instruction set. ``features`` are LLVM's names of the host features that it needs, all of them."""

    key: str
    label: str
    machine: str  # as platform.machine() says it
    features: tuple[str, ...]
    bits: int
    registers: int
    accumulators: tuple[int, ...]  # counts worth trying for an FMA peak, best guess first
    chains: int  # pipes x latency: the fewest independent chains that fill the units
    has_fma: bool
    register_pattern: str  # a full-width vector register
    fma_pattern: str
    multiply_pattern: str
    add_pattern: str
    load_pattern: str  # reads a full vector from memory, the stack and constants apart
    store_pattern: str
    nontemporal_pattern: str
    spill_pattern: str  # a full vector kept on the stack: a kernel with too many accumulators

    @property
    def bytes(self) -> int:
        return self.bits // 8


def _x86(register: str, prefix: str) -> dict[str, str]:
    # %rbp is a general register here; only what lies at %rsp is the stack.
    memory = r"-?\w*\((?!%rsp|%rip)[^)]*\)"
    # An XMM register may hold one number or half a register's worth: such a move is no full width.
    full = r"(?!\w*s[sdh]\b|v?mov([lh]p|[qd]\b|ddup))"
    return {
        "register_pattern": register,
        "fma_pattern": rf"\bvfmadd\d+p[dsh]\b.*{register}",
        "multiply_pattern": rf"\b{prefix}mulp[dsh]\b.*{register}",
        "add_pattern": rf"\b{prefix}addp[dsh]\b.*{register}",
        "load_pattern": rf"\b{full}{prefix}\w+\s+{memory},.*{register}",
        "store_pattern": rf"\b{full}{prefix}mov(?!nt)\w+\s+{register}\d+,\s*{memory}",
        "nontemporal_pattern": rf"\b{prefix}movnt\w+\s+{register}\d+,\s*{memory}",
        "spill_pattern": rf"{register}\d+,\s*-?\w*\(%rsp\)|-?\w*\(%rsp\),.*{register}",
    }


VECTOR_ISAS: tuple[VectorIsa, ...] = (
    VectorIsa(
        key="avx512",
        label="AVX-512",
        machine="x86_64",
        features=("avx512f", "avx512vl", "avx512dq", "avx512bw"),
        bits=512,
        registers=32,
        accumulators=(16, 12, 10, 24),
        chains=8,
        has_fma=True,
        **_x86(r"%zmm", "v"),
    ),
    VectorIsa(
        key="avx2",
        label="AVX2",
        machine="x86_64",
        features=("avx2", "fma"),
        bits=256,
        registers=16,
        accumulators=(12, 10),
        chains=8,
        has_fma=True,
        **_x86(r"%ymm", "v"),
    ),
    VectorIsa(
        key="sse2",
        label="SSE2",
        machine="x86_64",
        features=("sse2",),
        bits=128,
        registers=16,
        accumulators=(12, 10),
        chains=8,
        has_fma=False,
        **_x86(r"%xmm", "v?"),
    ),
    VectorIsa(
        key="neon",
        label="NEON",
        machine="aarch64",
        features=("neon",),
        bits=128,
        registers=32,
        accumulators=(24, 16, 20, 28),
        chains=16,
        has_fma=True,
        register_pattern=r"\b[vq]\d+",
        fma_pattern=r"\bfmla\s+v\d+\.(2d|4s|8h)",
        multiply_pattern=r"\bfmul\s+v\d+\.(2d|4s|8h)",
        add_pattern=r"\bfadd\s+v\d+\.(2d|4s|8h)",
        load_pattern=r"\bld(r|ur|p|np)\s+q\d+,.*\[(?!sp)",
        store_pattern=r"\bst(r|ur|p)\s+q\d+,.*\[(?!sp)",
        nontemporal_pattern=r"\bstnp\s+[qd]\d+,.*\[(?!sp)",
        spill_pattern=r"\b(ld|st)(r|ur|p)\s+q\d+,.*\[sp",
    ),
)

BY_KEY: dict[str, VectorIsa] = {row.key: row for row in VECTOR_ISAS}
