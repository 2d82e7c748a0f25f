"""A device whose points have made-up rates, on a clock that moves only when something is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from ert_numba.kernels.spec import KernelSpec
from ert_numba.measure.timers import Timing
from ert_numba.records import AxisValue, Point, Work


def _none(*arguments: Any) -> Any:
    raise AssertionError("a fake timer builds nothing")


KERNEL = KernelSpec(
    name="fake",
    device_kind="cpu",
    kind="bandwidth",
    points=_none,
    work=lambda point: Work(bytes_counted=1e6),
    build=_none,
)


class FakeTimer:
    """``seconds(point, call)`` is how long a call takes; ``refusals`` are raised by ``open``, by ceiling.

    ``interrupt_at``: the how-manieth event (an opening or a call) raises KeyboardInterrupt.
    """

    def __init__(
        self,
        seconds: Callable[[Point, int], float],
        refusals: dict[str, Exception] | None = None,
        interrupt_at: int | None = None,
        open_seconds: float = 0.0,
    ) -> None:
        self.seconds, self.refusals, self.interrupt_at = seconds, refusals or {}, interrupt_at
        self.open_seconds = open_seconds
        self.now, self.events, self.opened, self.closed = time.monotonic(), 0, [], False
        self.calls: dict[str, int] = {}
        self.verified: dict[str, bool] = {}

    @property
    def time(self) -> Any:
        """Stands in for the module ``time``."""
        return SimpleNamespace(monotonic=lambda: self.now)

    def event(self) -> None:
        self.events += 1
        if self.events == self.interrupt_at:
            raise KeyboardInterrupt

    def open(self, spec: KernelSpec, point: Point, repetitions: int | None) -> FakeBench:
        self.opened.append((point.key, repetitions))
        self.now += self.open_seconds
        self.event()
        if point.ceiling in self.refusals:
            raise self.refusals[point.ceiling]
        return FakeBench(self, point, repetitions or 3)

    def steal_seconds(self) -> float:
        return 0.0

    def conditions(self) -> dict[str, AxisValue]:
        return {}

    def close(self) -> None:
        self.closed = True


class FakeBench:
    def __init__(self, timer: FakeTimer, point: Point, repetitions: int) -> None:
        self.timer, self.point = timer, point
        self.work = Work(bytes_counted=1e6 * repetitions)
        self.code = "1 load = 1 x 1"
        self.verified: bool | None = timer.verified.get(point.ceiling, True)
        self.conditions: dict[str, AxisValue] = {"repetitions": repetitions}

    def once(self) -> Timing:
        self.timer.event()
        call = self.timer.calls.get(self.point.key, 0)
        self.timer.calls[self.point.key] = call + 1
        seconds = self.timer.seconds(self.point, call)
        self.timer.now += seconds
        return Timing(seconds, 3e9)


def points(ceilings: Iterable[str], **axes: AxisValue) -> list[Point]:
    return [Point(kernel="fake", ceiling=ceiling, axes=axes) for ceiling in ceilings]
