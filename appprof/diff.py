"""Two profiles of one program: which kernels changed, appeared and vanished, and where the time of the run went. Pure.

A profile is one run: what two runs of one program differ by is not known from it. So a change is given as it is, and
called ``apart`` only where every launch of one side was longer than every launch of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from appprof.analysis import Analysis
from appprof.application import ApplicationModel
from appprof.report.names import base_name, normalise
from appprof.result import GroupRow, KernelRow, Result, make_result
from appprof.roofs import Roof
from ert_numba.errors import NotComparable

BOTH, NEW, GONE = "both", "new", "gone"
# How a kernel is known again in another profile, most certain first.
MATCHES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("name", lambda name: name),
    ("spelling", normalise),
    ("bare name", base_name),
)


class KernelChange(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel on both sides; ``change`` of a quantity is B/A - 1, None where it is not known on both.

    ``seconds_change`` is of all its launches, in seconds; ``launch_change`` of the mean launch. ``apart``: whether the
    launches' ranges do not overlap, None for a single launch a side.
    """

    short: str
    state: str
    match: str = ""
    a: KernelRow | None = None
    b: KernelRow | None = None
    seconds_change: float | None = None
    time_change: float | None = None
    launch_change: float | None = None
    apart: bool | None = None
    flop_change: float | None = None
    bytes_change: dict[str, float] = {}
    intensity_change: dict[str, float] = {}
    bound_moved: bool = False


