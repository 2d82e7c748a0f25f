"""The figures of one benchmark on each side, as they stand in a judgement. Pure."""

from __future__ import annotations

import statistics

from ert_numba.judge.alike import differences_of_benchmarks
from ert_numba.judge.evidence import Evidence
from ert_numba.judge.judgement import Judged, Level


def undecided(pair: tuple[Evidence, Evidence], verdict: str, reason: str) -> Judged:
    a, b = pair
    return Judged(
        name=a.name,
        key=key_of(b),
        kind=b.said.kind if b.said else "",
        unit=b.unit,
        file=file_of(b),
        verdict=verdict,
        reason=reason,
        a=level(a),
        b=level(b),
        differences=differences_of_benchmarks(a, b),
    )


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


def key_of(row: Evidence) -> str:
    return row.said.key if row.said else row.name


def file_of(row: Evidence) -> str | None:
    """A user's own file, as pytest names it; the suite's lies in the installed package."""
    if row.said is not None and row.said.kind != "user":
        return None
    return row.name.split("::", maxsplit=1)[0] if "::" in row.name else None
