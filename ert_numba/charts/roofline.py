"""Building blocks of a roofline picture: roofs, the frame around them, and labels that neither overlap nor leave it.

All positions are worked out here, in pixels, because neither Vega nor Vega-Lite keeps rotated labels apart; they go
into the chart as data coordinates (beyond the domain for what stands in the margin), so the picture stays data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from ert_numba.charts.labels import spread
from ert_numba.charts.theme import FONT_SIZE, log_domain
from ert_numba.machine import attainable
from ert_numba.units import si


class Roof(msgspec.Struct, frozen=True, kw_only=True):
    """One roof: ``value`` in B/s for a memory level, or, where ``flat``, in FLOP/s (OP/s) for a compute ceiling.

    ``label`` says all, ``short`` only the name, for narrow pictures. ``strong`` roofs
    are drawn heavier and labelled first; ``tooltip`` is what a reader sees on pointing at it.
    """

    key: str
    label: str
    short: str
    value: float
    colour: str
    flat: bool
    limit: float | None = None
    strong: bool = True
    dashed: bool = False
    tooltip: dict[str, str] = {}


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """Pixels of the plot itself; a ``narrow`` one has its labels inside, with short texts and no margin."""

    width: int
    height: int
    narrow: bool = False
    labels: int  # flat roofs above this number: only the strong ones are labelled
    font: int = FONT_SIZE - 1


WIDE = Size(width=800, height=500, labels=16)
NARROW = Size(width=310, height=400, narrow=True, labels=8, font=FONT_SIZE - 2)


class Axes(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a plane: of both axes, of the vertical one in a narrow picture, and the units of roofs."""

    x: str = "Arithmetic intensity (FLOP/byte)"
    y: str = "Performance (integer formats: OP/s)"
    y_narrow: str = "FLOP/s (integers: OP/s)"
    unit: str = "FLOP/s"
    slope_unit: str = "B/s"


FLOP_AXES = Axes()


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The plane: FLOP/byte against FLOP/s, both logarithmic, mapped to pixels from the top left corner.

    ``axes`` name another pair of quantities of the same kind: something done against it for each thing moved.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    size: Size
    axes: Axes = FLOP_AXES

    def right(self, x: float) -> float:
        low, high = self.x
        return self.size.width * math.log(x / low) / math.log(high / low)

    def down(self, y: float) -> float:
        low, high = self.y
        return self.size.height * math.log(high / y) / math.log(high / low)

    def x_at(self, right: float) -> float:
        low, high = self.x
        return low * math.pow(high / low, right / self.size.width)

    def y_at(self, down: float) -> float:
        low, high = self.y
        return high * math.pow(low / high, down / self.size.height)

    def text(self, roof: Roof) -> str:
        return f"{roof.short} {si(roof.value, self.axes.slope_unit)}" if self.size.narrow else roof.label

    @property
    def slope(self) -> float:
        """Angle of every memory roof above the horizontal, in radians."""
        one = self.size.width / math.log(self.x[1] / self.x[0])
        return math.atan2(self.size.height / math.log(self.y[1] / self.y[0]), one)


def frame(
    roofs: Sequence[Roof],
    points: Iterable[tuple[float, float]],
    size: Size,
    ignored: frozenset[str],
    axes: Axes = FLOP_AXES,
) -> Frame:
    """A frame that shows every ridge and every point; the slopes named in ``ignored`` may run out of it."""
    slopes = [roof.value for roof in roofs if not roof.flat and roof.key not in ignored]
    slopes = slopes or [roof.value for roof in roofs if not roof.flat]
    flats = [roof.value for roof in roofs if roof.flat]
    dots = [(x, y) for x, y in points if x > 0 and y > 0]
    ridges = [peak / rate for peak in flats for rate in slopes] or [1.0]
    x = log_domain([*ridges, *(dot[0] for dot in dots)], "intensities", below=6, above=3)
    floor = min(slopes) * x[0] if slopes else min(flats) / 100
    tops = flats or [rate * x[1] for rate in slopes]
    y = log_domain([floor, *tops, *(dot[1] for dot in dots)], "roofs", below=1.3, above=1.8)
    return Frame(x=x, y=y, size=size, axes=axes)


def segment(roof: Roof, roofs: Sequence[Roof], plane: Frame, value: float | None = None) -> tuple[float, float] | None:
    """First and last intensity of the part of a roof (or of its limit, given as ``value``) that bounds anything.

    A slope ends at the highest flat roof and a flat roof starts at the steepest slope; None where nothing of it lies
    in the frame. On a log axis neither can start at 0.
    """
    height = value if value is not None else roof.value
    if roof.flat:
        steepest = max((other.value for other in roofs if not other.flat), default=math.inf)
        start, end = max(plane.x[0], height / steepest), plane.x[1]
    else:
        highest = max((other.value for other in roofs if other.flat), default=math.inf)
        start, end = max(plane.x[0], plane.y[0] / height), min(plane.x[1], highest / height)
    return (start, end) if start < end else None


def at(roof: Roof, intensity: float, value: float | None = None) -> float:
    """FLOP/s of one roof alone at an intensity."""
    height = value if value is not None else roof.value
    return attainable(intensity, height, math.inf) if roof.flat else attainable(intensity, math.inf, height)


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """A placed label: its anchor at mid height in data coordinates, and the height at which its leader starts."""

    key: str
    text: str
    x: float
    y: float
    leader_y: float = 0.0


def flat_labels(roofs: Sequence[Roof], plane: Frame) -> list[Label]:
    """Labels of the flat roofs, in the margin or, in a narrow frame, above the right end of the roof.

    Where there are too many roofs only the strong ones are labelled. In a narrow frame, roofs too close for labels
    of their own share one; in the margin each label stands as near its roof as its neighbours let it.
    """
    flats = sorted((roof for roof in roofs if roof.flat), key=lambda roof: (not roof.strong, -roof.value))
    if len(flats) > plane.size.labels:
        flats = [roof for roof in flats if roof.strong]
    pitch = plane.size.font + 3.0
    if plane.size.narrow:
        return _shared_labels(sorted(flats, key=lambda roof: -roof.value), plane, pitch)
    flats = sorted(flats[: int((plane.size.height + pitch) // pitch)], key=lambda roof: -roof.value)
    anchor = plane.x_at(plane.size.width + 22)
    places = spread([plane.down(roof.value) for roof in flats], pitch, plane.size.height)
    return [
        Label(key=roof.key, text=plane.text(roof), x=anchor, y=plane.y_at(down), leader_y=roof.value)
        for roof, down in zip(flats, places, strict=True)
    ]


def _shared_labels(flats: Sequence[Roof], plane: Frame, pitch: float) -> list[Label]:
    groups: list[list[Roof]] = []
    for roof in flats:
        if groups and plane.down(roof.value) - plane.down(groups[-1][0].value) < pitch:
            groups[-1].append(roof)
        else:
            groups.append([roof])
    anchor = plane.x_at(plane.size.width - 4)
    return [
        Label(key=group[0].key, text=_shared_text(group), x=anchor, leader_y=group[0].value,
              y=plane.y_at(plane.down(group[0].value) - pitch / 2 - 1))
        for group in groups
    ]  # fmt: skip


def _shared_text(group: Sequence[Roof]) -> str:
    ends = list(dict.fromkeys(si(roof.value, "").strip() for roof in (group[-1], group[0])))
    if len(ends) == 2 and ends[0].split()[1:] == ends[1].split()[1:]:
        ends[0] = ends[0].split()[0]
    return f"{', '.join(dict.fromkeys(roof.short for roof in group))} {'–'.join(ends)}"
