"""How much longer each benchmark takes: one row each, A hollow at no change, B filled, what does not count in grey."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from ert_numba.charts import theme
from ert_numba.charts.roofline import WIDE, Size
from ert_numba.errors import ErtError
from ert_numba.judge.judgement import FASTER, SAME, SLOWER, UNKNOWN, Judged, Judgement
from ert_numba.judge.sentences import change, short_name, threshold, values

_ROW = 20  # pixels
_HUES = {SLOWER: "vermillion", FASTER: "green", SAME: "muted", UNKNOWN: "orange"}
_SHAPES = {SLOWER: "triangle-right", FASTER: "triangle-left", SAME: "circle", UNKNOWN: "diamond"}
_NARROWEST = 0.03  # of the time, to each side
_WIDEST = 0.6


def judged(judgement: Judgement) -> list[Judged]:
    """The rows of the chart: what was judged on both sides."""
    return [row for row in judgement.benchmarks if row.change is not None and row.a and row.b]


def shift_chart(judgement: Judgement, size: Size = WIDE) -> theme.AnyChart:
    """Change of the time with its 95 % interval, over the threshold's band. Raises ErtError where none was judged."""
    rows = judged(judgement)
    if not rows:
        raise ErtError("a chart of changes", "no benchmark was judged", "Leave it out; the table says why")
    reach = _reach(rows)
    data = [_row(row, reach) for row in rows]
    for value in data:
        # A category is a line of the chart: two tests of one short name must not fall into one.
        alike = sum(other["benchmark"] == value["benchmark"] for other in data)
        value["row"] = value["benchmark"] if alike == 1 else f"{value['benchmark']} ({value['name']})"
    base = theme.rows(data).encode(y=_names(data, size))
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    ticks = _ticks(reach, 2 if size.narrow else 4)
    axis = alt.Axis(title="Time of B against A: to the right is slower", values=ticks, format="+.3~%")
    x = {name: alt.X(f"{name}:Q", scale=scale, axis=axis) for name in ("from", "low", "a_low", "zero", "change")}
    colour = alt.Color("colour:N", scale=None)
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in
            ("benchmark", "verdict", "A to B", "time", "counts from", "noise", "why")]  # fmt: skip
    zero = theme.rows([{"zero": 0}]).mark_rule(color=theme.LIGHT["muted"], strokeWidth=1)
    chart = alt.layer(
        base.mark_bar(height=_ROW - 6, color=theme.LIGHT["grid"]).encode(x=x["from"], x2="to:Q"),
        zero.encode(x=x["zero"]),
        base.mark_rule(strokeWidth=1.2).encode(x=x["zero"], x2="change:Q", color=colour),
        base.mark_rule(strokeWidth=5, opacity=0.3, color=theme.LIGHT["ink"]).encode(x=x["a_low"], x2="a_high:Q"),
        base.mark_rule(strokeWidth=5, opacity=0.5).encode(x=x["low"], x2="high:Q", color=colour),
        base.mark_point(size=45, filled=False, strokeWidth=1.4, color=theme.LIGHT["ink"]).encode(x=x["zero"]),
        base.mark_point(size=75, filled=True, opacity=1).encode(
            x=x["change"], color=colour, shape=alt.Shape("shape:N", scale=None), tooltip=tips),
    )  # fmt: skip
    title = alt.TitleParams(
        f"{theme.one_line(judgement.run_b)} against {theme.one_line(judgement.run_a)}",
        subtitle="grey: changes that do not count; bars: 95 % intervals",
    )
    width = size.width - 170 if size.narrow else size.width
    return theme.dressed(chart.properties(width=width, height=_ROW * len(data), title=title, name="changes"))


def _names(data: list[dict[str, Any]], size: Size) -> alt.Y:
    axis = alt.Axis(title=None, grid=False, ticks=False, labelColor=theme.LIGHT["ink"],
                    labelLimit=165 if size.narrow else 250)  # fmt: skip
    return alt.Y("row:N", sort=[value["row"] for value in data], axis=axis)


def _reach(rows: list[Judged]) -> float:
    """Half of the axis: what was decided lies in it; hopeless noise is cut at its edge."""
    decided = [row for row in rows if row.verdict != UNKNOWN]
    ends = [abs(end) for row in decided for end in (row.low, row.high) if end is not None]
    ends += [row.threshold.fraction for row in decided if row.threshold]
    return min(max(_NARROWEST, 1.1 * max(ends, default=0.0)), _WIDEST)


def _ticks(reach: float, most: int) -> list[float]:
    """Round fractions to both sides of 0, no more than ``most`` to each."""
    power = 10.0 ** math.floor(math.log10(reach / most))
    step = next(unit * power for unit in (1, 2, 5, 10) if reach / (unit * power) <= most)
    return [round(index * step, 10) for index in range(-most, most + 1) if abs(index * step) <= reach]


def _row(row: Judged, reach: float) -> dict[str, Any]:
    def inside(value: float | None) -> float:
        return min(max(value or 0.0, -reach), reach)

    least = row.threshold.fraction if row.threshold else 0.0
    # The range of A's starts as times: a rate's largest is its shortest.
    ends = [1.0, 1.0]
    if row.a is not None:
        low, high = row.a.low / row.a.value, row.a.high / row.a.value
        ends = [low, high] if row.unit == "s" else [1 / high, 1 / low]
    return {
        "name": theme.one_line(row.name, 300), "benchmark": theme.one_line(short_name(row)), "verdict": row.verdict,
        "zero": 0, "change": inside(row.change), "low": inside(row.low), "high": inside(row.high),
        "from": inside(1 / (1 + least) - 1), "to": inside(least), "a_low": inside(ends[0] - 1),
        "a_high": inside(ends[1] - 1),
        "colour": theme.LIGHT[_HUES.get(row.verdict, "purple")], "shape": _SHAPES.get(row.verdict, "cross"),
        "A to B": values(row), "time": change(row), "counts from": threshold(row),
        "noise": f"{100 * (row.noise or 0.0):.2g} % between starts",
        "why": theme.one_line(row.cause or row.reason, 300),
    }  # fmt: skip
