"""What neighbours cost: a few ceilings of one GPU, measured while every GPU of the host does the same.

All processes, one a GPU, keep one timetable by the host's clock: each point has its slot, in which it runs without a
pause, and only calls that began after the others were at work for sure are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ert_numba.kernels.registry_cuda import CUDA_KERNELS
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.measure.gpu_sweep import RULE
from ert_numba.measure.timers_cuda import SUSTAINED_SECONDS, CudaBench, CudaTimer
from ert_numba.records import DeviceInfo, Point, Sample

SCOPE = "@neighbours"
# What GPUs of a host have in common (links, the host's memory, power, air), and one that has nothing in common.
CEILINGS = ("HOST.h2d_pinned", "HOST.d2h_pinned", "HOST.both_pinned", "fp32.vector.fma", "DRAM.read",
            "bf16.tensor.cublas.sustained")  # fmt: skip
SLOT_SECONDS = 1.4
SETTLE_SECONDS, TAIL_SECONDS = 0.25, 0.1  # of a slot, at its begin and end: clocks of processes and first calls differ
CALL_SECONDS = 25e-3  # long against the pauses between calls


def shared_points(device: DeviceInfo, request: Request) -> list[tuple[KernelSpec, Point]]:
    """One point of each of ``CEILINGS`` that a sweep of the same request measures too."""
    found: dict[str, tuple[KernelSpec, Point]] = {}
    for spec in CUDA_KERNELS:
        for item in spec.points(device, request):
            if isinstance(item, Point) and item.ceiling in CEILINGS:
                found.setdefault(item.ceiling, (spec, item))
    return [found[key] for key in CEILINGS if key in found]


def open_all(timer: CudaTimer, points: Sequence[tuple[KernelSpec, Point]]) -> list[CudaBench]:
    """Every point's memory filled and checked, so that nothing but the work itself is left for its slot."""
    return [timer.open(spec, point, None) for spec, point in points]


def keep_timetable(
    points: Sequence[tuple[KernelSpec, Point]],
    benches: Sequence[CudaBench],
    start: float,
    gpus: int,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[Sample, ...]:
    """Run each point in its slot; ``start`` is the first slot's begin by ``now``, the same in every process."""
    samples = []
    for number, ((_, point), bench) in enumerate(zip(points, benches, strict=True)):
        begin = start + number * SLOT_SECONDS
        settled = begin + (SUSTAINED_SECONDS if point.ceiling.endswith(".sustained") else SETTLE_SECONDS)
        end = begin + SLOT_SECONDS - TAIL_SECONDS
        sleep(max(0.0, begin - now()))
        seconds: list[float] = []
        clocks: list[float] = []
        while (called := now()) < end:
            timing = bench.once()
            if called >= settled and now() <= end:
                seconds.append(timing.seconds)
                clocks += [] if timing.clock_hz is None else [timing.clock_hz]
        if seconds:
            samples.append(_sample(point, bench, seconds, clocks, gpus))
    return tuple(samples)


def _sample(point: Point, bench: CudaBench, seconds: list[float], clocks: list[float], gpus: int) -> Sample:
    return Sample(
        point=Point(kernel=point.kernel, ceiling=point.ceiling + SCOPE, axes=point.axes),
        work=bench.work,
        seconds=tuple(seconds),
        clock_hz=tuple(clocks),
        noisy=not RULE.settled(seconds),
        verified=bench.verified,
        code=bench.code,
        conditions={**bench.conditions, "gpus_at_work": gpus},
    )
