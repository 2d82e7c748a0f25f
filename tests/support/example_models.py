"""Made-up but realistic documents: a two-core CPU and an H200, for tests that need a machine and have none.

The rates are round figures near what such machines reach; nothing here was measured by the code under test.
"""

from __future__ import annotations

import math
import random

from ert_numba.machine import Ceiling, Knee, MachineModel, ProofPoint
from ert_numba.records import Cache, DeviceInfo, Limit, Point, Provenance, Sample, Skipped, Sweep, Work

KIB, MIB, GIB = 1024, 1024**2, 1024**3
CPU_CLOCK_HZ = 3.69e9
GPU_CLOCK_HZ = 1.98e9

PROVENANCE = Provenance(
    created="2026-11-29T15:43:00Z",
    tool="ert_numba 0.1.0",
    versions={"python": "3.11.2", "numba": "0.68.1", "llvmlite": "0.50.0", "numpy": "2.4.1"},
    system="Linux 6.1.0, glibc 2.36",
)


def compute(key: str, value: float, limit: float | None, spread: float = 0.004, **fields: object) -> Ceiling:
    """A compute ceiling from its key, ``fp64.vector.fma``, in FLOP/s or, for integers, OP/s."""
    precision, path = key.split("@", maxsplit=1)[0].removesuffix(".sparse").split(".", 1)
    settings: dict[str, object] = {
        "unit": "OP/s" if precision.startswith("int") else "FLOP/s",
        "low": value * (1 - spread),
        "high": value * (1 + spread),
        "samples": 24,
        "kernel": "example_fma",
    }
    return Ceiling(key=key, kind="compute", value=value, limit=limit, precision=precision, path=path,
                   **{**settings, **fields})  # type: ignore[arg-type]  # fmt: skip


def memory(key: str, value: float, limit: float | None = None, spread: float = 0.01, **fields: object) -> Ceiling:
    """A bandwidth (B/s) or latency (s) ceiling from its key, ``L2.read.shared`` or ``L1.latency``."""
    level, access, *variant = key.split("@", maxsplit=1)[0].split(".")
    latency = access == "latency"
    settings: dict[str, object] = {
        "kind": "latency" if latency else "bandwidth",
        "unit": "s" if latency else "B/s",
        "access": None if latency else access,
        "variant": variant[0] if variant else None,
        "low": value * (1 - spread),
        "high": value * (1 + spread),
        "samples": 16,
        "kernel": "example_load",
    }
    return Ceiling(key=key, value=value, limit=limit, level=level, **{**settings, **fields})  # type: ignore[arg-type]


def cpu_device() -> DeviceInfo:
    return DeviceInfo(
        kind="cpu",
        name="AMD EPYC 9R14 (2 cores)",
        vendor="AuthenticAMD",
        architecture="x86_64",
        units=2,
        threads=2,
        memory_bytes=8 * GIB,
        maximum_clock_hz=3.7e9,
        features=("avx2", "fma", "avx512f", "avx512_bf16", "avx512_vnni"),
        caches=(
            Cache(level="L1", bytes=32 * KIB, instances=2, source="sysfs"),
            Cache(level="L2", bytes=1 * MIB, instances=2, source="sysfs"),
            Cache(level="L3", bytes=32 * MIB, shared_by=2, instances=1, source="sysfs"),
        ),
        limits=(Limit(key="fp64.vector.fma", per_cycle=16.0, source="ISA"),),
        properties={"huge pages": "madvise", "hypervisor": "KVM"},
    )


