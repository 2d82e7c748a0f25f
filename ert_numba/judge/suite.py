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
from ert_numba.judge.thresholds import Thresholds, change_of, check_names, threshold_of
from ert_numba.judge.verdicts import decide, too_few

Pair = tuple[Evidence, Evidence]


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


def _judged(pairs: Mapping[str, Pair], thresholds: Thresholds) -> Iterator[Judged]:
    """Those that both sides have: first all their noise, then each verdict in its light, then what moved."""
    reasons = {name: unlike(*pair) for name, pair in pairs.items()}
    few = {name: too_few(*pair) for name, pair in pairs.items() if not reasons[name]}
    logs = {name: _logs(pairs[name]) for name, reason in few.items() if not reason}
    prior = prior_of(spread(*sides) for sides in logs.values())
    shifts = {name: shift_of(*sides, prior, len(logs)) for name, sides in logs.items()}
    decided = [
        _decided(pair, shifts[name], thresholds, len(shifts)) if name in shifts
        else _undecided(pair, UNLIKE if reasons[name] else UNKNOWN, reasons[name] or few[name])
        for name, pair in pairs.items()
    ]  # fmt: skip
    changed = {
        row.key: shifts[row.name].value for row in decided if row.verdict in (FASTER, SLOWER) and row.kind != "user"
    }
    for row in decided:
        yield _explained(row, pairs[row.name], shifts, changed) if row.verdict in (FASTER, SLOWER) else row


def _logs(pair: Pair) -> tuple[list[float], list[float]]:
    one, two = ([math.log(row.seconds) for row in side.sound] for side in pair)
    return one, two


def _decided(pair: Pair, shift: Shift, thresholds: Thresholds, comparisons: int) -> Judged:
    a = pair[0]
    threshold = threshold_of(thresholds.stated(a.name, _key(a)), shift)
    verdict = decide(shift, threshold, comparisons)
    low, high, *corrected = (
        change_of(shift.value + sign * half) for half in (shift.own, shift.corrected) for sign in (-1, 1)
    )
    return msgspec.structs.replace(
        _undecided(pair, verdict.text, verdict.reason),
        change=change_of(shift.value),
        low=low,
        high=high,
        corrected=(corrected[0], corrected[1]),
        noise=shift.noise,
        threshold=threshold,
    )


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


def _explained(row: Judged, pair: Pair, shifts: Mapping[str, Shift], changed: Mapping[str, float]) -> Judged:
    roofs = [side.said.roof if side.said else None for side in pair]
    assert row.a is not None
    assert row.b is not None
    assert row.threshold is not None
    moved = Moved(
        shift=shifts[row.name].value,
        limit=math.log1p(row.threshold.fraction),
        unit=row.unit,
        a=row.a,
        b=row.b,
        roof_a=roofs[0],
        roof_b=roofs[1],
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
    one, two = (run.device.properties.get("uuid hash") if run.device else None for run in (a, b))
    if one != two and one and two:
        yield "A and B were measured on different cards of one product, which differ by themselves"
