"""Figures of a GPU that repeat within a run and differ between runs: intervals that cover other runs too. Pure."""

from __future__ import annotations

import msgspec

from ert_numba.machine import Ceiling
from ert_numba.records import DeviceInfo, held_back
from ert_numba.units import si

# Repeats of one moment agree to 0.1 %, and the clock of the next run is another one: in 18 sweeps of three H200s, by up
# to 4.1 % (results/nvidia-h200), at a rate per cycle that stays the same to 0.2 %.
HELD_BACK = 0.04


class Spread(msgspec.Struct, frozen=True):
    """How far two processes may differ in a ceiling whose key ends so, each way, and why."""

    ending: str
    share: float
    reason: str


# From those sweeps and twelve process starts of benchmarks, whose extremes lie a factor of 1.7 and 1.8 apart.
HOSTS = (
    Spread("launch.stream", 0.25, "the host's share of a launch"),
    Spread("launch.round_trip", 0.25, "the host's share of a launch"),
    Spread("_pageable", 0.30, "the host's copy through pinned memory"),
)


def with_spread(ceilings: dict[str, Ceiling], device: DeviceInfo) -> dict[str, Ceiling]:
    """The ceilings; a GPU's intervals of what power held back, and of what the host does, cover other runs too."""
    if device.kind != "gpu":
        return ceilings
    return {key: _with_spread(row, device) for key, row in ceilings.items()}


def _with_spread(row: Ceiling, device: DeviceInfo) -> Ceiling:
    host = next((one for one in HOSTS if row.key.partition("@")[0].endswith(one.ending)), None)
    if host is not None:
        told = f"{host.reason} differs from process to process by up to {host.share:.0%} each way"
        return msgspec.structs.replace(_widened(row, host.share, host.share, told), noisy=True)
    if row.kind != "compute" or not held_back(row.clock_hz or (), device.maximum_clock_hz):
        return row
    clock, full = max(row.clock_hz or ()), device.maximum_clock_hz or 0.0
    told = f"below the full clock ({si(clock, 'Hz')} of {si(full, 'Hz')}): another run may differ by {HELD_BACK:.0%}"
    return _widened(row, HELD_BACK, min(HELD_BACK, full / clock - 1), told)  # no clock is above the maximum


def _widened(row: Ceiling, down: float, up: float, told: str) -> Ceiling:
    return msgspec.structs.replace(
        row,
        low=min(row.low, row.value * (1 - down)),
        high=max(row.high, row.value * (1 + up)),
        note="; ".join(filter(None, (row.note, told))),
    )
