"""Several files of one run that hold different metrics, joined launch by launch; files of different runs stay apart.

Two files complete each other when they name the same kernels and share no counter but time and cycles: bytes in one,
FLOP in another. Files that counted the same (one for each MPI rank) are kept side by side. Launches are joined by name
and occurrence, and only where both files launched the name equally often; order alone is never trusted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import msgspec

from appprof.metric_terms import PER_CYCLE, RATE, SUM, find_term
from appprof.metrics import TIMES
from appprof.report.names import base_name, normalise
from appprof.report.profile import KernelProfile, Report
from ert_numba.errors import ErtError

SHARED_BY_ALL = ("gpu__time_", "launch__", "profiler__", "device__", "numa__", "nvlink__", "c2clink__")
Key = tuple[object, ...]

# How launches of two files may be recognised as one, most certain first.
LEVELS: tuple[tuple[str, Callable[[KernelProfile], Key]], ...] = (
    ("the same name", lambda kernel: (kernel.kernel,)),
    ("a name that differs in spelling", lambda kernel: (normalise(kernel.kernel),)),
    (
        "the bare function name and the launch's shape",
        lambda kernel: (base_name(kernel.kernel), kernel.grid, kernel.block),
    ),
)


def join_reports(reports: Sequence[Report]) -> Report:
    """One report of several: launches completed where files complete each other, all others kept."""
    groups: list[list[Report]] = []
    for report in reports:
        place = next((group for group in groups if all(complete_each_other(report, other) for other in group)), None)
        if place is None:
            groups.append([report])
        else:
            place.append(report)
    warnings = [line for report in reports for line in report.warnings]
    kernels = [kernel for group in groups for kernel in _join_group(group, warnings)]
    return Report(
        kernels=tuple(kernels),
        sources=tuple(source for report in reports for source in report.sources),
        warnings=tuple(dict.fromkeys(warnings)),
        lost=tuple(line for report in reports for line in report.lost),
        messages=tuple(line for report in reports for line in report.messages),
    )


def complete_each_other(one: Report, other: Report) -> bool:
    """Whether two files are of one run and hold different counters."""
    mine, theirs = _counters(one), _counters(other)
    if mine & theirs or not (mine or theirs):
        return False
    return any(
        {level(kernel) for kernel in one.kernels} & {level(kernel) for kernel in other.kernels} for _, level in LEVELS
    )


def _counters(report: Report) -> set[str]:
    """The counters of a file, less what every file has."""
    names = {name for kernel in report.kernels for name in kernel.values}
    return {name.split(".")[0] for name in names if not name.startswith(SHARED_BY_ALL) and not _is_cycles(name)}


def _is_cycles(name: str) -> bool:
    return "__cycles_elapsed" in name


def _join_group(group: list[Report], warnings: list[str]) -> list[KernelProfile]:
    if len(group) == 1:
        return list(group[0].kernels)
    # Time comes from the run that counted no instructions: counting them once made cycles 150 times too many.
    ordered = sorted(group, key=_counts_instructions)
    kernels = list(ordered[0].kernels)
    for report in ordered[1:]:
        kernels = _join_two(kernels, report, warnings)
    return kernels


def _counts_instructions(report: Report) -> bool:
    return any("__sass_" in name for kernel in report.kernels[:50] for name in kernel.values)


def _join_two(kernels: list[KernelProfile], report: Report, warnings: list[str]) -> list[KernelProfile]:
    """Complete ``kernels`` with those of a report; what finds no partner is appended."""
    for words, level in LEVELS:
        mine, theirs = _by_key(kernels, level), _by_key(report.kernels, level)
        if not mine.keys() & theirs.keys():
            continue
        partner: dict[int, KernelProfile] = {}
        used: set[int] = set()
        for key in mine.keys() & theirs.keys():
            if _one_to_one(mine[key], theirs[key]):
                partner |= {id(left): right for left, right in zip(mine[key], theirs[key], strict=True)}
                used |= {id(right) for right in theirs[key]}
            else:
                warnings.append(_unequal(mine[key], theirs[key]))
        if not partner:
            continue
        if level is not LEVELS[0][1]:
            warnings.append(f"launches of {report.sources[0].label} were matched by {words}")
        joined = [complete(kernel, partner[id(kernel)]) if id(kernel) in partner else kernel for kernel in kernels]
        rest = [kernel for kernel in report.kernels if id(kernel) not in used]
        if rest:
            warnings.append(
                f"{len(rest)} of {len(report.kernels)} launches of {report.sources[0].label} found no partner"
            )
        return joined + rest
    return kernels + list(report.kernels)


def _by_key(kernels: Iterable[KernelProfile], level: Callable[[KernelProfile], Key]) -> dict[Key, list[KernelProfile]]:
    """Launches by name, device and the order of their processes (numbers of processes differ from run to run)."""
    processes: dict[int | None, int] = {}
    found: dict[Key, list[KernelProfile]] = defaultdict(list)
    for kernel in kernels:
        process = processes.setdefault(kernel.process_id, len(processes))
        found[process, kernel.device.index, *level(kernel)].append(kernel)
    return found


def _one_to_one(mine: list[KernelProfile], theirs: list[KernelProfile]) -> bool:
    """Equally many launches, and where both files tell the shape, of the same shape one by one."""
    return len(mine) == len(theirs) and all(
        None in (left.grid, right.grid) or (left.grid, left.block) == (right.grid, right.block)
        for left, right in zip(mine, theirs, strict=True)
    )


def _unequal(mine: list[KernelProfile], theirs: list[KernelProfile]) -> str:
    left, right = mine[0], theirs[0]
    return (
        f"{left.kernel[:60]} was launched {len(mine)} times in {left.source.label} and {len(theirs)} times in "
        f"{right.source.label}, or with other shapes: these launches were not joined"
    )


def complete(kernel: KernelProfile, other: KernelProfile) -> KernelProfile:
    """``kernel`` with what ``other`` counted of the same launch; its own time, cycles and clocks stay."""
    if None not in (kernel.device.compute_capability, other.device.compute_capability) and (
        kernel.device.compute_capability != other.device.compute_capability
    ):
        raise ErtError(
            f"one run in {kernel.source.label} and {other.source.label}",
            "they were taken on GPUs of different compute capability",
            "Read the files one at a time",
        )
    timed = any(metric in kernel.values and (by is None or by in kernel.values) for metric, by in TIMES)
    added = {
        name: value
        for name, value in _sums(other).items()
        if name not in kernel.values and not (timed and (_is_cycles(name) or name.startswith("gpu__time_")))
    }
    values = {**kernel.values, **added}
    known = kernel.device if kernel.device.attributes or kernel.device.compute_capability else other.device
    return msgspec.structs.replace(
        kernel,
        device=known,
        grid=kernel.grid or other.grid,
        block=kernel.block or other.block,
        nvtx=kernel.nvtx or other.nvtx,
        values=values,
        units={**other.units, **kernel.units},
        rounding={**{name: error for name, error in other.rounding.items() if name in added}, **kernel.rounding},
        missing={name: why for name, why in {**other.missing, **kernel.missing}.items() if name not in values},
        texts={**other.texts, **kernel.texts},
        instances={**other.instances, **kernel.instances},
        advice=(*kernel.advice, *other.advice),
        other_sources={**kernel.other_sources, **dict.fromkeys(added, other.source.label)},
    )


def _sums(kernel: KernelProfile) -> dict[str, float]:
    """The values of a launch, rates made sums by its own time and cycles: those of another run would change them."""
    values = dict(kernel.values)
    seconds = values.get("gpu__time_duration.sum")
    for name in kernel.values:
        for form in (RATE, PER_CYCLE):
            base = name.removesuffix(form)
            if base != name and base + SUM not in values:
                term = find_term(base, kernel.values, seconds is not None)
                if term is not None:
                    values[base + SUM] = term.count(kernel.values, seconds or 0.0)
    for name in kernel.values:
        if name.endswith((RATE, PER_CYCLE)) and not _is_cycles(name):
            del values[name]
    return values
