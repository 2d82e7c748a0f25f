"""The GPU's timer on a device that is not there: how it chooses repetitions, settles, and survives full memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("cuda.bindings.driver")

from ert_numba.kernels.cuda_clock import ClockProbe
from ert_numba.kernels.cuda_driver import CudaError
from ert_numba.kernels.cuda_program import CudaProgram
from ert_numba.kernels.spec import KernelSpec
from ert_numba.measure import timers_cuda
from ert_numba.measure.timers import Timing
from ert_numba.measure.timers_cuda import CALL_SECONDS, LATENCY_CALL_SECONDS, CudaBench, CudaTimer
from ert_numba.records import DeviceInfo, Point, Work

POINT = Point(kernel="made up", ceiling="fp32.vector.fma", axes={"n": 1})


class MadeUpProgram:
    """Takes ``seconds`` a repetition; ``prepare`` fails as often as it is told to."""

    code = "made up"

    def __init__(self, seconds: float, failures: int = 0) -> None:
        self.seconds, self.failures, self.calls = seconds, failures, []  # type: ignore[var-annotated]

    def prepare(self, worker: int) -> str:
        if self.failures:
            self.failures -= 1
            raise CudaError("cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY")
        return "state"

    def run(self, state: Any, repetitions: int) -> float:
        self.calls.append(repetitions)
        return 0.0

    def check(self, state: Any) -> bool:
        return True


def spec(program: MadeUpProgram) -> KernelSpec:
    return KernelSpec(
        name="made up", device_kind="gpu", kind="compute", points=lambda device, request: (),
        work=lambda point: Work(flop=10.0), build=lambda point, device: program,
    )  # fmt: skip


@pytest.fixture
def timer(monkeypatch: pytest.MonkeyPatch) -> CudaTimer:
    """A timer whose calls last as long as the program says."""

    def call(self: CudaBench, repetitions: int) -> Timing:
        self.program.run(self.state, repetitions)
        self.seconds = repetitions * self.program.seconds  # type: ignore[attr-defined]
        return Timing(self.seconds, 1e9)

    monkeypatch.setattr(timers_cuda, "use_device", lambda ordinal: None)
    monkeypatch.setattr(timers_cuda, "device_uuid", lambda ordinal: "GPU-1")
    monkeypatch.setattr(timers_cuda, "open_nvml", lambda uuid: None)
    monkeypatch.setattr(timers_cuda, "ClockProbe", lambda device: None)
    monkeypatch.setattr(timers_cuda, "synchronize", lambda: None)
    monkeypatch.setattr(CudaTimer, "_warm", lambda self: None)
    monkeypatch.setattr(CudaBench, "call", call)
    return CudaTimer(DeviceInfo(kind="gpu", name="x", vendor="NVIDIA", architecture="sm_90", units=1), 0)


def test_closing_a_lost_device_raises_nothing(timer: CudaTimer, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise CudaError("cuStreamSynchronize", "CUDA_ERROR_ILLEGAL_ADDRESS")

    monkeypatch.setattr(timers_cuda, "synchronize", fail)
    timer.close()


@pytest.mark.parametrize("seconds", [1e-9, 3e-7, 1e-4, 4e-3, 0.2])
def test_a_call_lasts_long_enough(timer: CudaTimer, seconds: float) -> None:
    bench = timer.open(spec(MadeUpProgram(seconds)), POINT, None)
    assert bench.once().seconds >= 0.66 * CALL_SECONDS
    assert bench.once().seconds <= max(1.01 * CALL_SECONDS, seconds)
    assert bench.work.flop == 10.0 * bench.repetitions
    assert bench.conditions["repetitions"] == bench.repetitions


@pytest.mark.parametrize(("ceiling", "wanted"), [("curve.latency", CALL_SECONDS), ("L1.latency", LATENCY_CALL_SECONDS)])
@pytest.mark.parametrize("lap_seconds", [0.0, 1.5e-4, 9e-4])
def test_a_chain_is_long_against_its_first_lap(
    ceiling: str, wanted: float, lap_seconds: float, timer: CudaTimer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first lap in the cold, then 1 us a repetition: a short call would put the cost of a repetition far too high."""
    timed = CudaBench.call

    def call(self: CudaBench, repetitions: int) -> Timing:
        self.seconds = lap_seconds + timed(self, repetitions).seconds
        return Timing(self.seconds, 1e9)

    monkeypatch.setattr(CudaBench, "call", call)
    bench = timer.open(spec(MadeUpProgram(1e-6)), Point(kernel="made up", ceiling=ceiling, axes={}), None)
    assert 0.45 * wanted <= bench.repetitions * 1e-6 <= wanted


def test_reads_of_a_curve_are_short(timer: CudaTimer) -> None:
    point = Point(kernel="made up", ceiling="curve.read.ca", axes={})
    assert timer.open(spec(MadeUpProgram(1e-6)), point, None).once().seconds == pytest.approx(2e-3, rel=0.1)


