"""The hierarchical roofline of a program: dots of one kernel at its levels, linked, sized by time, under its roofs."""

from __future__ import annotations

import altair as alt

from appprof.analysis import Analysis
from appprof.charts.dot_layers import dot_layers, parameters
from appprof.charts.dots import Dot, make_dots
from appprof.charts.drawn_roofs import drawn_roofs
from ert_numba.charts import theme
from ert_numba.charts.roof_layers import above_dots, below_dots
from ert_numba.charts.roofline import WIDE, Frame, Roof, Size, frame
from ert_numba.errors import ErtError
from ert_numba.units import si

_ZOOMED = "isValid(zoom.x)"
_HIDDEN = 0.001  # at 0 Vega would leave a mark out of the layout, and with it the margin that it needs


def roofline_chart(analysis: Analysis, size: Size = WIDE) -> theme.AnyChart:
    """Intensity in FLOP/byte, height in FLOP/s. Raises ErtError where there is neither a dot nor a roof to draw.

    Parameters that a page may set: ``shown`` (ids of kernels, or null for all) and ``levels``.
    """
    roofs = drawn_roofs(analysis.roofs, analysis.used_roofs)
    dots = make_dots(analysis, ridges(roofs), max((roof.value for roof in roofs if roof.flat), default=0.0))
    if not roofs and not dots:
        raise ErtError(
            "a roofline of this profile",
            "neither FLOP with bytes nor a roof is known",
            analysis.command or "Collect FLOP and bytes, and give a machine model with --machine",
        )
    places = [(dot.x, dot.y) for dot in dots]
    plane = frame(roofs, places, size, frozenset({"HOST"})) if roofs else _bare_frame(places, size)
    below, above = below_dots(roofs, plane), above_dots(roofs, plane, places)
    if dots:  # which carry the zoom
        below, above = calm(below, plane), calm(above, plane)
    layers = [*below, *dot_layers(dots, plane), *above]
    chart = alt.layer(*layers).properties(
        width=size.width, height=size.height, title=_title(analysis, dots), name="roofline"
    )
    return theme.dressed(chart.add_params(*parameters(dots)))


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


def calm(layers: list[alt.Chart], plane: Frame) -> list[alt.Chart]:
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
