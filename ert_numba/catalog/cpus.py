"""What one core of a known microarchitecture can do in a cycle, one row each.

A row bounds a measurement; it never gates one. A processor in no row gets the bound of its instruction set, which
no core known to us exceeds, and says so.
"""

from __future__ import annotations

import msgspec


class Core(msgspec.Struct, frozen=True, kw_only=True):
    """Bits per cycle through each kind of unit. ``models`` are of the CPUID family.

    ``fma_bits``: vector FMA results; ``plain_bits``: vector multiplies and adds together, where not fused.
    """

    name: str
    vendor: str
    family: int
    models: tuple[int, ...]
    fma_bits: int
    bf16_bits: int | None = None  # BF16 dot products; None: not stated
    plain_bits: int
    load_bits: int
    store_bits: int
    source: str


_INTEL = "Intel 64 and IA-32 Architectures Optimization Reference Manual"
_AMD = "Software Optimization Guide for the AMD family"

CORES: tuple[Core, ...] = (
    Core(
        name="Golden Cove / Raptor Cove server (Sapphire Rapids, Emerald Rapids)",
        vendor="GenuineIntel",
        family=6,
        models=(0x8F, 0xCF),
        fma_bits=1024,
        plain_bits=1024,
        load_bits=1024,
        store_bits=512,
        source=f"{_INTEL}, Golden Cove",
    ),
    Core(
        name="Sunny Cove server (Ice Lake)",
        vendor="GenuineIntel",
        family=6,
        models=(0x6A, 0x6C),
        fma_bits=1024,
        plain_bits=1024,
        load_bits=1024,
        store_bits=512,
        source=f"{_INTEL}, Ice Lake",
    ),
    Core(
        name="Skylake server (also Cascade Lake, Cooper Lake)",
        vendor="GenuineIntel",
        family=6,
        models=(0x55,),
        fma_bits=1024,
        plain_bits=1024,
        load_bits=1024,
        store_bits=512,
        source=f"{_INTEL}, Skylake Server (parts with one 512-bit FMA unit reach half)",
    ),
    Core(
        name="Haswell, Broadwell",
        vendor="GenuineIntel",
        family=6,
        models=(0x3C, 0x3F, 0x45, 0x46, 0x3D, 0x47, 0x4F, 0x56),
        fma_bits=512,
        plain_bits=512,
        load_bits=512,
        store_bits=256,
        source=f"{_INTEL}, Haswell",
    ),
    Core(
        name="Skylake client",
        vendor="GenuineIntel",
        family=6,
        models=(0x4E, 0x5E, 0x8E, 0x9E),
        fma_bits=512,
        plain_bits=512,
        load_bits=512,
        store_bits=256,
        source=f"{_INTEL}, Skylake Client",
    ),
    Core(
        name="Zen 2",
        vendor="AuthenticAMD",
        family=23,
        models=(0x31, 0x47, 0x60, 0x68, 0x71, 0x90, 0xA0),
        fma_bits=512,
        plain_bits=1024,
        load_bits=512,
        store_bits=256,
        source=f"{_AMD} 17h models 30h and greater",
    ),
    Core(
        name="Zen 3",
        vendor="AuthenticAMD",
        family=25,
        models=(0x00, 0x01, 0x08, 0x20, 0x21, 0x30, 0x40, 0x44, 0x50),
        fma_bits=512,
        plain_bits=1024,
        load_bits=512,
        store_bits=256,
        source=f"{_AMD} 19h",
    ),
    Core(
        name="Zen 4",
        vendor="AuthenticAMD",
        family=25,
        models=(0x10, 0x11, 0x18, 0x60, 0x61, 0x70, 0x74, 0x75, 0x78, 0xA0),
        fma_bits=512,
        bf16_bits=512,
        plain_bits=1024,
        load_bits=512,
        store_bits=256,
        source=f"{_AMD} 19h (Zen 4); measured on a server part: 16 FP64 FLOP, 64 B read, 32 B written per cycle",
    ),
)

# No core in the tables or known to us exceeds it: two pipes of the full width for each kind of work on x86, four
# 128-bit ones on 64-bit Arm; where additions have pipes of their own, twice that for unfused work.
PIPES = {"x86_64": 2, "aarch64": 4}


def core_of(vendor: str, family: int, model: int) -> Core | None:
    """The row of a processor, or None: then nothing is assumed about it."""
    return next((row for row in CORES if row.vendor == vendor and row.family == family and model in row.models), None)
