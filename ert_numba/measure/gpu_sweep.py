"""A sweep of one GPU: compile what is missing all at once, then the common loop with a plan that suits a GPU."""

from __future__ import annotations

import time
from collections.abc import Iterable

from ert_numba.kernels.cuda_prebuild import prebuild
from ert_numba.kernels.cuda_program import capability
from ert_numba.kernels.cuda_toolchain import cache_folder
from ert_numba.kernels.registry_cuda import CUDA_KERNELS, recipes
from ert_numba.kernels.spec import Request
from ert_numba.measure.stopping import Settled
from ert_numba.measure.sweep import Listener, Outcome, Plan, measure, plan_points
from ert_numba.measure.timers_cuda import CudaTimer
from ert_numba.records import DeviceInfo

BUDGET_SECONDS, QUICK_BUDGET_SECONDS = 20.0, 9.0


def gpu_plan(request: Request, budget_seconds: float | None = None) -> Plan:
    """A GPU of one's own repeats within some tenths of a per cent: few repeats settle a point."""
    budget = budget_seconds or (QUICK_BUDGET_SECONDS if request.quick else BUDGET_SECONDS)
    rule = Settled(tolerance=0.01, agreeing=3, least=5, most=40)
    return Plan(
        budget_seconds=budget, visit_seconds=0.0, visit_repeats=5, rounds=6, least_visits=2, rule=rule, refine_points=8
    )


def sweep_gpu(
    device: DeviceInfo, ordinal: int, request: Request, plan: Plan, *, listener: Listener, done: Iterable[str] = ()
) -> Outcome:
    """Measure everything that the request asks of the GPU; ``done`` are keys of points of an earlier run.

    The budget counts from the first measurement: compiling, once a machine, comes before.
    """
    tracks, skipped = plan_points(CUDA_KERNELS, lambda spec: spec.points(device, request), done)
    points = [track.point for track in tracks]
    prebuild(recipes(points, device), capability(device), cache_folder())
    timer = CudaTimer(device, ordinal)
    try:
        outcome = measure(tracks, timer, plan, listener, time.monotonic())
    finally:
        timer.close()
    outcome.skipped += skipped
    return outcome