def cpu_model() -> MachineModel:
    """Two Zen 4 cores: four levels, vector paths down to INT8, knees, proof points, one impossible ceiling."""
    at = {"clock_hz": (3.66e9, 3.70e9)}
    cycle = 2 * 3.70e9
    ceilings = (
        compute("fp64.vector.fma", 117.3e9, 16 * cycle, **at),
        compute("fp64.vector.add", 58.4e9, 8 * cycle, **at),
        compute("fp32.vector.fma", 234.9e9, 32 * cycle, **at),
        compute("fp32.vector.add", 117.0e9, 16 * cycle, **at),
        compute("bf16.vector.fma", 474e9, 64 * cycle, **at),
        compute("int8.vector.fma", 948e9, 128 * cycle, **at),
        compute("fp64.vector.fma@core", 58.8e9, 16 * 3.7e9, scope="core", **at),
        compute("fp32.vector.fma@core", 117.5e9, 32 * 3.7e9, scope="core", **at),
        compute("fp16.vector.fma", 9.4e12, 64 * cycle, impossible=True, note="a loop folded to a formula", **at),
        memory("L1.read", 435e9, 64 * cycle, **at),
        memory("L1.write", 236e9, 32 * cycle, **at),
        memory("L1.copy", 404e9, **at),
        memory("L1.triad", 418e9, **at),
        memory("L2.read", 232e9, 32 * cycle, **at),
        memory("L2.write", 118e9, **at),
        memory("L3.read", 176e9, spread=0.05, noisy=True, **at),
        memory("L3.write", 82e9, spread=0.06, noisy=True, **at),
        memory("DRAM.read", 65.1e9, spread=0.02, conditions={"streams": 4, "huge_pages": True, "threads": 2}, **at),
        memory("DRAM.write", 27.4e9, spread=0.03, traffic_ratio=2.0, **at),
        memory("DRAM.write_nt", 51e9, spread=0.03, **at),
        memory("DRAM.copy", 44e9, spread=0.03, traffic_ratio=1.5, **at),
        memory("DRAM.triad_nt", 63.2e9, spread=0.04, **at),
        memory("L1.latency", 1.08e-9, **at),
        memory("L2.latency", 3.8e-9, **at),
        memory("L3.latency", 13.4e-9, spread=0.05, **at),
        memory("DRAM.latency", 104e-9, spread=0.03, noisy=True, **at),
    )
    return MachineModel(
        run="2026-11-29T1543-example",
        device=cpu_device(),
        ceilings=ceilings,
        knees=cpu_knees(),
        proof=cpu_proof(),
        skipped=(
            Skipped(what="fp16", reason="the CPU has no avx512_fp16"),
            Skipped(what="REMOTE", reason="the machine has one NUMA node"),
        ),
        notes=("L3: measured 21.5 MiB against 32 MiB nominal: neighbours on the host share it",),
        settings={"budget_seconds": 45.0, "seed": 1, "threads": 2},
        provenance=PROVENANCE,
    )


def cpu_knees() -> tuple[Knee, ...]:
    rows = (
        ("L1", 32.6 * KIB, 0.04, "cliff", "bandwidth", 32 * KIB, True),
        ("L2", 0.98 * MIB, 0.06, "smeared", "bandwidth", 1 * MIB, True),
        ("L3", 21.5 * MIB, 0.18, "random", "bandwidth", 32 * MIB, False),
        ("L1", 32.1 * KIB, 0.03, "cliff", "latency", 32 * KIB, True),
        ("L2", 1.01 * MIB, 0.07, "random", "latency", 1 * MIB, True),
        ("L3", 24.0 * MIB, 0.22, "random", "latency", 32 * MIB, False),
    )
    return tuple(
        Knee(level=level, capacity_bytes=size, low=size * (1 - part), high=size * (1 + part), shape=shape,
             witness=witness, ceiling=f"{level}.{'read' if witness == 'bandwidth' else 'latency'}",
             nominal_bytes=nominal, agrees=agrees, sharers=2 if level == "L3" and witness == "bandwidth" else 1)
        for level, size, part, shape, witness, nominal, agrees in rows
    )  # fmt: skip


def cpu_proof() -> tuple[ProofPoint, ...]:
    """ERT's intensity sweep at two levels and one precision, on its own update mix."""
    noise = random.Random(3)
    rates, points = {"L2": 150e9, "DRAM": 58e9}, []
    for level, rate in rates.items():
        for exponent in range(-4, 7):
            intensity = 2.0**exponent
            attainable = min(117.3e9, intensity * rate)
            near = abs(math.log2(117.3e9 / rate / intensity)) < 1.5
            value = attainable * noise.uniform(0.82, 0.9 if near else 0.99)
            points.append(
                ProofPoint(precision="fp64", level=level, intensity=intensity, value=value, low=value * 0.98,
                           high=value * 1.01, attainable=attainable, bandwidth_key=f"{level}.update",
                           compute_key="fp64.vector.fma")
            )  # fmt: skip
    return tuple(points)


