"""Dots of kernels as Vega-Lite layers: linked, sized by time, with ranks beside the largest."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from appprof.charts.dots import REST, Dot
from ert_numba.charts import theme
from ert_numba.charts.labels import text_width
from ert_numba.charts.roof_layers import plane_axes
from ert_numba.charts.roofline import Frame

_LABELLED = 9
_SIZES = {True: (24, 320), False: (36, 760)}  # areas of the least and the largest dot
_MATCH = "(shown === null || indexof(shown, datum.id) >= 0)"
_SEEN = f"indexof(levels, datum.at) >= 0 && {_MATCH}"
# What is no memory level: the requests that a kernel makes of global memory.
_COLOURS, _SHAPES = {"global": "ink"}, {"global": "cross"}


def parameters(dots: tuple[Dot, ...]) -> tuple[alt.Parameter, alt.Parameter]:
    """``shown`` (ids of kernels, or null for all) and ``levels``: what a page may set."""
    present = list(dict.fromkeys(dot.level for dot in dots))
    return alt.param(name="shown", value=None), alt.param(name="levels", value=present)


def dot_layers(dots: tuple[Dot, ...], plane: Frame) -> list[alt.Chart]:
    """Links, dots and ranks, in the order that they are drawn in; the dots carry the zoom of a wide picture."""
    if not dots:
        return []
    narrow = plane.size.narrow
    most = max(dot.seconds for dot in dots) or 1.0
    names = list(dict.fromkeys(name for dot in dots for name in dot.tooltip))
    values = [_row(dot, names) for dot in sorted(dots, key=lambda dot: -dot.seconds)]
    x, y = plane_axes(plane)
    hover = alt.selection_point(name="hover", fields=["id"], on="pointerover", clear="pointerout", empty=False)
    zoom = alt.selection_interval(
        name="zoom", bind="scales", encodings=["x", "y"],
        zoom="wheel![event.ctrlKey || event.metaKey]", translate="[pointerdown[!event.shiftKey], window:pointerup]"
        " > window:pointermove!",
    )  # fmt: skip
    base = theme.rows(values)
    linked = theme.rows([row for row in values if row["at"] not in _SHAPES])
    links = linked.mark_line(strokeWidth=1, clip=True, color=theme.LIGHT["ink"]).encode(
        x, y, alt.Detail("id:N"),
        opacity=alt.when(hover).then(alt.value(0.9)).when(_MATCH).then(alt.value(0.22)).otherwise(alt.value(0.03)),
        strokeWidth=alt.when(hover).then(alt.value(2)).otherwise(alt.value(1)),
    )  # fmt: skip
    sizes = alt.Scale(type="sqrt", domain=[0, most], range=list(_SIZES[narrow]))
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in names]
    dot = base.mark_point(clip=True, strokeWidth=1).encode(
        x, y,
        fill=alt.Fill("fill:N", scale=None), stroke=alt.Stroke("stroke:N", scale=None),
        shape=alt.Shape("shape:N", scale=None), tooltip=tips,
        size=alt.Size("seconds:Q", scale=sizes, legend=None),
        opacity=alt.when(_SEEN).then(alt.value(0.88)).otherwise(alt.value(0.04)),
        strokeWidth=alt.when(hover).then(alt.value(2.4)).otherwise(alt.value(0.9)),
    ).properties(name="dots")  # fmt: skip
    dot = dot.add_params(hover) if narrow else dot.add_params(hover, zoom)
    return [links, dot, *_ranks(dots, plane)]


def _row(dot: Dot, names: list[str]) -> dict[str, Any]:
    colour = theme.LIGHT[_COLOURS[dot.level]] if dot.level in _COLOURS else theme.level_colour(dot.level)
    hollow = dot.id == REST or dot.beyond or dot.level in _SHAPES
    return {
        "id": dot.id, "at": dot.level, "x": dot.x, "y": dot.y, "seconds": dot.seconds, "colour": colour,
        "fill": theme.LIGHT["paper"] if hollow else colour,
        "stroke": theme.LIGHT["vermillion"] if dot.excess else colour if hollow else theme.LIGHT["ink"],
        "shape": _SHAPES.get(dot.level) or theme.level_shape(dot.level),
        **{name: dot.tooltip.get(name, "") for name in names},
    }  # fmt: skip


def _ranks(dots: tuple[Dot, ...], plane: Frame) -> list[alt.Chart]:
    """The ranks of the largest kernels, beside the dot that stands farthest right: they lead to the table."""
    rightmost: dict[str, Dot] = {}
    for dot in dots:
        if dot.id != REST and (dot.id not in rightmost or dot.x > rightmost[dot.id].x):
            rightmost[dot.id] = dot
    chosen = sorted(rightmost.values(), key=lambda dot: -dot.seconds)[:_LABELLED]
    if not chosen:
        return []
    rows = []
    for group in apart(chosen, max(dot.seconds for dot in dots) or 1.0, plane):
        rank = ", ".join(dot.id for _, _, dot in group)
        place, width = group[0][0], text_width(rank, plane.size.font) + 4
        if place + width > plane.size.width:  # cut by the frame, it would name another kernel
            place = 2 * plane.right(group[0][2].x) - place - width
        rows.append({"id": group[0][2].id, "x": plane.x_at(place), "y": plane.y_at(group[0][1]), "rank": rank})
    x, y = plane_axes(plane)
    style: dict[str, Any] = {"align": "left", "baseline": "middle", "fontSize": plane.size.font, "clip": True}
    base = theme.rows(rows).encode(x, y, alt.Text("rank:N"))
    shown = alt.when(_MATCH).then(alt.value(1)).otherwise(alt.value(0))
    halo = {key: value for key, value in theme.HALO.items() if key != "opacity"}
    return [
        base.mark_text(**style, **halo).encode(opacity=shown),
        base.mark_text(**style, fontWeight="bold", color=theme.LIGHT["ink"]).encode(opacity=shown),
    ]


def apart(dots: list[Dot], most: float, plane: Frame) -> list[list[tuple[float, float, Dot]]]:
    """Places right of the dots, in pixels; ranks that would lie on each other share a place."""
    groups: list[list[tuple[float, float, Dot]]] = []
    for dot in dots:
        radius = (dot.seconds / most * _SIZES[plane.size.narrow][1] / math.pi) ** 0.5
        right, down = min(plane.right(dot.x) + radius + 4, plane.size.width - 8), plane.down(dot.y)
        near = next((group for group in groups if abs(group[0][0] - right) < 18 and abs(group[0][1] - down) < 11), None)
        if near is None:
            groups.append([(right, down, dot)])
        else:
            near.append((right, down, dot))
    return groups
