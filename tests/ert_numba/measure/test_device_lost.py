"""A device that fails in the middle of a sweep: what was measured stays, and nothing more is asked of it."""

from __future__ import annotations

from typing import Any

import pytest
from fake_timer import KERNEL, FakeBench, FakeTimer, points

from ert_numba.errors import DeviceLost, ErtError
from ert_numba.measure import sweep
from ert_numba.measure.sweep import Outcome, Plan, Track, measure
from ert_numba.measure.timers import Timing

NAMES = ("L1.read", "L2.read", "DRAM.read", "HOST.read")


class FailingTimer(FakeTimer):
    """The ``at``-th call of the ceiling ``where`` fails with ``error``."""

    def __init__(self, where: str, at: int, error: Exception) -> None:
        super().__init__(lambda point, call: 1e-3)
        self.where, self.at, self.error = where, at, error

    def open(self, *arguments: Any) -> FakeBench:
        bench = super().open(*arguments)
        once = bench.once

        def failing() -> Timing:
            if bench.point.ceiling == self.where and self.calls.get(bench.point.key, 0) == self.at:
                raise self.error
            return once()

        bench.once = failing  # type: ignore[method-assign]
        return bench


def run(timer: FailingTimer, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    monkeypatch.setattr(sweep, "time", timer.time)
    tracks = [Track(KERNEL, point) for point in points(NAMES)]
    return measure(tracks, timer, Plan(budget_seconds=10.0), lambda progress: None, timer.now)


@pytest.mark.parametrize("at", [0, 2])
def test_a_lost_device_ends_the_sweep_and_keeps_what_was_measured(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = DeviceLost("cuEventSynchronize", "CUDA_ERROR_ILLEGAL_ADDRESS", "Look at it")
    timer = FailingTimer("DRAM.read", at, lost)
    outcome = run(timer, monkeypatch)
    assert outcome.stopped is lost
    assert outcome.partial
    kept = ["L1.read", "L2.read", *(["DRAM.read"] if at else [])]
    assert [row.point.ceiling for row in outcome.samples] == kept
    assert all(row.seconds for row in outcome.samples)
    missing = {row.what: row.reason for row in outcome.skipped}
    assert set(missing) == set(NAMES) - set(kept)
    assert all("the device was lost" in reason and "ILLEGAL_ADDRESS" in reason for reason in missing.values())
    assert not any("HOST" in key for key, _ in timer.opened), "nothing more is asked of it"


@pytest.mark.parametrize("at", [0, 2])
def test_a_point_that_fails_while_it_is_timed_does_not_take_the_others_with_it(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    timer = FailingTimer("L2.read", at, ErtError("cublasLtMatmul", "CUBLAS_STATUS_EXECUTION_FAILED", "See"))
    outcome = run(timer, monkeypatch)
    assert outcome.stopped is None
    assert not outcome.partial
    assert [row.point.ceiling for row in outcome.samples] == [name for name in NAMES if at or name != "L2.read"]
    (skipped,) = outcome.skipped
    assert "EXECUTION_FAILED" in skipped.reason
    assert sum("L2.read" in key for key, _ in timer.opened) == 1, "it is not tried again"
