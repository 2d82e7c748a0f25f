"""Two profiles under one set of roofs: each kernel hollow before, filled after, with an arrow from one to the other.

One memory level is seen at a time. Of unlike GPUs each side has a picture of its own, on the same axes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt
import msgspec

from appprof.charts.dot_layers import apart
from appprof.charts.dots import BEYOND_LEFT, BEYOND_RIGHT, Dot
from appprof.charts.drawn_roofs import drawn_roofs
from appprof.charts.roofline_chart import ridges
from appprof.diff import Diff, KernelChange
from appprof.phrases import ratio, signed, verdict_words
from appprof.result import KernelRow
from appprof.words import LEVEL_LABELS
from ert_numba.charts import roofline as blocks
from ert_numba.charts import theme
from ert_numba.charts.roof_layers import above_dots, below_dots, plane_axes
from ert_numba.charts.roofline import WIDE, Frame, Size, frame
from ert_numba.errors import ErtError
from ert_numba.units import si

MOST = 24
LEVELS = ("DRAM", "L2", "L1")  # the first that has dots is shown first
A, B = "A", "B"
_SIZES = {True: (24, 260), False: (36, 520)}
_TIPS = ("kernel", "level", "A", "B", "time", "bound")
_SHOWN = "indexof(levels, datum.at) >= 0"
# Roofs of the two sides that differ by no more are drawn as one: clocks and their rounding differ by less.
_SAME_ROOF = 0.02
_LONG_ENOUGH = 26  # pixels between two dots that have room for an arrow's head


class Spot(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel of one side at one level; ``number`` is its place among the changes, as in the picture of times."""

    number: int
    side: str
    level: str
    x: float
    y: float
    seconds: float
    change: KernelChange
    beyond: bool = False


def diff_roofline(diff: Diff, size: Size = WIDE, side: str = "") -> theme.AnyChart:
    """Both sides, or the one that ``side`` (``"A"``, ``"B"``) names. Raises ErtError where there is nothing to draw.

    A page may set the parameter ``levels``, a list of the levels that are shown.
    """
    roofs = _roofs(diff, side)
    every = spots(diff, ridges([*_roofs(diff, A), *_roofs(diff, B)]))
    drawn = [spot for spot in every if side in ("", spot.side)]
    if not roofs or not drawn:
        raise ErtError("a roofline of two profiles", "no kernel has FLOP, bytes and a time", "Collect FLOP and bytes")
    # Both pictures of a pair have the frame of all roofs and dots, so that they can be laid on each other.
    plane = frame([*_roofs(diff, A), *_roofs(diff, B)], [(spot.x, spot.y) for spot in every], size, frozenset({"HOST"}))
    layers = [
        *below_dots(roofs, plane),
        *_layers(drawn, plane),
        *above_dots(roofs, plane, [(spot.x, spot.y) for spot in drawn]),
    ]
    title = alt.TitleParams(
        "Kernels before and after" if not side else f"Kernels of {side}", subtitle=f"hollow: {A}, filled: {B}"
    )
    chart = alt.layer(*layers).properties(width=size.width, height=size.height, title=title, name="moves")
    return theme.dressed(chart.add_params(alt.param(name="levels", value=[levels_of(every)[0]])))


def levels_of(drawn: Iterable[Spot]) -> list[str]:
    """The levels that have dots, the one to begin with first."""
    present = {spot.level for spot in drawn}
    return [level for level in LEVELS if level in present]


def spots(diff: Diff, edges: tuple[float, float] = (1e-3, 1e6)) -> list[Spot]:
    """Of the kernels that changed the time most; ``edges`` are the lowest and highest ridge, beyond which dots stop."""
    low, high = edges[0] / BEYOND_LEFT, edges[1] * BEYOND_RIGHT
    found = []
    for number, change in enumerate(diff.kernels[:MOST], 1):
        for side, row in ((A, change.a), (B, change.b)):
            if row is None or not row.flop_per_second or not row.seconds:
                continue
            for level, x in row.intensity.items():
                if level not in LEVELS:
                    continue
                inside = min(max(x, low), high)
                height = row.flop_per_second * (inside / x if x < inside else 1.0)  # along the slope that it is under
                found.append(Spot(number=number, side=side, level=level, x=inside, y=height, change=change,
                                  seconds=row.seconds, beyond=inside != x))  # fmt: skip
    return found


def _roofs(diff: Diff, side: str) -> list[blocks.Roof]:
    """Those of B, or of A where it is asked for; where A's stood elsewhere, a thin dashed line says so."""
    found = drawn_roofs(diff.roofs_a if side == A else diff.roofs_b, diff.used_roofs)
    others = {} if side else {roof.key: roof.value for roof in diff.roofs_a}
    return [
        msgspec.structs.replace(roof, limit=_moved(roof.value, others.get(roof.key))) for roof in found
    ]  # fmt: skip


def _moved(value: float, other: float | None) -> float | None:
    return other if other is not None and abs(other / value - 1) > _SAME_ROOF else None


def roofs_moved(diff: Diff) -> bool:
    return any(roof.limit for roof in _roofs(diff, ""))


