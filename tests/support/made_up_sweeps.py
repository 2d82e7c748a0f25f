"""Sweeps of a made-up CPU whose true rates are known, sample by sample."""

from __future__ import annotations

import numpy as np
from made_up_curves import KIB, MIB, mixture

from ert_numba.records import AxisValue, Cache, DeviceInfo, Limit, Point, Provenance, Sample, Sweep, Work

CLOCK_HZ = 3.0e9
CAPACITIES = np.array([32.0 * KIB, 1.0 * MIB, 8.0 * MIB])  # per core; two cores share an L3 of 16 MiB
RATES = np.array([400e9, 200e9, 100e9, 40e9])  # both cores together
LATENCIES = np.array([1e-9, 4e-9, 15e-9, 90e-9])


def device(**changes: object) -> DeviceInfo:
    """Two cores, three levels of cache, limits for FP64 and L1."""
    fields: dict[str, object] = {
        "kind": "cpu",
        "name": "Made-up CPU",
        "vendor": "nobody",
        "architecture": "x86_64",
        "units": 2,
        "threads": 2,
        "maximum_clock_hz": 3.2e9,
        "caches": (
            Cache(level="L1", bytes=32 * KIB, instances=2, source="sysfs"),
            Cache(level="L2", bytes=1 * MIB, instances=2, source="sysfs"),
            Cache(level="L3", bytes=16 * MIB, shared_by=2, source="sysfs"),
        ),
        "limits": (
            Limit(key="fp64.vector.fma", per_cycle=16.0, source="made up"),
            Limit(key="L1.read", per_cycle=64.0, source="made up"),
            Limit(key="DRAM.read", per_second=50e9, source="made up"),
        ),
    }
    return DeviceInfo(**{**fields, **changes})  # type: ignore[arg-type]


def sweep(*samples: Sample, **changes: object) -> Sweep:
    fields: dict[str, object] = {
        "run": "made-up",
        "device": device(),
        "settings": {"seed": 1},
        "provenance": Provenance(created="2026-01-01T00:00:00Z", tool="ert_numba test"),
    }
    return Sweep(samples=samples, **{**fields, **changes})  # type: ignore[arg-type]


def sample(ceiling: str, seconds: list[float], work: Work, axes: dict[str, AxisValue] | None = None, **more: object):
    """A verified sample at 3 GHz."""
    fields: dict[str, object] = {"verified": True, "clock_hz": (CLOCK_HZ,) * len(seconds)}
    point = Point(kernel="made_up", ceiling=ceiling, axes=axes or {"threads": 2})
    return Sample(point=point, work=work, seconds=tuple(seconds), **{**fields, **more})  # type: ignore[arg-type]


def repeats(best: float, rng: np.random.Generator, count: int = 12, slowdown: float = 0.01) -> list[float]:
    """Times of which the best possible is ``best``: one-sided noise of the mean ``slowdown``."""
    return [float(best * (1 + rng.exponential(slowdown))) for _ in range(count)]


def compute(ceiling: str, rate: float, **more: object) -> Sample:
    rng = np.random.default_rng(1)
    return sample(ceiling, repeats(1e9 / rate, rng), Work(flop=1e9), **more)  # type: ignore[arg-type]


def bandwidth(ceiling: str, rate: float, moved: float = 1.0, **more: object) -> Sample:
    rng = np.random.default_rng(2)
    work = Work(bytes_counted=1e8, bytes_moved=moved * 1e8)
    return sample(ceiling, repeats(1e8 / rate, rng), work, **more)  # type: ignore[arg-type]


def read_curve(sizes: np.ndarray | None = None, ceiling: str = "curve.read", seed: int = 3) -> list[Sample]:
    """Both cores reading sets of their own; cyclic transitions at CAPACITIES, plateaus at RATES, 1 % noise."""
    sizes = np.geomspace(4 * KIB, 256 * MIB, 48) if sizes is None else sizes
    rng = np.random.default_rng(seed)
    times = mixture(["cyclic"] * 3, sizes, CAPACITIES, 1 / RATES) * np.exp(rng.normal(0, 0.01, len(sizes)))
    return [
        sample(
            ceiling,
            repeats(2 * size * time, rng),
            Work(bytes_counted=2 * size, bytes_moved=2 * size),
            {"threads": 2, "working_set_bytes": int(size)},
        )
        for size, time in zip(sizes, times, strict=True)
    ]


def latency_curve(capacities: np.ndarray | None = None, seed: int = 4) -> list[Sample]:
    """One core chasing pointers: the whole of L3 is its own."""
    sizes = np.geomspace(4 * KIB, 256 * MIB, 48)
    rng = np.random.default_rng(seed)
    capacities = CAPACITIES * [1, 1, 2] if capacities is None else capacities
    times = mixture(["cyclic"] * 3, sizes, capacities, LATENCIES) * np.exp(rng.normal(0, 0.01, len(sizes)))
    return [
        sample(
            "curve.latency", repeats(1e6 * time, rng), Work(accesses=1e6),
            {"threads": 1, "working_set_bytes": int(size)},
        )
        for size, time in zip(sizes, times, strict=True)
    ]  # fmt: skip
