"""Bandwidth and latency against the working set, with the plateaus and knees that the fit read from them."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import msgspec

from ert_numba.charts import theme
from ert_numba.charts.curves import Band, Dot, Mark, Panel, panels
from ert_numba.charts.labels import spread, text_width
from ert_numba.charts.roofline import WIDE, Size
from ert_numba.charts.words import ceiling_words, interval
from ert_numba.errors import ErtError
from ert_numba.machine import MachineModel
from ert_numba.records import Sweep
from ert_numba.units import capacity, si

_HEIGHT = {False: 360, True: 220}  # of a bandwidth and of a latency panel
_NO_MARGIN = 180  # pixels that a roofline of this size keeps for labels and this picture does not need
_WORKER = {"cpu": "core", "gpu": "SM"}
_DOT_TIPS = (
    ("access", "access"), ("set", "working set"), ("best", "best"), ("middle", "median"), ("repeats", "repeats"),
    ("noisy", "noisy"), ("axes", "conditions"),
)  # fmt: skip


def sweep_chart(sweep: Sweep, model: MachineModel, size: Size = WIDE) -> theme.AnyChart:
    """Every sample's best, its spread down to the median, the plateaus with their intervals, and the knees.

    Sizes are in bytes per core or SM (a panel of its own: sets that all SMs share), bandwidth in B/s by STREAM's
    count, latency in s. Raises ErtError where the sweep has no sample with a working set.
    """
    found = panels(sweep, model)
    if not found:
        raise ErtError(
            f"the working-set chart of {theme.one_line(sweep.device.name)}",
            f"none of the {len(sweep.samples)} samples has a working set and a time",
            "Sweep the memory levels first, or plot the machine model alone",
        )
    if not size.narrow:
        size = msgspec.structs.replace(size, width=size.width + _NO_MARGIN)
    parts = []
    for panel in found:
        sizes = [dot.size for other in found if other.shared == panel.shared for dot in other.dots]
        axes = _Axes(panel, model, theme.log_domain(sizes, "working sets", below=1.2, above=1.2), size)
        layers = [*_knee_layers(panel.marks, axes), *_band_layers(panel, axes), *_dot_layers(panel, axes)]
        name = ("latency" if panel.latency else "bandwidth") + ("_shared" if panel.shared else "")
        parts.append(alt.layer(*layers).properties(width=size.width, height=_HEIGHT[panel.latency], name=name))
    subtitle = "dots: best of all repeats, whisker to the median; bands: 95 % intervals of plateaus and knees"
    title = alt.TitleParams(f"Working sets on {theme.one_line(model.device.name)}", subtitle=subtitle)
    chart: alt.VConcatChart = theme.dressed(alt.vconcat(*parts, spacing=26)).properties(title=title)
    apart: alt.VConcatChart = chart.resolve_scale(color="independent", fill="independent", shape="independent")
    return apart


class _Axes:
    """The two axes of a panel, for any field (every layer names them whole: none decides alone), and its colours."""

    def __init__(self, panel: Panel, model: MachineModel, domain: tuple[float, float], size: Size) -> None:
        values = [value for dot in panel.dots for value in (dot.best, dot.median)]
        values += [value for band in panel.bands for value in (band.ceiling.low, band.ceiling.high)]
        height = theme.log_domain(values, "rates", below=1.25, above=1.5)
        self.looks = _looks(panel)
        self.device_kind, self.domain, self.size = model.device.kind, domain, size
        self.worker = _WORKER.get(self.device_kind, "worker")
        what = f"that all {self.worker}s share" if panel.shared else f"per {self.worker}"
        unit, words = ("s", "Latency of a load") if panel.latency else ("B/s", "Bandwidth")
        self._x = theme.capacity_axis(f"Working set {what}", theme.octaves(domain, 4 if size.narrow else 2))
        self._y = theme.rate_axis(words, unit, theme.log_ticks(height), upright=-36 if size.narrow else None)
        self._scales = theme.log_scale(domain, base=2), theme.log_scale(height)

    def x(self, field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=self._scales[0], axis=self._x)

    def y(self, field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=self._scales[1], axis=self._y)


def _dot_layers(panel: Panel, axes: _Axes) -> list[alt.Chart]:
    unit = "s" if panel.latency else "B/s"
    looks = axes.looks
    dots = sorted(panel.dots, key=lambda dot: (looks[_kind(dot)].label, dot.size, dot.best))
    names = [look.label for look in looks.values()]
    colours = alt.Scale(domain=names, range=[theme.LIGHT[look.hue] for look in looks.values()])
    shapes = alt.Scale(domain=names, range=[look.shape for look in looks.values()])
    legend = None if panel.latency else _legend(len(names), axes.size)
    colour = alt.Color("access:N", scale=colours, legend=legend)
    filled = alt.condition(
        "datum.curve", alt.Fill("access:N", scale=colours, legend=legend), alt.value(theme.LIGHT["paper"])
    )
    shape = alt.Shape("access:N", scale=shapes, legend=legend)
    tips = [alt.Tooltip(f"{field}:N", title=title) for field, title in _DOT_TIPS]
    x, y = axes.x("x"), axes.y("y")
    line = theme.rows(_line_rows(panel, looks)).mark_line(strokeWidth=1.2, strokeOpacity=0.6, clip=True)
    base = theme.rows([_dot_row(dot, looks[_kind(dot)], unit) for dot in dots])
    whisker = base.mark_rule(strokeWidth=1.2, strokeOpacity=0.55, clip=True)
    point = base.mark_point(size=20 if axes.size.narrow else 34, strokeWidth=1.3, opacity=1, clip=True)
    return [
        line.encode(x, y, colour, alt.Detail("series:N")),
        whisker.encode(x, y, alt.Y2("median:Q"), colour),
        point.encode(x, y, colour, shape, fill=filled, tooltip=tips),
    ]


def _legend(entries: int, size: Size) -> alt.Legend:
    """Inside, where bandwidth has fallen away from; below the picture where that is too small."""
    if entries <= 3:
        return alt.Legend(title=None, orient="top-right", offset=8)
    return alt.Legend(title=None, orient="bottom", columns=2 if size.narrow else 5, columnPadding=18)


def _dot_row(dot: Dot, look: theme.Access, unit: str) -> dict[str, Any]:
    return {
        "x": dot.size, "y": dot.best, "median": dot.median, "access": look.label,
        "set": capacity(dot.size), "best": si(dot.best, unit), "middle": si(dot.median, unit),
        "repeats": dot.repeats, "curve": dot.series.curve, "axes": dot.axes or "none",
        "noisy": "yes" if dot.noisy else "no",
    }  # fmt: skip


def _line_rows(panel: Panel, looks: dict[tuple[str, str], theme.Access]) -> list[dict[str, Any]]:
    """The best value at each size of each curve: what its line joins."""
    better = min if panel.latency else max
    best: dict[tuple[str, str, float], float] = {}
    for dot in sorted(panel.dots, key=lambda dot: dot.size):
        if dot.series.curve:
            key = (looks[_kind(dot)].label, dot.series.scope, dot.size)
            best[key] = better(best.get(key, dot.best), dot.best)
    return [
        {"x": size, "y": value, "access": label, "series": f"{label} {scope}"}
        for (label, scope, size), value in best.items()
    ]


def _kind(dot: Dot) -> tuple[str, str]:
    return dot.series.access, dot.series.variant


def _looks(panel: Panel) -> dict[tuple[str, str], theme.Access]:
    """The look of each access of the panel; variants of one access get the looks that no access here has."""
    kinds = sorted({_kind(dot) for dot in panel.dots})
    taken = {theme.access_row(access).hue for access, _ in kinds}
    spare = iter([row for row in theme.ACCESSES if row.hue not in taken])
    looks: dict[tuple[str, str], theme.Access] = {}
    seen: set[str] = set()
    for access, variant in kinds:
        own = theme.access_row(access)
        look = (next(spare, own)) if access in seen else own
        seen.add(access)
        label = f"{own.label}, {theme.one_line(variant, 24)}" if variant else own.label
        looks[access, variant] = theme.Access(key=own.key, label=label, hue=look.hue, shape=look.shape)
    return looks


def _band_layers(panel: Panel, axes: _Axes) -> list[alt.Chart]:
    if not panel.bands:
        return []
    rows = [_band_row(band, axes) for band in panel.bands]
    base = theme.rows(rows)
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in ("ceiling", "value", "interval")]
    ends: dict[str, Any] = {"x": axes.x("start"), "x2": alt.X2("end:Q")}
    # One label a level, of its fastest access: the others' values stand in the tooltip and the table.
    named = {row["level"]: row for row in sorted(rows, key=lambda row: row["y"], reverse=panel.latency)}
    text = theme.rows(list(named.values())).encode(axes.x("middle"), axes.y("y"), alt.Text("value:N"))
    style: dict[str, Any] = {"baseline": "bottom", "dy": -8, "fontSize": axes.size.font, "fontWeight": "bold"}
    area = base.mark_rect(fillOpacity=0.2, clip=True)
    line = base.mark_rule(strokeWidth=1.8, clip=True)
    return [
        area.encode(**ends, y=axes.y("low"), y2=alt.Y2("high:Q"), fill=alt.Fill("colour:N", scale=None)),
        line.encode(**ends, y=axes.y("y"), color=alt.Color("colour:N", scale=None), tooltip=tips),
        text.mark_text(**style, **theme.HALO),
        text.mark_text(**style, color=theme.LIGHT["ink"]),
    ]


def _band_row(band: Band, axes: _Axes) -> dict[str, Any]:
    row = band.ceiling
    look = axes.looks[row.access or "latency", row.variant or ""]
    return {
        "start": band.start, "end": band.end, "middle": band.start**0.35 * band.end**0.65, "y": row.value,
        "low": row.low, "high": row.high, "level": row.level, "colour": theme.LIGHT[look.hue],
        "ceiling": ceiling_words(row, axes.device_kind), "value": si(row.value, row.unit),
        "interval": f"{interval(row.low, row.high, row.unit)} (95 %)",
    }  # fmt: skip


def _knee_layers(marks: tuple[Mark, ...], axes: _Axes) -> list[alt.Chart]:
    shown = [mark for mark in marks if axes.domain[0] <= mark.at <= axes.domain[1]]
    if not shown:
        return []
    rows = [_knee_row(mark, axes) for mark in shown]
    base = theme.rows(rows)
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in ("knee", "interval", "claim", "transition")]
    band = base.mark_rect(fillOpacity=0.16, clip=True, fill=theme.LIGHT["muted"])
    rule = base.mark_rule(strokeWidth=1.5, clip=True, color=theme.LIGHT["ink"])
    layers = [band.encode(x=axes.x("low"), x2=alt.X2("high:Q")), rule.encode(x=axes.x("x"), tooltip=tips)]
    claimed = [row for row in rows if row["nominal"]]
    if claimed:
        dotted = theme.rows(claimed).mark_rule(
            strokeDash=[2, 3], strokeWidth=1.2, color=theme.LIGHT["muted"], clip=True
        )
        layers.insert(1, dotted.encode(x=axes.x("nominal")))
    return [*layers, *_knee_labels(rows, axes)]


def _knee_row(mark: Mark, axes: _Axes) -> dict[str, Any]:
    knee = mark.knee
    workers = f" / {knee.sharers}" + ("" if axes.size.narrow else f" {axes.worker}s") if knee.sharers > 1 else ""
    claim = f"nominal {capacity(knee.nominal_bytes)}" if knee.nominal_bytes else "nothing claimed"
    return {
        "x": mark.at, "low": mark.low, "high": mark.high, "nominal": mark.nominal,
        "knee": f"{theme.level_label(axes.device_kind, knee.level)} {capacity(knee.capacity_bytes)}{workers}",
        "interval": f"{capacity(knee.low)} to {capacity(knee.high)} (95 %)", "transition": knee.shape, "claim": claim,
    }  # fmt: skip


def _knee_labels(rows: list[dict[str, Any]], axes: _Axes) -> list[alt.Chart]:
    """Measured over nominal size, above the frame, centred on their knees as far as they leave each other room."""
    size, low, ratio = axes.size, axes.domain[0], axes.domain[1] / axes.domain[0]
    longest = max(text_width(row[name], size.font) for row in rows for name in ("knee", "claim")) + 8
    wished = [size.width * math.log(row["x"] / low, ratio) - longest / 2 for row in rows]
    places = [place + longest / 2 for place in spread(wished, longest, size.width)]
    values = [
        {"x": low * ratio ** (place / size.width), "knee": row["knee"], "claim": row["claim"]}
        for place, row in zip(places, rows, strict=True)
    ]
    base = theme.rows(values)
    style: dict[str, Any] = {"fontSize": size.font, "baseline": "bottom"}
    return [
        base.mark_text(**style, fontWeight="bold", color=theme.LIGHT["ink"]).encode(
            axes.x("x"), y=alt.value(-18), text=alt.Text("knee:N")),
        base.mark_text(**style, color=theme.LIGHT["muted"]).encode(
            axes.x("x"), y=alt.value(-4), text=alt.Text("claim:N")),
    ]  # fmt: skip
