"""A judgement as GitHub's workflow commands: annotations beside the code of a pull request. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ert_numba.errors import showable
from ert_numba.judge.judgement import FASTER, MISSING, SLOWER, UNKNOWN, UNLIKE, Judged, Judgement
from ert_numba.judge.sentences import change, short_name, values

_LEVELS = {SLOWER: "error", UNLIKE: "warning", UNKNOWN: "warning", MISSING: "warning", FASTER: "notice"}
MOST = 10  # of one level: GitHub shows no more of a step


def to_annotations(judgement: Judgement) -> Iterator[str]:
    """One line each, worst first; of a level with more than GitHub shows, the last line counts the rest."""
    levels: dict[str, list[Judged]] = {}
    for row in judgement.benchmarks:
        if row.verdict in _LEVELS:
            levels.setdefault(_LEVELS[row.verdict], []).append(row)
    for level, rows in levels.items():
        shown = rows if len(rows) <= MOST else rows[: MOST - 1]
        for row in shown:
            yield _command(level, row)
        if rest := len(rows) - len(shown):
            yield f"::{level} title=ert_numba::and {rest} more: see the table"


def _command(level: str, row: Judged) -> str:
    properties = {"file": row.file, "title": f"{row.verdict}: {short_name(row)}"}
    stated = ",".join(f"{name}={escape_property(text)}" for name, text in properties.items() if text)
    told = "; ".join(text for text in (values(row), f"time {change(row)}", row.cause or row.reason) if text.strip())
    return f"::{level} {stated}::{escape_data(told)}"


def escape_data(text: str) -> str:
    """As actions/toolkit does it (packages/core/src/command.ts)."""
    return showable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")
