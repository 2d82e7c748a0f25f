"""Two runs of a benchmark suite to one judgement. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping

import msgspec

from ert_numba.judge.alike import differences_of_benchmarks, differences_of_runs, refuse_unlike, unlike
from ert_numba.judge.causes import Moved, cause_of
from ert_numba.judge.evidence import Evidence, SuiteRun, driver_of, evidence_of
from ert_numba.judge.judgement import FASTER, MISSING, NEW, SLOWER, UNKNOWN, UNLIKE, VERDICTS, Judged, Judgement, Level
from ert_numba.judge.noise import Shift, prior_of, shift_of, spread
from ert_numba.judge.thresholds import DEFAULT, Thresholds, change_of, check_names
from ert_numba.judge.verdicts import decide_in_cycles, too_few

Pair = tuple[Evidence, Evidence]
_STEADIER = 0.5  # cycles decide where their spread is below this part of the time's


def judge(a: SuiteRun, b: SuiteRun, thresholds: Thresholds | None = None, force: bool = False) -> Judgement:
    """Judge run B against run A.

    Raises NotComparable for unlike devices or suites (``force`` lets other device names pass) and ErtError for a
    threshold that names no benchmark.
    """
    thresholds = thresholds or Thresholds()
    refuse_unlike(a, b, force)
    left, right = evidence_of(a), evidence_of(b)
    check_names(thresholds, ((row.name, _key(row)) for side in (left, right) for row in side.values()))
    pairs = {name: (row, right[name]) for name, row in left.items() if name in right}
    rows = [*_judged(pairs, thresholds), *_alone(left, right)]
    order = {verdict: place for place, verdict in enumerate(VERDICTS)}
    rows.sort(key=lambda row: (order[row.verdict], -abs(row.change or 0.0)))
    return Judgement(
        run_a=a.name,
        run_b=b.name,
        device=b.device_name or "a device that the files do not name",
        driver_a=driver_of(a.info) if a.info else None,
        driver_b=driver_of(b.info) if b.info else None,
        benchmarks=tuple(rows),
        differences=differences_of_runs(a, b),
        notes=tuple(_notes(a, b, left, right)),
    )


class _Trial(msgspec.Struct, frozen=True):
    """The shifts of a pair: of its time, and of its clock cycles where these are known; ``steadier`` if they decide."""

    time: Shift
    cycles: Shift | None
    steadier: bool


def _judged(pairs: Mapping[str, Pair], thresholds: Thresholds) -> Iterator[Judged]:
    """Those that both sides have: first all their noise, then each verdict in its light, then what moved."""
    reasons = {name: unlike(*pair) for name, pair in pairs.items()}
    few = {name: too_few(*pair) for name, pair in pairs.items() if not reasons[name]}
    trials, comparisons = _trials({name: pairs[name] for name, reason in few.items() if not reason})
    decided: list[tuple[Judged, bool]] = []
    for name, pair in pairs.items():
        if name in trials:
            decided.append(_decided(pair, trials[name], thresholds, comparisons))
        else:
            decided.append((_undecided(pair, UNLIKE if reasons[name] else UNKNOWN, reasons[name] or few[name]), False))
    changed = {row.key: trials[row.name].time.value for row, _ in decided
               if row.verdict in (FASTER, SLOWER) and row.kind != "user"}  # fmt: skip
    for row, in_cycles in decided:
        known = row.verdict in (FASTER, SLOWER)
        yield _explained(row, pairs[row.name], trials[row.name], changed, in_cycles) if known else row


def _trials(pairs: Mapping[str, Pair]) -> tuple[dict[str, _Trial], int]:
    """The shifts of all pairs, corrected for all tests that are made of them."""
    times = {name: _logs(pair, in_cycles=False) for name, pair in pairs.items()}
    cycles = {
        name: _logs(pair, in_cycles=True)
        for name, pair in pairs.items()
        if all(row.clock_hz for side in pair for row in side.sound)
    }
    spreads = {name: spread(*sides) for name, sides in times.items()}
    prior = prior_of(spreads.values())
    # Each further test widens all intervals. Chosen by the spreads: a choice that knew the shift would favour one.
    noisy = (name for name in cycles if shift_of(*times[name], prior, len(times)).corrected > math.log1p(DEFAULT))
    steadier = {name for name in noisy if spread(*cycles[name]).variance < _STEADIER**2 * spreads[name].variance}
    count = len(times) + len(steadier)
    found = {}
    for name, sides in times.items():
        other = shift_of(*cycles[name], prior, count) if name in cycles else None
        found[name] = _Trial(shift_of(*sides, prior, count), other, name in steadier)
    return found, count


def _logs(pair: Pair, in_cycles: bool) -> tuple[list[float], list[float]]:
    one, two = ([math.log(row.seconds * (row.clock_hz or 1.0 if in_cycles else 1.0)) for row in side.sound]
                for side in pair)  # fmt: skip
    return one, two


def _decided(pair: Pair, trial: _Trial, thresholds: Thresholds, comparisons: int) -> tuple[Judged, bool]:
    a, b = pair
    stated = thresholds.stated(a.name, _key(a))
    found = decide_in_cycles(trial.time, trial.cycles if trial.steadier else None, stated, comparisons)
    text, reason = found.verdict.text, found.verdict.reason
    if text in (FASTER, SLOWER) and (mixed := _mixed_code(a, b, trial.time.value)):
        text, reason = UNKNOWN, mixed
    shift = trial.time
    ends = [change_of(shift.value + sign * half) for half in (shift.own, shift.corrected) for sign in (-1, 1)]
    row = msgspec.structs.replace(
        _undecided(pair, text, reason),
        change=change_of(shift.value),
        low=ends[0],
        high=ends[1],
        corrected=(ends[2], ends[3]),
        noise=shift.noise,
        cycles=change_of(trial.cycles.value) if trial.cycles else None,
        threshold=found.threshold,
    )
    return row, found.in_cycles


def _mixed_code(a: Evidence, b: Evidence, shift: float) -> str:
    """Why a change says nothing where starts of one side ran different code; empty where like against like shows half.

    cuBLAS chooses an algorithm by timing a few, and may choose otherwise in the next start: two speeds, by chance.
    """
    one, two = _by_code(a), _by_code(b)
    if len(one) == len(two) == 1:
        return ""
    alike = [(two[code] - one[code]) / shift for code in one if code in two]
    if alike and min(alike) > 0.5:
        return ""
    return f"starts of one run ran different code: {' | '.join(one)} in A, {' | '.join(two)} in B"


def _by_code(side: Evidence) -> dict[str, float]:
    """The median log seconds of the starts that ran each code."""
    found: dict[str, list[float]] = {}
    for row in side.sound:
        found.setdefault(row.code, []).append(math.log(row.seconds))
    return {code: statistics.median(values) for code, values in sorted(found.items())}


def _undecided(pair: Pair, verdict: str, reason: str) -> Judged:
    a, b = pair
    return Judged(
        name=a.name,
        key=_key(b),
        kind=b.said.kind if b.said else "",
        unit=b.unit,
        file=_file(b),
        verdict=verdict,
        reason=reason,
        a=level(a),
        b=level(b),
        differences=differences_of_benchmarks(a, b),
    )


def _explained(row: Judged, pair: Pair, trial: _Trial, changed: Mapping[str, float], in_cycles: bool) -> Judged:
    roofs = [side.said.roof if side.said else None for side in pair]
    assert row.a is not None
    assert row.b is not None
    assert row.threshold is not None
    moved = Moved(
        shift=trial.time.value,
        limit=math.log1p(row.threshold.fraction),
        unit=row.unit,
        a=row.a,
        b=row.b,
        roof_a=roofs[0],
        roof_b=roofs[1],
        cycles=trial.cycles.value if trial.cycles and in_cycles else None,
        other_code=any(found.name == "code" for found in row.differences),
    )
    cause = cause_of(moved, changed, user=row.kind in ("user", ""))
    return msgspec.structs.replace(row, moved=cause.moved, cause=cause.sentence)


def _alone(a: Mapping[str, Evidence], b: Mapping[str, Evidence]) -> Iterator[Judged]:
    for verdict, mine, other in ((MISSING, a, b), (NEW, b, a)):
        for name, row in mine.items():
            if name not in other:
                kind = row.said.kind if row.said else ""
                alone = Judged(name=name, key=_key(row), kind=kind, unit=row.unit, verdict=verdict, file=_file(row))
                side = {"a" if verdict == MISSING else "b": level(row)}
                yield msgspec.structs.replace(alone, **side)


def level(row: Evidence) -> Level:
    """One side's figures, over its sound starts, or over all where none is sound."""
    readings = row.sound or row.readings
    seconds = [reading.seconds for reading in readings]
    values = sorted(seconds if row.unit == "s" else (1 / value for value in seconds))
    clocks = [reading.clock_hz for reading in readings if reading.clock_hz is not None]
    shares = [reading.share for reading in readings if reading.share is not None]
    return Level(
        value=statistics.median(values),
        low=values[0],
        high=values[-1],
        starts=len(row.sound),
        of_starts=len(row.readings),
        clock_hz=statistics.median(clocks) if clocks else None,
        roof=row.said.roof.attainable if row.said and row.said.roof else None,
        share=statistics.median(shares) if shares else None,
    )


