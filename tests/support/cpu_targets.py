"""Processors that the CPU kernels are cross-compiled for, and a reader of assembly that shares nothing with theirs."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ert_numba.catalog.vector_isas import BY_KEY, VectorIsa
from ert_numba.kernels.cpu_compile import cross_assembly
from ert_numba.kernels.cpu_ir import Emitter
from ert_numba.records import Cache, DeviceInfo

X86, ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"


@dataclass(frozen=True)
class Target:
    """One processor; ``features`` are those beyond its instruction set's that the kernels may use."""

    cpu: str
    isa_key: str
    triple: str
    features: tuple[str, ...] = ()
    flags: str = ""

    @property
    def isa(self) -> VectorIsa:
        return BY_KEY[self.isa_key]

    @property
    def name(self) -> str:
        return self.cpu + self.flags

    def assembly(self, emit: Emitter) -> str:
        return cross_assembly(emit, self.triple, self.cpu, self.flags)


TARGETS = (
    Target("skylake-avx512", "avx512", X86),
    Target("sapphirerapids", "avx512", X86, ("avx512vnni", "avx512bf16", "avx512fp16")),
    Target("znver4", "avx512", X86, ("avx512vnni", "avx512bf16")),
    Target("haswell", "avx2", X86),
    Target("haswell", "avx2", X86, ("avxvnni",), "+avxvnni"),
    Target("znver3", "avx2", X86),
    Target("x86-64", "sse2", X86),
    Target("neoverse-v2", "neon", ARM, ("fullfp16", "dotprod")),
    Target("apple-m1", "neon", ARM, ("fullfp16", "dotprod")),
)
BY_NAME = {target.name: target for target in TARGETS}


@dataclass(frozen=True)
class Instruction:
    """A mnemonic and its operands as written: AT&T order on x86 (destination last), Arm's order on Arm."""

    mnemonic: str
    operands: tuple[str, ...]

    @property
    def memory(self) -> int | None:
        """Position of the operand that is memory, the stack and constants apart."""
        for place, operand in enumerate(self.operands):
            inside = re.search(r"\(([^)]*)|^\[([^\]]*)", operand)
            if inside and not (inside[1] or inside[2]).startswith(("%rsp", "%rip", "sp")):
                return place
        return None

    @property
    def spills(self) -> bool:
        """A vector on the stack; Arm's callee-saved halves (d8 to d15) are kept there by every function."""
        on_stack = any(re.search(r"\(%rsp|\[sp", operand) for operand in self.operands)
        return on_stack and bool(self.vector_bytes) and not any(re.match(r"d\d", word) for word in self.operands)

    @property
    def vector_bytes(self) -> int:
        """Bytes of vector data that it moves or computes on; 0 for scalars and integers."""
        text = " ".join(self.operands)
        if re.fullmatch(r"v?(mov|add|mul|fmadd\d+)s[sdh]|v?mov[qd]|v?mov[lh]p[sd]", self.mnemonic):
            return 0
        for register, width in ((r"%zmm\d", 64), (r"%ymm\d", 32), (r"%xmm\d", 16), (r"\b[qv]\d", 16), (r"\bd\d", 8)):
            found = re.findall(register, text)
            if found:
                pair = self.mnemonic in ("ldp", "stp", "ldnp", "stnp")
                return width * (2 if pair else 1)
        return 0


def instructions(assembly: str) -> Iterator[Instruction]:
    """The instructions of a listing, without labels, directives and comments."""
    for line in assembly.splitlines():
        text = re.split(r"##|//|(?<!\[)#(?=\s)", line)[0].replace("{vex}", "").strip()
        if not text or text.startswith(".") or text.endswith(":"):
            continue
        mnemonic, _, rest = text.partition("\t")
        operands = re.findall(r"[^,(\[{]*(?:\([^)]*\)|\[[^\]]*\]|\{[^}]*\})?[^,]*", rest)
        yield Instruction(mnemonic.split()[-1], tuple(word.strip() for word in operands if word.strip()))


def loaded_vectors(assembly: str, isa: VectorIsa) -> float:
    """Full vectors read from memory by all instructions of a listing, each counted once."""
    return sum(row.vector_bytes for row in instructions(assembly) if _reads(row)) / isa.bytes


def stored_vectors(assembly: str, isa: VectorIsa, nontemporal: bool) -> float:
    """Full vectors written to memory, past the caches or through them."""
    return (
        sum(
            row.vector_bytes
            for row in instructions(assembly)
            if _writes(row) and bool(re.match(r"v?movnt|stnp", row.mnemonic)) is nontemporal
        )
        / isa.bytes
    )


def _reads(row: Instruction) -> bool:
    if row.memory is None:
        return False
    return row.mnemonic.startswith("ld") or (not row.mnemonic.startswith("st") and row.memory < len(row.operands) - 1)


def _writes(row: Instruction) -> bool:
    if row.memory is None:
        return False
    return row.mnemonic.startswith("st") or (not row.mnemonic.startswith("ld") and row.memory == len(row.operands) - 1)


def computing(assembly: str, mnemonics: str, isa: VectorIsa) -> int:
    """Instructions of full width whose mnemonic matches."""
    return sum(
        1 for row in instructions(assembly) if re.fullmatch(mnemonics, row.mnemonic) and row.vector_bytes == isa.bytes
    )


def widest(assembly: str) -> int:
    return max(row.vector_bytes for row in instructions(assembly))


@cache
def host() -> DeviceInfo:
    """This machine, with caches of its own or, where they are hidden, likely ones."""
    from ert_numba.device.cpu import probe_cpu

    return probe_cpu()


def on_x86() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64")


def made_up_device(**changes: object) -> DeviceInfo:
    """A server of two sockets, each of 8 cores with an L3 of its own."""
    facts: dict[str, object] = {
        "kind": "cpu",
        "name": "Made-up CPU",
        "vendor": "GenuineIntel",
        "architecture": "x86_64",
        "units": 16,
        "threads": 32,
        "sockets": 2,
        "socket_units": 8,
        "numa_nodes": 2,
        "memory_bytes": 64 << 30,
        "features": ("avx2", "avx512bw", "avx512dq", "avx512f", "avx512vl", "fma", "sse2"),
        "caches": (
            Cache(level="L1", bytes=32 << 10, shared_by=1, instances=16, source="sysfs"),
            Cache(level="L2", bytes=1 << 20, shared_by=1, instances=16, source="sysfs"),
            Cache(level="L3", bytes=32 << 20, shared_by=8, instances=2, source="sysfs"),
        ),
    }
    return DeviceInfo(**{**facts, **changes})
