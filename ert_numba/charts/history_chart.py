"""Each ceiling over time, one small panel each: every run a dot with its interval, a new driver a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from ert_numba.charts import theme
from ert_numba.charts.roofline import WIDE, Size
from ert_numba.errors import ErtError
from ert_numba.judge.history import Dot, Series
from ert_numba.units import si

_FRAME = 0.02  # to both sides of the last value, at least: or a quiet ceiling's last digit fills its panel
_HUES = ("blue", "vermillion", "green", "purple", "orange", "sky", "black", "yellow")
_COLUMNS = 3
_HEIGHT = 90


def history_chart(series: Series, size: Size = WIDE, name: str = "history") -> theme.AnyChart:
    """Values relative to the last run's, in per cent. Raises ErtError where there is no run."""
    if not series:
        raise ErtError("a chart of the past", "no run to draw", "Leave it out")
    drivers = list(dict.fromkeys(dot.entry.driver or "unknown" for dots in series.values() for dot in dots))
    hues = {driver: _HUES[index % len(_HUES)] for index, driver in enumerate(sorted(drivers))}
    data = [row for key, dots in series.items() for row in _panel(key, dots, hues)]
    base = theme.rows(data)
    x = alt.X("when:T", scale=alt.Scale(type="utc", padding=12),
              axis=alt.Axis(title=None, format="%y-%m-%d", tickCount=3, labelOverlap=True))  # fmt: skip
    axis = alt.Axis(title=None, format="+.2~%", tickCount=3)
    y = {field: alt.Y(f"{field}:Q", axis=axis, scale=alt.Scale(zero=False))
         for field in ("value", "low", "frame_low", "frame_high")}  # fmt: skip
    colour = alt.Color("colour:N", scale=None)
    tips = [alt.Tooltip(f"{field}:N", title=field) for field in ("run", "made", "figure", "range", "driver", "starts")]
    hidden = base.mark_point(opacity=0, size=1)
    chart = alt.layer(
        hidden.encode(x=x, y=y["frame_low"]),
        hidden.encode(x=x, y=y["frame_high"]),
        # Not filtered: a scale without one row warns.
        base.mark_rule(strokeDash=[4, 3], color=theme.LIGHT["muted"]).encode(
            x=x, opacity=alt.Opacity("new_driver:Q", scale=None)),
        base.mark_line(strokeWidth=1, color=theme.LIGHT["rule"]).encode(x=x, y=y["value"]),
        base.mark_rule(strokeWidth=3, opacity=0.45).encode(x=x, y=y["low"], y2="high:Q", color=colour),
        base.mark_point(filled=True, size=42, opacity=1).encode(x=x, y=y["value"], color=colour, tooltip=tips),
    ).properties(width=size.width - 60 if size.narrow else size.width // _COLUMNS + 10, height=_HEIGHT)  # fmt: skip
    header = alt.Header(title=None, labelAnchor="start", labelFontSize=theme.FONT_SIZE, labelPadding=4,
                        labelColor=theme.LIGHT["ink"], labelLimit=size.width if size.narrow else 270)  # fmt: skip
    order = list(dict.fromkeys(row["panel"] for row in data))
    faceted: alt.FacetChart = chart.facet(
        facet=alt.Facet("panel:N", sort=order, header=header), columns=1 if size.narrow else _COLUMNS
    ).resolve_scale(y="independent")
    # Flush: by their bounds, panels whose topmost label stands elsewhere would stand lower than their neighbours.
    faceted = faceted.properties(bounds="flush", spacing={"row": _HEIGHT // 2, "column": 54})
    return theme.dressed(faceted.properties(name=name))


def _panel(key: str, dots: tuple[Dot, ...], hues: Mapping[str, str]) -> list[dict[str, Any]]:
    last = dots[-1].past.value
    rows = []
    for index, dot in enumerate(dots):
        entry, past = dot.entry, dot.past
        rows.append({
            "panel": f"{theme.one_line(key, 44)}   {si(last, past.unit)}", "when": entry.created,
            "made": entry.created[:16].replace("T", " "), "run": theme.one_line(entry.run),
            "value": past.value / last - 1, "low": past.low / last - 1, "high": past.high / last - 1,
            "frame_low": -_FRAME, "frame_high": _FRAME,
            "figure": si(past.value, past.unit, 4),
            "range": f"{si(past.low, past.unit, 4)} to {si(past.high, past.unit, 4)}",
            "driver": theme.one_line(entry.driver or "unknown", 40), "starts": entry.starts,
            "colour": theme.LIGHT[hues[entry.driver or "unknown"]],
            "new_driver": int(index > 0 and entry.driver != dots[index - 1].entry.driver),
        })  # fmt: skip
    return rows
