"""The page of two profiles: what changed the time of the run, kernel by kernel, hollow before and filled after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from appprof.charts.diff_roofline import diff_roofline, levels_of, roofs_moved, spots
from appprof.charts.page import Charts, asset
from appprof.diff import Diff, GroupChange, KernelChange, ratio_change
from appprof.phrases import figures_of, percent, signed, verdict_words
from appprof.result import KernelRow
from appprof.words import LEVEL_LABELS, group_name, one_line
from ert_numba.charts import theme
from ert_numba.charts.document import document, esc, figure, table
from ert_numba.charts.labels import text_width
from ert_numba.charts.roofline import NARROW, WIDE, Size
from ert_numba.errors import ErtError
from ert_numba.files import write_text_new
from ert_numba.units import si

MOST_DRAWN, MOST_LISTED = 24, 200
_ROW = 22  # pixels
_TOTALS = {
    "time": "Kernel time", "launches": "Launches", "flop": "FLOP", "bytes.L1.tag": "L1 bytes",
    "bytes.L2.sm": "L2 bytes", "bytes.DRAM": "DRAM bytes",
}  # fmt: skip
UNKNOWN = '<span class="muted">?</span>'


def write_diff_page(path: Path, diff: Diff) -> Path:
    """Write :func:`diff_page` to a path where nothing stands yet. Raises ErtError."""
    return write_text_new(path, diff_page(diff))


def diff_page(diff: Diff) -> str:
    """One offline HTML page of B against A."""
    charts: Charts = {}
    body = [_header(diff), *_doubts(diff)]
    with debug_mode(False):
        if _drawable(diff.kernels):
            charts["times"] = (times_chart(diff.kernels), times_chart(diff.kernels, NARROW))
            caption = (
                "The kernels that changed the time of the run most, most first. Hollow: A, filled: B; the line between "
                "them is orange where B takes longer, blue where it takes less. New and gone kernels have one dot."
            )
            alternative = "Time of each kernel in A and in B; the table of kernels has the figures."
            body.append(f"<h2>What changed the time</h2>{figure('times', alternative, caption)}")
        body.append(_moves(diff, charts))
        body += [_kernels(diff.kernels), *_groups(diff)]
        return document("Two profiles", f"<main>{''.join(body)}</main>", charts, asset("diff.js"), asset("page.css"))


def _moves(diff: Diff, charts: Charts) -> str:
    """The roofline of both sides, or one a side where their GPUs, and so their roofs, are not the same."""
    levels = levels_of(spots(diff))
    if not levels:
        return ""
    sides = ("",) if diff.gpu_a == diff.gpu_b else ("A", "B")
    gpus = {"": "", "A": diff.gpu_a, "B": diff.gpu_b}
    parts = ["<h2>Where the kernels moved</h2>", _level_choice(levels)]
    for side in sides:
        name = f"moves{side.lower()}"
        try:
            charts[name] = (diff_roofline(diff, side=side), diff_roofline(diff, NARROW, side))
        except ErtError:  # of two sides one may have neither dots nor roofs
            continue
        parts.append(f"<h3>{side}: {esc(one_line(gpus[side]))}</h3>" if side else "")
        parts.append(figure(name, "Kernels under the roofs, before and after; the table has the figures.",
                            _moves_caption(diff, side)))  # fmt: skip
    return "".join(parts) if any(name.startswith("moves") for name in charts) else ""


def _moves_caption(diff: Diff, side: str) -> str:
    words = "One dot a kernel at the level chosen, numbers as above; area: time. "
    if side:
        return words + f"These are the kernels and roofs of {side}; both pictures have the same axes."
    moved = " Thin dashed lines: where roofs stood at the clocks of A." if roofs_moved(diff) else ""
    return words + f"Hollow: A, filled: B, orange where B takes longer, blue where less. Roofs are those of B.{moved}"


def _level_choice(levels: Sequence[str]) -> str:
    choices = "".join(
        f'<label><input type="radio" name="level" value="{esc(level)}"{" checked" if index == 0 else ""}> '
        f"{esc(LEVEL_LABELS[level])}</label>"
        for index, level in enumerate(levels)
    )
    return f'<div class="controls" hidden><fieldset><legend>Level</legend>{choices}</fieldset></div>'


def times_chart(rows: Sequence[KernelChange], size: Size = WIDE) -> theme.AnyChart:
    """One line a kernel, times on a logarithmic axis: a kernel of a microsecond is as legible as one of a second."""
    rows = _drawable(rows)[:MOST_DRAWN]
    names = [f"{number}  {_cut(row.short, size)}" for number, row in enumerate(rows, 1)]
    dots = [dot for name, row in zip(names, rows, strict=True) for dot in _dots(name, row)]
    domain = theme.log_domain([dot["seconds"] for dot in dots], "times", below=1.4, above=1.4)
    width = size.width - (140 if size.narrow else 60)
    ticks = theme.log_ticks(domain, 4 if size.narrow else 9)
    x = alt.X("seconds:Q", scale=theme.log_scale(domain), axis=theme.rate_axis("Time of all launches", "s", ticks))
    y = alt.Y("row:N", sort=names, axis=alt.Axis(title=None, ticks=False, domain=False, grid=True,
                                                 labelColor=theme.LIGHT["ink"], labelLimit=330))  # fmt: skip
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in ("kernel", "A", "B", "change", "bound")]
    base = theme.rows(dots).encode(x=x, y=y)
    layers = [
        base.mark_line(strokeWidth=3, opacity=0.75).encode(
            detail="row:N", color=alt.Color("colour:N", scale=None)),
        base.mark_point(shape="circle", size=70, strokeWidth=1.6, opacity=1).encode(
            fill=alt.Fill("fill:N", scale=None), stroke=alt.Stroke("colour:N", scale=None), tooltip=tips),
    ]  # fmt: skip
    title = alt.TitleParams("Time of each kernel, before and after")
    chart = alt.layer(*layers).properties(width=width, height=_ROW * len(rows), title=title, name="times")
    return theme.dressed(chart)


def _drawable(rows: Sequence[KernelChange]) -> list[KernelChange]:
    return [row for row in rows if any(side is not None and side.seconds for side in (row.a, row.b))]


def _cut(text: str, size: Size) -> str:
    room = 105 if size.narrow else 310
    while text_width(text, size.font) > room:
        text = text[:-2] + "…"
    return text


def _dots(name: str, row: KernelChange) -> Iterator[dict[str, Any]]:
    change = row.seconds_change or 0.0
    colour = theme.LIGHT["vermillion" if change > 0 else "blue" if change < 0 else "muted"]
    figures = {
        "kernel": row.short, "A": _time(row.a), "B": _time(row.b), "bound": _bounds(row),
        "change": signed(row.time_change) if row.state == "both" else row.state,
    }  # fmt: skip
    for side, fill in ((row.a, theme.LIGHT["paper"]), (row.b, colour)):
        if side is not None and side.seconds:
            yield {"row": name, "seconds": side.seconds, "colour": colour, "fill": fill, **figures}


def _time(side: KernelRow | None) -> str:
    return "not there" if side is None else "not known" if side.seconds is None else si(side.seconds, "s")


def _bounds(row: KernelChange) -> str:
    sides = (verdict_words(side) for side in (row.a, row.b) if side is not None)
    return " → ".join(dict.fromkeys(sides))


def _header(diff: Diff) -> str:
    gpus = " and ".join(dict.fromkeys((one_line(diff.gpu_a), one_line(diff.gpu_b))))
    facts = "".join(
        f"<div><dt>{esc(_TOTALS.get(name, name))}</dt><dd>{esc(signed(ratio_change(a, b)))}<small>"
        f"{esc(figures_of(name, a))} → {esc(figures_of(name, b))}</small></dd></div>"
        for name, (a, b) in diff.totals.items()
    )
    words = f"A: {one_line(diff.run_a)}. B: {one_line(diff.run_b)}. On {gpus}."
    head = f'<h1>Two profiles: B against A</h1><p class="muted">{esc(words)}</p>'
    return f'<header>{head}<dl class="facts">{facts}</dl></header>'


def _doubts(diff: Diff) -> Iterator[str]:
    lines = [f"Not taken alike, compared by force: {line}." for line in diff.differences] + list(diff.notes)
    lines.append("Each profile is one run: what two runs of the same program differ by is not known from them.")
    yield f'<h2>Read this first</h2><ul class="list">{"".join(f"<li>{esc(line)}</li>" for line in lines)}</ul>'


_HEAD = ("Kernel", "A", "B", "Change", "Launches", "FLOP", "L2 bytes", "DRAM bytes", "FLOP/B DRAM", "Bound")


def _kernels(rows: Sequence[KernelChange]) -> str:
    cells = (_cells(number, row) for number, row in enumerate(rows[:MOST_LISTED], 1))
    more = f'<p class="muted">{len(rows) - MOST_LISTED} more.</p>' if len(rows) > MOST_LISTED else ""
    words = (
        "Changes are B/A − 1 of all launches, below them of the mean launch; of FLOP and bytes where both sides know "
        "them by the same definition."
    )
    figures = table("Kernels", _HEAD, cells, frozenset(range(1, len(_HEAD) - 1)))
    return f'<h2>Kernels</h2><p class="muted">{words}</p>{figures}{more}'


def _cells(number: int, row: KernelChange) -> list[str]:
    both = row.state == "both"
    launches = "" if row.a is None or row.b is None else f"{row.a.launches} → {row.b.launches}"
    match = "" if row.match in ("", "name") else f"<small>matched by {esc(row.match)}</small>"
    return [
        esc(f"{number}. {row.short}") + match,
        "" if row.a is None else esc(_time(row.a)),
        "" if row.b is None else esc(_time(row.b)),
        esc(signed(row.time_change)) + _launch(row) if both else f'<span class="flag">{esc(row.state)}</span>',
        esc(launches),
        esc(signed(row.flop_change)) if both else "",
        esc(signed(row.bytes_change.get("L2.sm"))) if both else "",
        esc(signed(row.bytes_change.get("DRAM"))) if both else "",
        esc(signed(row.intensity_change.get("DRAM"))) if both else "",
        esc(_bounds(row)).replace(" ", "&nbsp;").replace("→&nbsp;", "→ ")
        + (_moved(row) if both and row.bound_moved else ""),
    ]


def _launch(row: KernelChange) -> str:
    """The change of the mean launch, where a side has several, and whether the launches of both overlap in time."""
    if row.a is None or row.b is None or row.a.launches == row.b.launches == 1:
        return ""
    apart = "" if row.apart is None else f", {'no overlap' if row.apart else 'overlapping'}"
    return f"<small>{esc(signed(row.launch_change))} a launch{apart}</small>"


def _moved(row: KernelChange) -> str:
    """How far each side is from the roof that it is nearest to."""
    shares = (None if side is None else side.roof_share for side in (row.a, row.b))
    words = " → ".join("?" if share is None else percent(share) for share in shares)
    return f"<small>{esc(words)} of the roof</small>"


def _groups(diff: Diff) -> Iterator[str]:
    for by, rows in diff.groups.items():
        head = (by.replace("-", " ").capitalize(), "A", "B", "Change")
        yield f"<h2>By {esc(by)}</h2>{table(by, head, (_group(by, row) for row in rows[:60]), frozenset({1, 2, 3}))}"


def _group(by: str, row: GroupChange) -> list[str]:
    sides = [None if side is None else side.seconds for side in (row.a, row.b)]
    return [esc(group_name(by, row.name, 80)), *(UNKNOWN if side is None else esc(si(side, "s")) for side in sides),
            esc(signed(row.time_change))]  # fmt: skip
