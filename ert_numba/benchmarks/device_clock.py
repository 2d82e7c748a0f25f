"""The timer that pytest-benchmark reads: it advances by what the device's own timer measured."""

from __future__ import annotations


class DeviceClock:
    """Seconds since :meth:`restart`, which only :meth:`advance` moves.

    pytest-benchmark reads it before and after a round, so the round lasts what was measured on the device (CUDA events,
    the native region of a CPU's workers), without the host's way there and back. Begun anew each round: the difference
    of the two readings is then the measured figure to the last bit.
    """

    __name__ = "device_clock"  # what pytest-benchmark stores as the timer; its repr would hold a memory address

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        return self._now

    def restart(self) -> None:
        self._now = 0.0

    def advance(self, seconds: float) -> None:
        self._now += seconds


DEVICE_CLOCK = DeviceClock()  # one for all: a mark is made when the test module is imported
