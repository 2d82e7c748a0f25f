"""The records that flow from device to sweep: typed, frozen, in SI base units.

A :class:`Sweep` holds raw samples and nothing derived from them, so that every statistic can be
computed again, anywhere, without the device.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import msgspec

AxisValue = int | float | str | bool


def slug(text: str, fallback: str) -> str:
    """Text as a file name: ASCII letters, digits and dashes, at most 80; ``fallback`` where nothing is left."""
    plain = unicodedata.normalize("NFKD", text)
    kept = "".join(c if c.isascii() and c.isalnum() else "" if unicodedata.combining(c) else " " for c in plain)
    return "-".join(kept.split()).lower()[:80].strip("-") or fallback


class Cache(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cache as the system describes it: a hint for names, never a result."""

    level: str
    bytes: int
    shared_by: int = 1  # hardware threads (CPU) or SMs (GPU) that share one instance
    instances: int = 1
    source: str  # "sysfs", "cpuid", "driver", "catalogue"


class Limit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A physical limit: ``per_cycle`` units of work in one cycle of ONE core (CPU) or SM (GPU).

    ``key`` is the ceiling key that it bounds. Where the limit belongs to a clock of its own (a memory
    bus), ``per_second`` for the whole device is given instead, and ``per_cycle`` is None.
    """

    key: str
    per_cycle: float | None = None
    per_second: float | None = None
    source: str


class DeviceInfo(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was measured: one CPU host or one GPU.

    ``units`` counts what ``Limit.per_cycle`` speaks of: physical cores in use (CPU) or SMs (GPU).
    ``features`` are ISA flags (CPU) or the compute capability as ``sm_90`` (GPU). ``properties`` holds what
    only a person reads (driver, huge pages, power cap ...), as text.
    """

    kind: str  # "cpu" or "gpu"
    name: str
    vendor: str
    architecture: str  # "x86_64", "aarch64", "sm_90"
    units: int
    threads: int = 1  # hardware threads that may be used
    sockets: int = 1
    socket_units: int = 0  # those of ``units`` on the first socket (CPU); cpusets and quotas may cut sockets unevenly
    numa_nodes: int = 1
    memory_bytes: int = 0
    maximum_clock_hz: float | None = None
    features: tuple[str, ...] = ()
    caches: tuple[Cache, ...] = ()
    limits: tuple[Limit, ...] = ()
    properties: dict[str, str] = {}
    notes: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """The device as a folder name: ASCII letters, digits and dashes."""
        return slug(self.name, f"unnamed-{self.kind}")

    def limit(self, key: str) -> Limit | None:
        return next((row for row in self.limits if row.key == key), None)


class Work(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ONE timed call of a kernel does, over all its threads: declared before it runs, then checked.

    ``bytes_counted`` follows STREAM (what the source names); ``bytes_moved`` adds the lines that
    write-allocate reads first. ``accesses`` counts dependent loads (latency) or launches (overhead).
    """

    flop: float = 0.0
    bytes_counted: float = 0.0
    bytes_moved: float = 0.0
    accesses: float = 0.0


FULL_CLOCK = 0.98  # of the maximum: a device that runs so fast is not held back


def held_back(clock_hz: Sequence[float], maximum_hz: float | None) -> bool:
    """Whether power management kept every one of these clocks below the full one; False where either is unknown."""
    return bool(clock_hz) and maximum_hz is not None and max(clock_hz) < FULL_CLOCK * maximum_hz


class Point(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One configuration of one kernel: where a sweep can stand.

    ``ceiling`` is the key of what the point bears witness to: a ceiling (see ``machine.Ceiling.key``), or a series
    from which the fit reads several: ``curve.read``, ``curve.latency``, ``curve.read.private`` (rate or latency against
    the axis ``working_set_bytes``: knees and plateaus), ``intensity.fp64.L2`` (against the axis ``flop_per_byte``).
    ``axes`` are its coordinates, for example ``{"working_set_bytes": 32768, "threads": 2, "streams": 4}``;
    ``working_set_bytes`` is what ONE core (CPU) or SM (GPU, where the axis ``shared`` is not set) touches.
    """

    kernel: str
    ceiling: str
    axes: dict[str, AxisValue] = {}

    @property
    def key(self) -> str:
        """The point as text, equal for equal points: what ``--resume`` skips by."""
        inside = ",".join(f"{name}={self.axes[name]}" for name in sorted(self.axes))
        return f"{self.kernel}:{self.ceiling}[{inside}]"


class Sample(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All timings of one point, raw, with the conditions beside each.

    ``seconds[i]`` is the i-th timed call of ``work``; ``clock_hz`` are the core clocks measured beside the calls
    (one a call; fewer where a probe failed, none where there is no probe). ``noisy`` is set by the stopping rule
    when the budget ended before the repeats agreed. ``verified`` is the comparison with the gold value; ``code``
    what the check of the compiled code found.
    """

    point: Point
    work: Work
    seconds: tuple[float, ...]
    clock_hz: tuple[float, ...] = ()
    steal_seconds: float = 0.0
    warmups: int = 0
    noisy: bool = False
    verified: bool | None = None
    code: str = ""
    conditions: dict[str, AxisValue] = {}


class Skipped(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that was asked and not measured, and why. Missing is missing: never 0."""

    what: str  # a ceiling key, a level, or a precision
    reason: str


def by_reason(rows: Iterable[Skipped]) -> list[tuple[str, str]]:
    """(what, joined by commas; the reason) for each reason, in the order in which it first comes."""
    names: dict[str, list[str]] = {}
    for row in rows:
        names.setdefault(row.reason, []).append(row.what)
    return [(", ".join(what), reason) for reason, what in names.items()]


class Provenance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a document comes from. The private fields are filled only by ``--provenance full``."""

    created: str  # ISO 8601, UTC, to the second
    tool: str  # "ert_numba 0.1.0"
    versions: dict[str, str] = {}  # python, numba, llvmlite, numpy, driver ...
    system: str = ""  # kernel release and libc, no host name
    host_name: str | None = None
    user: str | None = None
    command_line: str | None = None


class Sweep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that one run measured: the first of the three documents."""

    schema: str = "ert_numba.sweep"
    version: int = 1
    run: str  # unique name of the run
    device: DeviceInfo
    settings: dict[str, AxisValue] = {}  # budget, seed, quick, threads ...: what must agree to merge or resume
    samples: tuple[Sample, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    partial: bool = False
    wall_seconds: float = 0.0
    provenance: Provenance
