"""When a point has been measured enough: an object, so that the loop needs no numbers of its own."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """Enough when the ``agreeing`` fastest repeats lie within ``tolerance`` of each other.

    Noise on a shared machine only ever slows a repeat down, so the fastest ones gather at what the machine can do; one
    lucky repeat alone never ends a measurement. ``most`` bounds the repeats of a point that does not settle.
    """

    tolerance: float
    agreeing: int
    least: int
    most: int

    def settled(self, seconds: Sequence[float]) -> bool:
        if len(seconds) < max(self.least, self.agreeing):
            return False
        best = sorted(seconds)[: self.agreeing]
        return best[-1] <= best[0] * (1 + self.tolerance)

    def finished(self, seconds: Sequence[float]) -> bool:
        return self.settled(seconds) or len(seconds) >= self.most
