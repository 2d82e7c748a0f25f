"""A judgement in words and short figures, the same in terminal, Markdown, annotations and page. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from ert_numba.judge.judgement import FASTER, MISSING, NEW, SAME, SLOWER, UNKNOWN, UNLIKE, Judged, Judgement
from ert_numba.units import si

_COUNTED = {
    SLOWER: "slower", UNLIKE: "not comparable", UNKNOWN: "unknown", MISSING: "missing in B", NEW: "new in B",
    FASTER: "faster", SAME: "the same",
}  # fmt: skip


def headline(judgement: Judgement) -> str:
    """``driver-590 against driver-580 on NVIDIA H200, driver 580.159 to 590.48``."""
    drivers = (judgement.driver_a, judgement.driver_b)
    told = f", driver {drivers[0]}" if drivers[0] == drivers[1] else f", driver {drivers[0]} to {drivers[1]}"
    return f"{judgement.run_b} against {judgement.run_a} on {judgement.device}{told if all(drivers) else ''}"


def summary(judgement: Judgement) -> str:
    """``2 slower, 1 unknown, 54 the same``."""
    return ", ".join(f"{count} {_COUNTED[verdict]}" for verdict, count in judgement.counts.items())


def short_name(row: Judged) -> str:
    """The ceiling's key, or a user's test without its folders."""
    return row.key.rsplit("/", maxsplit=1)[-1] if "::" in row.key else row.key


def values(row: Judged) -> str:
    """``4.55 to 4.42 TB/s``, the unit once where both sides share it; one side alone where the other is missing."""
    one, two = (si(side.value, row.unit) if side else "" for side in (row.a, row.b))
    if not one or not two:
        return one or two
    (figure, unit), (_, other) = (text.rsplit(" ", 1) for text in (one, two))
    return f"{figure if unit == other else one} to {two}"


def change(row: Judged) -> str:
    """``+3.0 ±0.2 %``: the change of the time with half its own 95 % interval; empty where nothing was judged."""
    if row.change is None or row.high is None:
        return ""
    half = (1 + row.high) / (1 + row.change) - 1
    digits = 1 if half >= 0.001 else 2
    return f"{100 * row.change:+.{digits}f} ±{100 * half:.{0 if half >= 0.1 else digits}f} %"


def threshold(row: Judged) -> str:
    return _figure(row.threshold.fraction) if row.threshold else ""


def noise_in_words(judgement: Judgement) -> str:
    """How far starts of one run lay apart, over the suite; empty where too few were measured to tell."""
    noises = sorted(row.noise for row in judgement.benchmarks if row.noise is not None)
    if not noises:
        return ""
    worst = max(judgement.benchmarks, key=lambda row: row.noise or 0.0)
    return (
        f"Between process starts a benchmark varied by {_percent(statistics.median(noises))} (median of standard "
        f"deviations; most: {short_name(worst)}, {_percent(noises[-1])})"
    )


def thresholds_in_words(judgement: Judgement) -> Iterator[str]:
    """From which change on benchmarks count as changed, by who says so."""
    by: dict[str, list[float]] = {}
    for row in judgement.benchmarks:
        if row.threshold is not None:
            by.setdefault(row.threshold.source, []).append(row.threshold.fraction)
    for source, fractions in by.items():
        ends = dict.fromkeys(_figure(edge) for edge in (min(fractions), max(fractions)))
        yield f"{len(fractions)} count as changed from {' to '.join(ends)} on ({source})"


def _figure(fraction: float) -> str:
    percent = 100 * fraction
    return f"{percent:.3g} %" if percent < 100 else f"{percent:.0f} %"


def _percent(fraction: float) -> str:
    digits = max(0, 1 - math.floor(math.log10(100 * fraction))) if fraction > 0 else 0
    return f"{100 * fraction:.{min(digits, 4)}f} %"
