"""The hierarchical roofline of a program: dots of one kernel at its levels, linked, sized by time, under its roofs."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from appprof.analysis import Analysis
from appprof.charts.dots import REST, Dot, make_dots
from appprof.charts.drawn_roofs import drawn_roofs
from ert_numba.charts import theme
from ert_numba.charts.roof_layers import above_dots, below_dots, plane_axes
from ert_numba.charts.roofline import WIDE, Frame, Roof, Size, frame
from ert_numba.errors import ErtError
from ert_numba.units import si

_LABELLED = 9
_SIZES = {True: (24, 320), False: (36, 760)}  # areas of the least and the largest dot
_TIPS = ("kernel", "level", "intensity", "performance", "time", "bound", "SM clock")
_MATCH = "(shown === null || indexof(shown, datum.id) >= 0)"
_SEEN = f"indexof(levels, datum.at) >= 0 && {_MATCH}"
_ZOOMED = "isValid(zoom.x)"
_HIDDEN = 0.001  # at 0 Vega would leave a mark out of the layout, and with it the margin that it needs


def roofline_chart(analysis: Analysis, size: Size = WIDE) -> theme.AnyChart:
    """Intensity in FLOP/byte, height in FLOP/s. Raises ErtError where there is neither a dot nor a roof to draw.

    Parameters that a page may set: ``shown`` (ids of kernels, or null for all) and ``levels``.
    """
    roofs = drawn_roofs(analysis)
    dots = make_dots(analysis, ridges(roofs))
    if not roofs and not dots:
        raise ErtError(
            "a roofline of this profile",
            "neither FLOP with bytes nor a roof is known",
            analysis.command or "Collect FLOP and bytes, and give a machine model with --machine",
        )
    places = [(dot.x, dot.y) for dot in dots]
    plane = frame(roofs, places, size, frozenset({"HOST"})) if roofs else _bare_frame(places, size)
    layers = [*_calm(below_dots(roofs, plane), plane), *_dot_layers(dots, plane),
              *_calm(above_dots(roofs, plane, places), plane)]  # fmt: skip
    chart = alt.layer(*layers).properties(
        width=size.width, height=size.height, title=_title(analysis, dots), name="roofline"
    )
    present = list(dict.fromkeys(dot.level for dot in dots))
    return theme.dressed(chart.add_params(alt.param(name="shown", value=None), alt.param(name="levels", value=present)))


def ridges(roofs: list[Roof]) -> tuple[float, float]:
    """The lowest and the highest intensity at which a slope meets a flat roof; without roofs, the whole plane."""
    found = [flat.value / slope.value for flat in roofs if flat.flat and flat.strong for slope in roofs
             if not slope.flat]  # fmt: skip
    return (min(found), max(found)) if found else (1e-3, 1e6)


def _bare_frame(places: list[tuple[float, float]], size: Size) -> Frame:
    x = theme.log_domain([place[0] for place in places], "intensities", below=10, above=10)
    return Frame(x=x, y=theme.log_domain([place[1] for place in places], "rates", below=10, above=10), size=size)


def _title(analysis: Analysis, dots: tuple[Dot, ...]) -> alt.TitleParams:
    machine = analysis.book.machine
    roofs = "roofs measured on this GPU" if machine is not None else "roofs not measured: the vendor's or theoretical"
    if any(note.startswith("FORCED") for note in analysis.notes):
        roofs = "ROOFS OF ANOTHER GPU, by force"
    subtitle = f"{roofs}; a dot's area is its kernel's time"
    if not dots:
        subtitle = "no kernel has both FLOP and bytes: roofs alone"
    return alt.TitleParams(
        f"{theme.one_line(analysis.model.chip.label)}: {len(analysis.kernels)} kernels, "
        f"{si(analysis.model.seconds, 's')}", subtitle=subtitle,
    )  # fmt: skip


def _calm(layers: list[alt.Chart], plane: Frame) -> list[alt.Chart]:
    """What stands in the margin has no place once the plane is zoomed: it is hidden until the zoom is undone."""
    if plane.size.narrow:
        return layers
    hidden = alt.condition(_ZOOMED, alt.value(_HIDDEN), alt.value(1))
    calm = []
    for layer in layers:
        if _in_margin(layer, plane):
            layer = layer.encode(opacity=hidden)  # noqa: PLW2901
            layer.mark.clip = False  # a plane that zooms clips whatever does not say otherwise
        calm.append(layer)
    return calm


def _in_margin(layer: alt.Chart, plane: Frame) -> bool:
    values = layer.data.values
    return layer.mark.type in ("text", "line") and bool(values) and all(row["x"] >= plane.x[1] for row in values)


def _dot_layers(dots: tuple[Dot, ...], plane: Frame) -> list[alt.Chart]:
    if not dots:
        return []
    narrow = plane.size.narrow
    most = max(dot.seconds for dot in dots) or 1.0
    values = [_row(dot) for dot in sorted(dots, key=lambda dot: -dot.seconds)]
    x, y = plane_axes(plane)
    hover = alt.selection_point(name="hover", fields=["id"], on="pointerover", clear="pointerout", empty=False)
    zoom = alt.selection_interval(
        name="zoom", bind="scales", encodings=["x", "y"],
        zoom="wheel![event.ctrlKey || event.metaKey]", translate="[pointerdown[!event.shiftKey], window:pointerup]"
        " > window:pointermove!",
    )  # fmt: skip
    base = theme.rows(values)
    links = base.mark_line(strokeWidth=1, clip=True, color=theme.LIGHT["ink"]).encode(
        x, y, alt.Detail("id:N"),
        opacity=alt.when(hover).then(alt.value(0.9)).when(_MATCH).then(alt.value(0.22)).otherwise(alt.value(0.03)),
        strokeWidth=alt.when(hover).then(alt.value(2)).otherwise(alt.value(1)),
    )  # fmt: skip
    sizes = alt.Scale(type="sqrt", domain=[0, most], range=list(_SIZES[narrow]))
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in _TIPS]
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


def _row(dot: Dot) -> dict[str, Any]:
    colour = theme.level_colour(dot.level)
    hollow = dot.id == REST or dot.beyond
    return {
        "id": dot.id, "at": dot.level, "x": dot.x, "y": dot.y, "seconds": dot.seconds, "colour": colour,
        "fill": theme.LIGHT["paper"] if hollow else colour,
        "stroke": theme.LIGHT["vermillion"] if dot.excess else colour if hollow else theme.LIGHT["ink"],
        "shape": theme.level_shape(dot.level),
        **{name: dot.tooltip.get(name, "") for name in _TIPS},
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
    rows = [
        {"id": group[0][2].id, "x": plane.x_at(group[0][0]), "y": plane.y_at(group[0][1]),
         "rank": ", ".join(dot.id for _, _, dot in group)}
        for group in _apart(chosen, max(dot.seconds for dot in dots) or 1.0, plane)
    ]  # fmt: skip
    x, y = plane_axes(plane)
    style: dict[str, Any] = {"align": "left", "baseline": "middle", "fontSize": plane.size.font, "clip": True}
    base = theme.rows(rows).encode(x, y, alt.Text("rank:N"))
    shown = alt.when(_MATCH).then(alt.value(1)).otherwise(alt.value(0))
    halo = {key: value for key, value in theme.HALO.items() if key != "opacity"}
    return [
        base.mark_text(**style, **halo).encode(opacity=shown),
        base.mark_text(**style, fontWeight="bold", color=theme.LIGHT["ink"]).encode(opacity=shown),
    ]


def _apart(dots: list[Dot], most: float, plane: Frame) -> list[list[tuple[float, float, Dot]]]:
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
