"""What a kernel must say of itself before it may be measured.

A :class:`KernelSpec` is one row of the registry: which points it offers on a device, the work that it declares,
and how it is built. ``build`` returns a :class:`Program`: compiled code whose assembly has been checked, which a timer
of its device kind (``measure.timers``) runs. The sweep loop knows nothing else of a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from ert_numba.records import DeviceInfo, Point, Skipped, Work


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a user asked of a sweep; an empty tuple means all. Sizes are in bytes per core (CPU) or SM/device (GPU)."""

    precisions: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    threads: int | None = None
    sizes: tuple[int, ...] = ()
    quick: bool = False
    full: bool = False
    seed: int = 1

    def wants_precision(self, key: str) -> bool:
        return not self.precisions or key in self.precisions

    def wants_level(self, key: str) -> bool:
        return not self.levels or key in self.levels


class Program(Protocol):
    """Compiled code of one point. One worker (a CPU thread; the host thread of a GPU) owns one state."""

    @property
    def code(self) -> str:
        """What the check of the compiled code found, for the record: ``'48 load = 6 x 8'``."""

    def prepare(self, worker: Any) -> Any:
        """Allocate and touch memory, inside the worker (CPU: its ``cpu_memory.Arena``; GPU: its number)."""

    def run(self, state: Any, repetitions: int) -> float:
        """Do the declared work ``repetitions`` times (CPU: and return; GPU: enqueue). Returns what keeps it alive."""

    def check(self, state: Any) -> bool | None:
        """Run a short case and compare with the gold value; None where there is nothing to compare."""


@dataclass(frozen=True)
class KernelSpec:
    """One kernel of the registry.

    ``points(device, request)`` yields the points to measure, or ``Skipped`` with the reason where the device has not
    what the request asks for. ``work(point)`` declares what ONE repetition does, over all workers.
    ``build(point, device)`` raises ``CompiledCodeMismatch`` when the compiled code is not the declared one.
    """

    name: str
    device_kind: str  # "cpu" | "gpu"
    kind: str  # kind of ceiling: "compute" | "bandwidth" | "latency" | "overhead" | "intensity"
    points: Callable[[DeviceInfo, Request], Iterable[Point | Skipped]]
    work: Callable[[Point], Work]
    build: Callable[[Point, DeviceInfo], Program]


class CompiledCodeMismatch(Exception):
    """The compiler made something else of a kernel than its declaration says: nothing of it may be believed."""