def test_repetitions_of_an_earlier_visit_are_kept(timer: CudaTimer) -> None:
    assert timer.open(spec(MadeUpProgram(1e-6)), POINT, 123).repetitions == 123


class WarmedProgram(MadeUpProgram, CudaProgram):
    """Notes when it was warmed among its calls."""

    def warm(self, state: Any) -> None:
        self.calls.append("warm")


def test_caches_are_warmed_at_every_visit(timer: CudaTimer) -> None:
    """Between two visits other kernels fill the caches."""
    program = WarmedProgram(4e-3)
    timer.open(spec(program), POINT, None)
    before = len(program.calls)
    timer.open(spec(program), POINT, None)
    assert program.calls[before:] == ["warm", 1]


def test_a_point_stays_open(timer: CudaTimer) -> None:
    program = MadeUpProgram(1e-4)
    assert timer.open(spec(program), POINT, None) is timer.open(spec(program), POINT, None)


def test_a_sustained_figure_is_loaded_before_it_is_timed(timer: CudaTimer) -> None:
    program = MadeUpProgram(1e-2)
    sustained = Point(kernel="made up", ceiling="fp16.tensor.cublas.sustained")
    bench = timer.open(spec(program), sustained, None)
    assert sum(program.calls) * 1e-2 >= timers_cuda.SUSTAINED_SECONDS
    assert bench.once().seconds == pytest.approx(timers_cuda.SUSTAINED_CALL_SECONDS, rel=0.1)


def test_full_memory_closes_other_points_and_tries_again(timer: CudaTimer) -> None:
    timer.open(spec(MadeUpProgram(1e-4)), POINT, None)
    other = Point(kernel="made up", ceiling="fp64.vector.fma")
    assert timer.open(spec(MadeUpProgram(1e-4, failures=1)), other, None).verified


def test_memory_that_is_full_of_others_is_an_error(timer: CudaTimer) -> None:
    with pytest.raises(CudaError, match=r"OUT_OF_MEMORY.*nvidia-smi"):
        timer.open(spec(MadeUpProgram(1e-4, failures=1)), POINT, None)


@pytest.mark.parametrize(
    ("clocks", "taken", "calls"),
    [
        ([1.98e9], 1.98e9, 1),
        ([1.5e9], 1.5e9, 1),
        ([2.07e9, 2.05e9, 1.98e9, 1.97e9], 1.98e9, 3),  # the GPU's time was being set
        ([2.1e9] * 9, 2.1e9, timers_cuda.TRIES),  # overclocked: no reading is better than another
        ([None], None, 1),
    ],
)
def test_a_call_while_the_gpus_time_was_set_is_timed_again(
    clocks: list[float | None], taken: float | None, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = list(clocks)
    monkeypatch.setattr(timers_cuda, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(CudaBench, "_by_events_once", lambda self, repetitions: Timing(1e-3, left.pop(0)))
    probe = object.__new__(ClockProbe)
    probe.maximum_hz = 1.98e9
    bench = CudaBench(probe, None, MadeUpProgram(1e-3), "state", by_host=False)  # type: ignore[arg-type]
    assert bench.once() == Timing(1e-3, taken)
    assert len(clocks) - len(left) == calls


def test_a_gpu_that_boosts_past_its_stated_maximum_is_tried_again_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else every call of a sweep would be made five times, with a rest after each."""
    clocks = [2.71e9, 2.72e9, 2.70e9, 2.71e9, 2.70e9, 2.71e9, 2.69e9, 2.9e9, 2.7e9]
    left = list(clocks)
    monkeypatch.setattr(timers_cuda, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(CudaBench, "_by_events_once", lambda self, repetitions: Timing(1e-3, left.pop(0)))
    probe = object.__new__(ClockProbe)
    probe.maximum_hz = 2.52e9
    bench = CudaBench(probe, None, MadeUpProgram(1e-3), "state", by_host=False)  # type: ignore[arg-type]
    taken = [bench.once().clock_hz for _ in range(4)]
    assert taken == [2.70e9, 2.71e9, 2.69e9, 2.7e9], "five tries, one, one, and two where the time was set"
    assert left == []


def test_where_the_maximum_is_unknown_every_clock_is_credible() -> None:
    probe = object.__new__(ClockProbe)
    probe.maximum_hz = None
    assert probe.credible(9e9)


@pytest.mark.parametrize(
    ("ceiling", "kind", "rests"),
    [
        ("fp16.tensor.cublas", "compute", 1),
        ("fp16.tensor.cublas.sustained", "compute", 0),
        ("L2.read.private", "bandwidth", 0),
    ],
)
def test_compute_kernels_begin_rested_and_sustained_ones_do_not(
    ceiling: str, kind: str, rests: int, timer: CudaTimer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sustained figure is the opposite: load until the cap acts."""
    slept: list[float] = []
    monkeypatch.setattr(timers_cuda.time, "sleep", slept.append)
    made = replace(spec(MadeUpProgram(4e-3)), kind=kind)
    timer.open(made, Point(kernel="made up", ceiling=ceiling, axes={}), None)
    assert slept == [timers_cuda.REST_SECONDS] * rests
