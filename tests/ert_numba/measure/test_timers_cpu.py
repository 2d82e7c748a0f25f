"""The CPU's timer: what it makes of its marks, of its memory and of other nodes; and a real point on one core."""

from __future__ import annotations

import os

import msgspec
import numpy as np
import pytest
from cpu_targets import host

from ert_numba.device.topology import Processor, Topology, probe
from ert_numba.errors import ErtError
from ert_numba.kernels.cpu_bandwidth import CPU_BANDWIDTH
from ert_numba.kernels.cpu_clock import ClockProbe
from ert_numba.kernels.cpu_latency import CPU_LATENCY, STEPS
from ert_numba.kernels.cpu_program import host_isa
from ert_numba.kernels.spec import KernelSpec
from ert_numba.measure.timers_cpu import CpuBench, CpuTimer
from ert_numba.records import Point, Work


@pytest.fixture(scope="module")
def timer():
    made = CpuTimer(host(), probe(), 1)
    yield made
    made.close()


def read_point(size: int = 16384, key: str = "L1.read") -> Point:
    axes = {"streams": 2, "page": "huge", "threads": 1, "isa": host_isa(host()).key, "working_set_bytes": size}
    return Point(kernel="cpu_bandwidth", ceiling=key, axes=axes)


def test_a_call_lasts_from_the_first_start_to_the_last_end():
    clock = ClockProbe(kernel=None, cycles=100.0, repetitions=30, trusted=True)  # 3000 cycles a probe
    bench = CpuBench(None, clock, None, [0, 0], 1, Work(), "", True)
    marks = np.zeros((2, 3, 4), np.int64)  # two workers, two calls and a last probe
    #                 probe from, to; work from, to
    marks[0] = [[0, 1000, 2000, 52_000], [60_000, 61_500, 62_000, 100_000], [110_000, 111_000, 0, 0]]
    marks[1] = [[10, 2010, 2005, 50_000], [60_000, 61_000, 62_500, 112_000], [120_000, 123_000, 0, 0]]
    first, second = bench._timings(marks)
    assert first.seconds == pytest.approx(50e-6), "2000 to 52,000 ns"
    assert second.seconds == pytest.approx(50e-6), "62,000 to 112,000 ns"
    # The faster probe beside each call: 1000 and 1000 ns; 1000 and 1000 ns.
    assert first.clock_hz == pytest.approx((3e9 + 3e9) / 2)
    marks[1, 1:, 1] += 1000
    assert bench._timings(marks)[1].clock_hz == pytest.approx((3e9 + 1.5e9) / 2), "the mean of the cores"


@pytest.mark.parametrize(("late_for", "asked", "marked"), [(0, 1, False), (2, 3, False), (3, 4, True)])
def test_calls_that_a_worker_is_late_for_are_tried_again_and_at_last_marked(monkeypatch, late_for, asked, marked):
    """The first ``late_for`` batches find the second worker late for every call: its work marks stay 0."""
    clock = ClockProbe(kernel=None, cycles=100.0, repetitions=30, trusted=True)
    bench = CpuBench(None, clock, None, [0, 0], 1, Work(), "", True, call_seconds=50e-6)
    graces = []

    def batch(repetitions: int, calls: int, wake: int, grace_ns: int) -> np.ndarray:
        graces.append(grace_ns)
        row = [[0, 1000, 2000, 52_000], [60_000, 61_000, 0, 0]]
        late = [[0, 1000, 0, 0], [60_000, 61_000, 0, 0]]
        return np.array([row, late if len(graces) <= late_for else row], np.int64)

    monkeypatch.setattr(bench, "_marks", batch)
    (timing,) = bench.batch(1, 1)
    assert timing.seconds == pytest.approx(50e-6)
    assert len(graces) == asked
    assert bench.conditions == ({"workers_late": True} if marked else {})


def test_an_open_point_declares_the_work_of_a_call(timer):
    point = read_point()
    bench = timer.open(CPU_BANDWIDTH, point, None)
    once, repetitions = CPU_BANDWIDTH.work(point), bench.conditions["repetitions"]
    assert bench.work == Work(
        bytes_counted=once.bytes_counted * repetitions, bytes_moved=once.bytes_moved * repetitions
    )
    assert bench.verified
    assert "load" in bench.code
    timings = [bench.once() for _ in range(30)]
    assert all(row.seconds > 0 and 1e8 < row.clock_hz < 1e10 for row in timings)
    again = timer.open(CPU_BANDWIDTH, point, repetitions)
    assert again.conditions["repetitions"] == repetitions
    assert again.work == bench.work


def test_latency_counts_single_loads(timer):
    point = Point(
        kernel="cpu_latency",
        ceiling="L1.latency",
        axes={"threads": 1, "page": "huge", "seed": 1, "working_set_bytes": 16384},
    )
    bench = timer.open(CPU_LATENCY, point, None)
    assert bench.work.accesses == STEPS * bench.conditions["repetitions"]


def test_more_workers_than_processors_are_refused():
    with pytest.raises(ErtError, match="--threads"):
        CpuTimer(host(), probe(), 100_000)


def test_a_set_that_the_memory_does_not_hold_is_refused_before_it_is_touched(timer, monkeypatch):
    monkeypatch.setattr(timer, "device", msgspec.structs.replace(host(), memory_bytes=1 << 20))
    with pytest.raises(ErtError, match="--sizes"):
        timer.open(CPU_BANDWIDTH, read_point(1 << 30), None)


def test_a_wrong_result_is_handed_on(timer):
    built = CPU_BANDWIDTH.build(read_point(), host())
    broken = type(built)(**{**built.__dict__, "gold": lambda: False})
    spec = KernelSpec(
        name="broken",
        device_kind="cpu",
        kind="bandwidth",
        points=CPU_BANDWIDTH.points,
        work=CPU_BANDWIDTH.work,
        build=lambda point, device: broken,
    )
    assert timer.open(spec, read_point(), 1).verified is False


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_remote_memory_is_touched_elsewhere_and_read_at_home(timer, monkeypatch):
    home = timer.team.workers[0].cpu
    away = next(cpu for cpu in sorted(os.sched_getaffinity(0)) if cpu != home)
    rows = (Processor(cpu=home, core=0, socket=0, node=0), Processor(cpu=away, core=1, socket=1, node=1))
    monkeypatch.setattr(timer, "topology", Topology(processors=rows))
    places = []

    def task(worker):
        touch = timer._elsewhere(worker)
        touch(lambda: places.append(os.sched_getaffinity(0)))
        places.append(os.sched_getaffinity(0))
        with pytest.raises(ZeroDivisionError):
            touch(lambda: 1 / 0)
        places.append(os.sched_getaffinity(0))

    timer.team.run(task, 1)
    assert places == [{away}, {home}, {home}], "home again, also after a failure"


def test_with_one_node_nothing_is_touched_elsewhere(timer, monkeypatch):
    rows = (Processor(cpu=timer.team.workers[0].cpu, core=0, socket=0, node=0),)
    monkeypatch.setattr(timer, "topology", Topology(processors=rows))
    assert timer._elsewhere(timer.team.workers[0]) is None


def test_stolen_time_is_never_negative(timer):
    assert timer.steal_seconds() >= 0
