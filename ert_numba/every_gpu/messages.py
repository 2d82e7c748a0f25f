"""What a process that measures one GPU is told, and what it answers: one JSON document a line."""

from __future__ import annotations

import msgspec

from ert_numba.errors import DeviceLost, ErtError
from ert_numba.kernels.spec import Request
from ert_numba.measure.sweep import Progress
from ert_numba.records import Sample, Sweep


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Measure GPU ``ordinal``: alone, or in step with the others of ``gpus``."""

    ordinal: int
    gpus: int
    request: Request
    together: bool
    budget_seconds: float | None = None
    full_provenance: bool = False


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """Begin in step at this time of the host's monotonic clock."""

    at: float


class Progressed(msgspec.Struct, frozen=True, tag="progress"):
    progress: Progress


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """All is filled, compiled and checked: waiting for :class:`Start`."""


class Sampled(msgspec.Struct, frozen=True, tag="sampled"):
    """What was measured in step with the others."""

    samples: tuple[Sample, ...]


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """An error in its three parts."""

    asked: str
    found: str
    remedy: str
    lost: bool = False

    @classmethod
    def of(cls, error: ErtError) -> Failed:
        return cls(error.asked, error.found, error.remedy, isinstance(error, DeviceLost))

    def error(self) -> ErtError:
        return (DeviceLost if self.lost else ErtError)(self.asked, self.found, self.remedy)


class Measured(msgspec.Struct, frozen=True, tag="measured"):
    """A sweep of the GPU alone; ``failure`` is what ended it early."""

    sweep: Sweep
    interrupted: bool = False
    failure: Failed | None = None


Answer = Progressed | Ready | Sampled | Failed | Measured
