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
from ert_numba.kernels.cpu_clock import PROBE_SECONDS, ClockProbe, make_probe
from ert_numba.kernels.cpu_program import CpuProgram, host_isa
from ert_numba.kernels.spec import KernelSpec
from ert_numba.measure.native import WARM_PART, timed_calls
from ert_numba.measure.team import Team, Worker
from ert_numba.measure.timers import Timing
from ert_numba.records import AxisValue, DeviceInfo, Point, Work
from ert_numba.units import capacity

CALL_SECONDS = 150e-6  # long against the clock's resolution and the workers' skew (below 1 us), short against bursts
BATCH_SECONDS, MOST_CALLS = 4e-3, 24
LOOK_AGAIN = ((0.02, 6), (0.2, 2), (float("inf"), 0))  # by a call's length: calls more, since bursts last up to 20 ms
WARM_BYTES = 16 * 1024 * 1024  # a set up to this size is brought into the caches before it is timed
SLACK = 1.4  # of a schedule: how much slower than expected a probe or a call may be without delaying the next
WARM_SECONDS, WARM_CALL, WARM_AGREEING, WARM_TOLERANCE = 1.0, 100, 6, 1.01
START_NS, START_NS_PER_WORKER = 60_000, 30_000  # how far ahead a common start is set: a thread's wake-up
# (times that, how late a worker may be in ns): where others use the cores a thread wakes late; last, lateness counts.
PATIENCE = ((1, 3_000), (10, 3_000), (100, 3_000), (10, 10**12))


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
    call_seconds: float = 0.0  # as the calibration saw it
    ready: list[Timing] = field(default_factory=list)  # timed, and not asked for yet

    def batch(self, repetitions: int, calls: int) -> list[Timing]:
        """Time up to ``calls`` calls, at least one, on one schedule of all workers, without a return to Python between.

        Calls for which a worker was late are left out; a batch with none left is tried again, with more time to wake.
        """
        for wake, grace_ns in PATIENCE:
            timings = self._timings(self._marks(repetitions, calls, wake, grace_ns))
            if timings:
                break
        if grace_ns == PATIENCE[-1][1]:
            self.conditions["workers_late"] = True  # their lag is in these times
        return timings

    def _marks(self, repetitions: int, calls: int, wake: int, grace_ns: int) -> npt.NDArray[np.int64]:
        """One page a worker of what ``timed_calls`` notes."""
        workers = len(self.addresses)
        marks = np.zeros((workers, calls + 1, 4), np.int64)
        lead_ns = int(PROBE_SECONDS * (1 + 1 / WARM_PART) * 1e9 * SLACK)
        period_ns = lead_ns + int(self.call_seconds * 1e9 * SLACK)
        start_ns = time.monotonic_ns() + wake * (START_NS + START_NS_PER_WORKER * workers)
        program, probe = self.program, self.probe

        def call(worker: Worker) -> float:
            return float(
                timed_calls(
                    program.kernel.address,
                    repetitions,
                    self.addresses[worker.index],
                    program.size_bytes,
                    probe.kernel.address,
                    probe.repetitions,
                    start_ns,
                    lead_ns,
                    period_ns,
                    grace_ns,
                    marks[worker.index],
                )
            )

        self.team.run(call, workers)
        return marks

    def once(self) -> Timing:
        if not self.ready:
            # Short calls find the gaps between a neighbour's bursts; in one batch they cost no more than a long one.
            calls = min(MOST_CALLS, max(1, int(BATCH_SECONDS / self.call_seconds)))
            self.ready = self.batch(self.repetitions, calls)[::-1]
        return self.ready.pop()

    def _timings(self, marks: npt.NDArray[np.int64]) -> list[Timing]:
        """Per call that all workers made: from the first start to the last end, and the mean of the cores' clocks."""
        together = marks[:, :-1, 2].min(axis=0) > 0
        seconds = (marks[:, :-1, 3].max(axis=0) - marks[:, :-1, 2].min(axis=0))[together] * 1e-9
        probes = marks[:, :, 1] - marks[:, :, 0]
        # A probe can only be slowed from outside (interrupts, steal): the faster one beside a call tells its clock.
        fastest = np.minimum(probes[:, :-1], probes[:, 1:])[:, together]
        clocks = np.mean(self.probe.repetitions * self.probe.cycles / (fastest * 1e-9), axis=0)
        return [Timing(round(float(s), 9), float(round(c, -4))) for s, c in zip(seconds, clocks, strict=True)]


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
        if 0 < program.memory_bytes <= WARM_BYTES:
            bench.batch(program.pass_repetitions, 1)  # else the first short calls would find the set in memory
        chosen = repetitions or self._repetitions(bench)
        bench.call_seconds = bench.call_seconds or bench.batch(chosen, 1)[0].seconds
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
            calls = bench.batch(count, 1)
            if calls[0].seconds >= CALL_SECONDS / 10:
                # One burst would settle for a call that does next to nothing, for the whole sweep: look again, each
                # time with a new start, since a worker that was late stays late for a whole batch.
                again = next(more for below, more in LOOK_AGAIN if calls[0].seconds < below)
                calls += [bench.batch(count, 1)[0] for _ in range(again)]
            bench.call_seconds = min(call.seconds for call in calls)
            if bench.call_seconds >= CALL_SECONDS:
                bench.ready = calls
                return count
            if bench.call_seconds >= CALL_SECONDS / 10:
                wanted = max(count, round(count * CALL_SECONDS / bench.call_seconds))
                bench.call_seconds *= wanted / count
                return wanted
            count *= 4 if bench.call_seconds > CALL_SECONDS / 100 else 32

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

    def conditions(self) -> dict[str, AxisValue]:
        return {}

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
