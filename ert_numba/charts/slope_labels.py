"""Labels along the memory roofs: beside the line they name, apart from each other, from other roofs and from dots.

Work is done in turned coordinates, ``along`` the slope and ``across`` it (positive to the upper left), in which every
memory roof is a line of constant ``across`` and every label an upright box.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from ert_numba.charts.labels import text_width
from ert_numba.charts.roofline import Frame, Label, Roof, segment

_STEP = 6.0  # pixels between two places that are tried, and between two labels in a row
_LIFT = 4.0  # pixels between a roof and the edge of its label
# What a place costs, in pixels of distance from the wished one; a label on a label is never taken.
_COST_SLOPE, _COST_FLAT, _COST_DOT, _COST_LIMIT = 4000.0, 500.0, 120.0, 60.0


class _Box(msgspec.Struct, frozen=True):
    along: float
    across: float
    length: float
    height: float

    def touches(self, other: _Box) -> bool:
        return (
            self.along < other.along + other.length + _STEP
            and other.along < self.along + self.length + _STEP
            and abs(self.across - other.across) < (self.height + other.height) / 2
        )


class _Obstacles(msgspec.Struct, frozen=True):
    slopes: list[tuple[str, float, float, float]]  # key, across, first and last along
    limits: dict[str, float]  # across, of the physical limit of each slope
    flats: list[tuple[float, float]]  # down, first right (they run to the right edge)
    dots: list[tuple[float, float]]  # along, across


def slope_labels(roofs: Sequence[Roof], plane: Frame, dots: Sequence[tuple[float, float]]) -> list[Label]:
    """One label for each memory roof that has a free place, fastest roof first; none overlap, none leave the frame."""
    slopes = sorted((roof for roof in roofs if not roof.flat), key=lambda roof: -roof.value)
    obstacles = _obstacles(roofs, plane, dots)
    taken: list[_Box] = []
    labels: list[Label] = []
    for key, across, first, last in obstacles.slopes:
        roof = next(row for row in slopes if row.key == key)
        box = _best_place(roof, (across, first, last), obstacles, taken, plane)
        if box is None:
            continue
        taken.append(box)
        right, down = _from_turned(box.along, box.across, plane.slope)
        labels.append(Label(key=key, text=plane.text(roof), x=plane.x_at(right), y=plane.y_at(down)))
    return labels


def _obstacles(roofs: Sequence[Roof], plane: Frame, dots: Sequence[tuple[float, float]]) -> _Obstacles:
    slopes, flats, limits = [], [], {}
    for roof in sorted(roofs, key=lambda row: -row.value):
        part = segment(roof, roofs, plane)
        if part is None:
            continue
        if roof.flat:
            flats.append((plane.down(roof.value), plane.right(part[0])))
            continue
        first, last = (_turned(plane.right(x), plane.down(x * roof.value), plane.slope) for x in part)
        slopes.append((roof.key, first[1], first[0], last[0]))
        if roof.limit:
            x = part[0]
            limits[roof.key] = _turned(plane.right(x), plane.down(x * roof.limit), plane.slope)[1]
    turned = [_turned(plane.right(x), plane.down(y), plane.slope) for x, y in dots]
    return _Obstacles(slopes, limits, flats, turned)


def _best_place(
    roof: Roof, line: tuple[float, float, float], obstacles: _Obstacles, taken: list[_Box], plane: Frame
) -> _Box | None:
    across, first, last = line
    height = plane.size.font + 2.0
    length = text_width(plane.text(roof), plane.size.font)
    best: tuple[float, _Box] | None = None
    places = int((last - first - length) // _STEP) + 1
    lift = height / 2 + _LIFT
    over_limit = max(obstacles.limits.get(roof.key, across) - across, 0.0) + lift
    for aside, extra in ((lift, 0.0), (over_limit, 5.0), (-lift, 30.0)):
        for index in range(max(places, 0)):
            if best is not None and index * _STEP + extra >= best[0]:
                break  # whatever it would lie on costs more still
            box = _Box(first + index * _STEP + 2, across + aside, length, height)
            if not _inside(box, plane) or any(box.touches(other) for other in taken):
                continue
            cost = index * _STEP + extra + _cost(box, roof.key, obstacles, plane.slope)
            if best is None or cost < best[0]:
                best = (cost, box)
    return best[1] if best else None


def _cost(box: _Box, key: str, obstacles: _Obstacles, slope: float) -> float:
    crossed = sum(
        other != key
        and abs(across - box.across) < box.height / 2
        and first < box.along + box.length
        and last > box.along
        for other, across, first, last in obstacles.slopes
    )
    spine = [_from_turned(box.along + box.length * part / 12, box.across, slope) for part in range(13)]
    reach = box.height / 2 / math.cos(slope) + box.length / 24 * math.sin(slope)
    flats = sum(
        any(abs(down - y) < reach and right > x for right, down in spine) for y, x in obstacles.flats
    )  # fmt: skip
    near = sum(
        box.along - 5 < along < box.along + box.length + 5 and abs(across - box.across) < box.height / 2 + 5
        for along, across in obstacles.dots
    )
    limits = sum(abs(across - box.across) < box.height / 2 for across in obstacles.limits.values())
    return _COST_SLOPE * crossed + _COST_FLAT * flats + _COST_DOT * near + _COST_LIMIT * limits


def _inside(box: _Box, plane: Frame) -> bool:
    corners = [
        _from_turned(box.along + part * box.length, box.across + side * box.height / 2, plane.slope)
        for part in (0, 1) for side in (-1, 1)
    ]  # fmt: skip
    return all(0 <= right <= plane.size.width and 0 <= down <= plane.size.height for right, down in corners)


def _turned(right: float, down: float, slope: float) -> tuple[float, float]:
    return right * math.cos(slope) - down * math.sin(slope), -right * math.sin(slope) - down * math.cos(slope)


def _from_turned(along: float, across: float, slope: float) -> tuple[float, float]:
    return along * math.cos(slope) - across * math.sin(slope), -along * math.sin(slope) - across * math.cos(slope)
