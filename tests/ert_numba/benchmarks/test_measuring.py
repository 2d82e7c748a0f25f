"""The suite's loop on a made-up device: passes, refusals, faults, and what the records say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from fake_timer import KERNEL, FakeTimer, points
from made_up_sweeps import device as made_up_device

from ert_numba.benchmarks import measuring
from ert_numba.benchmarks.choice import Chosen
from ert_numba.benchmarks.measuring import Pace, in_words, measure, record_of, value_of
from ert_numba.errors import ErtError
from ert_numba.kernels.spec import CompiledCodeMismatch
from ert_numba.measure.stopping import Settled
from ert_numba.measure.timers import Timing
from ert_numba.records import Limit, Point, Work
from ert_numba.starts import Benchmarked

RULE = Settled(tolerance=0.01, agreeing=3, least=5, most=40)
PACE = Pace(passes=3, seconds=0.01, least=2, most=4)
KEYS = ("L1.read", "L2.read", "DRAM.read")


def steady(point: Point, call: int) -> float:
    return 1e-3


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Measures on a fake timer whose clock is the loop's."""

    def go(timer: FakeTimer, pace: Pace = PACE, keys: tuple[str, ...] = KEYS) -> Any:
        monkeypatch.setattr(measuring, "time", SimpleNamespace(monotonic=lambda: timer.now, sleep=lambda _: None))
        heard: list[tuple[str, int, int]] = []
        chosen = [Chosen(KERNEL, point) for point in points(keys)]
        return measure(chosen, timer, pace, lambda *told: heard.append(told)), heard

    return go


def test_every_benchmark_is_visited_in_turn_and_pass_by_pass(run: Any) -> None:
    timer = FakeTimer(steady)
    found, heard = run(timer)
    assert [key for key, _, _ in heard] == list(KEYS) * 3
    assert [done for _, done, _ in heard] == list(range(9))
    assert {of for _, _, of in heard} == {9}
    assert all(len(row.timings) == 3 * PACE.most for row in found.values())


def test_every_visit_makes_the_calls_of_the_first(run: Any) -> None:
    timer = FakeTimer(steady)
    run(timer)
    assert [repetitions for _, repetitions in timer.opened] == [None] * 3 + [3] * 6


def test_a_fixed_number_of_repetitions_holds_from_the_first_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    timer = FakeTimer(steady)
    monkeypatch.setattr(measuring, "time", SimpleNamespace(monotonic=lambda: timer.now, sleep=lambda _: None))
    found = measure([Chosen(KERNEL, points(("launch.graph",))[0], 32)], timer, PACE, lambda *told: None)
    assert [repetitions for _, repetitions in timer.opened] == [32] * 3
    assert found["launch.graph"].seconds == (1e-3 / 32,) * 3 * PACE.most


def test_long_calls_end_a_visit_by_its_time_but_never_below_the_least(run: Any) -> None:
    found, _ = run(FakeTimer(lambda point, call: 0.004), keys=KEYS[:1])
    assert len(found["L1.read"].timings) == 3 * 3  # 0, 4 and 8 ms are within 10 ms
    found, _ = run(FakeTimer(lambda point, call: 0.5), keys=KEYS[:1])
    assert len(found["L1.read"].timings) == 3 * PACE.least


def test_no_pass_begins_that_would_end_too_late(run: Any) -> None:
    found, _ = run(FakeTimer(lambda point, call: 2.0))  # three calls of 2 s each for three benchmarks: 18 s a pass
    assert all(len(row.timings) == PACE.least for row in found.values())


def test_what_is_dear_to_open_is_visited_once_for_longer(run: Any) -> None:
    timer = FakeTimer(steady, open_seconds=0.6)
    found, heard = run(timer)
    assert len(heard) == 3
    assert all(len(row.timings) == 3 * PACE.most for row in found.values())


@pytest.mark.parametrize("error", [ErtError("a", "no room", "b"), CompiledCodeMismatch("3 loads for 4")])
def test_what_cannot_be_measured_says_why_and_leaves_the_others_alone(run: Any, error: Exception) -> None:
    timer = FakeTimer(steady, refusals={"L2.read": error})
    found, _ = run(timer)
    assert str(error.args[0] if isinstance(error, CompiledCodeMismatch) else error.found) in found["L2.read"].refusal
    assert found["L2.read"].timings == []
    assert [key for key, _ in timer.opened].count(points(["L2.read"])[0].key) == 1
    assert all(len(found[key].timings) == 3 * PACE.most for key in ("L1.read", "DRAM.read"))


