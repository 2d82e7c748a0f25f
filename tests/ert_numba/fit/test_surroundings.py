"""Conditions beside a GPU's samples become notes that name the ceilings."""

from __future__ import annotations

import pytest
from made_up_sweeps import bandwidth, device, sweep

from ert_numba.fit.ceilings import fit_sweep

KEYS = ("SHARED.read", "L1.read", "L2.read", "DRAM.read", "DRAM.write", "DRAM.copy")


def notes(conditions: dict[str, object], keys: tuple[str, ...] = KEYS[:1]) -> list[str]:
    samples = [bandwidth(key, 1e11, conditions=conditions) for key in keys]
    return list(fit_sweep(sweep(*samples, device=device(kind="gpu", caches=(), limits=()))).notes)


def test_another_process_is_noted() -> None:
    assert notes({"other_processes": 1}) == [
        "another process held this GPU beside SHARED.read: the figures may be lower for it"
    ]
    assert notes({"other_processes": 0}) == []


def test_many_ceilings_are_counted() -> None:
    (note,) = notes({"other_processes": 2}, KEYS)
    assert "SHARED.read, L1.read, L2.read, DRAM.read and 2 more ceilings" in note


@pytest.mark.parametrize("reason", ["thermal, hardware", "power cap, thermal, software", "hardware slowdown"])
def test_a_clock_that_was_held_back_is_noted_with_its_reason(reason: str) -> None:
    assert notes({"throttle": reason}) == [f"the driver held the clock back ({reason}) beside SHARED.read"]


def test_the_power_cap_alone_is_how_a_gpu_works() -> None:
    assert notes({"throttle": "power cap"}) == []
    assert notes({"throttle": ""}) == []
