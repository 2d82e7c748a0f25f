"""The machine's hierarchical roofline, and its ceilings against their physical limits. Records in, charts out."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from ert_numba.catalog.memory_levels import BY_KEY as LEVELS
from ert_numba.catalog.memory_levels import level_order
from ert_numba.charts import theme
from ert_numba.charts.roofline import WIDE, Frame, Label, Roof, Size, at, frame, flat_labels, segment
from ert_numba.charts.slope_labels import slope_labels
from ert_numba.errors import ErtError
from ert_numba.machine import Ceiling, MachineModel, ProofPoint
from ert_numba.units import si

_SCOPES = ("all", "socket", "core")  # the widest that was measured is the machine
_TOOLTIP = ("ceiling", "value", "interval", "limit", "share", "clock", "remark")


def machine_chart(model: MachineModel, size: Size = WIDE) -> alt.LayerChart:
    """The roofline: one slope a memory level, one flat roof a compute ceiling, measured points of proof under them.

    Intensity is in FLOP/byte, height in FLOP/s (OP/s for integer formats). Impossible ceilings are not drawn.
    Raises ErtError where the model has no ceiling to draw.
    """
    roofs = machine_roofs(model)
    points = [point for point in model.proof if _drawable(point.intensity, point.low, point.value, point.high)]
    plane = frame(roofs, [(point.intensity, point.value) for point in points], size, _links(model))
    lines, labels = roof_layers(roofs, plane, [(point.intensity, point.value) for point in points])
    layers = [*lines, *_proof_layers(points, model), *labels]
    device = model.device
    subtitle = f"measured {model.provenance.created[:10]}; dashed: physical limits"
    title = alt.TitleParams(
        theme.one_line(device.name),
        subtitle=subtitle + ("; dots: measured kernels of known intensity" if points else ""),
    )
    chart = alt.layer(*layers).properties(width=size.width, height=size.height, title=title, name="roofline")
    return theme.dressed(chart)


def machine_roofs(model: MachineModel) -> list[Roof]:
    """What the roofline draws: the fastest access of each memory level, every possible compute ceiling.

    Of the compute ceilings of one precision and unit (vector, tensor) the highest dense one is strong.
    """
    scope = next(
        (scope for scope in _SCOPES if model.roofs("compute", scope) or model.roofs("bandwidth", scope)), "all"
    )
    fastest: dict[str, Ceiling] = {}
    for row in model.roofs("bandwidth", scope):
        held = fastest.get(row.level or row.key)
        if held is None or row.value > held.value:
            fastest[row.level or row.key] = row
    compute = model.roofs("compute", scope)
    best: dict[tuple[str | None, str], str] = {}
    for row in sorted(compute, key=lambda row: (row.sparse, -row.value)):
        best.setdefault((row.precision, (row.path or "").split(".")[0]), row.key)
    strong = frozenset(best.values())
    roofs = [_memory_roof(row, model) for row in fastest.values() if _drawable(row.value)]
    roofs += [_compute_roof(row, row.key in strong) for row in compute if _drawable(row.value)]
    if not roofs:
        impossible = sum(row.impossible for row in model.ceilings)
        found = f"none among {len(model.ceilings)} entries" if model.ceilings else "the model has none"
        raise ErtError(
            f"the roofline of {theme.one_line(model.device.name)}",
            f"no ceiling to draw: {found}" + (f", {impossible} of them impossible" if impossible else ""),
            "Measure compute or bandwidth first (sweep), or plot another model",
        )
    return roofs


def _memory_roof(row: Ceiling, model: MachineModel) -> Roof:
    level = theme.level_label(model.device.kind, row.level or row.key)
    words = [level, theme.access_row(row.access).label if row.access else "", row.variant or ""]
    return Roof(
        key=row.key, label=f"{' '.join(word for word in words if word)}  {si(row.value, row.unit)}",
        short=level, value=row.value,
        colour=theme.level_colour(row.level or ""), flat=False, limit=row.limit, dashed=not row.verified,
        tooltip=_tooltip(row, " ".join(word for word in words if word)),
    )  # fmt: skip


def _compute_roof(row: Ceiling, strong: bool) -> Roof:
    words = compute_words(row)
    tensor = (row.path or "").startswith("tensor")
    return Roof(
        key=row.key, label=f"{words}  {si(row.value, row.unit)}",
        short=_short(row, strong),
        value=row.value, flat=True, limit=row.limit,
        colour=theme.LIGHT["purple"] if tensor else theme.LIGHT["ink"], strong=strong, dashed=not row.verified,
        tooltip=_tooltip(row, words),
    )  # fmt: skip


def compute_words(row: Ceiling) -> str:
    """A compute ceiling as a person says it: ``FP16 tensor, wgmma, 2:4 sparse``."""
    words = f"{theme.precision_label(row.precision or row.key)} {theme.path_label(row.path or '')}".strip()
    return words + (", 2:4 sparse" if row.sparse else "")


def _short(row: Ceiling, strong: bool) -> str:
    """``FP8 tensor``, ``FP32 no FMA``: no more than tells it from its neighbours in a narrow picture."""
    name = theme.precision_label(row.precision or row.key).split()[0]
    unit = (row.path or "").split(".")[0]
    words = [name, unit if unit == "tensor" else "", "" if strong else theme.path_label(row.path or "").split(", ")[-1]]
    return " ".join(word for word in words if word) + (" sparse" if row.sparse else "")


def _tooltip(row: Ceiling, words: str) -> dict[str, str]:
    share = row.share_of_limit
    remarks = [("noisy", row.noisy), ("not measured by this project", not row.verified), (row.note, bool(row.note))]
    return {
        "ceiling": words,
        "value": si(row.value, row.unit),
        "interval": f"{si(row.low, row.unit)} to {si(row.high, row.unit)} (95 %)",
        "limit": si(row.limit, row.unit) if row.limit else "unknown",
        "share": f"{share:.1%} of the limit" if share else "unknown",
        "clock": f"{si(row.clock_hz[0], 'Hz')} to {si(row.clock_hz[1], 'Hz')}" if row.clock_hz else "not measured",
        "remark": "; ".join(text for text, present in remarks if present) or "none",
    }


def roof_layers(
    roofs: list[Roof], plane: Frame, dots: list[tuple[float, float]]
) -> tuple[list[alt.Chart], list[alt.Chart]]:
    """The layers below the dots (limits, roofs, leaders) and those above them (labels, wide lines to point at)."""
    axes = _axes(plane)
    solid = [_record(roof, x, at(roof, x)) for roof in roofs for x in segment(roof, roofs, plane) or ()]
    limits = [
        {"key": roof.key, "x": x, "y": at(roof, x, roof.limit), "colour": roof.colour}
        for roof in roofs if roof.limit and _drawable(roof.limit) and roof.strong
        for x in _limit_part(roof, roofs, plane)
    ]  # fmt: skip
    beside, along = flat_labels(roofs, plane), slope_labels(roofs, plane, dots)
    colours = {roof.key: roof.colour for roof in roofs}
    strong = {roof.key: roof.strong for roof in roofs}
    leaders = [
        {"key": label.key, "x": x, "y": y, "order": order, "colour": colours[label.key]}
        for label in beside if not plane.size.narrow
        for order, (x, y) in enumerate(_leader(label, plane))
    ]  # fmt: skip
    colour = alt.Color("colour:N", scale=None)
    line = {"clip": True, "strokeCap": "round"}
    below = [
        _chart(limits).mark_line(clip=True, strokeWidth=1, strokeDash=[3, 3], opacity=0.8).encode(
            *axes, colour, alt.Detail("key:N")),
        _chart(solid).mark_line(**line).encode(
            *axes, colour, alt.Detail("key:N"),
            strokeWidth=alt.StrokeWidth("width:Q", scale=None),
            strokeDash=alt.condition("datum.dashed", alt.value([7, 3]), alt.value([1, 0])),
            opacity=alt.Opacity("opacity:Q", scale=None)),
        _chart(leaders).mark_line(strokeWidth=0.8, opacity=0.6).encode(
            *axes, colour, alt.Detail("key:N"), alt.Order("order:Q")),
    ]  # fmt: skip
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in _TOOLTIP]
    above = [
        *_labels([label for label in beside if strong[label.key]], plane, "ink"),
        *_labels([label for label in beside if not strong[label.key]], plane, "muted"),
        *_labels(along, plane, "ink", angle=-math.degrees(plane.slope)),
        _chart(solid).mark_line(clip=True, strokeWidth=9, opacity=0).encode(*axes, alt.Detail("key:N"), tooltip=tips),
    ]
    return [chart for chart in below if chart.data.values], [chart for chart in above if chart.data.values]


def _axes(plane: Frame) -> tuple[alt.X, alt.Y]:
    x = alt.Axis(title="Arithmetic intensity (FLOP/byte)", values=theme.decades(plane.x), format="~g")
    if plane.size.narrow:
        y = theme.rate_axis("FLOP/s (integers: OP/s)", "", theme.decades(plane.y), upright=True)
    else:
        y = theme.rate_axis("Performance (integer formats: OP/s)", "FLOP/s", theme.decades(plane.y))
    return (
        alt.X("x:Q", scale=theme.log_scale(plane.x), axis=x),
        alt.Y("y:Q", scale=theme.log_scale(plane.y), axis=y),
    )


def _record(roof: Roof, x: float, y: float) -> dict[str, Any]:
    return {
        "key": roof.key, "x": x, "y": y, "colour": roof.colour, "dashed": roof.dashed,
        "width": 2.0 if roof.strong else 1.0, "opacity": 1.0 if roof.strong else 0.45, **roof.tooltip,
    }  # fmt: skip


def _limit_part(roof: Roof, roofs: list[Roof], plane: Frame) -> tuple[float, ...]:
    """Where a limit is drawn: the whole of a slope's."""
    return segment(roof, roofs, plane, roof.limit) or ()