def _layers(drawn: Sequence[Spot], plane: Frame) -> list[alt.Chart]:
    most = max(spot.seconds for spot in drawn) or 1.0
    x, y = plane_axes(plane)
    pairs = _pairs(drawn)
    lines = [
        {"at": a.level, "id": f"{a.number} {a.level}", "x": spot.x, "y": spot.y, "colour": _colour(a.change)}
        for a, b in pairs for spot in (a, b)
    ]  # fmt: skip
    heads = [head for a, b in pairs if (head := _head(a, b, plane)) is not None]
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in _TIPS]
    sizes = alt.Scale(type="sqrt", domain=[0, most], range=list(_SIZES[plane.size.narrow]))
    dots = sorted((_row(spot) for spot in drawn), key=lambda row: -float(row["seconds"]))
    layers = []
    if lines:
        thin = theme.rows(lines).mark_line(strokeWidth=1.6, clip=True).transform_filter(_SHOWN)
        layers.append(thin.encode(x, y, alt.Detail("id:N"), alt.Color("colour:N", scale=None)))
    layers.append(
        theme.rows(dots).mark_point(shape="circle", clip=True, strokeWidth=1.7, opacity=0.95).encode(
            x, y, fill=alt.Fill("fill:N", scale=None), stroke=alt.Stroke("colour:N", scale=None), tooltip=tips,
            size=alt.Size("seconds:Q", scale=sizes, legend=None)).transform_filter(_SHOWN),
    )  # fmt: skip
    if heads:
        arrow = theme.rows(heads).mark_point(shape="triangle", size=70, opacity=1, strokeWidth=0, clip=True)
        layers.append(arrow.transform_filter(_SHOWN).encode(
            x, y, fill=alt.Fill("colour:N", scale=None), angle=alt.Angle("angle:Q", scale=None)))  # fmt: skip
    return [*layers, *_numbers(drawn, most, plane)]


def _pairs(drawn: Iterable[Spot]) -> list[tuple[Spot, Spot]]:
    before = {(spot.number, spot.level): spot for spot in drawn if spot.side == A}
    after = ((before.get((spot.number, spot.level)), spot) for spot in drawn if spot.side == B)
    return [(a, b) for a, b in after if a is not None and _alike(a.change, a.level)]


def _alike(change: KernelChange, level: str) -> bool:
    """Whether both sides count the bytes of a level alike: between unlike counts nothing moved."""
    sides = [row.drawn.get(level) for row in (change.a, change.b) if row is not None]
    return len(set(sides)) == 1


def _head(a: Spot, b: Spot, plane: Frame) -> dict[str, Any] | None:
    """An arrow's head half way, turned along the line; none where the two dots nearly touch."""
    right, down = (plane.right(b.x) - plane.right(a.x), plane.down(b.y) - plane.down(a.y))
    if math.hypot(right, down) < _LONG_ENOUGH:
        return None
    middle = (plane.right(a.x) + plane.right(b.x)) / 2, (plane.down(a.y) + plane.down(b.y)) / 2
    return {"at": a.level, "x": plane.x_at(middle[0]), "y": plane.y_at(middle[1]), "colour": _colour(a.change),
            "angle": math.degrees(math.atan2(right, -down)) % 360}  # fmt: skip


def _numbers(drawn: Sequence[Spot], most: float, plane: Frame) -> list[alt.Chart]:
    """The number of each kernel right of its last dot; those that would lie on each other share a place."""
    rows = []
    for level in levels_of(drawn):
        last = {spot.number: spot for spot in drawn if spot.level == level}  # B comes after A
        dots = [Dot(id=str(number), kernel="", level=level, x=spot.x, y=spot.y, seconds=spot.seconds)
                for number, spot in last.items()]  # fmt: skip
        rows += [
            {"at": level, "x": plane.x_at(group[0][0]), "y": plane.y_at(group[0][1]),
             "text": ", ".join(dot.id for _, _, dot in group)}
            for group in apart(dots, most, plane)
        ]  # fmt: skip
    x, y = plane_axes(plane)
    style: dict[str, Any] = {"align": "left", "baseline": "middle", "fontSize": plane.size.font, "clip": True}
    base = theme.rows(rows).transform_filter(_SHOWN).encode(x, y, alt.Text("text:N"))
    return [base.mark_text(**style, **theme.HALO),
            base.mark_text(**style, fontWeight="bold", color=theme.LIGHT["ink"])]  # fmt: skip


def _colour(change: KernelChange) -> str:
    moved = change.seconds_change or 0.0
    return theme.LIGHT["vermillion" if moved > 0 else "blue" if moved < 0 else "muted"]


def _row(spot: Spot) -> dict[str, Any]:
    change = spot.change
    bounds = dict.fromkeys(verdict_words(row) for row in (change.a, change.b) if row is not None)
    return {
        "at": spot.level, "x": spot.x, "y": spot.y, "seconds": spot.seconds, "colour": _colour(change),
        "fill": theme.LIGHT["paper"] if spot.side == A else _colour(change),
        "kernel": f"{spot.number} {change.short}",
        "level": LEVEL_LABELS[spot.level] + (", beyond the picture" if spot.beyond else ""),
        "A": _told(change.a, spot.level), "B": _told(change.b, spot.level),
        "time": signed(change.time_change) if change.state == "both" else change.state, "bound": " → ".join(bounds),
    }  # fmt: skip


def _told(row: KernelRow | None, level: str) -> str:
    if row is None:
        return "not there"
    if level not in row.intensity or row.flop_per_second is None:
        return "not known"
    return f"{si(row.flop_per_second, 'FLOP/s')} at {ratio(row.intensity[level])} FLOP/byte ({row.drawn[level]})"
