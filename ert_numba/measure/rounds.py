"""Which points a round of a sweep visits, and in which order: those whose ceiling or curve still gains by it."""

from __future__ import annotations

from collections.abc import Sequence

from ert_numba.measure.plan import Plan
from ert_numba.measure.refine import contenders, finer_sizes
from ert_numba.measure.track import Track
from ert_numba.records import Point

SERIES = ("curve.", "intensity.")  # keys whose every point counts: no point of a series competes with another


def first_of_each(tracks: Sequence[Track]) -> list[Track]:
    """In the given order, but one point of each ceiling before any second: a budget that ends early costs variants."""
    seen: dict[str, int] = {}
    ranked = []
    for track in tracks:
        rank = seen.get(track.point.ceiling, 0)
        seen[track.point.ceiling] = rank + 1
        series = track.point.ceiling.startswith(SERIES)
        ranked.append((bool(rank) and not series, track))
    return [track for _, track in sorted(ranked, key=lambda pair: pair[0])]


def on_curves(tracks: Sequence[Track]) -> list[Track]:
    """Every measured point of a curve, for a second look."""
    return [track for track in tracks if track.point.ceiling.startswith("curve.") and track.seconds]


def finer(tracks: Sequence[Track], plan: Plan) -> list[Track]:
    """New points of each curve where it falls, as copies of its first point with another size."""
    curves: dict[str, list[Track]] = {}
    for track in on_curves(tracks):
        curves.setdefault(track.point.ceiling, []).append(track)
    added = []
    for rows in curves.values():
        sizes = [int(row.point.axes["working_set_bytes"]) for row in rows]
        for size in finer_sizes(sizes, [row.rate() for row in rows], plan.refine_points):
            model = rows[0]
            axes = {**model.point.axes, "working_set_bytes": size}
            added.append(Track(model.spec, Point(kernel=model.point.kernel, ceiling=model.point.ceiling, axes=axes)))
    return added


def next_round(tracks: Sequence[Track], plan: Plan) -> list[Track]:
    """Whatever still gains by a visit, the least visited first."""
    return [track for track in _rivals(tracks, plan) if not _finished(track, plan)]


def _rivals(tracks: Sequence[Track], plan: Plan) -> list[Track]:
    """Every point of a series, and of each ceiling those that may still win it; the least visited first."""
    by_ceiling: dict[str, list[Track]] = {}
    for track in tracks:
        if not track.refused and (track.seconds or not track.visits):
            by_ceiling.setdefault(track.point.ceiling, []).append(track)
    chosen: list[Track] = []
    for ceiling, rivals in by_ceiling.items():
        if ceiling.startswith(SERIES) or not all(track.seconds for track in rivals):
            chosen += rivals
        else:
            costly = any(plan.costly(min(track.seconds)) for track in rivals)
            chosen += [rivals[index] for index in contenders([track.rate() for track in rivals], costly)]
    return sorted(chosen, key=lambda track: track.visits)


def _finished(track: Track, plan: Plan) -> bool:
    if track.point.ceiling.startswith("intensity.") and track.seconds and plan.costly(min(track.seconds)):
        return True  # a witness, not a ceiling: the time is better spent on its roofs
    if plan.dear(track.open_seconds) and track.seconds and not plan.costly(min(track.seconds)):
        return True  # opened once, repeated at leisure
    return track.visits >= plan.patience(track.point.ceiling, track.clocks) and plan.rule.finished(track.seconds)
