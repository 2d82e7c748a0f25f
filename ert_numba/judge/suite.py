"""Two runs of a benchmark suite to one judgement. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import msgspec

from ert_numba.judge.alike import differences_of_runs, refuse_unlike, unlike
from ert_numba.judge.causes import Moved, cause_of
from ert_numba.judge.evidence import Evidence, SuiteRun, driver_of, evidence_of
from ert_numba.judge.judgement import FASTER, MISSING, NEW, SLOWER, UNKNOWN, UNLIKE, VERDICTS, Judged, Judgement
from ert_numba.judge.rows import file_of, key_of, level, undecided
from ert_numba.judge.threshold_names import absent_names
from ert_numba.judge.thresholds import Thresholds, change_of
from ert_numba.judge.trials import Pair, Trial, mixed_code, trials
from ert_numba.judge.verdicts import decide_in_cycles, too_few


def judge(a: SuiteRun, b: SuiteRun, thresholds: Thresholds | None = None, force: bool = False) -> Judgement:
    """Judge run B against run A.

    Raises NotComparable for unlike devices or suites (``force`` lets other device names pass) and ErtError for a
    threshold that names no benchmark, unless a project says it.
    """
    thresholds = thresholds or Thresholds()
    refuse_unlike(a, b, force)
    left, right = evidence_of(a), evidence_of(b)
    absent = absent_names(thresholds, ((row.name, key_of(row)) for side in (left, right) for row in side.values()))
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
        notes=(*absent, *_notes(a, b, left, right)),
    )


def _judged(pairs: Mapping[str, Pair], thresholds: Thresholds) -> Iterator[Judged]:
    """Those that both sides have: first all their noise, then each verdict in its light, then what moved."""
    reasons = {name: unlike(*pair) for name, pair in pairs.items()}
    few = {name: too_few(*pair) for name, pair in pairs.items() if not reasons[name]}
    found, comparisons = trials({name: pairs[name] for name, reason in few.items() if not reason})
    decided: list[tuple[Judged, bool]] = []
    for name, pair in pairs.items():
        if name in found:
            decided.append(_decided(pair, found[name], thresholds, comparisons))
        else:
            decided.append((undecided(pair, UNLIKE if reasons[name] else UNKNOWN, reasons[name] or few[name]), False))
    changed = {row.key: found[row.name].time.value for row, _ in decided
               if row.verdict in (FASTER, SLOWER) and row.kind != "user"}  # fmt: skip
    for row, in_cycles in decided:
        known = row.verdict in (FASTER, SLOWER)
        yield _explained(row, pairs[row.name], found[row.name], changed, in_cycles) if known else row


def _decided(pair: Pair, trial: Trial, thresholds: Thresholds, comparisons: int) -> tuple[Judged, bool]:
    a, b = pair
    stated = thresholds.stated(a.name, key_of(a))
    found = decide_in_cycles(trial.time, trial.cycles if trial.steadier else None, stated, comparisons)
    text, reason = found.verdict.text, found.verdict.reason
    if text in (FASTER, SLOWER) and (mixed := mixed_code(a, b, trial.time.value)):
        text, reason = UNKNOWN, mixed
    shift = trial.time
    ends = [change_of(shift.value + sign * half) for half in (shift.own, shift.corrected) for sign in (-1, 1)]
    row = msgspec.structs.replace(
        undecided(pair, text, reason),
        change=change_of(shift.value),
        low=ends[0],
        high=ends[1],
        corrected=(ends[2], ends[3]),
        noise=shift.noise,
        cycles=change_of(trial.cycles.value) if trial.cycles else None,
        threshold=found.threshold,
    )
    return row, found.in_cycles


def _explained(row: Judged, pair: Pair, trial: Trial, changed: Mapping[str, float], in_cycles: bool) -> Judged:
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
                alone = Judged(name=name, key=key_of(row), kind=kind, unit=row.unit, verdict=verdict, file=file_of(row))
                side = {"a" if verdict == MISSING else "b": level(row)}
                yield msgspec.structs.replace(alone, **side)


def _notes(a: SuiteRun, b: SuiteRun, left: Mapping[str, Evidence], right: Mapping[str, Evidence]) -> Iterator[str]:
    if (a.info is None) != (b.info is None):
        yield f"{'A' if a.info is None else 'B'} was not made by this suite: its device and work are not known"
    for side, evidence in (("A", left), ("B", right)):
        doubted: dict[str, list[str]] = {}
        for row in evidence.values():
            for reading in row.readings:
                for doubt in reading.doubts:
                    doubted.setdefault(f"{reading.label}: {doubt}", []).append(key_of(row))
        for text, keys in doubted.items():
            yield f"{side}, {text}: left out of {', '.join(keys[:3])}{f' and {len(keys) - 3} more' if keys[3:] else ''}"
    both = {start.times for start in a.starts} & {start.times for start in b.starts}
    if both:
        yield f"{len(both)} of the process starts are in both runs: of these nothing can be told"
    one, two = (run.device.properties.get("uuid hash") if run.device else None for run in (a, b))
    if one != two and one and two:
        yield "A and B were measured on different cards of one product, which differ by themselves"