def _leader(label: Label, plane: Frame) -> list[tuple[float, float]]:
    width = plane.size.width
    return [
        (plane.x_at(width), label.leader_y),
        (plane.x_at(width + 5), label.leader_y),
        (plane.x_at(width + 15), label.y),
        (plane.x_at(width + 19), label.y),
    ]


def _labels(labels: list[Label], plane: Frame, colour: str, angle: float | None = None) -> list[alt.Chart]:
    """Text marks; inside a narrow frame over a halo, since roofs run behind them."""
    values = [{"x": label.x, "y": label.y, "text": label.text} for label in labels]
    inside = angle is None and plane.size.narrow
    mark = {
        "align": "right" if inside else "left", "baseline": "middle", "fontSize": plane.size.font,
        "angle": (angle or 0.0) % 360, "color": theme.LIGHT[colour],
    }  # fmt: skip
    text = _chart(values).mark_text(**mark).encode(*_axes(plane), alt.Text("text:N"))
    halo = {"stroke": theme.LIGHT["paper"], "strokeWidth": 4, "strokeJoin": "round", "opacity": 0.9}
    return (
        [_chart(values).mark_text(**mark, **halo).encode(*_axes(plane), alt.Text("text:N")), text] if inside else [text]
    )


def _chart(values: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.Data(values=values))


