"""Timing on a CPU: a pinned team that starts together, the clock probed on every core before and after the work."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ert_numba.device.topology import Topology
from ert_numba.errors import ErtError
from ert_numba.kernels.cpu_clock import ClockProbe, make_probe
from ert_numba.kernels.cpu_program import CpuProgram, host_isa
from ert_numba.kernels.spec import KernelSpec
from ert_numba.measure.native import timed_call
from ert_numba.measure.team import Team, Worker
from ert_numba.measure.timers import Timing
from ert_numba.records import AxisValue, DeviceInfo, Point, Work
from ert_numba.units import capacity

CALL_SECONDS = 1.5e-3  # long against the skew of the workers' starts (some 10 us), short against a neighbour's burst
WARM_SECONDS, WARM_CALL, WARM_AGREEING, WARM_TOLERANCE = 1.0, 100, 6, 1.01
START_NS, START_NS_PER_WORKER = 60_000, 30_000  # how far ahead a common start is set: a thread's wake-up


@dataclass
class CpuBench:
    """One open point on the team."""

    team: Team
    probe: ClockProbe
    program: CpuProgram
    addresses: list[int]
    repetitions: int
    work: Work
    code: str
    verified: bool | None
    conditions: dict[str, AxisValue] = field(default_factory=dict)
    first: Timing | None = None  # of the calibration, where that was a whole call already

    def marks(self, repetitions: int) -> npt.NDArray[np.int64]:
        """One row a worker of the six times that ``timed_call`` takes."""
        marks = np.zeros((len(self.addresses), 6), np.int64)
        start_ns = time.monotonic_ns() + START_NS + START_NS_PER_WORKER * len(self.addresses)
        program, probe = self.program, self.probe

        def call(worker: Worker) -> float:
            return float(
                timed_call(
                    program.kernel.address,
                    repetitions,
                    self.addresses[worker.index],
                    program.size_bytes,
                    probe.kernel.address,
                    probe.repetitions,
                    start_ns,
                    marks[worker.index],
                )
            )

        self.team.run(call, len(self.addresses))
        return marks

    def once(self) -> Timing:
        if self.first is not None:
            timing, self.first = self.first, None
            return timing
        return self.timing(self.marks(self.repetitions))

    def timing(self, marks: npt.NDArray[np.int64]) -> Timing:
        """From the first worker's start to the last one's end; the mean of the cores' clocks."""
        seconds = float(marks[:, 3].max() - marks[:, 2].min()) * 1e-9
        # A probe can only be slowed from outside (interrupts, steal): the faster one of the two tells the clock.
        fastest = np.minimum(marks[:, 1] - marks[:, 0], marks[:, 5] - marks[:, 4])
        return Timing(seconds, float(np.mean([self.probe.clock_hz(int(ns)) for ns in fastest])))


class CpuTimer:
    """The CPU made ready: threads pinned, the clock probe calibrated on the first worker's core."""

    def __init__(self, device: DeviceInfo, topology: Topology, workers: int) -> None:
        self.device, self.topology = device, topology
        placement = topology.placement
        if workers > len(placement):
            raise ErtError(
                f"{workers} threads", f"{len(placement)} processors that may be used", "Ask for fewer with --threads"
            )
        self.team = Team([row.cpu for row in placement[:workers]])
        self.probe = self.team.run(lambda worker: make_probe(host_isa(device)), 1)[0]
        self.team.run(self._warm, workers)
        self._steal_start = _steal_seconds()
        self._granted: dict[str, bool] = {}  # by page kind: reading it takes some 10 ms

    def _warm(self, worker: Worker) -> None:
        """Wide vectors until the clock is flat, for a second at most: a resting core's clock rises over some 100 ms."""
        began = time.monotonic()
        clocks: list[float] = []
        while time.monotonic() - began < WARM_SECONDS:
            start = time.monotonic_ns()
            self.probe.kernel(WARM_CALL * self.probe.repetitions)
            clocks.append(WARM_CALL * self.probe.clock_hz(time.monotonic_ns() - start))
            last = clocks[-WARM_AGREEING:]
            if len(last) == WARM_AGREEING and max(last) <= min(last) * WARM_TOLERANCE:
                return

    def open(self, spec: KernelSpec, point: Point, repetitions: int | None) -> CpuBench:
        program = spec.build(point, self.device)
        if not isinstance(program, CpuProgram):
            raise TypeError(f"{spec.name} is no kernel of a CPU")
        workers = int(point.axes["threads"])
        self._check_memory(program, workers)
        addresses = self.team.run(lambda worker: program.prepare(worker.arena, self._elsewhere(worker)), workers)
        verified = self.team.run(lambda worker: program.check(0), 1)[0]
        bench = CpuBench(self.team, self.probe, program, addresses, 1, spec.work(point), program.code, verified)
        chosen = repetitions or self._repetitions(bench)
        once = spec.work(point)
        bench.repetitions = chosen
        bench.work = Work(
            flop=once.flop * chosen,
            bytes_counted=once.bytes_counted * chosen,
            bytes_moved=once.bytes_moved * chosen,
            accesses=once.accesses * chosen,
        )
        bench.conditions = {"repetitions": chosen, "clock_probe": "trusted" if self.probe.trusted else "integer chain"}
        if program.memory_bytes:
            if program.page not in self._granted:
                self._granted[program.page] = program.page == "huge" and _huge_pages_granted()
            bench.conditions["huge_pages"] = self._granted[program.page]
        return bench

    def _check_memory(self, program: CpuProgram, workers: int) -> None:
        needed = program.memory_bytes * workers
        if self.device.memory_bytes and needed > self.device.memory_bytes * 3 // 4:
            raise ErtError(
                f"a working set of {capacity(needed)}",
                f"{capacity(self.device.memory_bytes)} of memory that may be used",
                "Ask for smaller --sizes",
            )

    @staticmethod
    def _repetitions(bench: CpuBench) -> int:
        """Repetitions in one call, so that it lasts CALL_SECONDS: more until a call is long enough to extrapolate."""
        count = 1
        while True:
            marks = bench.marks(count)
            seconds = float((marks[:, 3] - marks[:, 2]).max()) * 1e-9
            if seconds >= CALL_SECONDS:
                bench.first = bench.timing(marks)
                return count
            if seconds >= CALL_SECONDS / 10:
                return max(count, round(count * CALL_SECONDS / seconds))
            count *= 4 if seconds > CALL_SECONDS / 100 else 32

    def _elsewhere(self, worker: Worker) -> Callable[[Callable[[], None]], None] | None:
        """Runs a first touch on a processor of another memory node, then comes home."""
        away = self.topology.on_another_node(worker.cpu)
        if away is None:
            return None

        def touch(fill: Callable[[], None]) -> None:
            os.sched_setaffinity(0, {away})
            try:
                fill()
            finally:
                os.sched_setaffinity(0, {worker.cpu})

        return touch

    def steal_seconds(self) -> float:
        return _steal_seconds() - self._steal_start

    def close(self) -> None:
        self.team.run(lambda worker: worker.arena.release(), len(self.team.workers))
        self.team.close()


def _steal_seconds() -> float:
    """Time that the hypervisor gave to others, over all processors."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
        return int(fields[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


def _huge_pages_granted() -> bool:
    """Whether the kernel backs this process with huge pages at all at this moment."""
    try:
        for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
            if line.startswith("AnonHugePages:"):
                return int(line.split()[1]) > 0
    except (OSError, ValueError):
        pass
    return False
