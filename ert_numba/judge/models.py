"""Two machine models side by side: what changed, and whether the intervals allow to say so. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec

from ert_numba.errors import NotComparable
from ert_numba.judge.conditions import Difference, conditions_of, differences
from ert_numba.machine import Ceiling, Knee, MachineModel
from ert_numba.records import DeviceInfo
from ert_numba.stated import setting_words
from ert_numba.units import si

ALIKE, KNEE_ALIKE = 0.04, 0.15  # as far as two runs of one machine, and a cache and its claim, are said to agree
SAME, FASTER, SLOWER, LARGER, SMALLER = "SAME", "FASTER", "SLOWER", "LARGER", "SMALLER"
UNKNOWN, NEW, MISSING = "UNKNOWN", "NEW", "MISSING"

_LEFT = "not chosen"  # a setting that was left to the sweep
_LOWER_IS_BETTER = ("latency", "overhead")


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A value with its 95 % interval, in the unit of its ``Change``."""

    value: float
    low: float
    high: float


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One ceiling or knee on both sides.

    ``change`` is B/A - 1. ``verdict`` is SAME where the intervals overlap and the values lie within 4 % of each other
    (knees: 15 %); where the intervals do not overlap, FASTER or SLOWER (a ceiling), LARGER or SMALLER (a knee);
    UNKNOWN with its ``reason`` where they are too wide, or a side cannot bear a verdict; NEW (only in B) or MISSING
    (only in A). ``differences`` names conditions of this one ceiling that are not alike.
    """

    key: str
    kind: str  # kind of the ceiling, or "knee"
    unit: str
    a: Figure | None
    b: Figure | None
    change: float | None = None
    overlap: bool | None = None
    verdict: str
    reason: str = ""
    differences: tuple[Difference, ...] = ()


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that two machine models let one say about each other."""

    run_a: str
    run_b: str
    device_a: str
    device_b: str
    ceilings: tuple[Change, ...]
    knees: tuple[Change, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]


def compare(a: MachineModel, b: MachineModel, force: bool = False) -> Comparison:
    """Compare B against A. Raises NotComparable for unlike devices; ``force`` lets other names pass, never kinds."""
    _refuse_unlike(a.device, b.device, force)
    notes = tuple(f"{side} is partial: what it lacks was not reached" for side, m in (("A", a), ("B", b)) if m.partial)
    return Comparison(
        run_a=a.run,
        run_b=b.run,
        device_a=a.device.name,
        device_b=b.device.name,
        ceilings=_changes(
            {row.key: _of_ceiling(row) for row in a.ceilings}, {row.key: _of_ceiling(row) for row in b.ceilings}
        ),
        knees=_changes(_of_knees(a.knees), _of_knees(b.knees)),
        differences=differences(_conditions(a), _conditions(b)),
        notes=notes,
    )


