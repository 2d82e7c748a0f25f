"""What the common loop needs to sweep a GPU: everything compiled before the timer opens, and a plan to suit it."""

from __future__ import annotations

from ert_numba.kernels.cuda_prebuild import prebuild
from ert_numba.kernels.cuda_program import capability
from ert_numba.kernels.cuda_toolchain import cache_folder
from ert_numba.kernels.registry_cuda import CUDA_KERNELS, recipes
from ert_numba.kernels.spec import Request
from ert_numba.measure.stopping import Settled
from ert_numba.measure.sweep import Plan
from ert_numba.measure.timers_cuda import CudaTimer
from ert_numba.records import DeviceInfo, Point

BUDGET_SECONDS, QUICK_BUDGET_SECONDS = 16.5, 6.5


RULE = Settled(tolerance=0.01, agreeing=3, least=5, most=40)


def gpu_plan(budget_seconds: float, full_clock_hz: float | None = None) -> Plan:
    """A GPU of one's own repeats within some tenths of a per cent: few repeats settle a point."""
    return Plan(
        budget_seconds=budget_seconds,
        visit_seconds=1.5,  # never the bound: six calls, of a sustained figure too
        visit_repeats=6,
        rounds=6,
        least_visits=1,
        costly_seconds=0.3,
        dear_seconds=2.0,
        rule=RULE,
        refine_points=8,
        second_look=False,
        patient=("HOST.",),  # other GPUs and guests of the host use its memory and switches, in phases of seconds
        patient_visits=3,
        full_clock_hz=full_clock_hz,
    )


def open_gpu(device: DeviceInfo, ordinal: int, request: Request) -> CudaTimer:
    """The GPU's timer, with every kernel of the request compiled (the first time on a machine: some seconds)."""
    compile_all(device, request)
    return CudaTimer(device, ordinal)


def compile_all(device: DeviceInfo, request: Request) -> None:
    """Every kernel of the request into the kernel cache; touches no device."""
    offered = (item for spec in CUDA_KERNELS for item in spec.points(device, request))
    points = [item for item in offered if isinstance(item, Point)]
    prebuild(recipes(points, device), capability(device), cache_folder())
