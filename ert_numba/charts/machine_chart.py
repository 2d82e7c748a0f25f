"""The machine's hierarchical roofline. Records in, chart out."""

from __future__ import annotations

import math

import altair as alt

from ert_numba.catalog.memory_levels import BY_KEY as LEVELS
from ert_numba.charts import theme
from ert_numba.charts.roof_layers import above_dots, below_dots, plane_axes
from ert_numba.charts.roofline import WIDE, Frame, Roof, Size, frame
from ert_numba.charts.words import ceiling_words, clock, interval, origin
from ert_numba.errors import ErtError
from ert_numba.machine import Ceiling, MachineModel, ProofPoint
from ert_numba.units import si

_SCOPES = ("all", "socket", "core")


def machine_chart(model: MachineModel, size: Size = WIDE) -> theme.AnyChart:
    """The roofline: one slope a memory level, one flat roof a compute ceiling, measured points of proof under them.

    Intensity is in FLOP/byte, height in FLOP/s (OP/s for integer formats). Impossible ceilings are not drawn.
    Raises ErtError where the model has no ceiling to draw.
    """
    roofs = machine_roofs(model)
    points = [point for point in model.proof if _drawable(point.intensity, point.low, point.value, point.high)]
    dots = [(point.intensity, point.value) for point in points]
    plane = frame(roofs, dots, size, _links(model))
    layers = [*below_dots(roofs, plane), *_proof_layers(points, model, plane), *above_dots(roofs, plane, dots)]
    title = alt.TitleParams(theme.one_line(model.device.name), subtitle=_subtitle(model, roofs))
    chart = alt.layer(*layers).properties(width=size.width, height=size.height, title=title, name="roofline")
    return theme.dressed(chart)


def _subtitle(model: MachineModel, roofs: list[Roof]) -> str:
    parts = (
        (f"{origin(model)} {theme.one_line(model.provenance.created[:10])}", True),
        ("dashed: physical limits", any(roof.limit for roof in roofs)),
        ("long dashes: not measured here", any(roof.dashed for roof in roofs)),
        ("dots: measured kernels of known intensity", bool(model.proof)),
    )
    return "; ".join(text for text, present in parts if present)


def machine_roofs(model: MachineModel) -> list[Roof]:
    """What the roofline draws: the fastest access of each memory level, every possible compute ceiling.

    Of the compute ceilings of one precision and unit (vector, tensor) the highest dense one is strong. Raises
    ErtError where nothing is left.
    """
    scope = widest_scope(model)
    fastest: dict[str, Ceiling] = {}
    for row in sorted(model.roofs("bandwidth", scope), key=lambda row: -row.value):
        fastest.setdefault(row.level or row.key, row)
    compute = model.roofs("compute", scope)
    best: dict[tuple[str | None, str], str] = {}
    for row in sorted(compute, key=lambda row: (row.sparse, -row.value)):
        best.setdefault((row.precision, _unit(row)), row.key)
    strong = frozenset(best.values())
    roofs = [_memory_roof(row, model.device.kind) for row in fastest.values() if _drawable(row.value)]
    roofs += [_compute_roof(row, row.key in strong) for row in compute if _drawable(row.value)]
    if not roofs:
        impossible = sum(row.impossible for row in model.ceilings)
        raise ErtError(
            f"the roofline of {theme.one_line(model.device.name)}",
            f"none of its {len(model.ceilings)} ceilings can be drawn, {impossible} of them being impossible"
            if model.ceilings else "the model has no ceilings",
            "Measure compute or bandwidth first (sweep), or plot another model",
        )  # fmt: skip
    return roofs


def widest_scope(model: MachineModel) -> str:
    """``all``, or, where only one socket or one core was measured, that."""
    measured = {row.scope for row in model.ceilings if row.kind in ("compute", "bandwidth") and not row.impossible}
    return next((scope for scope in _SCOPES if scope in measured), "all")


