"""The application model: what a program did on one kind of GPU, launches alike added up. The third document.

A :class:`Cell` adds launches of one kernel, shape, range, stream and process of which the SAME things are known, so
that a sum never mixes known and unknown; every other grouping is a sum over cells. Nothing in it depends on a roof.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from appprof.counts.peaks import Peak
from appprof.counts.record import Absent
from appprof.metrics import BYTE_DEFINITIONS
from appprof.report.profile import Source
from ert_numba.records import Provenance
from ert_numba.store.documents import DocumentType, register
from ert_numba.store.magnitudes import LEAST, MOST


class Chip(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of GPU, as far as the files tell; several devices of one kind are one chip."""

    name: str | None = None
    compute_capability: tuple[int, int] | None = None
    sm_count: int | None = None
    maximum_sm_clock_hz: float | None = None
    maximum_memory_clock_hz: float | None = None
    memory_bus_bits: int | None = None
    memory_bytes: int | None = None
    l2_bytes: int | None = None

    @property
    def architecture(self) -> str | None:
        """``sm_90``, as the machine model writes it."""
        return None if self.compute_capability is None else "sm_{}{}".format(*self.compute_capability)

    @property
    def label(self) -> str:
        if self.name:
            return self.name
        if self.compute_capability is None:
            return "an unnamed GPU"
        return "an unnamed GPU of compute capability {}.{}".format(*self.compute_capability)


class PathFlop(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Operations of one path, summed. Fields as in ``appprof.counts.record.Flop``."""

    precision: str
    path: str
    sparse: bool = False
    value: float
    fused: float | None = None
    rounding: float = 0.0
    bound: str = "exact"

    @property
    def key(self) -> str:
        return f"{self.precision}.{self.path}" + (".sparse" if self.sparse else "")


class LevelBytes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bytes of one definition, summed. Fields as in ``appprof.counts.record.Traffic``."""

    level: str
    definition: str
    value: float
    rounding: float = 0.0
    bound: str = "exact"
    withheld: str = ""


class Cell(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Launches alike, added up. ``seconds`` is their sum, None where none of them has a time.

    ``ranges`` are the NVTX ranges that were open, outermost first. ``clocks_hz`` are weighted by time, so clock times
    ``seconds`` is the cycles; ``facts`` (occupancy, waves, hit rates) are weighted by time too. ``events`` are sums, by
    the keys of ``appprof.metrics.EVENT_COUNTERS``. ``flop_status``, ``flop_reason`` and ``absent`` are those of
    ``appprof.counts.record.Counts``.
    """

    kernel: str
    kind: str = "kernel"
    ranges: tuple[str, ...] = ()
    stream: int | None = None
    process: int | None = None
    source: str = ""  # label of the file, one for each rank where ranks wrote files of their own
    device: int | None = None
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    launches: int
    seconds: float | None = None
    seconds_rounding: float = 0.0
    shortest_seconds: float | None = None
    longest_seconds: float | None = None
    flop_status: str = "unknown"
    flop_reason: str = ""
    flop: tuple[PathFlop, ...] = ()
    traffic: tuple[LevelBytes, ...] = ()
    clocks_hz: dict[str, float] = {}
    facts: dict[str, float] = {}
    events: dict[str, float] = {}
    absent: tuple[Absent, ...] = ()

    @property
    def total_flop(self) -> float | None:
        """Sum over the paths; None where it must not be drawn as the work."""
        return None if self.flop_status == "unknown" else sum(row.value for row in self.flop)

    def bytes_by(self, definition: str) -> LevelBytes | None:
        return next((row for row in self.traffic if row.definition == definition), None)


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which metrics a quantity was made of, in which form, and in how many launches."""

    what: str  # "time", "fp32.vector", "DRAM" ...
    metrics: tuple[str, ...]
    form: str
    launches: int


class ApplicationModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a program did on one kind of GPU. ``peaks`` are the roofs that the report itself brings along."""

    schema: str = "appprof.application"
    version: int = 1
    run: str
    chip: Chip
    devices: tuple[int, ...] = ()
    cells: tuple[Cell, ...] = ()
    peaks: tuple[Peak, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    sources: tuple[Source, ...] = ()
    warnings: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    provenance: Provenance

    @property
    def seconds(self) -> float:
        """Summed kernel time: launches that ran at once on one device are counted each."""
        return sum(cell.seconds or 0.0 for cell in self.cells)

    @property
    def launches(self) -> int:
        return sum(cell.launches for cell in self.cells)


def faults_of_application(model: ApplicationModel) -> Iterator[str]:
    """One sentence for each broken rule, naming its field."""
    for index, cell in enumerate(model.cells):
        yield from (f"cells[{index}]: {fault}" for fault in _faults_of_cell(cell))
    for index, peak in enumerate(model.peaks):
        if not all(LEAST < value < MOST for value in (peak.per_cycle, peak.clock_hz, peak.per_second)):
            yield f"peaks[{index}] ({peak.key}): a peak must be positive"
        if not peak.origin.metrics:
            yield f"peaks[{index}] ({peak.key}): origin.metrics names no metric"


def _faults_of_cell(cell: Cell) -> Iterator[str]:
    if cell.launches < 1:
        yield f"launches is {cell.launches}, where a positive number must stand"
    if cell.flop_status not in ("complete", "partial", "unknown"):
        yield f"flop_status is {cell.flop_status!r}"
    for name, value in _positive(cell):
        if value is not None and not LEAST < value < MOST:
            yield f"{name} is {value!r}, where a positive number must stand"
    for name, value in _not_negative(cell):
        if not 0 <= value < MOST:
            yield f"{name} is {value!r}, where 0 or a positive number must stand"
    for row in cell.traffic:
        known = BYTE_DEFINITIONS.get(row.definition)
        if known is None or known.level != row.level:
            yield f"there are no bytes {row.definition!r} of level {row.level!r}"
    for flop in cell.flop:
        if flop.fused is not None and not 0 <= flop.fused <= flop.value * (1 + 1e-9):
            yield f"{flop.key} is {flop.value!r}, and {flop.fused!r} of it fused"


def _positive(cell: Cell) -> Iterator[tuple[str, float | None]]:
    yield "seconds", cell.seconds
    yield "shortest_seconds", cell.shortest_seconds
    yield "longest_seconds", cell.longest_seconds
    yield from ((f"clocks_hz.{unit}", clock) for unit, clock in cell.clocks_hz.items())
    yield from ((row.key, row.value) for row in cell.flop)


def _not_negative(cell: Cell) -> Iterator[tuple[str, float]]:
    yield "seconds_rounding", cell.seconds_rounding
    yield from cell.events.items()
    yield from cell.facts.items()
    yield from ((f"the rounding of {row.key}", row.rounding) for row in cell.flop)
    for row in cell.traffic:
        yield row.definition, row.value
        yield f"the rounding of {row.definition}", row.rounding


register(
    DocumentType(
        type=ApplicationModel,
        label="an application model",
        made_by="python -m appprof read REPORT",
        faults=faults_of_application,
        maximum_bytes=1 << 28,
    )
)