def test_a_fault_is_kept_for_its_own_benchmark(run: Any) -> None:
    fault = RuntimeError("the library fell over")
    found, _ = run(FakeTimer(steady, refusals={"L2.read": fault}))
    assert found["L2.read"].failure is fault
    assert found["L1.read"].failure is None
    assert len(found["DRAM.read"].timings) == 3 * PACE.most


def test_an_interrupt_ends_it(run: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(FakeTimer(steady, interrupt_at=7))


def test_one_wrong_result_is_never_forgotten(run: Any) -> None:
    timer = FakeTimer(steady)
    timer.verified["L1.read"] = False
    found, _ = run(timer)
    assert found["L1.read"].verified is False
    assert found["L2.read"].verified is True


def test_a_wrong_result_of_the_first_visit_counts_too() -> None:
    timer = FakeTimer(steady)
    timer.verified["L1.read"] = False

    def mend(key: str, done: int, of: int) -> None:
        if done == 1:
            timer.verified["L1.read"] = True

    found = measure([Chosen(KERNEL, points(["L1.read"])[0])], timer, PACE, mend)
    assert found["L1.read"].verified is False


def gathered(seconds: list[float], clock: float | None = 3e9) -> Any:
    row = measuring.Gathered(Chosen(KERNEL, points(["L1.read"], threads=1)[0]))
    row.timings = [Timing(value, clock) for value in seconds]
    row.verified, row.code = True, "1 load = 1 x 1"
    return row


def test_the_record_says_what_the_times_mean() -> None:
    device = made_up_device(units=2, limits=(Limit(key="L1.read", per_cycle=64.0, source="made up"),))
    record = record_of(gathered([1e-6] * 6), device, RULE)
    assert (record.key, record.kernel, record.kind, record.unit) == ("L1.read", "fake", "bandwidth", "B/s")
    assert record.clock_hz == (3e9,) * 6
    assert record.limit == 64 * 3e9  # one worker of two cores
    assert record.verified is True
    assert not record.noisy
    words = in_words(record, [1e-6] * 6)
    assert words == {"median": "1.00 TB/s", "share of limit": "520.8 %", "clock": "3.00 GHz"}


def test_times_are_those_of_one_repetition_so_that_a_slower_kernel_shows() -> None:
    """Its rounds last as long as a fast one's, since it is calibrated to fewer repetitions."""
    fast, slow = gathered([1e-3] * 6), gathered([1e-3] * 6)
    fast.repetitions, slow.repetitions = 1000, 970
    assert slow.seconds[0] / fast.seconds[0] == pytest.approx(1000 / 970)
    records = [record_of(row, made_up_device(), RULE) for row in (fast, slow)]
    assert records[0].work == records[1].work == KERNEL.work(fast.chosen.point)


def test_no_limit_and_no_clock_are_left_out() -> None:
    record = record_of(gathered([1e-6] * 6, clock=None), made_up_device(limits=()), RULE)
    assert record.limit is None
    assert record.clock_hz == ()
    assert in_words(record, [1e-6] * 6) == {"median": "1.00 TB/s"}


def test_times_that_do_not_settle_are_noisy() -> None:
    record = record_of(gathered([1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 6e-6]), made_up_device(), RULE)
    assert record.noisy


@pytest.mark.parametrize(
    ("unit", "value"), [("FLOP/s", 8.0), ("OP/s", 8.0), ("B/s", 32.0), ("s", 0.125)]
)  # of half a second
def test_values_by_unit(unit: str, value: float) -> None:
    work = Work(flop=4.0, bytes_counted=16.0, accesses=4.0)
    record = Benchmarked(key="k", kernel="k", kind="user", unit=unit, work=work)
    assert value_of(record, 0.5) == value


def test_throttle_reasons_of_both_moments_and_power_of_the_load() -> None:
    joined = measuring._joined(
        {"throttle": "power cap", "power_watts": 690.0}, {"throttle": "thermal, hardware", "power_watts": 120.0}
    )
    assert joined == {"throttle": "power cap, thermal, hardware", "power_watts": 690.0}
    assert "throttle" not in measuring._joined({"repetitions": 3}, {})
