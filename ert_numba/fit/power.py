"""What power leaves of a GPU's clock: figures below the full clock, and how far another run may lie. Pure."""

from __future__ import annotations

import msgspec

from ert_numba.machine import Ceiling
from ert_numba.records import DeviceInfo
from ert_numba.units import si

FULL = 0.98  # of the maximum clock: what runs so fast is not held back
# Repeats of one moment agree to 0.1 %, and the clock of the next run is another one: in 18 sweeps of three H200s, by up
# to 4.1 % (results/nvidia-h200), at a rate per cycle that stays the same to 0.2 %.
BETWEEN_RUNS = 0.04


def held_back(row: Ceiling, device: DeviceInfo) -> bool:
    full = device.maximum_clock_hz
    return row.kind == "compute" and bool(full and row.clock_hz) and max(row.clock_hz or ()) < FULL * (full or 0.0)


def with_power(ceilings: dict[str, Ceiling], device: DeviceInfo) -> dict[str, Ceiling]:
    """The ceilings; the interval of each that power held back covers the clocks that other runs find."""
    if device.kind != "gpu":
        return ceilings
    return {key: _widened(row, device) if held_back(row, device) else row for key, row in ceilings.items()}


def _widened(row: Ceiling, device: DeviceInfo) -> Ceiling:
    clock, full = max(row.clock_hz or ()), device.maximum_clock_hz or 0.0
    utmost = row.value * min(1 + BETWEEN_RUNS, full / clock)  # no clock is above the maximum
    told = f"below the full clock ({si(clock, 'Hz')} of {si(full, 'Hz')}): another run may differ by 4 %"
    return msgspec.structs.replace(
        row,
        low=min(row.low, row.value * (1 - BETWEEN_RUNS)),
        high=max(row.high, utmost),
        note="; ".join(filter(None, (row.note, told))),
    )
