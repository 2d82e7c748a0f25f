"""The suite's loop: open each point, time its rounds, and say what the times mean."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

import msgspec

from ert_numba.benchmarks.choice import Chosen
from ert_numba.errors import ErtError
from ert_numba.fit.evidence import Evidence
from ert_numba.fit.keys import is_series, parse_ceiling
from ert_numba.fit.roofs import physical_limit
from ert_numba.kernels.spec import CompiledCodeMismatch
from ert_numba.measure.stopping import Settled
from ert_numba.measure.timers import Bench, Timer, Timing
from ert_numba.records import AxisValue, DeviceInfo
from ert_numba.starts import Benchmarked
from ert_numba.units import si

SUITE_SECONDS = 14.0  # no new pass over the suite that would end after this; the first one is always whole
DEAR_SECONDS = 0.5  # what takes this long to make ready (a ring laid through device memory) is visited once, for longer


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How a kind of device is measured: ``passes`` over the suite, and of each visit rounds until its ``seconds`` and
    the ``least`` number are reached, or the ``most``."""

    passes: int
    seconds: float
    least: int
    most: int


PACES = {
    # Many short rounds over the whole start: neighbours and the sharing of a core come in phases of seconds, which one
    # moment's rounds cannot tell from the machine (in one start of six, all of L1 stood at half its rate).
    "cpu": Pace(passes=8, seconds=0.04, least=4, most=24),
    # A GPU repeats within hundredths of a per cent until its power cap acts: on an H200 after some 35 ms of Tensor Core
    # work, at another moment in every start. So bursts are shorter than that (the timer lets them begin rested).
    "gpu": Pace(passes=1, seconds=0.06, least=5, most=8),
}


@dataclass
class Gathered:
    """What the visits to one benchmark brought, or why it brought nothing."""

    chosen: Chosen
    timings: list[Timing] = field(default_factory=list)
    repetitions: int | None = None  # in a round; of the first visit, where nothing fixes it
    verified: bool | None = None
    code: str = ""
    conditions: dict[str, AxisValue] = field(default_factory=dict)
    steal_seconds: float = 0.0
    dear: bool = False
    refusal: str | None = None  # it cannot be measured here
    failure: Exception | None = None  # it should be, and went wrong

    @property
    def seconds(self) -> tuple[float, ...]:
        """Of ONE repetition in each round: a slower kernel is calibrated to fewer, so its rounds last as long."""
        return tuple(timing.seconds / (self.repetitions or 1) for timing in self.timings)

    @property
    def finished(self) -> bool:
        return self.dear or self.refusal is not None or self.failure is not None


Listener = Callable[[str, int, int], None]
"""Called before each visit with the benchmark's key, how many visits are done, and of how many."""


def measure(chosen: Iterable[Chosen], timer: Timer, pace: Pace, listener: Listener) -> dict[str, Gathered]:
    """Visit every benchmark in turn, some times over; one that goes wrong leaves the others alone."""
    found = {row.key: Gathered(row, repetitions=row.repetitions) for row in chosen}
    began, done = time.monotonic(), 0
    for turn in range(1, pace.passes + 1):
        for row in [row for row in found.values() if not row.finished]:
            listener(row.chosen.key, done, len(found) * pace.passes)
            _visit(row, timer, pace)
            done += 1
        if (time.monotonic() - began) * (turn + 1) / turn > SUITE_SECONDS:
            break
    return found


def _visit(row: Gathered, timer: Timer, pace: Pace) -> None:
    began, steal = time.monotonic(), timer.steal_seconds()
    try:
        bench = timer.open(row.chosen.spec, row.chosen.point, row.repetitions)
        row.dear = time.monotonic() - began > DEAR_SECONDS
        row.timings += _rounds(bench, pace, pace.passes if row.dear else 1)
    except CompiledCodeMismatch as mismatch:
        row.refusal = f"the compiled code is not the declared one: {mismatch}"
    except ErtError as error:
        row.refusal = str(error)
    except Exception as error:  # of a driver or a library: the other benchmarks do not pay for it
        row.failure = error
    else:
        row.repetitions = int(bench.conditions.get("repetitions", 1))
        row.code = bench.code
        row.verified = bench.verified if row.verified is None else row.verified and bench.verified
        row.conditions = _joined(bench.conditions, timer.conditions())
        row.steal_seconds += timer.steal_seconds() - steal


