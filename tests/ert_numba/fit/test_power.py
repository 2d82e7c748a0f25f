"""Figures that power holds back reach to what other runs of the same card find; others stay as they were measured."""

from __future__ import annotations

import msgspec
import pytest

from ert_numba.fit.power import BETWEEN_RUNS, with_power
from ert_numba.machine import Ceiling
from ert_numba.records import DeviceInfo

GPU = DeviceInfo(
    kind="gpu", name="x", vendor="NVIDIA", architecture="sm_90", units=132, maximum_clock_hz=1.98e9
)  # fmt: skip


def ceiling(key: str = "fp16.tensor.wgmma", clock_hz: float = 1.8e9, kind: str = "compute") -> Ceiling:
    value = 5.4e5 * clock_hz
    return Ceiling(
        key=key, kind=kind, value=value, low=0.995 * value, high=1.005 * value, unit="FLOP/s",
        clock_hz=(clock_hz - 1e6, clock_hz),
    )  # fmt: skip


def only(row: Ceiling, device: DeviceInfo = GPU) -> Ceiling:
    return with_power({row.key: row}, device)[row.key]


def test_two_runs_at_different_clocks_overlap() -> None:
    """As six sweeps of one H200 found the clock: five at 1.815 GHz, one at 1.755 and at 1.740 GHz."""
    runs = [only(ceiling(clock_hz=clock)) for clock in (1.815e9, 1.755e9, 1.740e9)]
    assert all(one.low <= other.high for one in runs for other in runs)
    raw = [ceiling(clock_hz=clock) for clock in (1.815e9, 1.755e9)]
    assert raw[0].low > raw[1].high


def test_the_value_stays_and_the_reason_is_told() -> None:
    row = only(ceiling())
    assert row.value == ceiling().value
    assert row.low == pytest.approx(row.value * (1 - BETWEEN_RUNS))
    assert row.high == pytest.approx(row.value * (1 + BETWEEN_RUNS))
    assert "1.80 GHz of 1.98 GHz" in row.note


def test_no_interval_reaches_past_the_maximum_clock() -> None:
    row = only(ceiling(clock_hz=1.93e9))
    assert row.high == pytest.approx(row.value * 1.98 / 1.93)


@pytest.mark.parametrize(
    ("row", "device"),
    [
        (ceiling(clock_hz=1.97e9), GPU),
        (ceiling(kind="bandwidth"), GPU),
        (msgspec.structs.replace(ceiling(), clock_hz=None), GPU),
        (ceiling(), msgspec.structs.replace(GPU, maximum_clock_hz=None)),
        (ceiling(), msgspec.structs.replace(GPU, kind="cpu")),
    ],
)
def test_what_power_does_not_hold_back_is_left_alone(row: Ceiling, device: DeviceInfo) -> None:
    assert only(row, device) == row


def test_a_wider_interval_is_kept() -> None:
    row = msgspec.structs.replace(ceiling(), low=1.0, high=1e18)
    assert (only(row).low, only(row).high) == (1.0, 1e18)