def cpu_sweep() -> Sweep:
    """Curves of read, write and latency over 4 KiB to 512 MiB a core, with 5 % noise, and single points beside them."""
    noise = random.Random(7)
    sizes = [int(4 * KIB * 2 ** (step / 2)) // 64 * 64 for step in range(35)]
    reads = ((32.6 * KIB, 435e9), (0.98 * MIB, 232e9), (10.75 * MIB, 176e9), (math.inf, 62e9))
    writes = ((32.6 * KIB, 236e9), (0.98 * MIB, 118e9), (10.75 * MIB, 82e9), (math.inf, 27e9))
    samples = [_curve_sample(noise, "curve.read", size, 2 * size, _blend(size, reads)) for size in sizes]
    samples += [_curve_sample(noise, "curve.write", size, 2 * size, _blend(size, writes)) for size in sizes]
    delays = ((32.1 * KIB, 1 / 1.08e-9), (1.01 * MIB, 1 / 3.8e-9), (24 * MIB, 1 / 13.4e-9), (math.inf, 1 / 104e-9))
    samples += [_latency_sample(noise, size, 1 / _blend(size, delays)) for size in sizes]
    for streams, rate in ((1, 61.4e9), (2, 64.8e9), (4, 65.1e9), (8, 59.7e9)):
        axes = {"streams": streams, "huge_pages": True}
        samples.append(_curve_sample(noise, "DRAM.read", 256 * MIB, 512 * MIB, rate, **axes))
    return Sweep(
        run="2026-11-29T1543-example",
        device=cpu_device(),
        settings={"budget_seconds": 45.0, "seed": 1, "threads": 2},
        samples=tuple(samples),
        wall_seconds=41.7,
        provenance=PROVENANCE,
    )


def _blend(size: float, levels: tuple[tuple[float, float], ...]) -> float:
    """The harmonic mixture of level rates where the share C/size of all accesses hits a level of capacity C."""
    time_per_byte, missed = 0.0, 1.0
    for capacity, rate in levels:
        hit = missed * min(1.0, (capacity / size) ** 2) if math.isfinite(capacity) else missed
        time_per_byte += hit / rate
        missed -= hit
    return 1 / time_per_byte


def _repeats(noise: random.Random, best_seconds: float) -> tuple[float, ...]:
    return tuple(best_seconds * (1 + noise.expovariate(1 / 0.04)) for _ in range(12))


def _curve_sample(noise: random.Random, key: str, size: int, total: float, rate: float, **more: int) -> Sample:
    work = Work(bytes_counted=float(total), bytes_moved=float(total))
    seconds = _repeats(noise, total / (rate * noise.lognormvariate(0, 0.02)))
    axes: dict[str, int | float | str | bool] = {"working_set_bytes": size, "threads": 2, **more}
    point = Point(kernel=f"example_{key.split('.')[1]}", ceiling=key, axes=axes)
    return Sample(point=point, work=work, seconds=seconds, clock_hz=(CPU_CLOCK_HZ,) * 12, verified=True)


def _latency_sample(noise: random.Random, size: int, seconds: float) -> Sample:
    point = Point(kernel="example_chase", ceiling="curve.latency", axes={"working_set_bytes": size, "threads": 1})
    repeats = _repeats(noise, 1e6 * seconds * noise.lognormvariate(0, 0.02))
    return Sample(point=point, work=Work(accesses=1e6), seconds=repeats, clock_hz=(CPU_CLOCK_HZ,) * 12, verified=True)


def h200_device() -> DeviceInfo:
    return DeviceInfo(
        kind="gpu",
        name="NVIDIA H200",
        vendor="NVIDIA",
        architecture="sm_90",
        units=132,
        memory_bytes=141 * 10**9,
        maximum_clock_hz=GPU_CLOCK_HZ,
        features=("sm_90",),
        caches=(
            Cache(level="L1", bytes=256 * KIB, instances=132, source="catalogue"),
            Cache(level="L2", bytes=60 * MIB, shared_by=132, source="driver"),
        ),
        properties={"driver": "570.86.15", "power cap": "700 W", "ECC": "on"},
    )


def h200_model() -> MachineModel:
    """An H200 with every path: six memory levels and accesses, 27 compute ceilings, three of them unlike the rest."""
    tera = 1e12
    vector = {
        "fp64.vector.fma": (32.6, 33.45), "fp64.vector.add": (16.3, 16.73),
        "fp32.vector.fma": (65.2, 66.91), "fp32.vector.add": (32.7, 33.45),
        "fp16.vector.fma": (122.7, 133.8), "bf16.vector.fma": (122.6, 133.8), "int32.vector.fma": (32.9, 33.45),
    }  # fmt: skip
    tensor = {
        "fp64.tensor.mma.sync": (63.1, 66.91), "fp64.tensor.cublas": (61.8, 66.91),
        "tf32.tensor.mma.sync": (318, 357), "tf32.tensor.wgmma": (471, 535.3), "tf32.tensor.cublas": (443, 535.3),
        "fp16.tensor.mma.sync": (640, 713), "fp16.tensor.wgmma": (957, 1070.5), "fp16.tensor.cublas": (792, 1070.5),
        "bf16.tensor.mma.sync": (641, 713), "bf16.tensor.wgmma": (951, 1070.5), "bf16.tensor.cublas": (801, 1070.5),
        "fp8_e4m3.tensor.mma.sync": (1190, 1427), "fp8_e4m3.tensor.wgmma": (1820, 2141),
        "fp8_e4m3.tensor.cublas": (1510, 2141), "fp8_e5m2.tensor.wgmma": (1815, 2141),
        "int8.tensor.mma.sync": (1205, 1427), "int8.tensor.wgmma": (1902, 2141), "int8.tensor.cublas": (1490, 2141),
        "fp16.tensor.wgmma.sparse": (1610, 2141), "fp8_e4m3.tensor.wgmma.sparse": (3010, 4282),
    }  # fmt: skip
    ceilings = [compute(key, v * tera, at * tera, clock_hz=(1.97e9, 1.98e9)) for key, (v, at) in vector.items()]
    ceilings += [
        compute(key, v * tera, at * tera, spread=0.012, sparse=key.endswith("sparse"), clock_hz=(1.71e9, 1.82e9))
        for key, (v, at) in tensor.items()
    ]
    ceilings += [
        memory("SHARED.read", 33.1 * tera, 33.45 * tera, spread=0.002),
        memory("L1.read", 33.0 * tera, 33.45 * tera, spread=0.003),
        memory("L2.read.private", 8.9 * tera, 10.27 * tera),
        memory("L2.read.shared", 9.5 * tera, 10.27 * tera),
        memory("L2.write.private", 5.1 * tera),
        memory("DRAM.read", 4.63 * tera, 4.814 * tera, spread=0.004),
        memory("DRAM.write", 4.41 * tera, 4.814 * tera),
        memory("DRAM.copy", 4.28 * tera, 4.814 * tera),
        memory("DRAM.triad", 4.32 * tera, 4.814 * tera),
        memory("HOST.read", 55.2e9, 63.0e9, variant="pinned"),
        memory("L1.latency", 33.5 / GPU_CLOCK_HZ),
        memory("L2.latency", 275 / GPU_CLOCK_HZ),
        memory("DRAM.latency", 690 / GPU_CLOCK_HZ),
        Ceiling(key="launch", kind="overhead", value=2.2e-6, low=2.1e-6, high=2.6e-6, unit="s", samples=2000),
    ]
    return MachineModel(
        run="2026-11-29T1710-h200",
        device=h200_device(),
        ceilings=tuple(ceilings),
        knees=h200_knees(),
        skipped=(Skipped(what="fp4", reason="compute capability 9.0 has no FP4 tensor path"),),
        notes=("tensor work lowers the clock to 1.71-1.82 GHz under the 700 W cap",),
        provenance=PROVENANCE,
    )


def h200_knees() -> tuple[Knee, ...]:
    return (
        Knee(level="L1", capacity_bytes=208 * KIB, low=198 * KIB, high=219 * KIB, shape="cyclic", witness="bandwidth",
             ceiling="L1.read.ca", nominal_bytes=256 * KIB, agrees=False, note="the driver keeps about 1 KB a block"),
        Knee(level="L2", capacity_bytes=52.0 * MIB, low=49.1 * MIB, high=55.0 * MIB, shape="cliff",
             witness="bandwidth", ceiling="L2.read.private", sharers=132, nominal_bytes=60 * MIB, agrees=True),
        Knee(level="L2", capacity_bytes=30.5 * MIB, low=28.5 * MIB, high=33.4 * MIB, shape="smeared",
             witness="bandwidth", ceiling="L2.read.shared", nominal_bytes=60 * MIB, agrees=False,
             note="each half keeps a copy"),
        Knee(level="L1", capacity_bytes=221 * KIB, low=205 * KIB, high=240 * KIB, shape="random", witness="latency",
             ceiling="L1.latency", nominal_bytes=256 * KIB, agrees=True),
        Knee(level="L2", capacity_bytes=55.0 * MIB, low=44.0 * MIB, high=66.0 * MIB, shape="smeared", witness="latency",
             ceiling="L2.latency", nominal_bytes=60 * MIB, agrees=True),
    )  # fmt: skip


def h200_sweep() -> Sweep:
    """Curves that show where L1 and L2 end (with few reads in flight, so below the ceilings) and single points."""
    noise = random.Random(11)
    show = {"ceilings": False, "blocks": 132}
    samples = []
    for step in range(21):
        size = int(64 * KIB * 2 ** (step / 5))
        rate = _blend(size, ((208 * KIB, 6.1e12), (math.inf, 3.4e12)))
        samples.append(_gpu_sample(noise, "curve.read.ca", size, rate, shared=True, operator="ca", **show))
    for step in range(23):
        size = int(7.5 * MIB * 2 ** (step / 5))
        private = _blend(size, ((52 * MIB, 4.9e12), (math.inf, 2.9e12)))
        shared = _blend(size, ((30.5 * MIB, 5.3e12), (math.inf, 2.9e12)))
        samples.append(_gpu_sample(noise, "curve.read.private", size // 132, private, operator="cg", **show))
        samples.append(_gpu_sample(noise, "curve.read.shared", size, shared, shared=True, operator="cg", **show))
    delays = ((221 * KIB, GPU_CLOCK_HZ / 33.5), (55 * MIB, GPU_CLOCK_HZ / 275), (math.inf, GPU_CLOCK_HZ / 690))
    samples += [
        _latency_sample(noise, size, 1 / _blend(size, delays))
        for size in (int(32 * KIB * 2**step) for step in range(14))
    ]
    for key, size, rate in (
        ("L1.read", 192 * KIB, 33.0e12), ("L2.read.private", 380 * KIB, 8.9e12), ("DRAM.read", 121 * MIB, 4.63e12),
    ):  # fmt: skip
        samples.append(_gpu_sample(noise, key, size, rate, units=132))
    return Sweep(
        run="2026-11-29T1710-h200",
        device=h200_device(),
        samples=tuple(samples),
        wall_seconds=63.0,
        provenance=PROVENANCE,
    )


def _gpu_sample(noise: random.Random, key: str, size: int, rate: float, **axes: int | str | bool) -> Sample:
    total = 1e11
    seconds = _repeats(noise, total / (rate * noise.lognormvariate(0, 0.01)))
    point = Point(kernel="example_cuda", ceiling=key, axes={"working_set_bytes": size, **axes})
    work = Work(bytes_counted=total, bytes_moved=total)
    return Sample(point=point, work=work, seconds=seconds, clock_hz=(GPU_CLOCK_HZ,) * 12, verified=True)
