"""The GPU's plan in the common loop: one visit of six calls settles a quiet point, a sustained one too."""

from __future__ import annotations

import time
from typing import Any

import pytest

pytest.importorskip("numba_cuda")

from ert_numba.kernels.spec import KernelSpec
from ert_numba.measure.gpu_sweep import gpu_plan
from ert_numba.measure.sweep import Track, measure
from ert_numba.measure.timers import Timing
from ert_numba.records import Point, Work


class QuietBench:
    """Calls that all last as long."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.work, self.code, self.verified = seconds, Work(flop=1.0), "x", True
        self.conditions: dict[str, Any] = {"repetitions": 1}

    def once(self) -> Timing:
        return Timing(self.seconds, 1e9)


class QuietTimer:
    def __init__(self, seconds: float) -> None:
        self.seconds, self.opened = seconds, 0

    def open(self, spec: KernelSpec, point: Point, repetitions: int | None) -> QuietBench:
        self.opened += 1
        return QuietBench(self.seconds)

    def steal_seconds(self) -> float:
        return 0.0

    def close(self) -> None:
        return None


@pytest.mark.parametrize(
    ("ceiling", "seconds"),
    [("fp32.vector.fma", 4e-3), ("fp16.tensor.cublas.sustained", 0.17), ("DRAM.latency", 0.03)],
)
def test_a_quiet_point_is_visited_once_for_six_calls(ceiling: str, seconds: float) -> None:
    opened, calls = visited(ceiling, seconds)
    assert opened == 1
    assert calls == 6


def test_a_link_that_others_use_is_visited_at_several_moments() -> None:
    opened, calls = visited("HOST.both_pinned", 4e-3)
    assert opened == 3
    assert calls == 18


@pytest.mark.parametrize(
    ("ceiling", "full_clock_hz", "visits"),
    [
        ("fp16.tensor.wgmma", 1.10e9, 3),  # held back by power: the clock moves from second to second
        ("fp16.tensor.wgmma", 1.01e9, 1),
        ("fp16.tensor.wgmma", None, 1),
        ("fp16.tensor.cublas.sustained", 1.10e9, 1),
    ],
)
def test_what_power_holds_back_is_visited_at_several_moments(
    ceiling: str, full_clock_hz: float | None, visits: int
) -> None:
    assert visited(ceiling, 4e-3, full_clock_hz) == (visits, 6 * visits)


def test_a_curve_is_refined_before_anything_is_repeated() -> None:
    """A budget that ends early must not end between the first sizes and those where the curve falls."""
    sizes = [7_500 << k for k in range(6)]
    points = [Point(kernel="x", ceiling="curve.read.ca", axes={"working_set_bytes": size << 10}) for size in sizes]

    class FallingTimer(QuietTimer):
        order: list[int] = []  # noqa: RUF012

        def open(self, spec: KernelSpec, point: Point, repetitions: int | None) -> QuietBench:
            size = int(point.axes["working_set_bytes"])
            self.order.append(size)
            return QuietBench(1e-3 if size < 45_000 << 10 else 2e-3)

    timer = FallingTimer(1e-3)
    measure([Track(SPEC, point) for point in points], timer, gpu_plan(30.0), lambda progress: None, time.monotonic())
    first = [int(point.axes["working_set_bytes"]) for point in points]
    assert timer.order[: len(first)] == first
    assert timer.order[len(first)] not in first


SPEC = KernelSpec(
    name="x", device_kind="gpu", kind="compute", points=lambda device, request: (), work=lambda point: Work(),
    build=lambda point, device: None,  # type: ignore[arg-type,return-value]
)  # fmt: skip


def visited(ceiling: str, seconds: float, full_clock_hz: float | None = None) -> tuple[int, int]:
    """(visits, calls) of a point that never scatters, at a clock of 1 GHz."""
    timer = QuietTimer(seconds)
    track = Track(SPEC, Point(kernel="x", ceiling=ceiling))
    outcome = measure([track], timer, gpu_plan(30.0, full_clock_hz), lambda progress: None, time.monotonic())
    assert not outcome.samples[0].noisy
    return timer.opened, len(outcome.samples[0].seconds)
