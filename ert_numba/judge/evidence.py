"""What a run of a benchmark suite brings before the judge: process starts, and in each the times of its benchmarks."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

import msgspec

from ert_numba.errors import NotComparable
from ert_numba.records import DeviceInfo
from ert_numba.starts import Benchmarked, SuiteInfo

_FASTEST_BUT = 2  # rounds, which may be luck
CLOCK_OFF = 0.02  # of the median over the run's starts: beyond the 1 % that the probe and the governor's steps make
# Of `device.nvml.REASONS`, those that are no steady state: a dense kernel runs at the power cap on every good day.
_UPSETS = ("thermal", "hardware slowdown", "power brake")


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
    """What one start says of one benchmark: seconds for one unit of its work, and what speaks against it."""

    label: str
    seconds: float
    clock_hz: float | None = None
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


def statistic(seconds: Iterable[float], gpu: bool) -> float:
    """What a start's rounds say: a figure that lies close from start to start, and that no single round can move.

    On a GPU their median. On a CPU the third fastest: neighbours only ever make a round slower, in phases that outlast
    a start, and so reach the median. Over 12 starts of the suite on two shared cores, half of the benchmarks have a
    standard deviation below 6.8 % by their medians, below 0.6 % by their third fastest rounds.
    """
    ordered = sorted(seconds)
    return statistics.median(ordered) if gpu else ordered[min(_FASTEST_BUT, len(ordered) // 2)]


def amount(said: Benchmarked | None) -> float:
    """Units of work of ONE timed call: the times of starts are compared for one unit, whatever their repetitions."""
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
    clocks = [statistics.median(row.said.clock_hz) if row.said and row.said.clock_hz else None for _, row in rows]
    known = [clock for clock in clocks if clock is not None]
    usual = statistics.median(known) if known else None
    gpu = any(start.info is not None and start.info.device.kind == "gpu" for start, _ in rows)
    readings = [
        Reading(
            label=start.label,
            seconds=statistic(row.seconds, gpu) / amount(row.said),
            clock_hz=clock,
            doubts=tuple(_doubts(row.said, clock, usual if gpu else None)),
        )
        for (start, row), clock in zip(rows, clocks, strict=True)
    ]
    return Evidence(name=name, readings=tuple(readings), said=rows[-1][1].said)


def _doubts(said: Benchmarked | None, clock: float | None, usual: float | None) -> Iterable[str]:
    if said is None:
        return
    throttle = str(said.conditions.get("throttle", ""))
    upset = [word.strip() for word in throttle.split(",") if word.strip().startswith(_UPSETS)]
    if upset:
        yield f"throttled ({', '.join(upset)})"
    if others := said.conditions.get("other_processes"):
        yield f"{others} other process{'' if others == 1 else 'es'} on the GPU"
    if clock and usual and abs(math.log(clock / usual)) > math.log1p(CLOCK_OFF):
        yield f"clock {100 * (clock / usual - 1):+.1f} % off the other starts'"
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
    seen: dict[tuple[Observed, ...], str] = {}
    for start in run.starts:
        times = tuple(Observed(name=row.name, seconds=row.seconds) for row in start.observed)
        other = seen.setdefault(times, start.label)
        if other != start.label:
            raise NotComparable(
                f"the run {run.name!r}",
                f"{other} and {start.label} hold the same times: one is a copy",
                "Remove the copy; every file must be a process start of its own",
            )
