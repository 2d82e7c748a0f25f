"""A back end for the command line and the API that measures a made-up machine in no time."""

from __future__ import annotations

from typing import Any

import msgspec
from fake_timer import FakeTimer
from made_up_sweeps import device as made_up_device

from ert_numba import backends
from ert_numba.backends import Backend
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.measure import sweep
from ert_numba.measure.sweep import Plan
from ert_numba.records import DeviceInfo, Point, Skipped, Work

RATES = {"fp64.vector.fma": 96e9, "L1.read": 380e9, "DRAM.read": 30e9, "L1.latency": 1e9}
AMOUNT = 3e6
SIZES = tuple(4096 << power for power in range(10))


def points(device: DeviceInfo, request: Request) -> list[Point | Skipped]:
    """Four ceilings; a curve beside them, which takes a second to fit, only where sizes are asked for."""
    rows: list[Point | Skipped] = [
        Point(kernel="fake", ceiling=key, axes={"threads": device.units, "working_set_bytes": 16384}) for key in RATES
    ]
    for size in request.sizes:
        axes = {"threads": device.units, "working_set_bytes": size}
        rows.append(Point(kernel="fake", ceiling="curve.read", axes=axes))
    return [*rows, Skipped(what="AMX", reason="present, and not measured yet")]


def work(point: Point) -> Work:
    if point.ceiling.endswith("latency"):
        return Work(accesses=AMOUNT)
    if point.ceiling.startswith("fp"):
        return Work(flop=AMOUNT)
    return Work(bytes_counted=AMOUNT, bytes_moved=AMOUNT)


def seconds(point: Point, call: int) -> float:
    rate = RATES.get(point.ceiling, 0.0)
    if point.ceiling == "curve.read":
        rate = 380e9 if int(point.axes["working_set_bytes"]) <= 48 << 10 else 90e9
    return 3 * AMOUNT / rate * (1 + 0.002 * ((call * 7) % 5))


class _Timer(FakeTimer):
    def open(self, spec: KernelSpec, point: Point, repetitions: int | None) -> Any:
        bench = super().open(spec, point, repetitions)
        once = work(point)
        values = {name: 3 * getattr(once, name) for name in once.__struct_fields__}
        bench.work = Work(**values)
        return bench


class FakeMachine:
    """Stands in for this host; ``opened`` counts the timers that were asked for."""

    def __init__(self, monkeypatch: Any, **changes: object) -> None:
        self.device = msgspec.structs.replace(made_up_device(), **changes)
        self.interrupt_at: int | None = None
        self.opened = 0
        self.timer: _Timer | None = None
        self._patch = monkeypatch
        spec = KernelSpec(
            name="fake", device_kind="cpu", kind="bandwidth", points=points, work=work, build=self._no_build
        )
        self.backend = Backend(
            device=self.device,
            kernels=(spec,),
            absent=(),
            open_timer=self._open,
            plan=lambda budget: Plan(budget_seconds=budget),
            budgets=(100.0, 50.0),
        )
        monkeypatch.setitem(backends.BACKENDS, "cpu", lambda ordinal: self.backend)

    @staticmethod
    def _no_build(point: Point, device: DeviceInfo) -> Any:
        raise AssertionError("a made-up machine builds nothing")

    def _open(self, request: Request) -> _Timer:
        self.opened += 1
        self.timer = _Timer(seconds, interrupt_at=self.interrupt_at)
        self._patch.setattr(sweep, "time", self.timer.time)
        return self.timer
