"""The page of one judgement: the verdicts at a glance, the changes as a picture, every figure in tables."""

from __future__ import annotations

from collections.abc import Iterator

from altair.utils.schemapi import debug_mode

from ert_numba.charts.document import document, esc, figure, table
from ert_numba.charts.roofline import NARROW
from ert_numba.charts.shift_chart import judged, shift_chart
from ert_numba.judge.judgement import FASTER, SAME, SLOWER, Judged, Judgement, Level
from ert_numba.judge.sentences import (
    change,
    headline,
    noise_in_words,
    short_name,
    summary,
    threshold,
    thresholds_in_words,
    values,
)
from ert_numba.units import si

_HEAD = ("Benchmark", "Verdict", "Time", "Counts from", "A to B", "Of limit or roof", "Between starts", "Starts",
         "Clock")  # fmt: skip
_STYLE = "header+p{margin-top:16px}"
_LOOKS = {SLOWER: "bad", FASTER: "muted", SAME: "muted"}


def judgement_page(judgement: Judgement) -> str:
    """One offline HTML page."""
    charts = {}
    if judged(judgement):
        with debug_mode(False):  # validated by the tests
            charts["changes"] = (shift_chart(judgement), shift_chart(judgement, NARROW))
    parts = (
        *_head(judgement),
        *_picture(judgement),
        *_reasons(judgement),
        *_tables(judgement),
        *_conditions(judgement),
    )
    title = f"{judgement.run_b} against {judgement.run_a}"
    return document(title, f"<main>{''.join(parts)}</main>", charts, style=_STYLE)


def _head(judgement: Judgement) -> Iterator[str]:
    facts = "".join(
        f"<div><dt>{esc(verdict.capitalize())}</dt><dd>{count}</dd></div>"
        for verdict, count in judgement.counts.items()
    )
    yield f'<header><h1>{esc(summary(judgement))}</h1><p class="muted">{esc(headline(judgement))}</p>'
    yield f'<dl class="facts">{facts}</dl></header>'
    lines = (*judgement.notes, noise_in_words(judgement), *thresholds_in_words(judgement))
    yield "".join(f"<p>{esc(line)}.</p>" for line in lines if line)


def _picture(judgement: Judgement) -> Iterator[str]:
    if not judged(judgement):
        return
    alternative = f"Change of the time of each benchmark: {summary(judgement)}; the table below has the figures."
    caption = (
        "Change of the time for the same work, so to the right is slower, whatever the unit. Hollow: A, with the range "
        "of its process starts; filled: B, with the 95 % interval of the change. Grey: changes that do not count."
    )
    yield f"<h2>Changes</h2>{figure('changes', alternative, caption)}"


def _reasons(judgement: Judgement) -> Iterator[str]:
    """What moved, why there is no verdict, and which conditions of single benchmarks differ."""
    lines = []
    for row in judgement.benchmarks:
        found = [f"{one.name} {one.a or 'not stated'} in A, {one.b or 'not stated'} in B" for one in row.differences]
        text = "; ".join(filter(None, (row.cause, row.reason, *(found if row.verdict != SAME else ()))))
        if text:
            lines.append(f"<li><strong>{esc(short_name(row))}</strong>: {esc(text)}</li>")
    if lines:
        yield f'<h2>What moved, and why there is no verdict</h2><ul class="list">{"".join(lines)}</ul>'


def _tables(judgement: Judgement) -> Iterator[str]:
    other = [row for row in judgement.benchmarks if row.verdict != SAME]
    same = [row for row in judgement.benchmarks if row.verdict == SAME]
    for name, rows in (("Changed, or not decided", other), ("The same", same)):
        if rows:
            cells = (_cells(row) for row in rows)
            yield f"<h2>{esc(name)}</h2>{table(name, _HEAD, cells, frozenset({2, 3, 4, 5, 6, 7, 8}))}"


def _cells(row: Judged) -> list[str]:
    name = f"<small>{esc(row.name)}</small>" if row.kind in ("user", "") else ""
    return [
        f"{esc(short_name(row))}{name}",
        f'<span class="flag {_LOOKS.get(row.verdict, "doubt")}">{esc(row.verdict)}</span>',
        esc(change(row)),
        esc(threshold(row)),
        esc(values(row)),
        esc(_pair(*(_share(side) for side in (row.a, row.b)))),
        f"{100 * row.noise:.2g} %" if row.noise is not None else "",
        esc(_pair(*(_starts(side) for side in (row.a, row.b)))),
        esc(_pair(*(si(side.clock_hz, "Hz") if side and side.clock_hz else "" for side in (row.a, row.b)))),
    ]


def _share(side: Level | None) -> str:
    return f"{100 * side.share:.1f} %" if side is not None and side.share else ""


def _starts(side: Level | None) -> str:
    if side is None:
        return ""
    return f"{side.starts}" if side.starts == side.of_starts else f"{side.starts} of {side.of_starts}"


def _pair(a: str, b: str) -> str:
    return f"{a} to {b}" if a and b and a != b else a or b


def _conditions(judgement: Judgement) -> Iterator[str]:
    if judgement.differences:
        rows = (
            [esc(row.name), esc(row.a or "not stated"), esc(row.b or "not stated")] for row in judgement.differences
        )
        yield f"<h2>Conditions that differ</h2>{table('Conditions that differ', ('Condition', 'A', 'B'), rows)}"
