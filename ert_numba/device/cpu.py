"""What this CPU is, as far as the system tells: instruction sets, caches, cores, and the limits that follow."""

from __future__ import annotations

import platform
from pathlib import Path

from ert_numba.catalog.cpus import PIPES, core_of
from ert_numba.catalog.vector_isas import VECTOR_ISAS, VectorIsa
from ert_numba.device import cpuid
from ert_numba.device.topology import CGROUP, SYSFS, Topology, memory_limit_bytes, parse_cpu_list, probe
from ert_numba.errors import ErtError
from ert_numba.records import Cache, DeviceInfo, Limit, Skipped

MATRIX_UNITS = {
    "amx_tile": "AMX",
    "sme": "SME",
    "sve": "SVE (vectors wider than 128 bits)",
}


def probe_cpu(topology: Topology | None = None, sysfs: Path = SYSFS, cgroup: Path = CGROUP) -> DeviceInfo:
    """The CPU as a device; raises ErtError on an architecture that no kernel is written for."""
    import llvmlite.binding as llvm

    topology = topology or probe(sysfs, cgroup)
    flags = _cpuinfo()
    architecture = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    features = tuple(sorted(name for name, there in llvm.get_host_cpu_features().items() if there))
    if architecture == "aarch64" and "neon" not in features:
        features = (*features, "neon")  # part of the architecture; LLVM lists only what is optional
    isa = next((row for row in VECTOR_ISAS if row.machine == architecture and set(row.features) <= set(features)), None)
    if isa is None:
        raise ErtError(
            "a CPU to measure", f"a {architecture} processor", "The kernels are written for x86-64 and 64-bit Arm Linux"
        )
    vendor = flags.get("vendor_id", flags.get("CPU implementer", "unknown"))
    caches = caches_from_sysfs(sysfs, topology) or _spread(cpuid.caches(), topology.cores)
    notes = [*_notes(topology, flags, caches), *_narrow(isa, features)]
    return DeviceInfo(
        kind="cpu",
        name=flags.get("model name", f"{vendor} {architecture} processor"),
        vendor=vendor,
        architecture=architecture,
        units=topology.cores,
        threads=len(topology.processors),
        sockets=topology.sockets,
        socket_units=topology.socket_cores,
        numa_nodes=topology.nodes,
        memory_bytes=memory_limit_bytes(cgroup),
        maximum_clock_hz=_maximum_clock(sysfs),
        features=features,
        caches=caches,
        limits=limits_of(vendor, _integer(flags, "cpu family"), _integer(flags, "model"), isa),
        properties=_properties(flags, isa),
        notes=tuple(notes),
    )