def _memory_roof(row: Ceiling, device_kind: str) -> Roof:
    words = ceiling_words(row, device_kind)
    return Roof(
        key=row.key,
        label=f"{words}  {si(row.value, row.unit)}",
        short=theme.level_label(device_kind, row.level or row.key),
        value=row.value,
        colour=theme.level_colour(row.level or ""),
        flat=False,
        limit=row.limit if row.limit and _drawable(row.limit) else None,
        dashed=not row.verified,
        tooltip=_tooltip(row, words),
    )


def _compute_roof(row: Ceiling, strong: bool) -> Roof:
    words = ceiling_words(row, "")
    return Roof(
        key=row.key,
        label=f"{words}  {si(row.value, row.unit)}",
        short=_short(row, strong),
        value=row.value,
        colour=theme.unit_colour(_unit(row)),
        flat=True,
        limit=row.limit if row.limit and _drawable(row.limit) else None,
        strong=strong,
        dashed=not row.verified,
        tooltip=_tooltip(row, words),
    )


def _unit(row: Ceiling) -> str:
    return (row.path or "").split(".", maxsplit=1)[0]


def _short(row: Ceiling, strong: bool) -> str:
    """``FP8 tensor``, ``FP32 no FMA``: no more than tells it from its neighbours in a narrow picture."""
    name = theme.precision_label(row.precision or row.key).split(maxsplit=1)[0]
    way = "" if strong else theme.path_label(row.path or "").rsplit(", ", maxsplit=1)[-1]
    words = [name, "tensor" if _unit(row) == "tensor" else "", way, "sparse" if row.sparse else ""]
    return " ".join(word for word in words if word)


def _tooltip(row: Ceiling, words: str) -> dict[str, str]:
    share = row.share_of_limit
    remarks = [("noisy", row.noisy), ("not measured by this project", not row.verified), (row.note, bool(row.note))]
    return {
        "ceiling": words,
        "value": si(row.value, row.unit),
        "interval": interval(row.low, row.high, row.unit),
        "limit": f"{si(row.limit, row.unit)}, {share:.1%} of it reached" if row.limit and share else "unknown",
        "clock": clock(row) or "not measured",
        "remark": "; ".join(text for text, present in remarks if present) or "none",
    }


def _proof_layers(points: list[ProofPoint], model: MachineModel, plane: Frame) -> list[alt.Chart]:
    if not points:
        return []
    kind = model.device.kind
    rows = [
        {
            "x": point.intensity, "y": point.value, "low": point.low, "high": point.high,
            "colour": theme.level_colour(point.level), "shape": theme.level_shape(point.level),
            "kernel": f"{theme.precision_label(point.precision)} from {theme.level_label(kind, point.level)}",
            "intensity": f"{point.intensity:g} FLOP/byte", "value": si(point.value, "FLOP/s"),
            "interval": f"{interval(point.low, point.high, 'FLOP/s')} (95 %)",
            "roof": f"{point.value / point.attainable:.1%} of {si(point.attainable, 'FLOP/s')}",
            "remark": "noisy" if point.noisy else "none",
        }
        for point in points if _drawable(point.attainable)
    ]  # fmt: skip
    tips = [
        alt.Tooltip(f"{name}:N", title=name) for name in ("kernel", "intensity", "value", "interval", "roof", "remark")
    ]
    x, y = plane_axes(plane)
    _, low = plane_axes(plane, "low")
    colour = alt.Color("colour:N", scale=None)
    base = theme.rows(rows)
    mark = base.mark_point(
        filled=True, size=30 if plane.size.narrow else 60, opacity=1, stroke=theme.LIGHT["ink"], strokeWidth=0.7
    )
    return [
        base.mark_rule(strokeWidth=1.2, clip=True).encode(x=x, y=low, y2=alt.Y2("high:Q"), color=colour),
        mark.encode(x, y, colour, shape=alt.Shape("shape:N", scale=None), tooltip=tips),
    ]


def _links(model: MachineModel) -> frozenset[str]:
    """Keys of the bandwidths of links: so slow that a frame around them would leave the rest no room."""
    kind = model.device.kind
    slow = {level for (device, level), row in LEVELS.items() if device == kind and row.scope == "link"}
    return frozenset(row.key for row in model.ceilings if row.level in slow)


def _drawable(*values: float) -> bool:
    return all(0 < value < math.inf for value in values)
