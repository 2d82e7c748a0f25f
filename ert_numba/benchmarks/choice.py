"""Which point of the registry stands for a ceiling in the suite: fixed by the device, never tuned between two runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import AxisValue, DeviceInfo, Point, Skipped

# (kernel, beginning of the ceiling's key, axes): where another point than the first offered one led its rivals, in the
# runs that results/ holds. On a CPU several streams and huge pages make the device-memory roof.
PREFERRED: tuple[tuple[str, str, dict[str, AxisValue]], ...] = (
    ("cpu_bandwidth", "DRAM.", {"streams": 4, "page": "huge"}),
)
# Added to a kernel's points: what a process would choose for itself is fixed. Of cuBLASLt's proposals the fastest one
# changes from start to start (in 12 starts on an H200 twice for FP64, five times for FP16); its first is what a library
# tells everybody, and another one after an update is a change that users see.
FIXED: dict[str, dict[str, AxisValue]] = {"cublas_gemm": {"proposals": 1}}
# Launches in a round, by ceiling, some 4 ms each: the first few cost more, so a number calibrated anew in each start (9
# or 29 graphs, as a quick or a slow moment had it) moved the mean by 1 %.
LAUNCHES: dict[str, int] = {"launch.stream": 800, "launch.round_trip": 400, "launch.graph": 32}


@dataclass(frozen=True)
class Chosen:
    """One benchmark: ``key`` is the ceiling's, and unique in the suite. ``repetitions`` of its work make a round; None:
    as many as make it last."""

    spec: KernelSpec
    point: Point
    repetitions: int | None = None

    @property
    def key(self) -> str:
        return self.point.ceiling


def choose_points(
    kernels: Iterable[KernelSpec], device: DeviceInfo, request: Request
) -> tuple[dict[str, Chosen], tuple[Skipped, ...]]:
    """One benchmark a ceiling by key, in the registry's order, and what this device does not offer, with the reason.

    Of a curve there is none where the kernel has ceilings of its own, which are the curve's plateaus; else its first
    point, well inside the level. Of a series of intensities it is the middle one, near the ridge, where both roofs
    count.
    """
    chosen: dict[str, Chosen] = {}
    skipped: dict[str, Skipped] = {}
    for spec in kernels:
        rivals: dict[str, list[Point]] = {}
        for item in spec.points(device, request):
            if isinstance(item, Skipped):
                skipped.setdefault(item.what, item)
            else:
                rivals.setdefault(item.ceiling, []).append(item)
        plateaus = any(not key.startswith("curve.") for key in rivals)
        for key, points in rivals.items():
            if key.startswith("curve.") and plateaus:
                reason = "a curve has no one rate: its plateaus are benchmarks of their own, its knees a sweep's"
                skipped[key] = Skipped(what=key, reason=reason)
            else:
                point = _representative(spec.name, key, points)
                axes = {**point.axes, **FIXED.get(spec.name, {})}
                chosen[key] = Chosen(spec, msgspec.structs.replace(point, axes=axes), LAUNCHES.get(key))
    return chosen, tuple(skipped.values())


def _representative(kernel: str, key: str, points: list[Point]) -> Point:
    if key.startswith("intensity."):
        return points[len(points) // 2]
    wanted = next((axes for name, prefix, axes in PREFERRED if name == kernel and key.startswith(prefix)), {})
    return next((point for point in points if wanted.items() <= point.axes.items()), points[0])