def _cpuinfo() -> dict[str, str]:
    """The first processor of /proc/cpuinfo."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _integer(flags: dict[str, str], key: str) -> int:
    return int(flags[key]) if flags.get(key, "").isdigit() else -1


def _maximum_clock(sysfs: Path) -> float | None:
    try:
        return int((sysfs / "cpu/cpu0/cpufreq/cpuinfo_max_freq").read_text()) * 1e3
    except (OSError, ValueError):
        return None


def caches_from_sysfs(sysfs: Path, topology: Topology) -> tuple[Cache, ...]:
    """Data and unified caches of the usable processors, innermost first; empty without sysfs."""
    usable = {row.cpu for row in topology.processors}
    found: dict[str, Cache] = {}
    groups: dict[str, set[tuple[int, ...]]] = {}
    for cpu in sorted(usable):
        for folder in sorted((sysfs / f"cpu/cpu{cpu}/cache").glob("index*")):
            try:
                kind = (folder / "type").read_text().strip()
                level = "L" + (folder / "level").read_text().strip()
                size = (folder / "size").read_text().strip()
                shared = parse_cpu_list((folder / "shared_cpu_list").read_text())
            except (OSError, ValueError):
                continue
            if kind == "Instruction" or not size.endswith("K"):
                continue
            groups.setdefault(level, set()).add(shared)
            users = len({row.core for row in topology.processors if row.cpu in shared}) or 1
            found.setdefault(level, Cache(level=level, bytes=int(size[:-1]) * 1024, shared_by=users, source="sysfs"))
    return tuple(
        Cache(level=key, bytes=row.bytes, shared_by=row.shared_by, instances=len(groups[key]), source=row.source)
        for key, row in sorted(found.items())
    )


def _spread(caches: tuple[Cache, ...], cores: int) -> tuple[Cache, ...]:
    """CPUID speaks of one instance: how many there are follows from the sharers."""
    return tuple(
        Cache(
            level=row.level,
            bytes=row.bytes,
            shared_by=min(row.shared_by, cores),
            instances=-(-cores // row.shared_by),
            source=row.source,
        )
        for row in caches
    )


def limits_of(vendor: str, family: int, model: int, isa: VectorIsa) -> tuple[Limit, ...]:
    """Work per cycle and core that no measurement may exceed, by ceiling key."""
    core = core_of(vendor, family, model)
    if core is not None:
        fma, plain, load, store = core.fma_bits, core.plain_bits, core.load_bits, core.store_bits
        bf16 = core.bf16_bits
        source = f"{core.name}: {core.source}"
    else:
        width = PIPES[isa.machine] * isa.bits
        fma, plain, load, store = width, 2 * width, 2 * width, width
        bf16 = width
        source = f"no core known exceeds it with {isa.label}; this processor is in no table"
    load_bytes, store_bytes = load / 8, store / 8
    per_cycle: dict[str, float | None] = {
        "fp64.vector.fma": 2 * fma / 64,
        "fp32.vector.fma": 2 * fma / 32,
        "fp16.vector.fma": 2 * fma / 16,
        "fp64.vector.add": plain / 64,
        "fp32.vector.add": plain / 32,
        "bf16.vector.dot": 2 * bf16 / 16 if bf16 else None,
        "int8.vector.dot": 2 * fma / 8,
        "L1.read": load_bytes,
        "L1.write": store_bytes,
        # Loads and stores have units of their own: the slower side decides.
        "L1.copy": 2 * min(load_bytes, store_bytes),
        "L1.update": 2 * min(load_bytes, store_bytes),
        "L1.triad": 3 * min(load_bytes / 2, store_bytes),
    }
    if not isa.has_fma:
        per_cycle = {key: value for key, value in per_cycle.items() if not key.endswith((".fma", ".dot"))}
    return tuple(Limit(key=key, per_cycle=value, source=source) for key, value in per_cycle.items() if value)


def _properties(flags: dict[str, str], isa: VectorIsa) -> dict[str, str]:
    huge = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return {
        "instruction set": isa.label,
        "model": "/".join(flags.get(key, "?") for key in ("cpu family", "model", "stepping")),
        "transparent huge pages": huge.read_text().strip() if huge.exists() else "not offered",
        "hypervisor": "yes" if "hypervisor" in flags.get("flags", "") else "no",
    }


def _notes(topology: Topology, flags: dict[str, str], caches: tuple[Cache, ...]) -> list[str]:
    notes = []
    if not caches:
        notes.append("neither sysfs nor CPUID tells the cache sizes: levels are named by what the sweep finds")
    if topology.quota is not None:
        notes.append(f"the cgroup grants {topology.quota:g} processors: {topology.cores} of the cores are used")
    if topology.hybrid:
        notes.append(
            "hybrid processor: workers take the cores of the highest maximum clock first; all get equal shares of the "
            "work, so the slowest kind of core sets the pace of all of them together"
        )
    if "hypervisor" in flags.get("flags", ""):
        notes.append("virtual machine: cores, caches and memory may be shared with neighbours")
    return notes


def _narrow(isa: VectorIsa, features: tuple[str, ...]) -> list[str]:
    """Wider vectors that the processor has in part only, so that no kernel is written for them."""
    wider = next((name for name in ("avx512f", "avx2", "avx") if name in features), None)
    have = {"avx512": "avx512f", "avx2": "avx2"}.get(isa.key)
    if wider is None or wider == have:
        return []
    return [f"{wider} without what the kernels need beside it: the ceilings are those of {isa.label}, not the widest"]


def unmeasured(flags: str) -> tuple[Skipped, ...]:
    """Units that are there, are several times faster than what is measured, and have no kernel yet."""
    words = flags.split()
    return tuple(
        Skipped(what=label, reason="present, and not measured yet: the ceilings are those of the vector units")
        for flag, label in MATRIX_UNITS.items()
        if flag in words
    )


def matrix_units() -> tuple[Skipped, ...]:
    """Those of this processor."""
    flags = _cpuinfo()
    return unmeasured(flags.get("flags", flags.get("Features", "")))
