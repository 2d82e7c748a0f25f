"""What a run of a benchmark suite brings before the judge: process starts, and in each the times of its benchmarks."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

import msgspec

from ert_numba.errors import NotComparable
from ert_numba.records import DeviceInfo
from ert_numba.starts import Benchmarked, SuiteInfo

_MANY = 8  # rounds
CLOCK_OFF = 0.02  # of the median over the run's starts: beyond the 1 % that the probe and the governor's steps make
# Of `device.nvml.REASONS`: a dense kernel runs at the power cap on every good day, the others are no steady state.
_POWER_CAP = "power cap"
_UPSETS = ("hardware slowdown", "thermal, software", "thermal, hardware", "power brake")


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark in one process start; ``said`` is None in a pytest-benchmark file that is not ours."""

    name: str  # pytest's full name
    seconds: tuple[float, ...]
    said: Benchmarked | None = None


class ProcessStart(msgspec.Struct, frozen=True, kw_only=True):
    """One file. ``machine`` is what a foreign file says of its machine, as text."""

    label: str  # name of the file, for messages
    created: str
    info: SuiteInfo | None = None
    machine: dict[str, str] = {}
    observed: tuple[Observed, ...] = ()

    @property
    def times(self) -> tuple[tuple[str, tuple[float, ...]], ...]:
        """What no two starts have in common."""
        return tuple((row.name, row.seconds) for row in self.observed)


class SuiteRun(msgspec.Struct, frozen=True, kw_only=True):
    """All process starts of one named run, in the order of their files."""

    name: str
    starts: tuple[ProcessStart, ...]

    @property
    def info(self) -> SuiteInfo | None:
        return self.starts[0].info

    @property
    def device(self) -> DeviceInfo | None:
        return self.info.device if self.info else None

    @property
    def device_name(self) -> str:
        return self.device.name if self.device else self.starts[0].machine.get("cpu", "")


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What one start says of one benchmark: seconds for one unit of its work, and what speaks against it.

    ``share`` is that of its median round in the roof, or else in the limit, which was taken at the median clock.
    """

    label: str
    seconds: float
    clock_hz: float | None = None
    share: float | None = None
    code: str = ""
    doubts: tuple[str, ...] = ()


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark on one side. ``said`` is the last start's; ``value`` of a rate is its inverse seconds."""

    name: str
    readings: tuple[Reading, ...]
    said: Benchmarked | None = None

    @property
    def sound(self) -> tuple[Reading, ...]:
        return tuple(row for row in self.readings if not row.doubts)

    @property
    def unit(self) -> str:
        return self.said.unit if self.said else "s"


def deciding_round(seconds: Sequence[float]) -> int:
    """Which round speaks for a start: the third fastest (of fewer than 8 the second), which no lucky round can move.

    Neighbours of a CPU, and the power cap of a GPU, only ever make a round slower, in phases that may outlast a start
    and so reach its median. Over 12 starts of the suite on two shared cores, half of the benchmarks have a standard
    deviation below 6.8 % by their medians, below 0.6 % by these rounds; on an H200 below 0.28 % and 0.22 %.
    """
    ordered = sorted(range(len(seconds)), key=seconds.__getitem__)
    return ordered[min(2 if len(ordered) >= _MANY else 1, len(ordered) - 1)]


def amount(said: Benchmarked | None) -> float:
    """Units of work of ONE timed call, in the unit of its rate."""
    if said is None:
        return 1.0
    work = said.work
    return {"FLOP/s": work.flop, "OP/s": work.flop, "B/s": work.bytes_counted}.get(said.unit, work.accesses) or 1.0


def evidence_of(run: SuiteRun) -> dict[str, Evidence]:
    """The benchmarks of a run by name. Raises NotComparable where its own starts are unlike."""
    _refuse_mixture(run)
    _refuse_copies(run)
    found: dict[str, list[tuple[ProcessStart, Observed]]] = {}
    for start in run.starts:
        for row in start.observed:
            found.setdefault(row.name, []).append((start, row))
    return {name: _evidence(name, rows) for name, rows in found.items()}