class GroupChange(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    a: GroupRow | None = None
    b: GroupRow | None = None
    time_change: float | None = None


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """B against A. ``totals`` are (A, B) of time in s, FLOP, launches and bytes by definition, over what is known.

    ``roofs_a`` and ``roofs_b`` stand at the mean clocks of each; ``used_roofs`` are the keys of those that kernels of
    either stand under.
    """

    schema: str = "appprof.diff"
    version: int = 1
    run_a: str
    run_b: str
    gpu_a: str
    gpu_b: str
    totals: dict[str, tuple[float, float]]
    kernels: tuple[KernelChange, ...]
    groups: dict[str, tuple[GroupChange, ...]]
    roofs_a: tuple[Roof, ...] = ()
    roofs_b: tuple[Roof, ...] = ()
    used_roofs: tuple[str, ...] = ()
    differences: tuple[str, ...]
    notes: tuple[str, ...]


def diff(a: Analysis, b: Analysis, force: bool = False) -> Diff:
    """Kernels by the time that they changed by, most first. Raises NotComparable for unlike GPUs or clocks."""
    unlike = _unlike(a.model, b.model)
    if unlike and not force:
        raise NotComparable(
            "two profiles side by side",
            f"they were not taken alike: {'; '.join(unlike)}",
            "Profile both alike, or compare all the same with --force",
        )
    one, two = make_result(a), make_result(b)
    changes = [_change(match, left, right) for match, left, right in _pairs(one.kernels, two.kernels)]
    changes.sort(key=lambda row: -abs(row.seconds_change or 0.0))
    shared = [by for by in one.groups if by in two.groups]
    return Diff(
        run_a=one.run,
        run_b=two.run,
        gpu_a=one.gpu,
        gpu_b=two.gpu,
        totals=_totals(one, two),
        kernels=tuple(changes),
        groups={by: _groups(one.groups[by], two.groups[by]) for by in shared},
        roofs_a=a.roofs,
        roofs_b=b.roofs,
        used_roofs=tuple(dict.fromkeys((*a.used_roofs, *b.used_roofs))),
        differences=tuple(unlike),
        notes=tuple(dict.fromkeys((*one.notes, *two.notes))),
    )


def _unlike(a: ApplicationModel, b: ApplicationModel) -> list[str]:
    """What makes times of the two no measure of each other."""
    found = []
    for name, left, right in (
        ("GPU", a.chip.name, b.chip.name),
        ("compute capability", a.chip.architecture, b.chip.architecture),
        ("SMs", a.chip.sm_count, b.chip.sm_count),
        ("clock control", _setting(a, "clock_control"), _setting(b, "clock_control")),
        ("cache control", _setting(a, "cache_control"), _setting(b, "cache_control")),
    ):
        if left is not None and right is not None and left != right:
            found.append(f"{name} {left} and {right}")
    return found


def _setting(model: ApplicationModel, name: str) -> str | None:
    found = sorted({value for source in model.sources if (value := getattr(source, name)) is not None})
    return ", ".join(found) or None


def _pairs(a: Sequence[KernelRow], b: Sequence[KernelRow]) -> Iterable[tuple[str, KernelRow | None, KernelRow | None]]:
    """Each kernel once: with its partner and how it was found, or alone. A name that fits several fits none."""
    left, right = list(a), list(b)
    for words, key in MATCHES:
        mine, theirs = _unique(left, key), _unique(right, key)
        for name in [name for name in mine if name in theirs]:
            yield words, mine[name], theirs[name]
            left.remove(mine[name])
            right.remove(theirs[name])
    yield from (("", row, None) for row in left)
    yield from (("", None, row) for row in right)


def _unique(rows: Iterable[KernelRow], key: Callable[[str], str]) -> dict[str, KernelRow]:
    found: dict[str, list[KernelRow]] = {}
    for row in rows:
        found.setdefault(key(row.kernel), []).append(row)
    return {name: group[0] for name, group in found.items() if len(group) == 1}


def _change(match: str, a: KernelRow | None, b: KernelRow | None) -> KernelChange:
    if a is None or b is None:
        only = a or b
        assert only is not None
        sign = 1.0 if a is None else -1.0
        return KernelChange(short=only.short, state=NEW if a is None else GONE, a=a, b=b,
                            seconds_change=None if only.seconds is None else sign * only.seconds)  # fmt: skip
    levels = [level for level in a.intensity if level in b.intensity and a.drawn[level] == b.drawn[level]]
    return KernelChange(
        short=a.short,
        state=BOTH,
        match=match,
        a=a,
        b=b,
        seconds_change=None if None in (a.seconds, b.seconds) else (b.seconds or 0.0) - (a.seconds or 0.0),
        time_change=ratio_change(a.seconds, b.seconds),
        launch_change=ratio_change(_mean(a), _mean(b)),
        apart=_apart(a, b),
        flop_change=ratio_change(a.flop, b.flop),
        bytes_change=_changes(a.bytes, b.bytes, [name for name in a.bytes if name in b.bytes]),
        intensity_change=_changes(a.intensity, b.intensity, levels),
        bound_moved=(a.verdict, a.bound) != (b.verdict, b.bound),
    )


def _changes(a: Mapping[str, float], b: Mapping[str, float], names: Iterable[str]) -> dict[str, float]:
    found = {name: ratio_change(a[name], b[name]) for name in names}
    return {name: change for name, change in found.items() if change is not None}


def ratio_change(a: float | None, b: float | None) -> float | None:
    """B/A - 1; None where a side is not known, or A is 0 and so nothing to compare with."""
    return None if a is None or b is None or not a else b / a - 1


def _mean(row: KernelRow) -> float | None:
    return None if row.seconds is None else row.seconds / row.launches


def _apart(a: KernelRow, b: KernelRow) -> bool | None:
    if a.launches < 2 or b.launches < 2 or None in (a.seconds, b.seconds):
        return None
    return (a.longest_seconds or 0.0) < (b.shortest_seconds or 0.0) or (b.longest_seconds or 0.0) < (
        a.shortest_seconds or 0.0
    )


def _totals(a: Result, b: Result) -> dict[str, tuple[float, float]]:
    """Only what is known of all of both: a sum over a part would be a change that never was."""
    found = {"time": (a.kernel_seconds, b.kernel_seconds), "launches": (float(a.launches), float(b.launches))}
    if any(side.coverage.timed_launches < side.coverage.launches for side in (a, b)):
        del found["time"]
    if all(row.flop_status == "complete" for side in (a, b) for row in side.kernels):
        found["flop"] = (sum(row.flop or 0.0 for row in a.kernels), sum(row.flop or 0.0 for row in b.kernels))
    for definition in ("L1.tag", "L2.sm", "DRAM"):
        if all(definition in row.bytes and definition not in row.withheld for side in (a, b) for row in side.kernels):
            found[f"bytes.{definition}"] = (
                sum(row.bytes[definition] for row in a.kernels), sum(row.bytes[definition] for row in b.kernels)
            )  # fmt: skip
    return found


def _groups(a: Sequence[GroupRow], b: Sequence[GroupRow]) -> tuple[GroupChange, ...]:
    left, right = {row.name: row for row in a}, {row.name: row for row in b}
    found = [
        GroupChange(name=name, a=left.get(name), b=right.get(name), time_change=ratio_change(
            left[name].seconds if name in left else None, right[name].seconds if name in right else None))
        for name in dict.fromkeys((*left, *right))
    ]  # fmt: skip
    return tuple(found)
