"""Roofs and their labels as Vega-Lite layers: what every roofline picture puts below and above its dots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from ert_numba.charts import theme
from ert_numba.charts.roofline import Frame, Label, Roof, at, flat_labels, segment
from ert_numba.charts.slope_labels import slope_labels


def plane_axes(plane: Frame, y_field: str = "y") -> tuple[alt.X, alt.Y]:
    """Both axes of a roofline, for the fields ``x`` and ``y_field``; name them whole in every layer."""
    x = alt.Axis(title=plane.axes.x, values=theme.decades(plane.x), format="~g", labelSeparation=4)
    if plane.size.narrow:
        y = theme.rate_axis(plane.axes.y_narrow, "", theme.decades(plane.y), upright=-12)
    else:
        y = theme.rate_axis(plane.axes.y, plane.axes.unit, theme.decades(plane.y))
    return (
        alt.X("x:Q", scale=theme.log_scale(plane.x), axis=x),
        alt.Y(f"{y_field}:Q", scale=theme.log_scale(plane.y), axis=y),
    )


def below_dots(roofs: Sequence[Roof], plane: Frame) -> list[alt.Chart]:
    """The dashed limits of the strong roofs, the roofs, and the leaders to the labels in the margin."""
    axes = plane_axes(plane)
    colour = alt.Color("colour:N", scale=None)
    limits = [
        {"key": roof.key, "x": x, "y": at(roof, x, roof.limit), "colour": roof.colour}
        for roof in roofs if roof.strong and roof.limit
        for x in segment(roof, roofs, plane, roof.limit) or ()
    ]  # fmt: skip
    leaders = _leaders(roofs, plane)
    layers = [
        theme.rows(_roof_rows(roofs, plane)).mark_line(clip=True, strokeCap="round").encode(
            *axes, colour, alt.Detail("key:N"),
            strokeWidth=alt.StrokeWidth("width:Q", scale=None),
            strokeDash=alt.condition("datum.dashed", alt.value([7, 3]), alt.value([1, 0])),
            opacity=alt.Opacity("opacity:Q", scale=None)),
    ]  # fmt: skip
    if limits:
        dashed = theme.rows(limits).mark_line(clip=True, strokeWidth=1, strokeDash=[3, 3], opacity=0.8)
        layers.insert(0, dashed.encode(*axes, colour, alt.Detail("key:N")))
    if leaders:
        thin = theme.rows(leaders).mark_line(strokeWidth=0.8, opacity=0.6)
        layers.append(thin.encode(*axes, colour, alt.Detail("key:N"), alt.Order("order:Q")))
    return layers


def above_dots(roofs: Sequence[Roof], plane: Frame, dots: Sequence[tuple[float, float]]) -> list[alt.Chart]:
    """The labels, and over all a wide invisible line along each roof to point at, which carries its tooltip."""
    strong = {roof.key for roof in roofs if roof.strong}
    flats = flat_labels(roofs, plane)
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in dict.fromkeys(n for roof in roofs for n in roof.tooltip)]
    target = theme.rows(_roof_rows(roofs, plane)).mark_line(clip=True, strokeWidth=9, opacity=0)
    return [
        *_flat_texts([label for label in flats if label.key in strong], plane, "ink"),
        *_flat_texts([label for label in flats if label.key not in strong], plane, "muted"),
        *_slope_texts(slope_labels(roofs, plane, dots), plane),
        target.encode(*plane_axes(plane), alt.Detail("key:N"), tooltip=tips),
    ]


def _roof_rows(roofs: Sequence[Roof], plane: Frame) -> list[dict[str, Any]]:
    return [
        {
            "key": roof.key, "x": x, "y": at(roof, x), "colour": roof.colour, "dashed": roof.dashed,
            "width": 2.0 if roof.strong else 1.0, "opacity": 1.0 if roof.strong else 0.45, **roof.tooltip,
        }
        for roof in roofs
        for x in segment(roof, roofs, plane) or ()
    ]  # fmt: skip


def _leaders(roofs: Sequence[Roof], plane: Frame) -> list[dict[str, Any]]:
    if plane.size.narrow:
        return []
    colours = {roof.key: roof.colour for roof in roofs}
    edge = plane.size.width
    return [
        {"key": label.key, "x": plane.x_at(edge + out), "y": y, "order": order, "colour": colours[label.key]}
        for label in flat_labels(roofs, plane)
        for order, (out, y) in enumerate(((0, label.leader_y), (5, label.leader_y), (15, label.y), (19, label.y)))
    ]


def _flat_texts(labels: list[Label], plane: Frame, colour: str) -> list[alt.Chart]:
    """Inside a narrow frame the text stands on a halo, since roofs run behind it."""
    if not labels:
        return []
    style: dict[str, Any] = {
        "align": "right" if plane.size.narrow else "left", "baseline": "middle", "fontSize": plane.size.font,
    }  # fmt: skip
    base = theme.rows(_text_rows(labels)).encode(*plane_axes(plane), alt.Text("text:N"))
    halo = [base.mark_text(**style, **theme.HALO)] if plane.size.narrow else []
    return [*halo, base.mark_text(**style, color=theme.LIGHT[colour])]


def _slope_texts(labels: list[Label], plane: Frame) -> list[alt.Chart]:
    if not labels:
        return []
    style: dict[str, Any] = {
        "align": "left", "baseline": "middle", "fontSize": plane.size.font, "angle": 360 - math.degrees(plane.slope),
    }  # fmt: skip
    base = theme.rows(_text_rows(labels)).encode(*plane_axes(plane), alt.Text("text:N"))
    # Where roofs lie closer than a line of text is high, one of them passes behind it.
    return [base.mark_text(**style, **theme.HALO), base.mark_text(**style, color=theme.LIGHT["ink"])]


def _text_rows(labels: list[Label]) -> list[dict[str, Any]]:
    return [{"x": label.x, "y": label.y, "text": label.text} for label in labels]
