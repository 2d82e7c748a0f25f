"""What can be measured here: one row a kind of device, and why the others are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from ert_numba.errors import ErtError
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.measure.sweep import Plan
from ert_numba.measure.timers import Timer
from ert_numba.records import DeviceInfo, Point, Skipped


@dataclass(frozen=True)
class Backend:
    """A device ready to be asked: its kernels, what else is known to be there, and its timer."""

    device: DeviceInfo
    kernels: tuple[KernelSpec, ...]
    absent: tuple[Skipped, ...]
    open_timer: Callable[[Request], Timer]
    plan: Callable[[float], Plan]
    """The sweep's plan for a budget in seconds."""
    budgets: tuple[float, float]
    """Seconds of measuring where nobody says how many: of a whole sweep, of a quick one."""

    def offered(self, request: Request) -> list[Point | Skipped]:
        """Every point for a request, and every reason why something is not measured."""
        points = [item for spec in self.kernels for item in spec.points(self.device, request)]
        return [*points, *self.absent]


class Refusal(msgspec.Struct, frozen=True):
    """A back end that cannot measure here: what is missing, and which command mends it."""

    backend: str
    reason: str


def cpu_backend() -> Backend:
    """The CPU of this host, within the processors that this process may use."""
    from ert_numba.device.cpu import matrix_units, probe_cpu
    from ert_numba.device.topology import probe
    from ert_numba.kernels.registry import CPU_KERNELS
    from ert_numba.measure.timers_cpu import CpuTimer

    topology = probe()
    device = probe_cpu(topology)
    return Backend(
        device=device,
        kernels=CPU_KERNELS,
        absent=matrix_units(),
        open_timer=lambda request: CpuTimer(device, topology, request.threads or device.units),
        plan=lambda seconds: Plan(budget_seconds=seconds),
        budgets=(32.0, 6.5),
    )


def cuda_backend(ordinal: int = 0) -> Backend:
    """One NVIDIA GPU. Raises ErtError that says what is missing."""
    from ert_numba.device.gpu import probe_gpu, require_packages

    require_packages()
    device = probe_gpu(ordinal)
    from ert_numba.kernels.registry_cuda import CUDA_KERNELS
    from ert_numba.measure.gpu_sweep import BUDGET_SECONDS, QUICK_BUDGET_SECONDS, gpu_plan, open_gpu

    return Backend(
        device=device,
        kernels=CUDA_KERNELS,
        absent=(),
        open_timer=lambda request: open_gpu(device, ordinal, request),
        plan=lambda seconds: gpu_plan(seconds, device.maximum_clock_hz),
        budgets=(BUDGET_SECONDS, QUICK_BUDGET_SECONDS),
    )


BACKENDS: dict[str, Callable[[int], Backend]] = {"cuda": cuda_backend, "cpu": lambda ordinal: cpu_backend()}
"""Best first: ``auto`` takes the first one that can measure here."""


def choose(name: str = "auto", ordinal: int = 0) -> tuple[Backend, tuple[Refusal, ...]]:
    """The wanted back end, or the best one that is there with the reasons against the better ones. Raises ErtError."""
    if name != "auto" and name not in BACKENDS:
        raise ErtError("a back end", f"{name!r}", f"Choose auto, {' or '.join(BACKENDS)}")
    if name != "auto":
        return BACKENDS[name](ordinal), ()
    refusals: list[Refusal] = []
    for key, make in BACKENDS.items():
        try:
            return make(ordinal), tuple(refusals)
        except ErtError as error:
            refusals.append(Refusal(key, f"{error.found}. {error.remedy}"))
    raise ErtError(
        "a device to measure", "; ".join(row.reason for row in refusals), "See `python -m ert_numba devices`"
    )