def _rounds(bench: Bench, pace: Pace, visits: int) -> list[Timing]:
    bench.once()  # warm, and not counted
    until = time.monotonic() + visits * pace.seconds
    timings: list[Timing] = []
    while len(timings) < visits * pace.least or (len(timings) < visits * pace.most and time.monotonic() < until):
        timings.append(bench.once())
    return timings


def _joined(before: dict[str, AxisValue], after: dict[str, AxisValue]) -> dict[str, AxisValue]:
    """Conditions of the rounds: power while they ran if it was read, and every throttle reason of both moments."""
    reasons = [word for side in (before, after) for word in str(side.get("throttle", "")).split(", ") if word]
    joined = after | before
    return joined | {"throttle": ", ".join(dict.fromkeys(reasons))} if "throttle" in joined else joined


def record_of(row: Gathered, device: DeviceInfo, rule: Settled) -> Benchmarked:
    """The record beside the times of the rounds."""
    clocks = tuple(round(timing.clock_hz, -3) for timing in row.timings if timing.clock_hz is not None)
    stolen: dict[str, AxisValue] = {"steal_seconds": round(row.steal_seconds, 3)} if row.steal_seconds > 0 else {}
    return Benchmarked(
        key=row.chosen.key,
        kernel=row.chosen.spec.name,
        kind=_kind(row.chosen.spec.kind),
        unit=_unit(row.chosen),
        work=row.chosen.spec.work(row.chosen.point),
        axes=row.chosen.point.axes,
        clock_hz=clocks,
        limit=_limit(row, clocks, device),
        noisy=not rule.settled(row.seconds),
        verified=row.verified,
        code=row.code,
        conditions=row.conditions | stolen,
    )


def _limit(row: Gathered, clocks: Sequence[float], device: DeviceInfo) -> float | None:
    if is_series(row.chosen.key):
        return None
    evidence = Evidence(
        point=row.chosen.point,
        work=row.chosen.spec.work(row.chosen.point),
        seconds=(median(row.seconds),),
        clock_hz=(median(clocks),) if clocks else (),
        noisy=False,
        conditions=row.conditions,
    )
    return physical_limit(parse_ceiling(row.chosen.key), evidence, device)


def _kind(kind: str) -> str:
    return "compute" if kind == "intensity" else kind


def _unit(chosen: Chosen) -> str:
    if not is_series(chosen.key):
        return parse_ceiling(chosen.key).unit
    return "B/s" if chosen.spec.kind == "bandwidth" else "FLOP/s"


def value_of(record: Benchmarked, seconds: float) -> float:
    """What a round of ``seconds`` says in the record's unit: a rate, or for "s" the seconds of one access."""
    if record.unit == "s":
        return seconds / record.work.accesses
    return (record.work.bytes_counted if record.unit == "B/s" else record.work.flop) / seconds


def in_words(record: Benchmarked, seconds: Sequence[float]) -> dict[str, str]:
    """For a person who opens the file: the median rate, its share of the limit, clock and power."""
    value = value_of(record, median(seconds))
    words = {"median": si(value, record.unit)}
    if record.limit is not None:
        words["share of limit"] = f"{100 * value / record.limit:.1f} %"
    if record.roof is not None:
        words["share of roof"] = f"{100 * value / record.roof.attainable:.1f} %"
    if record.clock_hz:
        words["clock"] = si(median(record.clock_hz), "Hz")
    if "power_watts" in record.conditions:
        words["power"] = si(float(record.conditions["power_watts"]), "W")
    return words


def group_of(record: Benchmarked) -> str:
    """Under which heading pytest-benchmark's tables show it: times of unlike kinds are no rivals."""
    return f"{record.kind} in {record.unit}"


def as_json(record: msgspec.Struct) -> dict[str, object]:
    """The record as pytest-benchmark's JSON takes it."""
    found: dict[str, object] = msgspec.to_builtins(record)
    return found