class _Side(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    unit: str
    figure: Figure
    doubt: str = ""  # why no verdict can stand on this side
    noisy: bool = False
    conditions: dict[str, str] = {}
    clock_hz: tuple[float, float] | None = None


def _refuse_unlike(a: DeviceInfo, b: DeviceInfo, force: bool) -> None:
    asked = "to compare two machine models"
    if a.kind != b.kind:
        found = f"A is of a {a.kind.upper()} ({a.name}), B of a {b.kind.upper()} ({b.name})"
        raise NotComparable(asked, found, "Compare models of one kind of device")
    if a.name != b.name and not force:
        found = f"A is of {a.name!r}, B of {b.name!r}"
        raise NotComparable(asked, found, "Compare runs of one device, or say --force to compare these all the same")


def _of_ceiling(row: Ceiling) -> _Side:
    doubts = (
        (row.impossible, "it lies above the physical limit"),
        (not row.verified and row.low == row.high, "it was imported and has no interval"),
    )
    stated = {name: str(value) for name, value in row.conditions.items()}
    return _Side(
        kind=row.kind,
        unit=row.unit,
        figure=Figure(value=row.value, low=row.low, high=row.high),
        doubt=next((text for holds, text in doubts if holds), ""),
        noisy=row.noisy,
        conditions=stated | ({"kernel": row.kernel} if row.kernel else {}),
        clock_hz=row.clock_hz,
    )


def _of_knees(knees: Iterable[Knee]) -> dict[str, _Side]:
    sides: dict[str, _Side] = {}
    for row in knees:
        name = f"{row.level} by {row.witness}" + (f" ({row.ceiling})" if row.ceiling else "")
        key, count = name, 1
        while key in sides:
            count += 1
            key = f"{name} #{count}"
        figure = Figure(value=row.capacity_bytes, low=row.low, high=row.high)
        sides[key] = _Side(kind="knee", unit="B", figure=figure, conditions={"shape": row.shape})
    return sides


def _changes(a: Mapping[str, _Side], b: Mapping[str, _Side]) -> tuple[Change, ...]:
    both = [_change(key, side, b[key]) for key, side in a.items() if key in b]
    missing = [_alone(key, side, None, side.figure, MISSING) for key, side in a.items() if key not in b]
    new = [_alone(key, side, side.figure, None, NEW) for key, side in b.items() if key not in a]
    return (*both, *missing, *new)


def _alone(key: str, side: _Side, b: Figure | None, a: Figure | None, verdict: str) -> Change:
    return Change(key=key, kind=side.kind, unit=side.unit, a=a, b=b, verdict=verdict, reason=side.doubt)


def _change(key: str, a: _Side, b: _Side) -> Change:
    overlap = a.figure.low <= b.figure.high and b.figure.low <= a.figure.high
    verdict, reason = _verdict(a, b, overlap)
    return Change(
        key=key,
        kind=a.kind,
        unit=a.unit,
        a=a.figure,
        b=b.figure,
        change=b.figure.value / a.figure.value - 1 if a.unit == b.unit else None,
        overlap=overlap if a.unit == b.unit else None,
        verdict=verdict,
        reason=reason,
        differences=differences(a.conditions, b.conditions) + _clock_difference(a.clock_hz, b.clock_hz),
    )


def _alike(a: _Side, b: _Side) -> bool:
    """Overlap alone is no sameness: intervals so wide that half the value fits in would always overlap."""
    most = KNEE_ALIKE if a.kind == "knee" else ALIKE
    return abs(math.log(b.figure.value / a.figure.value)) <= math.log1p(most)


def _verdict(a: _Side, b: _Side, overlap: bool) -> tuple[str, str]:
    if (a.kind, a.unit) != (b.kind, b.unit):
        return UNKNOWN, f"A is a {a.kind} in {a.unit}, B a {b.kind} in {b.unit}"
    doubts = [f"{name}: {side.doubt}" for name, side in (("A", a), ("B", b)) if side.doubt]
    if doubts:
        return UNKNOWN, "; ".join(doubts)
    if overlap:
        return (SAME, "") if _alike(a, b) else (UNKNOWN, "the intervals overlap, but are wide enough for such a change")
    noisy = [name for name, side in (("A", a), ("B", b)) if side.noisy]
    if noisy:
        return UNKNOWN, f"samples of {' and '.join(noisy)} did not agree within the budget"
    grew = b.figure.low > a.figure.high
    if a.kind == "knee":
        return (LARGER if grew else SMALLER), ""
    return (FASTER if grew != (a.kind in _LOWER_IS_BETTER) else SLOWER), ""


def _conditions(model: MachineModel) -> dict[str, str]:
    settings = {f"setting {name}": setting_words(name, value) or _LEFT for name, value in model.settings.items()}
    return conditions_of(model.device, model.provenance) | settings


def _clock_difference(a: tuple[float, float] | None, b: tuple[float, float] | None) -> tuple[Difference, ...]:
    """The clocks beside the samples, where no clock was seen on both sides."""
    if a is None or b is None or (a[0] <= b[1] and b[0] <= a[1]):
        return ()
    texts = [" to ".join(si(edge, "Hz", 4) for edge in pair) for pair in (a, b)]
    return (Difference(name="clock", a=texts[0], b=texts[1]),)
