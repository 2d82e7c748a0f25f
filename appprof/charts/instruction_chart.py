"""The instruction roofline: kernels by warp instructions a second and per transaction, under the schedulers' peak.

Kernels of integers and kernels that only move data have a place here. Walls stand over the requests to global memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from appprof.analysis import Analysis
from appprof.charts.dot_layers import dot_layers, parameters
from appprof.charts.dots import MOST, Dot
from appprof.charts.roofline_chart import calm
from appprof.diagnosis import Diagnosis
from appprof.instructions import InstructionPoint
from appprof.metrics import SECTOR_BYTES
from appprof.phrases import percent, ratio
from appprof.roofs import ISSUE, MACHINE, SOURCE_WORDS, Roof
from appprof.words import LEVEL_LABELS, many
from ert_numba.charts import roofline as blocks
from ert_numba.charts import theme
from ert_numba.charts.roof_layers import above_dots, below_dots, plane_axes
from ert_numba.charts.roofline import WIDE, Axes, Frame, Size, frame
from ert_numba.errors import ErtError
from ert_numba.units import si

AXES = Axes(
    x="Warp instructions per 32-byte transaction", y="Warp instructions a second",
    y_narrow="Warp instructions a second", unit="inst/s", slope_unit="/s",
)  # fmt: skip
# A request of a warp touches one sector where all threads want the same, one a thread where they lie far apart; threads
# that want neighbouring words of 4 or 8 bytes share them: 32 x 4 / 32 and 32 x 8 / 32.
WALLS = ((1, "one address"), (4, "neighbours, 4 bytes"), (8, "neighbours, 8 bytes"), (32, "far apart"))


def instruction_chart(analysis: Analysis, size: Size = WIDE) -> theme.AnyChart:
    """Raises ErtError where no kernel has warp instructions, transactions and a time, or nothing has a roof."""
    roofs = _drawn_roofs(analysis.instruction_roofs)
    dots = tuple(_dots(analysis))
    if not dots or not roofs:
        raise ErtError(
            "an instruction roofline",
            "no kernel has warp instructions and transactions with a time, or no roof is known",
            analysis.instruction_command or "Give a machine model with --machine",
        )
    places = [(dot.x, dot.y) for dot in dots]
    walls = any(dot.level == "global" for dot in dots)
    within = [*places, *((1 / sectors, dots[0].y) for sectors, _ in WALLS if walls)]
    plane = frame(roofs, within, size, frozenset(), AXES)
    layers = [
        *calm(below_dots(roofs, plane), plane), *(_walls(plane) if walls else ()), *dot_layers(dots, plane),
        *calm(above_dots(roofs, plane, places), plane),
    ]  # fmt: skip
    title = alt.TitleParams(
        f"{theme.one_line(analysis.model.chip.label)}: instruction roofline",
        subtitle="warp instructions against transactions of 32 bytes; a dot's area is its kernel's time",
    )
    chart = alt.layer(*layers).properties(width=size.width, height=size.height, title=title, name="instructions")
    return theme.dressed(chart.add_params(*parameters(dots)))


def drawable(analysis: Analysis) -> bool:
    """Whether there is a dot and a roof."""
    return bool(analysis.instruction_roofs) and any(
        row.summary.instructions and row.summary.instructions.points for row in analysis.kernels
    )


def _drawn_roofs(roofs: Sequence[Roof]) -> list[blocks.Roof]:
    return [_roof(roof) for roof in roofs]


def _roof(roof: Roof) -> blocks.Roof:
    flat = roof.key == ISSUE
    level = roof.key.split(".")[0]
    value = roof.value if flat else roof.value / SECTOR_BYTES
    words = "one instruction a clock and scheduler" if flat else LEVEL_LABELS[level]
    unit = "warp instructions/s" if flat else "transactions/s"
    return blocks.Roof(
        key=roof.key,
        label=f"issue  {si(value, 'inst/s')}" if flat else f"{words}  {many(value, unit)}",
        short="issue" if flat else words,
        value=value,
        colour=theme.LIGHT["ink"] if flat else theme.level_colour(level),
        flat=flat,
        dashed=roof.source != MACHINE,
        tooltip={
            "roof": words,
            "value": many(value, unit) + ("" if flat else f": {si(roof.value, 'B/s')} by {SECTOR_BYTES} bytes"),
            "source": roof.name if flat else f"{SOURCE_WORDS[roof.source]}: {roof.name}",
            "remark": roof.note or "none",
        },
    )


def _dots(analysis: Analysis) -> Iterator[Dot]:
    roofs = {roof.key: roof for roof in analysis.instruction_roofs}
    ranks = {row.summary.name: str(rank) for rank, row in enumerate(analysis.kernels, 1)}
    drawn = [row for row in analysis.kernels if row.summary.instructions and row.summary.instructions.points]
    for row in drawn[:MOST]:
        assert row.summary.instructions is not None
        for point in row.summary.instructions.points:
            yield _dot(ranks[row.summary.name], row, point, roofs.get(point.definition))


def _dot(rank: str, row: Diagnosis, point: InstructionPoint, roof: Roof | None) -> Dot:
    requests = point.level == "global"
    issue = row.summary.resource(ISSUE)
    share = point.transactions * SECTOR_BYTES / point.seconds / roof.value if roof is not None else None
    found = {
        "kernel": row.short,
        "level": "requests to global memory" if requests else f"{LEVEL_LABELS[point.level]} ({point.definition})",
        "intensity": f"{point.intensity:.4g} instructions per transaction" + (
            f": {ratio(1 / point.intensity)} sectors a request" if requests else ""),
        "rate": many(point.rate, "warp instructions/s"),
        "of the issue peak": percent(issue.share) if issue is not None and not requests else "",
        "of its slope": percent(share) if share is not None else "",
        "time": si(row.summary.seconds or 0.0, "s"),
        **_lanes(row),
    }  # fmt: skip
    return Dot(
        id=rank, kernel=row.short, level=point.level, x=point.intensity, y=point.rate, excess=bool(row.excess),
        seconds=row.summary.seconds or 0.0, tooltip={name: text for name, text in found.items() if text},
    )  # fmt: skip


def _lanes(row: Diagnosis) -> dict[str, str]:
    work = row.summary.instructions
    if work is None or work.active_lanes is None:
        return {}
    useful = f", {percent(work.useful_lanes)} not predicated off" if work.useful_lanes is not None else ""
    return {"lanes": f"{percent(work.active_lanes)} active{useful}"}


def _walls(plane: Frame) -> list[alt.Chart]:
    """Upright lines at the intensities of plain patterns of access, named at their feet."""
    values: list[dict[str, Any]] = [
        {"x": 1 / sectors, "y": plane.y_at(plane.size.height - 6), "text": f"1/{sectors}: {words}" if sectors > 1
         else f"1: {words}"}
        for sectors, words in WALLS
    ]  # fmt: skip
    x, y = plane_axes(plane)
    base = theme.rows(values)
    style: dict[str, Any] = {"angle": 270, "align": "left", "baseline": "bottom", "dx": 0, "dy": -3,
                             "fontSize": plane.size.font - 1, "clip": True}  # fmt: skip
    return [
        base.mark_rule(strokeDash=[2, 4], color=theme.LIGHT["muted"], clip=True).encode(x=x),
        base.mark_text(**style, color=theme.LIGHT["muted"]).encode(x, y, alt.Text("text:N")),
    ]
