"""A group of launches under its roofs, as sums; every ratio is one of sums. Records alone."""

from __future__ import annotations

import msgspec

from appprof.application import LevelBytes, PathFlop
from appprof.counts.record import Absent
from appprof.instructions import Instructions
from appprof.roofs import Roof


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One dot: ``flop`` and ``bytes`` of the launches of which both and the time are known, and their ``seconds``."""

    level: str
    definition: str
    flop: float
    bytes: float
    seconds: float
    launches: int

    @property
    def intensity(self) -> float:
        return self.flop / self.bytes

    @property
    def rate(self) -> float:
        return self.flop / self.seconds


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """One resource: the seconds that it alone needs at its roof, out of the ``seconds`` of the launches that asked.

    ``roof`` is the rate of their mix at the roof (amount over seconds at the roof). ``excess`` as in ``Demand``.
    """

    key: str
    kind: str
    definition: str = ""
    amount: float
    seconds_at_roof: float
    seconds_at_maximum: float | None
    seconds: float
    launches: int
    excess: str = ""
    bound: str = "exact"
    roofs: tuple[Roof, ...] = ()

    @property
    def share(self) -> float:
        """Of the roof at the clock of the run; above 1 it is a finding, never cut."""
        return self.seconds_at_roof / self.seconds

    @property
    def share_at_maximum(self) -> float | None:
        return None if self.seconds_at_maximum is None else self.seconds_at_maximum / self.seconds

    @property
    def roof(self) -> float:
        return self.amount / self.seconds_at_roof if self.seconds_at_roof else 0.0

    @property
    def rate(self) -> float:
        return self.amount / self.seconds


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A group of launches. ``seconds`` is None where no launch of it has a time.

    ``flop_status`` is that of the cells where they agree, else ``"mixed"``; ``flop_seconds`` the time of launches whose
    FLOP may be drawn. ``floor_seconds`` is what the ``judged_seconds`` (of the launches that have a roof) would be with
    each launch at its nearest roof; the cost of launching stands beside the kernels' own time and is not in it.
    """

    name: str
    launches: int
    timed_launches: int
    seconds: float | None
    shortest_seconds: float | None = None
    longest_seconds: float | None = None
    shapes: int = 1
    kernels: int = 1
    flop_status: str = "unknown"
    flop_reason: str = ""
    flop: tuple[PathFlop, ...] = ()
    flop_seconds: float = 0.0
    flop_launches: int = 0
    traffic: tuple[LevelBytes, ...] = ()
    traffic_seconds: dict[str, float] = {}
    points: tuple[Point, ...] = ()
    resources: tuple[Resource, ...] = ()
    instructions: Instructions | None = None
    floor_seconds: float = 0.0
    judged_seconds: float = 0.0
    unpaired: tuple[str, ...] = ()
    clocks_hz: dict[str, float] = {}
    facts: dict[str, float] = {}
    ranges: tuple[str, ...] = ()
    absent: tuple[Absent, ...] = ()

    @property
    def total_flop(self) -> float | None:
        """None where it is not known of any launch."""
        return None if not self.flop_launches else sum(row.value for row in self.flop)

    @property
    def rate(self) -> float | None:
        """FLOP/s over the launches whose FLOP are known."""
        total = self.total_flop
        return total / self.flop_seconds if total is not None and self.flop_seconds else None

    def resource(self, key: str) -> Resource | None:
        return next((row for row in self.resources if row.key == key), None)

    def point(self, level: str) -> Point | None:
        return next((row for row in self.points if row.level == level), None)


def unseen(summary: Summary) -> tuple[str, ...]:
    """What may keep a kernel busy that is near no roof, and was not counted."""
    instructions = () if summary.instructions is not None else ("integer and other instructions",)
    shared = () if any(row.level == "SHARED" for row in summary.traffic) else ("shared memory",)
    return (*instructions, *shared)


def lacking(summary: Summary) -> tuple[str, ...]:
    """What was not counted and could be the bound: ``FLOP`` and levels without bytes."""
    found = [] if summary.flop_status == "complete" else ["FLOP"]
    withheld = {row.level for row in summary.traffic if row.withheld}
    present = {row.level for row in summary.traffic}
    return (*found, *(level for level in ("L1", "L2", "DRAM") if level not in present and level not in withheld))