def _key(row: Evidence) -> str:
    return row.said.key if row.said else row.name


def _file(row: Evidence) -> str | None:
    """A user's own file, as pytest names it; the suite's lies in the installed package."""
    if row.said is not None and row.said.kind != "user":
        return None
    return row.name.split("::", maxsplit=1)[0] if "::" in row.name else None


def _notes(a: SuiteRun, b: SuiteRun, left: Mapping[str, Evidence], right: Mapping[str, Evidence]) -> Iterator[str]:
    if (a.info is None) != (b.info is None):
        yield f"{'A' if a.info is None else 'B'} was not made by this suite: its device and work are not known"
    for side, evidence in (("A", left), ("B", right)):
        doubted: dict[str, list[str]] = {}
        for row in evidence.values():
            for reading in row.readings:
                for doubt in reading.doubts:
                    doubted.setdefault(f"{reading.label}: {doubt}", []).append(_key(row))
        for text, keys in doubted.items():
            yield f"{side}, {text}: left out of {', '.join(keys[:3])}{f' and {len(keys) - 3} more' if keys[3:] else ''}"
    both = {start.times for start in a.starts} & {start.times for start in b.starts}
    if both:
        yield f"{len(both)} of the process starts are in both runs: of these nothing can be told"
    one, two = (run.device.properties.get("uuid hash") if run.device else None for run in (a, b))
    if one != two and one and two:
        yield "A and B were measured on different cards of one product, which differ by themselves"