def _evidence(name: str, rows: list[tuple[ProcessStart, Observed]]) -> Evidence:
    # A CPU's clock wanders, and that of a GPU at its power cap; of computing at any clock the cycles tell (trials).
    steady = any(start.info is not None and start.info.device.kind == "gpu" for start, _ in rows) and not any(
        row.said.kind == "compute" or _POWER_CAP in str(row.said.conditions.get("throttle", ""))
        for _, row in rows
        if row.said
    )
    medians = [statistics.median(row.said.clock_hz) for _, row in rows if row.said and row.said.clock_hz]
    usual = statistics.median(medians) if medians and steady else None
    rounds = [_speaking(row, usual) for _, row in rows]
    clocks = [_clock(row, index) for (_, row), index in zip(rows, rounds, strict=True)]
    readings = [
        Reading(
            label=start.label,
            seconds=row.seconds[index] / amount(row.said),
            clock_hz=clock,
            share=_share(row),
            code=row.said.code if row.said else "",
            doubts=tuple(_doubts(row.said, clock, usual)),
        )
        for (start, row), index, clock in zip(rows, rounds, clocks, strict=True)
    ]
    return Evidence(name=name, readings=tuple(readings), said=rows[-1][1].said)


def _speaking(row: Observed, usual: float | None) -> int:
    """The deciding one of the rounds at the usual clock; of all, where these are not at least half.

    A GPU's timer, which times rounds and clock alike, may be set right while they run: on an H200 three rounds of
    eight once seemed 1 % faster, at 104.5 % of the highest clock.
    """
    clocks = row.said.clock_hz if row.said else ()
    if usual is None or len(clocks) != len(row.seconds):
        return deciding_round(row.seconds)
    usually = [index for index, clock in enumerate(clocks) if not _off(clock, usual)]
    if 2 * len(usually) < len(clocks):
        return deciding_round(row.seconds)
    return usually[deciding_round([row.seconds[index] for index in usually])]


def _off(clock: float, usual: float) -> bool:
    return abs(math.log(clock / usual)) > math.log1p(CLOCK_OFF)


def _clock(row: Observed, index: int) -> float | None:
    """Beside that round; of all rounds where a probe failed and it is not known whose clock is whose."""
    clocks = row.said.clock_hz if row.said else ()
    if len(clocks) == len(row.seconds):
        return clocks[index]
    return statistics.median(clocks) if clocks else None


def _share(row: Observed) -> float | None:
    if row.said is None or row.said.unit == "s":
        return None
    top = row.said.roof.attainable if row.said.roof else row.said.limit
    share = amount(row.said) / statistics.median(row.seconds) / top if top else math.inf
    return share if math.isfinite(share) else None


def _doubts(said: Benchmarked | None, clock: float | None, usual: float | None) -> Iterable[str]:
    if said is None:
        return
    throttle = str(said.conditions.get("throttle", ""))
    upset = [reason for reason in _UPSETS if reason in throttle]
    if upset:
        yield f"throttled ({', '.join(upset)})"
    if others := said.conditions.get("other_processes"):
        yield f"{others} other process{'' if others == 1 else 'es'} on the GPU"
    if clock and usual and _off(clock, usual):
        yield f"clock {100 * (clock / usual - 1):+.1f} % off that of the other starts"
    if said.verified is False:
        yield "its result was wrong"


def _refuse_mixture(run: SuiteRun) -> None:
    """Starts of one run must be of one device, driver and suite: else their spread is no noise."""
    for what, values in (
        ("suites", {start.info.suite_version if start.info else None for start in run.starts}),
        ("devices", {start.info.device.name if start.info else start.machine.get("cpu") for start in run.starts}),
        ("drivers", {driver_of(start.info) if start.info else None for start in run.starts}),
    ):
        if len(values) > 1:
            texts = ", ".join(sorted(str(value) for value in values))
            found = f"its files are of several {what}: {texts}"
            raise NotComparable(f"the run {run.name!r}", found, "Save each under a name of its own")


def driver_of(info: SuiteInfo) -> str | None:
    """The driver's version, wherever the suite's device or provenance states it."""
    stated = info.device.properties | info.provenance.versions
    return stated.get("driver") or stated.get("CUDA driver")


def _refuse_copies(run: SuiteRun) -> None:
    """The same start counted twice would look like no noise at all."""
    seen: dict[object, str] = {}
    for start in run.starts:
        other = seen.setdefault(start.times, start.label)
        if other != start.label:
            raise NotComparable(
                f"the run {run.name!r}",
                f"{other} and {start.label} hold the same times: one is a copy",
                "Remove the copy; every file must be a process start of its own",
            )
