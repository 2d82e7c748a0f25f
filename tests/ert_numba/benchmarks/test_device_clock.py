"""The timer that pytest-benchmark reads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pytest_benchmark.utils import funcname

from ert_numba.benchmarks.device_clock import DeviceClock


@given(st.lists(st.floats(1e-9, 1e3), min_size=1))
def test_a_round_lasts_what_was_measured_to_the_last_bit(rounds: list[float]) -> None:
    clock = DeviceClock()
    for seconds in rounds:
        clock.restart()
        start = clock()
        clock.advance(seconds)
        assert clock() - start == seconds


def test_its_stored_name_holds_no_memory_address() -> None:
    assert funcname(DeviceClock()) == "device_clock"  # type: ignore[no-untyped-call]
