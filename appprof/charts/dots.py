"""What the picture shows of kernels, as plain rows: dots, their links, and one honest dot for the rest. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from appprof.analysis import Analysis
from appprof.diagnosis import Diagnosis
from appprof.phrases import count_words, percent, work_unit
from appprof.summary import Point, Summary
from appprof.words import LEVEL_LABELS, resource_words
from ert_numba.units import si

# Kernels with dots of their own; a picture with more tells no more.
MOST = 60
REST = "rest"
# A dot so far from every ridge says only that its level does not matter, and one so far below every peak that its FLOP
# do not: it stands at the edge, marked.
BEYOND_RIGHT, BEYOND_LEFT, BEYOND_BELOW = 30.0, 1e4, 1e8


class Dot(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel at one level. ``id`` is the kernel's rank in the table as text, ``"rest"`` for all others as one."""

    id: str
    kernel: str
    level: str
    x: float
    y: float
    seconds: float
    beyond: bool = False
    excess: bool = False
    tooltip: dict[str, str] = {}


def make_dots(analysis: Analysis, ridges: tuple[float, float], peak: float = 0.0) -> tuple[Dot, ...]:
    """Dots of the kernels that take the most time, then of the rest as sums; ``ridges`` are the lowest and
    the highest, ``peak`` is the highest flat roof.
    """
    drawn = [row for row in analysis.kernels if row.summary.points]
    ranks = {row.summary.name: str(rank) for rank, row in enumerate(analysis.kernels, 1)}
    total = analysis.model.seconds
    edges = (ridges[0] / BEYOND_LEFT, ridges[1] * BEYOND_RIGHT, peak / BEYOND_BELOW)
    found = [
        _dot(ranks[row.summary.name], row, point, total, edges) for row in drawn[:MOST] for point in row.summary.points
    ]
    return (*found, *_rest(drawn[MOST:], total, edges))


def _dot(
    name: str, row: Diagnosis, point: Point, total: float, edges: tuple[float, float, float]
) -> Dot:  # fmt: skip
    summary = row.summary
    resource = summary.resource(point.level)
    share = ""
    if resource is not None and resource.definition == point.definition:
        share = f"{percent(resource.share)} of {si(resource.roof, 'B/s')}"
    bound = row.excess or (f"{row.verdict}: {resource_words(row.bound)}" if row.bound else row.verdict)
    return _placed(
        edges,
        id=name, kernel=row.short, level=point.level, x=point.intensity, y=point.rate, seconds=summary.seconds or 0.0,
        excess=bool(row.excess),
        tooltip={
            "kernel": row.short,
            "level": f"{LEVEL_LABELS[point.level]} ({point.definition}): {si(point.bytes, 'B')}",
            "intensity": f"{point.intensity:.4g} FLOP/byte",
            "performance": si(point.rate, f"{work_unit(flop.key for flop in summary.flop)}/s"),
            "of its slope": share or "no roof of these bytes",
            "time": f"{si(summary.seconds or 0.0, 's')}, {percent((summary.seconds or 0.0) / total)} of all, "
                    f"{count_words(summary.launches, 'launch', 'launches')}",
            "bound": bound + (f", {percent(row.share)} of its roof" if row.share is not None else ""),
            "SM clock": si(summary.clocks_hz["sm"], "Hz") if "sm" in summary.clocks_hz else "not known",
        },
    )  # fmt: skip


def _placed(edges: tuple[float, float, float], *, x: float, y: float, tooltip: dict[str, str], **fields: object) -> Dot:
    """Inside the edges; a dot that is moved keeps its height over its slope on the left, and says so."""
    inside = min(max(x, edges[0]), edges[1])
    if inside == x and y >= edges[2]:
        return Dot(x=x, y=y, tooltip=tooltip, **fields)  # type: ignore[arg-type]
    height = max(y * inside / x if x < inside else y, edges[2])
    moved = "intensity" if inside != x else "performance"
    marked = {**tooltip, moved: f"{tooltip[moved]}, beyond the picture"}
    return Dot(x=inside, y=height, beyond=True, tooltip=marked, **fields)  # type: ignore[arg-type]


def _rest(rows: Sequence[Diagnosis], total: float, edges: tuple[float, float, float]) -> Iterable[Dot]:
    """All other kernels added up, level by level: a ratio of their sums, drawn hollow."""
    points = _sums(row.summary for row in rows)
    seconds = sum(row.summary.seconds or 0.0 for row in rows)
    for point in points:
        yield _placed(
            edges,
            id=REST, kernel=f"{len(rows)} other kernels", level=point.level, x=point.intensity, y=point.rate,
            seconds=seconds,
            tooltip={
                "kernel": f"{len(rows)} other kernels, added up",
                "level": f"{LEVEL_LABELS[point.level]} ({point.definition}): {si(point.bytes, 'B')}",
                "intensity": f"{point.intensity:.4g} FLOP/byte", "performance": si(point.rate, "FLOP/s"),
                "time": f"{si(seconds, 's')}, {percent(seconds / total)} of all",
            },
        )  # fmt: skip


def _sums(summaries: Iterable[Summary]) -> list[Point]:
    sums: dict[str, Point] = {}
    for point in (point for row in summaries for point in row.points):
        known = sums.get(point.definition)
        sums[point.definition] = point if known is None else msgspec.structs.replace(
            known, flop=known.flop + point.flop, bytes=known.bytes + point.bytes,
            seconds=known.seconds + point.seconds, launches=known.launches + point.launches,
        )  # fmt: skip
    best: dict[str, Point] = {}
    for point in sums.values():
        if point.level not in best or point.seconds > best[point.level].seconds:
            best[point.level] = point
    return list(best.values())
