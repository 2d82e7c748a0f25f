"""Intervals reach to what other runs of a card find, where runs differ; others stay as they were measured."""

from __future__ import annotations

import msgspec
import pytest

from ert_numba.fit.between_runs import HELD_BACK, with_spread
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
    return with_spread({row.key: row}, device)[row.key]


def test_two_runs_at_different_clocks_overlap() -> None:
    """As six sweeps of one H200 found the clock: five at 1.815 GHz, one at 1.755 and at 1.740 GHz."""
    runs = [only(ceiling(clock_hz=clock)) for clock in (1.815e9, 1.755e9, 1.740e9)]
    assert all(one.low <= other.high for one in runs for other in runs)
    raw = [ceiling(clock_hz=clock) for clock in (1.815e9, 1.755e9)]
    assert raw[0].low > raw[1].high


def test_the_value_stays_and_the_reason_is_told() -> None:
    row = only(ceiling())
    assert row.value == ceiling().value
    assert row.low == pytest.approx(row.value * (1 - HELD_BACK))
    assert row.high == pytest.approx(row.value * (1 + HELD_BACK))
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


@pytest.mark.parametrize(
    ("key", "unit", "values"),
    [  # six sweeps of one H200 in a row
        ("launch.stream", "s", (4.913e-6, 6.246e-6, 4.806e-6, 4.747e-6, 4.820e-6, 6.449e-6)),
        ("HOST.d2h_pageable", "B/s", (15.08e9, 9.643e9, 16.52e9, 17.53e9, 17.13e9, 13.06e9)),
    ],
)
def test_what_the_host_does_differs_between_processes(key: str, unit: str, values: tuple[float, ...]) -> None:
    kind = "overhead" if unit == "s" else "bandwidth"
    rows = [
        Ceiling(key=key, kind=kind, value=value, low=0.99 * value, high=1.01 * value, unit=unit) for value in values
    ]
    found = [only(row) for row in rows]
    assert all(one.low <= other.high for one in found for other in found)
    assert all(row.noisy and "process to process" in row.note for row in found)


def test_copies_from_pinned_memory_and_graphs_repeat() -> None:
    for key in ("HOST.d2h_pinned", "launch.graph"):
        row = Ceiling(key=key, kind="bandwidth", value=1.0, low=0.99, high=1.01, unit="B/s")
        assert only(row) == row
