"""The kernels as CSV and Markdown: every number of the page, one row a kernel. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from appprof.diff import Diff, ratio_change
from appprof.phrases import (
    count_words,
    coverage_words,
    figures_of,
    kernel_time_words,
    percent,
    rate_words,
    ratio,
    signed,
    unknown,
    verdict_words,
)
from appprof.result import KernelRow, Result
from ert_numba.units import si

# A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SCALARS = (
    "rank", "kernel", "launches", "shapes", "seconds", "time_share", "shortest_seconds", "longest_seconds",
    "flop_status", "flop", "flop_per_second", "verdict", "excess", "bound", "roof", "roof_source", "roof_share",
    "roof_share_at_maximum", "headroom", "gives_back_seconds", "gives_back_share", "confidence", "sm_clock_hz",
)  # fmt: skip


def _instructions(row: KernelRow) -> dict[str, float]:
    """What is known of a kernel's instructions, by the name of its column."""
    work = row.instructions
    if work is None:
        return {}
    found = {
        "warp_instructions": work.warp, "issue_share": row.shares.get("issue"), "active_lanes": work.active_lanes,
        "useful_lanes": work.useful_lanes,
        **{f"instructions_per_transaction_{point.level}": point.intensity for point in work.points},
    }  # fmt: skip
    return {name: value for name, value in found.items() if value is not None}


def as_csv(result: Result) -> str:
    """SI base units; what is not known is an empty cell. Columns of paths and definitions are those that occur."""
    paths = list(dict.fromkeys(key for row in result.kernels for key in row.flop_by_path))
    definitions = list(dict.fromkeys(key for row in result.kernels for key in row.bytes))
    levels = list(dict.fromkeys(key for row in result.kernels for key in row.intensity))
    counted = list(dict.fromkeys(name for row in result.kernels for name in _instructions(row)))
    head = [*_SCALARS, *(f"flop_{key}" for key in paths), *(f"bytes_{key}" for key in definitions),
            *(f"intensity_{key}" for key in levels), *(f"withheld_{key}" for key in definitions), *counted,
            "doubts"]  # fmt: skip
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    for row in result.kernels:
        cells = [getattr(row, name) for name in _SCALARS]
        cells += [row.flop_by_path.get(key) for key in paths]
        cells += [row.bytes.get(key) for key in definitions]
        cells += [row.intensity.get(key) for key in levels]
        cells += [row.withheld.get(key) for key in definitions]
        cells += [_instructions(row).get(name) for name in counted]
        writer.writerow([_cell(cell) for cell in (*cells, "; ".join(row.doubts))])
    return file.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


_COLUMNS: tuple[tuple[str, Callable[[KernelRow], str]], ...] = (
    ("kernel", lambda row: _code(row.short)),
    ("launches", lambda row: str(row.launches)),
    ("time", lambda row: unknown(row.seconds, lambda value: si(value, "s"))),
    ("share", lambda row: unknown(row.time_share, percent)),
    ("FLOP/s", rate_words),
    ("FLOP/B DRAM", lambda row: unknown(row.intensity.get("DRAM"), ratio)),
    ("bound", verdict_words),
    ("of roof", lambda row: unknown(row.roof_share, percent)),
    ("gives back", lambda row: unknown(row.gives_back_share, percent)),
    ("sure", lambda row: row.confidence),
)


def as_markdown(result: Result, most: int = 50) -> str:
    """A table for an issue or a pull request, with the coverage and the sentences below."""
    lines = [f"**{_plain(result.gpu)}**, kernel time {kernel_time_words(result)}, "
             f"{count_words(result.launches, 'launch', 'launches')}",
             "", "| " + " | ".join(name for name, _ in _COLUMNS) + " |", "|" + " --- |" * len(_COLUMNS)]  # fmt: skip
    lines += ["| " + " | ".join(cell(row) for _, cell in _COLUMNS) + " |" for row in result.kernels[:most]]
    if len(result.kernels) > most:
        rest = sum(row.seconds or 0.0 for row in result.kernels[most:])
        lines.append(f"| {len(result.kernels) - most} more | | {si(rest, 's')} |" + " |" * (len(_COLUMNS) - 3))
    lines += ["", coverage_words(result.coverage)]
    lines += [f"- {_plain(note)}" for note in (*result.notes, *result.warnings)]
    return "\n".join(lines) + "\n"


def _code(name: str) -> str:
    """A name as code, in which nothing but the cell's own border has a meaning."""
    return "`" + name.replace("`", "'").replace("|", "\\|") + "`"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def diff_as_markdown(diff: Diff, most: int = 30) -> str:
    """The comparison for a pull request: totals, then the kernels that changed the time most."""
    lines = ["| | A | B | change |", "| --- | --- | --- | --- |"]
    lines += [f"| {name} | {figures_of(name, a)} | {figures_of(name, b)} | {signed(ratio_change(a, b))} |"
              for name, (a, b) in diff.totals.items()]  # fmt: skip
    lines += ["", "| kernel | A | B | change | bound |", "| --- | --- | --- | --- | --- |"]
    for row in diff.kernels[:most]:
        times = ["" if side is None else unknown(side.seconds, lambda value: si(value, "s")) for side in (row.a, row.b)]
        bound = " → ".join(dict.fromkeys(verdict_words(side) for side in (row.a, row.b) if side is not None))
        change = signed(row.time_change) if row.state == "both" else row.state
        lines.append("| " + " | ".join((_code(row.short), *times, change, bound)) + " |")
    if len(diff.kernels) > most:
        lines.append(f"| {len(diff.kernels) - most} more | | | | |")
    lines += ["", *(f"- {_plain(note)}" for note in (*diff.differences, *diff.notes))]
    return "\n".join(lines).rstrip() + "\n"