def _proof_layers(points: list[ProofPoint], model: MachineModel) -> list[alt.Chart]:
    if not points:
        return []
    rows = [
        {
            "x": point.intensity, "y": point.value, "low": point.low, "high": point.high,
            "level": theme.level_label(model.device.kind, point.level), "colour": theme.level_colour(point.level),
            "shape": theme.level_shape(point.level),
            "kernel": f"{theme.precision_label(point.precision)} from {point.level}",
            "intensity": f"{point.intensity:g} FLOP/byte", "value": si(point.value, "FLOP/s"),
            "roof": f"{point.value / point.attainable:.1%} of {si(point.attainable, 'FLOP/s')}",
            "remark": "noisy" if point.noisy else "none",
        }
        for point in points
    ]  # fmt: skip
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in ("kernel", "intensity", "value", "roof", "remark")]
    colour = alt.Color("colour:N", scale=None)
    base = _chart(rows)
    return [
        base.mark_rule(strokeWidth=1.2, clip=True).encode(x="x:Q", y="low:Q", y2="high:Q", color=colour),
        base.mark_point(filled=True, size=70, opacity=1, stroke=theme.LIGHT["paper"], strokeWidth=0.8).encode(
            x="x:Q", y="y:Q", color=colour, shape=alt.Shape("shape:N", scale=None), tooltip=tips
        ),
    ]


def _links(model: MachineModel) -> frozenset[str]:
    """Keys of the bandwidths of links: so slow that a frame around them would leave the rest no room."""
    kind = model.device.kind
    slow = {level for (device, level), row in LEVELS.items() if device == kind and row.scope == "link"}
    return frozenset(row.key for row in model.ceilings if row.level in slow)


def _drawable(*values: float) -> bool:
    return all(0 < value < math.inf for value in values)


__all__ = ["compute_words", "level_order", "machine_chart", "machine_roofs", "roof_layers"]
