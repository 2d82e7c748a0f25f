"""Cache sizes from the processor itself (x86 CPUID), for containers that hide sysfs."""

from __future__ import annotations

import platform

from ert_numba.records import Cache

# Deterministic cache parameters: leaf 4 on Intel, 0x8000001D on AMD, in the same layout.
LEAVES = (4, 0x8000001D)
DATA_OR_UNIFIED = (1, 3)


def caches() -> tuple[Cache, ...]:
    """Innermost first; empty on another architecture, or where the processor does not tell."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ()
    for leaf in LEAVES:
        rows = []
        for index in range(8):
            eax, ebx, ecx, _ = _cpuid(leaf, index)
            row = decode(eax, ebx, ecx)
            if row is None:
                break
            rows.append(row)
        found = [row for row in rows if row.bytes]
        if found:
            return tuple(found)
    return ()


def decode(eax: int, ebx: int, ecx: int) -> Cache | None:
    """One subleaf: None at the end of the list; an instruction cache comes back with 0 bytes."""
    kind = eax & 0x1F
    if kind == 0:
        return None
    ways, partitions, line = (ebx >> 22) + 1, (ebx >> 12 & 0x3FF) + 1, (ebx & 0xFFF) + 1
    size = ways * partitions * line * (ecx + 1) if kind in DATA_OR_UNIFIED else 0
    # The field counts the identifiers reserved for sharers, not the cores there are: a private L2 says 2 with SMT.
    sharers = (eax >> 14 & 0xFFF) + 1
    return Cache(level=f"L{eax >> 5 & 0x7}", bytes=size, shared_by=1 if sharers <= 2 else sharers, source="cpuid")


def _cpuid(leaf: int, subleaf: int) -> tuple[int, int, int, int]:
    """The four registers after CPUID, through a few instructions compiled by LLVM."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    words = []
    module = llvm.parse_assembly(_PROGRAM)
    engine = llvm.create_mcjit_compiler(module, llvm.Target.from_default_triple().create_target_machine())
    engine.finalize_object()
    from ctypes import CFUNCTYPE, c_uint32

    for register in "abcd":
        function = CFUNCTYPE(c_uint32, c_uint32, c_uint32)(engine.get_function_address(f"e{register}x"))
        words.append(int(function(leaf, subleaf)))
    return words[0], words[1], words[2], words[3]


_PROGRAM = "".join(
    f"""
define i32 @e{register}x(i32 %leaf, i32 %subleaf) {{
  %all = call {{i32, i32, i32, i32}} asm sideeffect "cpuid", "={{ax}},={{bx}},={{cx}},={{dx}},{{ax}},{{cx}}"(
    i32 %leaf, i32 %subleaf)
  %one = extractvalue {{i32, i32, i32, i32}} %all, {position}
  ret i32 %one
}}
"""
    for position, register in enumerate("abcd")
)
