"""The look of every chart: one table of colours, light and dark, and what derives from it.

A chart is built in the light colours alone. The dark picture is the same specification with each colour exchanged
for its partner (:func:`recoloured`), so that no chart knows of themes and no second copy of its data is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import altair as alt
import msgspec

from ert_numba.catalog.memory_levels import BY_KEY as LEVELS
from ert_numba.catalog.memory_levels import HOST_ACCESSES, MEMORY_LEVELS
from ert_numba.catalog.precisions import BY_KEY as PRECISIONS
from ert_numba.errors import ErtError

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
FONT_SIZE = 12


class Colour(msgspec.Struct, frozen=True, kw_only=True):
    """One role: the light value names it in a specification, so no two roles share one."""

    name: str
    light: str
    dark: str


COLOURS: tuple[Colour, ...] = (
    Colour(name="paper", light="#ffffff", dark="#14181d"),
    Colour(name="ink", light="#1b1f24", dark="#e9edf1"),
    Colour(name="muted", light="#5c6670", dark="#a3adb8"),
    Colour(name="rule", light="#c3c9d0", dark="#4a535d"),
    Colour(name="grid", light="#e9ecef", dark="#262c33"),
    # Okabe and Ito's eight, darker on white (blue lighter on black): their own values were made for areas, and as lines
    # do not reach the 3:1 of WCAG 2.1, 1.4.11. Tests hold the levels apart for protan and deutan eyes.
    Colour(name="sky", light="#2e94cf", dark="#56b4e9"),
    Colour(name="blue", light="#0072b2", dark="#3d9be0"),
    Colour(name="green", light="#009e73", dark="#1fbe92"),
    Colour(name="orange", light="#cb8400", dark="#e69f00"),
    Colour(name="vermillion", light="#b54a00", dark="#f0742a"),
    Colour(name="purple", light="#bf5c96", dark="#dd94be"),
    Colour(name="yellow", light="#7d7400", dark="#f0e442"),
    Colour(name="black", light="#30363d", dark="#c9d1d9"),
)

LIGHT: dict[str, str] = {row.name: row.light for row in COLOURS}
_DARK: dict[str, str] = {row.light: row.dark for row in COLOURS}
# Behind text that lines run through.
HALO: dict[str, Any] = {
    "stroke": LIGHT["paper"], "strokeWidth": 4, "strokeJoin": "round", "opacity": 0.9, "color": LIGHT["paper"],
}  # fmt: skip
_HUES = ("sky", "blue", "green", "orange", "vermillion", "purple", "black", "yellow")
_SHAPES = ("square", "circle", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left")
_LEVEL_KEYS = tuple(dict.fromkeys(row.key for row in sorted(MEMORY_LEVELS, key=lambda row: row.order)))
# Formats of one family (FP8's two) share a colour; the label tells them apart.
_PRECISION_KEYS = tuple(dict.fromkeys(key.split("_")[0] for key in PRECISIONS))
_PRECISION_HUES = ("blue", "vermillion", "green", "sky", "purple", "orange", "black", "yellow")


_AXIS = alt.AxisConfig(
    labelColor=LIGHT["muted"], titleColor=LIGHT["ink"], gridColor=LIGHT["grid"], domainColor=LIGHT["rule"],
    tickColor=LIGHT["rule"], labelFontSize=FONT_SIZE - 1, titleFontSize=FONT_SIZE, titleFontWeight="normal",
    titlePadding=10, labelPadding=5,
)  # fmt: skip
_LEGEND = alt.LegendConfig(
    labelColor=LIGHT["ink"], labelFontSize=FONT_SIZE, labelLimit=320, symbolStrokeWidth=1.5,
)  # fmt: skip
_TITLE = alt.TitleConfig(
    color=LIGHT["ink"], subtitleColor=LIGHT["muted"], fontSize=FONT_SIZE + 4, fontWeight="bold",
    subtitleFontSize=FONT_SIZE, anchor="start", offset=14, limit=900, subtitlePadding=5,
)  # fmt: skip

AnyChart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.HConcatChart
Dressed = TypeVar("Dressed", bound=alt.TopLevelMixin)


class Access(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    label: str
    hue: str
    shape: str


ACCESSES: tuple[Access, ...] = (
    Access(key="read", label="read", hue="blue", shape="circle"),
    Access(key="write", label="write", hue="vermillion", shape="square"),
    Access(key="write_nt", label="write, non-temporal", hue="orange", shape="triangle-up"),
    Access(key="copy", label="copy", hue="green", shape="diamond"),
    Access(key="triad", label="triad", hue="purple", shape="triangle-down"),
    Access(key="triad_nt", label="triad, non-temporal", hue="sky", shape="triangle-right"),
    Access(key="copy_nt", label="copy, non-temporal", hue="yellow", shape="triangle-left"),
    Access(key="update", label="update in place", hue="black", shape="cross"),
    Access(key="strided", label="strided", hue="muted", shape="triangle-down"),
    Access(key="random", label="random", hue="muted", shape="diamond"),
    Access(key="latency", label="latency", hue="ink", shape="circle"),
)
_ACCESS = {row.key: row for row in ACCESSES}
_PATHS = {
    "vector.fma": "FMA",
    "vector.add": "no FMA",
    "vector.dot": "dot product",
    "tensor.mma.sync": "tensor, mma.sync",
    "tensor.wgmma": "tensor, wgmma",
    "tensor.cublas": "tensor, cuBLAS",
}


def level_colour(key: str) -> str:
    return LIGHT[_HUES[_LEVEL_KEYS.index(key) % len(_HUES)]] if key in _LEVEL_KEYS else LIGHT["muted"]


def level_shape(key: str) -> str:
    return _SHAPES[_LEVEL_KEYS.index(key) % len(_SHAPES)] if key in _LEVEL_KEYS else "stroke"


def level_label(device_kind: str, key: str) -> str:
    row = LEVELS.get((device_kind, key))
    return row.label if row else one_line(key, 24)


def precision_colour(key: str) -> str:
    stem = key.split("_", maxsplit=1)[0]
    if stem not in _PRECISION_KEYS:
        return LIGHT["muted"]
    return LIGHT[_PRECISION_HUES[_PRECISION_KEYS.index(stem) % len(_PRECISION_HUES)]]


def precision_label(key: str) -> str:
    return PRECISIONS[key].label if key in PRECISIONS else one_line(key, 24)


def unit_colour(unit: str) -> str:
    """Of a compute roof: vector pipes in ink, matrix units (``tensor``) apart from them."""
    return LIGHT["purple"] if unit == "tensor" else LIGHT["ink"]


def access_row(key: str) -> Access:
    """The look of an access kind; one that the table lacks is drawn muted, under its own name."""
    label = HOST_ACCESSES.get(key) or one_line(key, 24)
    return _ACCESS.get(key) or Access(key=key, label=label, hue="muted", shape="stroke")


def path_label(path: str) -> str:
    return _PATHS.get(path, one_line(path.replace(".", " "), 24))


def recoloured(spec: Any, partner: Callable[[str], str] | None = None) -> Any:
    """A specification with every colour of the table exchanged: for its dark one, or for ``partner(light)``."""
    exchange = partner or _DARK.__getitem__
    if isinstance(spec, Mapping):
        return {key: recoloured(value, partner) for key, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [recoloured(value, partner) for value in spec]
    return exchange(spec) if isinstance(spec, str) and spec in _DARK else spec


def log_domain(values: Iterable[float], what: str, below: float = 1.0, above: float = 1.0) -> tuple[float, float]:
    """A domain for a logarithmic axis around ``values``, widened by the factors, rounded outwards to two digits.

    Vega draws 0 at the edge of a log axis and collapses an axis without a domain, both without a word, so no axis
    goes without this. Raises ErtError where no positive, finite value is left.
    """
    kept = [value for value in values if 0 < value < float("inf")]
    if not kept:
        raise ErtError(f"a chart of {what}", "no positive value to draw", "Measure it first, or leave this chart out")
    return _rounded(min(kept) / below, up=False), _rounded(max(kept) * above, up=True)


def _rounded(value: float, up: bool) -> float:
    rounded = float(f"{value:.1e}")
    step = float(f"1e{int(f'{value:.1e}'.split('e')[1]) - 1}")
    if up and rounded < value:
        rounded += step
    if not up and rounded > value:
        rounded -= step
    return float(f"{rounded:.1e}")


def decades(domain: tuple[float, float]) -> list[float]:
    """The powers of ten inside a domain."""
    return [10.0**power for power in range(-30, 31) if domain[0] <= 10.0**power <= domain[1]]


def log_ticks(domain: tuple[float, float], most: int = 9) -> list[float]:
    """1, 2, 3 ... 9, 10, 20 ..., or 1, 2, 5, 10 ..., or powers of ten: the finest with no more than ``most`` in it."""
    for digits in (range(1, 10), (1, 2, 5)):
        ticks = [float(f"{digit}e{power}") for power in range(-30, 31) for digit in digits]
        inside = [tick for tick in ticks if domain[0] <= tick <= domain[1]]
        if len(inside) <= most:
            return inside
    return decades(domain)


def octaves(domain: tuple[float, float], step: int) -> list[float]:
    """Every ``step``-th power of two inside a domain: ticks of a working-set axis."""
    return [2.0**power for power in range(0, 63, step) if domain[0] <= 2.0**power <= domain[1]]


def rate_axis(title: str, unit: str, ticks: list[float], upright: int | None = None) -> alt.Axis:
    """An axis in SI units, ``10 GB/s``, whose ticks are given; ``upright`` sets the title above it, at that pixel."""
    # d3 writes 10G: set the unit behind the prefix and a space before it.
    expression = f"replace(format(datum.value, '~s'), regexp('([^0-9.]?)$'), ' $1{unit}')"
    axis = alt.Axis(title=title, values=ticks, labelExpr=expression)
    if upright is not None:
        axis.titleAngle, axis.titleAnchor, axis.titleAlign, axis.titleX, axis.titleY = 0, "end", "left", -38, upright
    return axis


def capacity_axis(title: str, ticks: list[float]) -> alt.Axis:
    """An axis of sizes in bytes, ``32 KiB``, whose ticks are powers of two."""
    expression = "datum.value + ' B'"
    for power, unit in ((10, "KiB"), (20, "MiB"), (30, "GiB"), (40, "TiB")):
        size = 1 << power
        expression = f"datum.value >= {size} ? datum.value / {size} + ' {unit}' : " + expression
        # the last one asked is the first one tested
    return alt.Axis(title=title, values=ticks, labelExpr=expression)


def rows(values: list[dict[str, Any]]) -> alt.Chart:
    """A chart over plain rows: no data frame, no limit on their number."""
    # altair copies lists, deeply, at every step of building a chart; a tuple passes through.
    return alt.Chart(alt.InlineData(values=tuple(values)))


def log_scale(domain: tuple[float, float], base: float = 10) -> alt.Scale:
    return alt.Scale(type="log", base=base, domain=list(domain), nice=False)


def dressed(chart: Dressed) -> Dressed:
    """The chart with the look that all charts share, in light colours."""
    # A copy of its own kind, whatever the kind; altair types it as Any.
    return chart.configure(  # type: ignore[no-any-return]
        background=LIGHT["paper"], font=FONT, axis=_AXIS, legend=_LEGEND, title=_TITLE,
        view=alt.ViewConfig(stroke=LIGHT["rule"], strokeWidth=1),
        text=alt.MarkConfig(color=LIGHT["ink"], fontSize=FONT_SIZE - 1),
    )  # fmt: skip


def one_line(text: str, longest: int = 60) -> str:
    """Text that came from outside, as a chart's title can take it: one line, no control characters, not too long."""
    flat = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"
