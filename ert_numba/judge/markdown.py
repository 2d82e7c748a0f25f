"""A judgement as GitHub's Markdown, for a pull request or a job's summary. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ert_numba.errors import showable
from ert_numba.judge.judgement import SAME, Judged, Judgement
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

_HEAD = "| benchmark | A to B | time | threshold | verdict |\n| --- | ---: | ---: | ---: | --- |"


def to_markdown(judgement: Judgement) -> str:
    """Headline, what is not the same in a table, why, then the rest folded away."""
    return "\n".join(_blocks(judgement)) + "\n"


def _blocks(judgement: Judgement) -> Iterator[str]:
    yield f"### {plain(summary(judgement))}\n\n{plain(headline(judgement))}\n"
    same = [row for row in judgement.benchmarks if row.verdict == SAME]
    other = [row for row in judgement.benchmarks if row.verdict != SAME]
    if other:
        yield f"{_HEAD}\n{_rows(other)}\n"
    for row in other:
        if row.cause or row.reason:
            yield f"- {code(short_name(row))}: {plain(row.cause or row.reason)}"
    if judgement.differences:
        yield "\nConditions that differ:\n"
        for found in judgement.differences:
            yield f"- {plain(found.name)}: {plain(found.a or 'not stated')} in A, {plain(found.b or 'not stated')} in B"
    lines = (*judgement.notes, noise_in_words(judgement), *thresholds_in_words(judgement))
    yield "\n" + "\n".join(f"{plain(line)}.  " for line in lines if line)
    if same:
        body = f"{_HEAD}\n{_rows(same)}"
        yield f"\n<details><summary>{len(same)} the same</summary>\n\n{body}\n\n</details>"


def _rows(rows: list[Judged]) -> str:
    return "\n".join(
        f"| {code(short_name(row))} | {values(row)} | {change(row)} | {threshold(row)} | {row.verdict} |"
        for row in rows
    )


def code(text: str) -> str:
    """Text from outside as a code span that nothing in it can end, on one line, also within a table."""
    flat = _flat(text).replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", flat)), default=0))
    space = " " if "`" in flat else ""
    return f"{fence}{space}{flat or ' '}{space}{fence}"


def plain(text: str) -> str:
    """Text from outside as text: no markup, no HTML, no mention of a person."""
    escaped = re.sub(r"([\\`*_\[\]|#~!])", r"\\\1", _flat(text))
    for letter, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("@", "&#64;")):
        escaped = escaped.replace(letter, entity)
    return escaped


def _flat(text: str) -> str:
    return " ".join(showable(text).split())
