"""How many repetitions a call makes: no burst may decide it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ert_numba.measure.timers import Timing
from ert_numba.measure.timers_cpu import CALL_SECONDS, CpuTimer


class FakeBench:
    """A kernel of ``each`` seconds a repetition; ``burst(n)`` is what the world adds to batch n."""

    def __init__(self, each: float, burst: Callable[[int], float]) -> None:
        self.each, self.burst = each, burst
        self.made = 0
        self.call_seconds = 0.0
        self.ready: list[Timing] = []

    def batch(self, repetitions: int, calls: int) -> list[Timing]:
        late = self.burst(self.made)  # a worker that is late for the first call is late for all of the batch
        self.made += 1
        return [Timing(self.each * repetitions + late, None)] * calls


@pytest.mark.parametrize("each", [3e-9, 1e-6, 1e-4, 0.05])
@pytest.mark.parametrize("stalled", range(12))
@pytest.mark.parametrize("stall", [3e-5, 1e-3, 1e-2])
def test_a_stalled_call_does_not_shorten_all_calls(each: float, stalled: int, stall: float) -> None:
    bench = FakeBench(each, lambda call: stall if call == stalled else 0.0)
    chosen = CpuTimer._repetitions(bench)  # type: ignore[arg-type]
    assert chosen * each >= 0.6 * CALL_SECONDS
    assert bench.call_seconds == pytest.approx(chosen * each, rel=0.2)


def test_a_long_call_is_not_made_again() -> None:
    bench = FakeBench(0.5, lambda call: 0.0)
    assert CpuTimer._repetitions(bench) == 1  # type: ignore[arg-type]
    assert bench.made == 1
    assert len(bench.ready) == 1


def test_calls_of_the_calibration_that_are_long_enough_are_samples() -> None:
    bench = FakeBench(0.05, lambda call: 0.0)
    assert CpuTimer._repetitions(bench) == 1  # type: ignore[arg-type]
    assert [row.seconds for row in bench.ready] == [0.05] * bench.made
