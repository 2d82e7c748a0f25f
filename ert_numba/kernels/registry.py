"""Every kernel there is, by device kind: simulator, code checks, gold values, sweep and command line iterate this."""

from __future__ import annotations

from ert_numba.kernels.cpu_bandwidth import CPU_BANDWIDTH
from ert_numba.kernels.cpu_fma import CPU_FMA
from ert_numba.kernels.cpu_intensity import CPU_INTENSITY
from ert_numba.kernels.cpu_latency import CPU_LATENCY
from ert_numba.kernels.spec import KernelSpec

CPU_KERNELS: tuple[KernelSpec, ...] = (CPU_FMA, CPU_BANDWIDTH, CPU_LATENCY, CPU_INTENSITY)
