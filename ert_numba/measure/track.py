"""What a sweep gathers of each point, from the kernels' offer to a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ert_numba.kernels.spec import KernelSpec
from ert_numba.measure.stopping import Settled
from ert_numba.records import AxisValue, Point, Sample, Skipped, Work


@dataclass
class Track:
    """What has been gathered of one point so far."""

    spec: KernelSpec
    point: Point
    seconds: list[float] = field(default_factory=list)
    clocks: list[float] = field(default_factory=list)
    steal: float = 0.0
    visits: int = 0
    open_seconds: float = 0.0  # of the last visit: laying a ring through device memory takes longer than chasing it
    refused: bool = False
    repetitions: int | None = None
    work: Work = field(default_factory=Work)
    verified: bool | None = None
    code: str = ""
    conditions: dict[str, AxisValue] = field(default_factory=dict)

    def rate(self) -> float:
        """The best so far, in work per second (accesses per second for a latency)."""
        amount = self.work.flop or self.work.bytes_counted or self.work.accesses
        return amount / min(self.seconds)

    def sample(self, rule: Settled) -> Sample:
        return Sample(
            point=self.point,
            work=self.work,
            seconds=tuple(self.seconds),
            clock_hz=tuple(self.clocks),
            steal_seconds=self.steal,
            noisy=not rule.settled(self.seconds),
            verified=self.verified,
            code=self.code,
            conditions=self.conditions,
        )


def plan_points(
    kernels: Iterable[KernelSpec], offered: Callable[[KernelSpec], Iterable[Point | Skipped]], done: Iterable[str]
) -> tuple[list[Track], list[Skipped]]:
    """The points that the kernels offer, each once, less those whose key is ``done`` (a resumed sweep)."""
    tracks: list[Track] = []
    skipped: list[Skipped] = []
    finished = set(done)
    for spec in kernels:
        for item in offered(spec):
            if isinstance(item, Skipped):
                skipped.append(item)
            elif item.key not in finished:
                finished.add(item.key)
                tracks.append(Track(spec, item))
    return tracks, skipped
