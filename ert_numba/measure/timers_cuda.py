"""Timing on a GPU: events in a held stream, the SM clock stamped around the work, power by NVML while it runs.

Without the hold, an event pair around one launch counts 20 to 45 microseconds of the host's launch path: the GPU is
idle when the first event is recorded.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from ert_numba.device.gpu import device_uuid
from ert_numba.device.nvml import Nvml, open_nvml
from ert_numba.kernels.cuda_clock import ClockProbe
from ert_numba.kernels.cuda_driver import CudaError, Event, synchronize, use_device
from ert_numba.kernels.cuda_program import CudaProgram
from ert_numba.kernels.spec import KernelSpec, Program
from ert_numba.measure.timers import Timing
from ert_numba.records import AxisValue, DeviceInfo, Point, Work

CALL_SECONDS = 4e-3  # a call; the events' and stamps' own cost is some microseconds
CURVE_CALL_SECONDS = 2e-3  # of reads: a curve has many points, and no figure of its own; chains need their laps
SUSTAINED_SECONDS = 0.4  # of load before the first call of a sustained figure: the power cap acts within a tenth
SUSTAINED_CALL_SECONDS = 0.15
LATENCY_CALL_SECONDS = 15e-3  # a chain in device memory needs many lines for its mean
REST_SECONDS = 0.04  # before what may meet the power cap: the cap counts what ran before, too
HOLD_SECONDS = 150e-6  # longer than the host needs to enqueue stamps, events and work
TRIES, PAUSE_SECONDS = 5, 20e-3  # of a call during which the GPU's time was set, which takes some 20 ms
WARM_SECONDS = 0.3  # from an idle clock of some 350 MHz to a flat one
_NVML_FROM_SECONDS = 0.1  # of a call, for power to be read while it runs
_MOST_REPETITIONS = 2**30


@dataclass
class CudaBench:
    """One open point on the device."""

    probe: ClockProbe
    nvml: Nvml | None
    program: Program
    state: Any
    by_host: bool
    repetitions: int = 1
    seconds: float = 0.0  # of the last call
    work: Work = field(default_factory=Work)
    code: str = ""
    verified: bool | None = None
    conditions: dict[str, AxisValue] = field(default_factory=dict)

    def once(self) -> Timing:
        return self.call(self.repetitions)

    def call(self, repetitions: int) -> Timing:
        timing = self._by_host(repetitions) if self.by_host else self._by_events(repetitions)
        self.seconds = timing.seconds
        return timing

    def _by_events(self, repetitions: int) -> Timing:
        """Again where the GPU's time was being set. What it reads in every try is its clock: GeForce parts boost past
        the maximum that the driver states, and then no later call is to be tried again for it."""
        read: list[float] = []
        for _ in range(TRIES):
            timing = self._by_events_once(repetitions)
            if timing.clock_hz is None or self.probe.credible(timing.clock_hz):
                return timing
            read.append(timing.clock_hz)
            time.sleep(PAUSE_SECONDS)
        self.probe.maximum_hz = min(read)
        return timing

    def _by_events_once(self, repetitions: int) -> Timing:
        start, stop = Event(), Event()
        self.probe.hold(HOLD_SECONDS)
        self.probe.begin()
        start.record()
        self.program.run(self.state, repetitions)
        stop.record()
        self.probe.end()
        if self.nvml is not None and self.seconds >= _NVML_FROM_SECONDS:
            time.sleep(0.7 * self.seconds)
            self.conditions |= self.nvml.conditions()
        seconds = stop.seconds_since(start)
        return Timing(seconds, self.probe.clock_hz())

    def _by_host(self, repetitions: int) -> Timing:
        """For launches, whose cost is the host's: from the first call to the end of the last."""
        synchronize()
        began = time.perf_counter()
        self.program.run(self.state, repetitions)
        synchronize()
        return Timing(time.perf_counter() - began, None)


