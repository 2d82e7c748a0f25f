"""The fixture in pytest itself: shares of a made-up machine's roofs, wrong uses, and what the file says."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from example_models import cpu_device, cpu_model
from fake_backend import FakeMachine

from ert_numba import backends
from ert_numba.benchmarks import user_timing
from ert_numba.benchmarks.user_timing import EventTimer, HostTimer, calibrated, stream_handle
from ert_numba.errors import ErtError
from ert_numba.machine import MachineModel
from ert_numba.store.benchmark_files import read_start
from ert_numba.store.documents import save

pytest_plugins = ["pytester"]
KERNELS = """
    import pytest

    def test_memory(roofline_benchmark):
        hit = roofline_benchmark(lambda: 7, bytes=8e6, level="DRAM", access="copy")
        assert hit.result == 7
        assert hit.roof is None or hit.share_of_roof == pytest.approx(hit.bytes_per_second / 44e9)

    @pytest.mark.benchmark(group="mine")
    def test_both(roofline_benchmark):
        hit = roofline_benchmark(lambda: None, flop=2e6, bytes=16e6, precision="fp64")
        assert hit.flop_per_second == pytest.approx(hit.bytes_per_second / 8)
"""


class Clock:
    """perf_counter that each call of a kernel moves by ``seconds``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.now = 0.0
        clock = SimpleNamespace(perf_counter=lambda: self.now, monotonic=lambda: self.now)
        monkeypatch.setattr(user_timing, "time", clock)
        original = HostTimer.seconds

        def timed(timer: HostTimer, function: Any, calls: int) -> float:
            def slow() -> Any:
                self.now += seconds
                return function()

            return original(timer, slow, calls)

        monkeypatch.setattr(HostTimer, "seconds", timed)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A kernel's call takes 1 ms; the machine is the example model's, with no GPU."""

    def no_gpu(ordinal: int) -> Any:
        raise ErtError("a GPU", "none", "none")

    FakeMachine(monkeypatch, **{name: getattr(cpu_device(), name) for name in cpu_device().__struct_fields__})
    monkeypatch.setitem(backends.BACKENDS, "cuda", no_gpu)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return Clock(monkeypatch, 1e-3)


def run(pytester: pytest.Pytester, text: str, *words: str, model: MachineModel | None = None) -> Any:
    pytester.makepyfile(text)
    if model is not None:
        (pytester.path / "run").mkdir()
        save(model, pytester.path / "run" / "machine.json")
        words = (*words, "--roofline-machine=run")
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "--benchmark-json=out.json", *words)


def extras(folder: Path) -> dict[str, Any]:
    return {row["name"]: row for row in json.loads((folder / "out.json").read_text())["benchmarks"]}


def test_shares_of_the_roofs(pytester: pytest.Pytester, clock: Clock) -> None:
    done = run(pytester, KERNELS, model=cpu_model())
    done.assert_outcomes(passed=2)
    rows = extras(pytester.path)
    memory = rows["test_memory"]["extra_info"]  # 8 MB in 1 ms under 44 GB/s
    assert (memory["median"], memory["share of roof"]) == ("8.00 GB/s", "18.2 %")
    assert memory["ert_numba"]["roof"] == {
        "attainable": 44e9, "bandwidth_key": "DRAM.copy", "compute_key": None, "model": cpu_model().run,
    }  # fmt: skip
    both = rows["test_both"]["extra_info"]  # 2 GFLOP/s at 1/8 FLOP/byte under 65.1 GB/s
    assert (both["median"], both["bandwidth"]) == ("2.00 GFLOP/s", "16.0 GB/s")
    assert both["share of roof"] == "24.6 %"
    assert rows["test_both"]["group"] == "mine"
    assert all(row["stats"]["median"] == pytest.approx(1e-3) for row in rows.values())
    done.stdout.fnmatch_lines(
        [
            "*rooflines*",
            "test_memory: 8.00 GB/s, 18.2 % of 44.0 GB/s (DRAM.copy)",
            "test_both: 2.00 GFLOP/s, 16.0 GB/s, 24.6 % of 8.14 GFLOP/s (DRAM.read, fp64.vector.fma)",
        ]
    )


def test_the_file_is_read_by_the_judge_and_names_no_host(pytester: pytest.Pytester, clock: Clock) -> None:
    run(pytester, KERNELS, "--benchmark-save=a")
    path = next(pytester.path.glob(".benchmarks/*/0001_a.json"))  # plain --benchmark-save
    start = read_start(path)
    assert start.info is not None
    assert start.info.device.name == cpu_device().name
    assert [row.said.key for row in start.observed if row.said] == [row.name for row in start.observed]
    assert all(row.said.kind == "user" and len(row.seconds) == 20 for row in start.observed if row.said)
    assert "node" not in json.loads(path.read_text())["machine_info"]


def test_without_a_model_there_are_rates_and_the_reason(pytester: pytest.Pytester, clock: Clock) -> None:
    done = run(pytester, KERNELS)
    done.assert_outcomes(passed=2)
    assert "no machine model" in extras(pytester.path)["test_memory"]["extra_info"]["share of roof"]
    done.stdout.fnmatch_lines(["test_memory: 8.00 GB/s", "No shares of roofs: no machine model*"])


def test_the_ini_file_names_the_model_from_the_root(pytester: pytest.Pytester, clock: Clock) -> None:
    (pytester.path / "results").mkdir()
    save(cpu_model(), pytester.path / "results" / "machine.json")
    pytester.makeini("[pytest]\nroofline_machine = results")
    run(pytester, KERNELS)
    assert extras(pytester.path)["test_memory"]["extra_info"]["share of roof"] == "18.2 %"


def test_more_than_the_roof_is_named_impossible_and_not_clipped(pytester: pytest.Pytester, clock: Clock) -> None:
    text = """
        def test_too_good(roofline_benchmark):
            hit = roofline_benchmark(lambda: None, bytes=440e6, access="copy")
            assert hit.impossible
            assert 9.9 < hit.share_of_roof < 10.1
    """
    done = run(pytester, text, model=cpu_model())
    done.assert_outcomes(passed=1, warnings=1)
    assert extras(pytester.path)["test_too_good"]["extra_info"]["share of roof"].startswith("1000.0 %: impossible")
    done.stdout.fnmatch_lines(["*ImpossibleShare*", "*test_too_good: 440 GB/s, 1000.0 % of*impossible*"])


def test_more_than_the_roof_of_reads_alone_is_not_called_impossible(pytester: pytest.Pytester, clock: Clock) -> None:
    text = """
        def test_update(roofline_benchmark):
            hit = roofline_benchmark(lambda: None, bytes=130e6)
            assert not hit.impossible
            assert 1.9 < hit.share_of_roof < 2.1
    """
    rows = tuple(row for row in cpu_model().ceilings if row.level != "DRAM" or row.access == "read")
    done = run(pytester, text, model=msgspec.structs.replace(cpu_model(), ceilings=rows))
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["test_update: 130 GB/s, 199.7 % of 65.1 GB/s (DRAM.read): above the roof of reads*"])


def test_a_share_within_the_roofs_interval_is_possible(pytester: pytest.Pytester, clock: Clock) -> None:
    text = """
        def test_good(roofline_benchmark):
            hit = roofline_benchmark(lambda: None, bytes=44.1e6, access="copy")
            assert hit.share_of_roof > 1
            assert not hit.impossible
    """
    run(pytester, text, model=cpu_model()).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("roofline_benchmark(lambda: None)", "0 FLOP and 0 bytes"),
        ("roofline_benchmark(lambda: None, bytes=8, on='tpu')", "on='tpu'"),
        ("roofline_benchmark(lambda: None, bytes=8, on='gpu')", "a GPU: none"),
        ("roofline_benchmark(3, bytes=8)", "a kernel to time: 3"),
        ("roofline_benchmark(lambda: None, flop=8, precision='fp65')", "'fp65'"),
        ("roofline_benchmark(lambda: None, bytes=8, level='HBM')", "'HBM'"),
    ],
)
def test_a_wrong_use_is_shown_at_the_users_line(pytester: pytest.Pytester, clock: Clock, call: str, says: str) -> None:
    done = run(pytester, f"def test_wrong(roofline_benchmark):\n    {call}")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([f">*{call}".replace("[", "[[]"), f"E*ErtError*{says}*"])
    assert "user_kernel.py" not in done.stdout.str()


def test_a_model_of_another_device_is_refused(pytester: pytest.Pytester, clock: Clock) -> None:
    other = msgspec.structs.replace(cpu_model(), device=msgspec.structs.replace(cpu_device(), name="Another CPU"))
    done = run(pytester, KERNELS, model=other)
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["E*NotComparable*'Another CPU'*"])


def test_a_model_that_is_not_there(pytester: pytest.Pytester, clock: Clock) -> None:
    done = run(pytester, KERNELS, "--roofline-machine=nowhere")
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["E*ErtError*nowhere*does not exist*"])


def test_where_benchmarks_are_off_the_kernel_runs_once(pytester: pytest.Pytester, clock: Clock) -> None:
    text = """
        calls = []
        def test_once(roofline_benchmark):
            hit = roofline_benchmark(lambda: calls.append(1), bytes=8)
            assert calls == [1]
            assert hit.seconds is None
            assert "benchmarks are off" in hit.reason
    """
    pytester.makepyfile(text)
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "--benchmark-disable").assert_outcomes(passed=1)


def test_short_calls_are_timed_many_at_a_time_after_warming_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 2e-6)
    calls = calibrated(HostTimer(), lambda: None)
    assert 1e-3 <= calls * 2e-6 < 3e-3
    assert clock.now >= user_timing.WARM_SECONDS


def test_a_callable_that_takes_no_time_at_all_ends_the_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_timing, "MOST_CALLS", 1 << 10)
    ticks = iter(range(10**9))
    clock = SimpleNamespace(perf_counter=lambda: 1.0, monotonic=lambda: 0.01 * next(ticks))
    monkeypatch.setattr(user_timing, "time", clock)
    assert calibrated(HostTimer(), lambda: None) == 1 << 10


class Numba:
    handle = SimpleNamespace(value=11)


class Protocol:
    cuda_stream = 99  # the protocol comes first

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, 13)


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (None, 0),
        (7, 7),
        (SimpleNamespace(cuda_stream=9), 9),
        (SimpleNamespace(ptr=10), 10),
        (Numba(), 11),
        (SimpleNamespace(handle=SimpleNamespace(value=None)), 0),  # numba's default stream
        (Protocol(), 13),
    ],
)
def test_streams_of_every_library(stream: Any, handle: int) -> None:
    assert stream_handle(stream) == handle


def test_what_is_no_stream() -> None:
    with pytest.raises(ErtError, match="a CUDA stream"):
        stream_handle("default")


class FakeGpu:
    """The driver's calls that the events need, on a clock of its own: a call takes 2 ms of the stream ``works_on``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, works_on: int = 0, active: bool = True) -> None:
        driver = pytest.importorskip("cuda.bindings.driver")
        self.works_on, self.active, self.now, self.busy_until = works_on, active, 0.0, 0.0
        self.events: dict[int, float] = {}
        self.created = 0
        for name in (
            "cuInit", "cuDeviceGet", "cuDevicePrimaryCtxGetState", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
            "cuEventCreate", "cuCtxSynchronize", "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime",
        ):  # fmt: skip
            monkeypatch.setattr(driver, name, getattr(self, name, lambda *arguments: (0, 1)))
        monkeypatch.setattr(user_timing, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def launch(self) -> str:
        self.now += 5e-6
        self.busy_until = max(self.busy_until, self.now) + 2e-3
        return "launched"

    def cuDevicePrimaryCtxGetState(self, device: int) -> tuple[int, int, int]:  # noqa: N802
        return 0, 0, int(self.active)

    def cuEventCreate(self, flags: int) -> tuple[int, int]:  # noqa: N802
        self.created += 1
        return 0, self.created

    def cuEventRecord(self, event: int, stream: int) -> tuple[int]:  # noqa: N802
        self.events[event] = max(self.now, self.busy_until) if stream == self.works_on else self.now
        return (0,)

    def cuEventSynchronize(self, event: int) -> tuple[int]:  # noqa: N802
        self.now = max(self.now, self.events[event])
        return (0,)

    def cuCtxSynchronize(self) -> tuple[int]:  # noqa: N802
        self.now = max(self.now, self.busy_until)
        return (0,)

    def cuEventElapsedTime(self, start: int, stop: int) -> tuple[int, float]:  # noqa: N802
        return 0, 1e3 * (self.events[stop] - self.events[start])


@pytest.mark.parametrize("stream", [0, 7])
def test_events_time_the_work_of_their_stream(monkeypatch: pytest.MonkeyPatch, stream: int) -> None:
    gpu = FakeGpu(monkeypatch, works_on=stream)
    timer = EventTimer(0, stream or None)
    assert timer.seconds(gpu.launch, 10) == pytest.approx(20e-3, rel=1e-3)
    assert timer.result == "launched"


def test_work_on_another_stream_is_no_time_at_all_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = FakeGpu(monkeypatch, works_on=7)
    with pytest.raises(ErtError, match="Pass the stream"):
        EventTimer(0).seconds(gpu.launch, 10)


def test_a_process_that_never_touched_the_gpu_has_nothing_to_time(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeGpu(monkeypatch, active=False)
    with pytest.raises(ErtError, match="launched nothing on GPU 0"):
        EventTimer(0).require_work(lambda: None)


def test_the_hosts_clock_is_the_hosts() -> None:
    timer = HostTimer()
    before = time.perf_counter()
    seconds = timer.seconds(lambda: sum(range(10_000)), 3)
    assert 0 < seconds <= time.perf_counter() - before
    assert timer.result == sum(range(10_000))
