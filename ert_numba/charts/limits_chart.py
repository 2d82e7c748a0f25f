"""How near each ceiling comes to its physical limit: one row a ceiling, on a linear axis from 0."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from ert_numba.charts import theme
from ert_numba.charts.machine_chart import widest_scope
from ert_numba.charts.roofline import WIDE, Size
from ert_numba.charts.words import ceiling_words, reading_order
from ert_numba.errors import ErtError
from ert_numba.machine import Ceiling, MachineModel
from ert_numba.units import si

_ROW = 19  # pixels


def limits_chart(model: MachineModel, size: Size = WIDE) -> theme.AnyChart:
    """Share of the limit with its interval, for every possible ceiling of the widest scope that has a limit.

    Raises ErtError where none has one.
    """
    rows = limited(model)
    if not rows:
        raise ErtError(
            f"the ceilings of {theme.one_line(model.device.name)} against their limits",
            "no ceiling has a known limit",
            "Leave this chart out; limits come from the catalogue or the device",
        )
    values = [_row(row, model, size.narrow) for row in rows]
    for row, value in zip(rows, values, strict=True):
        # A category is a line of the chart: two ceilings of the same words must not fall into one.
        alike = [other for other in values if other["ceiling"] == value["ceiling"]]
        value["row"] = value["ceiling"] if len(alike) == 1 else f"{value['ceiling']} ({theme.one_line(row.key)})"
    order = [value["row"] for value in values]
    top = max(1.04, *(value["high"] for value in values)) + 0.01
    ticks = [0, 0.5, 1.0] if size.narrow else [tick / 10 for tick in range(11)]
    width = size.width - 175 if size.narrow else size.width - 20
    scale = alt.Scale(domain=[0, top], nice=False)
    axis = alt.Axis(title="Share of the physical limit", values=ticks, format=".0%")
    x = alt.X("share:Q", scale=scale, axis=axis)
    y = alt.Y("row:N", sort=order, axis=alt.Axis(title=None, grid=False, ticks=False, labelColor=theme.LIGHT["ink"],
                                                     labelLimit=150 if size.narrow else 260))  # fmt: skip
    colour = alt.Color("colour:N", scale=None)
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in ("ceiling", "value", "limit", "percent")]
    base = theme.rows(values).encode(y=y)
    full = theme.rows([{"limit_at": 1.0}]).mark_rule(strokeDash=[4, 3], strokeWidth=1.2, color=theme.LIGHT["muted"])
    text = base.mark_text(align="left", fontSize=size.font, color=theme.LIGHT["muted"])
    chart = alt.layer(
        base.mark_bar(height=3, fillOpacity=0.35).encode(x=x, fill=alt.Fill("colour:N", scale=None)),
        full.encode(x=alt.X("limit_at:Q", scale=scale, axis=axis)),
        base.mark_rule(strokeWidth=5, opacity=0.55).encode(
            x=alt.X("low:Q", scale=scale, axis=axis), x2=alt.X2("high:Q"), color=colour),
        base.mark_point(filled=True, size=70, opacity=1).encode(x=x, color=colour, tooltip=tips),
        text.encode(x=alt.value(width + 10), text="text:N"),
    )  # fmt: skip
    title = alt.TitleParams(
        f"Ceilings of {theme.one_line(model.device.name)} against their physical limits",
        subtitle="bars around the dots: 95 % intervals",
    )
    return theme.dressed(chart.properties(width=width, height=_ROW * len(values), title=title, name="limits"))


def limited(model: MachineModel) -> list[Ceiling]:
    """The ceilings of the chart: compute by format, then bandwidth from the core outwards."""
    kind = model.device.kind
    rows = [*model.roofs("compute", widest_scope(model)), *model.roofs("bandwidth", widest_scope(model))]
    rows.sort(key=lambda row: (row.kind != "compute", reading_order(row, kind)))
    return [
        row for row in rows if row.limit and all(0 < v < math.inf for v in (row.limit, row.low, row.value, row.high))
    ]


def _row(row: Ceiling, model: MachineModel, narrow: bool) -> dict[str, Any]:
    limit = row.limit or math.nan
    compute = row.kind == "compute"
    colour = theme.precision_colour(row.precision or "") if compute else theme.level_colour(row.level or "")
    return {
        "ceiling": ceiling_words(row, model.device.kind), "share": row.value / limit, "low": row.low / limit,
        "high": row.high / limit, "colour": colour, "value": si(row.value, row.unit), "limit": si(limit, row.unit),
        "percent": f"{row.value / limit:.1%}",
        "text": f"{row.value / limit:.1%}" + ("" if narrow else f" of {si(limit, row.unit)}"),
    }  # fmt: skip