class CudaTimer:
    """One GPU made ready: its context, the clock probe, NVML if there is one. Points stay open while memory lasts."""

    def __init__(self, device: DeviceInfo, ordinal: int, call_seconds: float = CALL_SECONDS) -> None:
        use_device(ordinal)
        self.device, self.call_seconds = device, call_seconds
        self.probe = ClockProbe(device)
        self.nvml = open_nvml(device_uuid(ordinal))
        self._open: OrderedDict[str, CudaBench] = OrderedDict()
        self._warm()

    def _warm(self) -> None:
        """Busy for a while: the clock of an idle GPU rises over tens of milliseconds."""
        began = time.monotonic()
        while time.monotonic() - began < WARM_SECONDS:
            self.probe.hold(10e-3)
            synchronize()

    def open(self, spec: KernelSpec, point: Point, repetitions: int | None) -> CudaBench:
        bench = self._open.get(point.key)
        if bench is None:
            bench = self._prepare(spec, point)
            self._open[point.key] = bench
            bench.repetitions = repetitions or self._repetitions(bench, point)
            once = spec.work(point)
            bench.work = Work(
                flop=once.flop * bench.repetitions,
                bytes_counted=once.bytes_counted * bench.repetitions,
                bytes_moved=once.bytes_moved * bench.repetitions,
                accesses=once.accesses * bench.repetitions,
            )
        bench.conditions = {"repetitions": bench.repetitions, **self._surroundings()}
        others = self.nvml.other_processes(os.getpid(), holding=True) if self.nvml else None
        if others:
            bench.conditions["other_processes"] = others
        self._settle(bench, point, rested=spec.kind == "compute" and not _sustained(point))
        return bench

    def _surroundings(self) -> dict[str, AxisValue]:
        """Temperature and throttle reasons; power is an average over what ran before, so a short call has none."""
        found = self.conditions()
        found.pop("power_watts", None)
        return found

    def conditions(self) -> dict[str, AxisValue]:
        return self.nvml.conditions() if self.nvml else {}

    @staticmethod
    def _settle(bench: CudaBench, point: Point, rested: bool) -> None:
        """One untimed call, since the first finds cold caches; of a sustained figure, load until power has settled."""
        if rested:
            time.sleep(REST_SECONDS)
        if isinstance(bench.program, CudaProgram):
            bench.program.warm(bench.state)
        loaded = bench.call(bench.repetitions if _sustained(point) else 1).seconds
        while _sustained(point) and loaded < SUSTAINED_SECONDS:
            loaded += bench.call(bench.repetitions).seconds

    def _prepare(self, spec: KernelSpec, point: Point) -> CudaBench:
        program = spec.build(point, self.device)
        try:
            state = program.prepare(0)
        except CudaError as error:
            if error.name != "CUDA_ERROR_OUT_OF_MEMORY" or not self._open:
                raise
            self._open.clear()
            state = program.prepare(0)
        bench = CudaBench(self.probe, self.nvml, program, state, by_host=spec.kind == "overhead")
        bench.verified = program.check(state)
        bench.code = program.code
        return bench

    def _repetitions(self, bench: CudaBench, point: Point) -> int:
        """Repetitions that make one call last as long as the point's kind asks.

        Of a chain a short call says little: its first lap finds the first level cold.
        """
        wanted = SUSTAINED_CALL_SECONDS if _sustained(point) else self.call_seconds
        chain, curve = point.ceiling.endswith(".latency"), point.ceiling.startswith("curve.")
        if chain != curve:
            wanted = LATENCY_CALL_SECONDS if chain else min(wanted, CURVE_CALL_SECONDS)
        count = 1
        while True:
            seconds = bench.call(count).seconds
            if seconds >= wanted or count >= _MOST_REPETITIONS:
                return count
            if seconds >= wanted / 10:
                count = max(count, round(count * wanted / seconds))
                if not chain or seconds >= wanted / 2:
                    return count
                continue
            count = min(count * (4 if seconds > wanted / 100 else 32), _MOST_REPETITIONS)

    def steal_seconds(self) -> float:
        return 0.0

    def close(self) -> None:
        self._open.clear()
        with contextlib.suppress(CudaError):  # of a lost device: what was measured is not to be lost with it
            synchronize()


def _sustained(point: Point) -> bool:
    return point.ceiling.endswith(".sustained")
