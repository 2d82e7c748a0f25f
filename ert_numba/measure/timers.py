"""What the sweep loop needs of a device: open a point, time it once, close it. One implementation a device kind."""

from __future__ import annotations

from typing import Protocol

import msgspec

from ert_numba.kernels.spec import KernelSpec
from ert_numba.records import AxisValue, Point, Work


class Timing(msgspec.Struct, frozen=True):
    """One timed call: seconds from the first worker's start to the last one's end; the clock beside it, if known."""

    seconds: float
    clock_hz: float | None = None


class Bench(Protocol):
    """An open point: compiled, checked, its memory touched, its repetitions such that one call lasts long enough."""

    work: Work  # of one timed call
    code: str
    verified: bool | None
    conditions: dict[str, AxisValue]

    def once(self) -> Timing:
        """Time one call."""


class Timer(Protocol):
    """A device made ready to measure."""

    def open(self, spec: KernelSpec, point: Point, repetitions: int | None) -> Bench:
        """Make a point ready. ``repetitions``: of an earlier visit, to make the same call; None chooses them.

        Raises CompiledCodeMismatch, or ErtError where memory is short.
        """

    def steal_seconds(self) -> float:
        """Time since the start that other tenants took from us; 0 where nobody tells."""

    def conditions(self) -> dict[str, AxisValue]:
        """What the device tells of itself at this moment: power, temperature, throttle reasons; empty where nothing."""

    def close(self) -> None:
        """Give back threads and memory."""
