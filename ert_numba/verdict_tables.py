"""The terminal's view of a judgement: rich tables of 80 columns, worst first."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from ert_numba.errors import showable
from ert_numba.judge.conditions import Difference
from ert_numba.judge.judgement import FASTER, MISSING, NEW, SAME, SLOWER, UNKNOWN, UNLIKE, Judgement
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
from ert_numba.records import Skipped
from ert_numba.tables import plain_table, skipped_table
from ert_numba.terminal import note, show_tables

_STYLES = {SLOWER: "bold red", FASTER: "green", UNKNOWN: "yellow", UNLIKE: "yellow", MISSING: "cyan", NEW: "cyan"}


def show_judgement(judgement: Judgement, every: bool = False) -> None:
    """Tables and the summary to stdout, doubts and the noise to stderr."""
    show_tables(iter(judgement_tables(judgement, every)))
    print(f"{summary(judgement)}.")
    for text in judgement.notes:
        note(f"Note: {text}")
    for text in (noise_in_words(judgement), *thresholds_in_words(judgement)):
        if text:
            note(f"{text}.")


def judgement_tables(judgement: Judgement, every: bool = False) -> Iterable[Table]:
    """What is not the same (``every``: and what is), what moved, why there is no verdict, which conditions differ."""
    both = [row for row in judgement.benchmarks if row.verdict not in (NEW, MISSING)]
    rows = [row for row in both if every or row.verdict != SAME]
    if rows:
        columns = [("", "left"), ("A to B", "right"), ("time", "right"), ("counts from", "right"), ("", "left")]
        table = plain_table(showable(headline(judgement)), columns)
        for row in rows:
            name = showable(short_name(row))
            table.add_row(
                name, values(row), change(row), threshold(row), Text(row.verdict, _STYLES.get(row.verdict, ""))
            )
        yield table
    moved = [(showable(short_name(row)), showable(row.cause)) for row in rows if row.cause]
    if moved:
        table = plain_table("What moved", [("what", "wrap"), ("how", "wrap")])
        for pair in moved:
            table.add_row(*pair)
        yield table
    reasons = [Skipped(what=short_name(row), reason=row.reason) for row in rows if row.reason]
    if reasons:
        yield skipped_table("No verdict", reasons)
    alone = [
        Skipped(what=short_name(row), reason={NEW: "B alone", MISSING: "A alone"}[row.verdict])
        for row in judgement.benchmarks
        if row.verdict in (NEW, MISSING)
    ]
    if alone:
        yield skipped_table("In one run alone", alone)
    if judgement.differences:
        yield differences_table("Conditions that differ", judgement.differences)
    unlike = [
        Difference(name=f"{short_name(row)}: {found.name}", a=found.a, b=found.b)
        for row in rows for found in row.differences
    ]  # fmt: skip
    if unlike:
        yield differences_table("Conditions of single benchmarks that differ", unlike)


def differences_table(title: str, differences: Iterable[Difference]) -> Table:
    table = plain_table(title, [("what", "wrap"), ("A", "wrap"), ("B", "wrap")])
    for row in differences:
        table.add_row(showable(row.name), showable(row.a or "not stated"), showable(row.b or "not stated"))
    return table
