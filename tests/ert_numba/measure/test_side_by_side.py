"""The timetable of GPUs that are measured at once, on clocks that are made up."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("numba_cuda")

from ert_numba.kernels.spec import Request
from ert_numba.measure import side_by_side
from ert_numba.measure.side_by_side import SLOT_SECONDS, keep_timetable, shared_points
from ert_numba.measure.timers import Timing
from ert_numba.records import DeviceInfo, Point, Work

POINTS = [(None, Point(kernel="x", ceiling=key)) for key in ("HOST.h2d_pinned", "bf16.tensor.cublas.sustained")]


class Clock:
    """Moves when somebody sleeps or works; ``late`` is when its process comes to the first slot."""

    def __init__(self, late: float = 0.0) -> None:
        self.time = 100.0 + late
        self.called: list[tuple[str, float]] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


class Bench:
    code, verified, conditions = "x", True, {"repetitions": 1}

    def __init__(self, clock: Clock, name: str, seconds: float) -> None:
        self.clock, self.name, self.seconds, self.work = clock, name, seconds, Work(flop=1.0)

    def once(self) -> Timing:
        self.clock.called.append((self.name, self.clock.time))
        self.clock.time += self.seconds
        return Timing(self.seconds, 1e9)


def kept(clock: Clock, seconds: float = 0.03) -> tuple[Any, ...]:
    benches: Any = [Bench(clock, point.ceiling, seconds) for _, point in POINTS]
    return keep_timetable(POINTS, benches, 101.0, 4, clock.now, clock.sleep)  # type: ignore[arg-type]


def test_every_process_is_at_the_same_point_at_the_same_time() -> None:
    early, late = Clock(), Clock(late=1.2)
    one, other = kept(early, 0.03), kept(late, 0.011)
    for clock in (early, late):
        for number, (_, point) in enumerate(POINTS):
            times = [at for name, at in clock.called if name == point.ceiling]
            assert min(times) >= 101.0 + number * SLOT_SECONDS
            assert max(times) < 101.0 + (number + 1) * SLOT_SECONDS
    assert [row.point.ceiling for row in one] == [f"{point.ceiling}@neighbours" for _, point in POINTS]
    assert all(row.conditions["gpus_at_work"] == 4 for row in (*one, *other))


def test_calls_before_the_others_are_surely_at_work_are_not_kept() -> None:
    clock = Clock()
    (first, sustained) = kept(clock, 0.01)
    assert len(first.seconds) < sum(name == "HOST.h2d_pinned" for name, _ in clock.called)
    assert len(sustained.seconds) < len(first.seconds), "power settles longer"
    assert len(first.clock_hz) == len(first.seconds)


def test_a_call_that_outlasts_its_slot_is_not_kept() -> None:
    assert kept(Clock(), 2 * SLOT_SECONDS) == ()


def test_the_points_are_those_that_the_sweep_measures_too() -> None:
    device = DeviceInfo(
        kind="gpu", name="x", vendor="NVIDIA", architecture="sm_90", units=132, threads=132 * 2048,
        memory_bytes=140 << 30,
    )  # fmt: skip
    whole = [point.ceiling for _, point in shared_points(device, Request())]
    assert whole == list(side_by_side.CEILINGS)
    quick = [point.ceiling for _, point in shared_points(device, Request(quick=True))]
    assert quick == [key for key in side_by_side.CEILINGS if not key.endswith("sustained")]
    some = [point.ceiling for _, point in shared_points(device, Request(levels=("DRAM",), precisions=("fp64",)))]
    assert some == ["DRAM.read"]
