"""How near each kernel comes to each of its roofs, on one linear axis: the place for kernels without FLOP, too.

The same picture is the time-based roofline: a mark at 70 % is a resource that alone would need 70 % of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from appprof.diagnosis import Diagnosis
from appprof.phrases import percent
from appprof.roofline import LAUNCH
from appprof.roofs import ISSUE
from appprof.summary import Resource
from appprof.words import LEVEL_LABELS, path_words, resource_words
from ert_numba.charts import theme
from ert_numba.charts.labels import text_width
from ert_numba.charts.roofline import WIDE, Size
from ert_numba.errors import ErtError
from ert_numba.units import si

MOST = 24
_ROW = 22  # pixels
# Beyond this share the axis would hide all others: such kernels are named in words, and in the table.
FARTHEST = 1.6
_TIPS = ("kernel", "resource", "share", "at its own clock", "needs", "takes")


def shares_chart(rows: Sequence[Diagnosis], size: Size = WIDE, name: str = "shares") -> theme.AnyChart:
    """One line a kernel, in the order given. Raises ErtError where no kernel has a time and a roof."""
    rows = with_shares(rows)[:MOST]
    if not rows:
        raise ErtError("shares of roofs", "no kernel has a time and a roof", "Give a machine model with --machine")
    labels = [f"{number}  {_cut(row.short, size)}" for number, row in enumerate(rows, 1)]
    marks = [mark for label, row in zip(labels, rows, strict=True) for mark in _marks(label, row)]
    bars = [{"row": label, "end": min(row.share or 0.0, FARTHEST), "text": _time(row)}
            for label, row in zip(labels, rows, strict=True)]  # fmt: skip
    top = max([1.0, *(mark["x"] for mark in marks)]) + 0.03
    width = size.width - (140 if size.narrow else 60)
    scale = alt.Scale(domain=[0, top], nice=False)
    ticks = [0, 0.5, 1.0] if size.narrow else [tick / 10 for tick in range(int(top * 10) + 1)]
    x = alt.X("x:Q", scale=scale, axis=alt.Axis(title="Share of the roof, and of the time", values=ticks, format=".0%"))
    y = alt.Y("row:N", sort=labels, axis=alt.Axis(
        title=None, grid=True, ticks=False, domain=False, labelColor=theme.LIGHT["ink"],
        labelLimit=130 if size.narrow else 330))  # fmt: skip
    base = theme.rows(marks).encode(x=x, y=y)
    bar = theme.rows(bars).encode(y=y)
    layers = [
        bar.mark_bar(height=7, color=theme.LIGHT["rule"]).encode(x=alt.X("end:Q", scale=scale)),
        theme.rows([{"x": 1.0}]).mark_rule(strokeDash=[4, 3], color=theme.LIGHT["muted"]).encode(x=x),
        base.mark_point(size=64, strokeWidth=0.9, opacity=1, stroke=theme.LIGHT["ink"]).encode(
            fill=alt.Fill("colour:N", scale=None), shape=alt.Shape("shape:N", scale=None),
            tooltip=[alt.Tooltip(f"{tip}:N", title=tip) for tip in _TIPS]),
    ]  # fmt: skip
    if not size.narrow:
        text = bar.mark_text(align="left", fontSize=size.font, color=theme.LIGHT["muted"])
        layers.append(text.encode(x=alt.value(width + 10), text="text:N"))
    title = alt.TitleParams("Share of each roof that each kernel reaches")
    chart = alt.layer(*layers).properties(width=width, height=_ROW * len(rows), title=title, name=name)
    return theme.dressed(chart)


def with_shares(rows: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Those that the picture can show: with a time, a roof, and no share beyond the end of the axis."""
    return [
        row for row in rows
        if row.summary.seconds and any(map(_worth_a_mark, row.summary.resources))
        and all(resource.share <= FARTHEST for resource in row.summary.resources if resource.kind != LAUNCH)
    ]  # fmt: skip


def _cut(text: str, size: Size) -> str:
    room = 105 if size.narrow else 310
    while text_width(text, size.font) > room:
        text = text[:-2] + "…"
    return text


def _time(row: Diagnosis) -> str:
    return si(row.summary.seconds or 0.0, "s")


def _marks(label: str, row: Diagnosis) -> list[dict[str, Any]]:
    return [
        {
            "row": label, "x": resource.share, "kernel": row.short, "resource": _words(resource),
            "share": f"{percent(resource.share)} of {_roof(resource)}",
            "at its own clock": percent(resource.share_at_maximum) if resource.share_at_maximum else "the same",
            "needs": si(resource.seconds_at_roof, "s"), "takes": si(resource.seconds, "s"), **_look(resource),
        }
        for resource in row.summary.resources if _worth_a_mark(resource)
    ]  # fmt: skip


def _worth_a_mark(resource: Resource) -> bool:
    return resource.share <= FARTHEST and (resource.share >= 0.002 or resource.kind == "bandwidth")


def _words(resource: Resource) -> str:
    if resource.kind == "bandwidth":
        return f"{LEVEL_LABELS[resource.key]} ({resource.definition})"
    if resource.kind == LAUNCH:
        return "launching, beside the time of the kernel"
    if resource.kind == ISSUE:
        return resource_words(ISSUE)
    return ", ".join(dict.fromkeys(path_words(roof.key) for roof in resource.roofs)) or resource_words(resource.key)


def _roof(resource: Resource) -> str:
    if resource.kind == LAUNCH:
        return f"{si(1 / resource.roof, 's')} a launch"
    return si(resource.roof, "B/s" if resource.kind == "bandwidth" else resource.roofs[0].unit)


def _look(resource: Resource) -> dict[str, str]:
    if resource.kind == "bandwidth":
        return {"colour": theme.level_colour(resource.key), "shape": theme.level_shape(resource.key)}
    if resource.kind == LAUNCH:
        return {"colour": theme.LIGHT["paper"], "shape": "circle"}
    if resource.kind == ISSUE:
        return {"colour": theme.LIGHT["muted"], "shape": "stroke"}
    return {"colour": theme.unit_colour("tensor" if resource.key == "tensor" else "vector"), "shape": "cross"}
