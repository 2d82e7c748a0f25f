"""What the numbers of a kernel say beside its verdict, one remark a rule. Pure.

A remark is added as a row of ``_RULES``: it looks at a summary and the nearest resource, and says nothing where its
numbers are not there, or would not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import msgspec

from appprof.roofline import BANDWIDTH, COMPUTE, LAUNCH, TENSOR
from appprof.roofs import ISSUE, MACHINE
from appprof.summary import Resource, Summary
from appprof.words import LEVEL_WORDS, part, precision_words, resource_words
from ert_numba.units import si

# A level that needs less than this part of the time is not worth a word.
_MATTERS = 0.05
# Sectors of a warp whose threads access neighbouring 16-byte words, the widest there are: what is above is scattered.
_DENSEST_SECTORS = 16


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What sentences may refer to beyond one kernel, in SI units: the cost of the cheapest launch, what was measured on
    the machine by the keys of its ceilings, and roofs of other paths.
    """

    launch_seconds: float | None = None
    measured: Mapping[str, float] = {}
    path_roofs: Mapping[str, float] = {}


def remarks(verdict: str, summary: Summary, nearest: Resource, told: Told) -> Iterator[str]:
    for rule in _RULES:
        line = rule(verdict, summary, nearest, told)
        if line:
            yield line


def _fused(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    """The ceiling of an instruction mix: what is not fused runs at half the rate."""
    row = next((flop for flop in summary.flop if flop.key == nearest.key), None)
    if verdict != COMPUTE or row is None or row.fused is None or row.fused / row.value > 0.9:
        return ""
    return (
        f"{row.fused / row.value:.0%} of its {precision_words(row.precision)} FLOP are fused multiply-adds; all fused, "
        f"its roof would be {si(nearest.roofs[0].value, nearest.roofs[0].unit)}."
    )


def _halves(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    """Both counts of packed halves: this package's, and that of the method of 2020, which counts one lane."""
    row = next((flop for flop in summary.flop if flop.key == "fp16.vector" and flop.bound == "upper"), None)
    if row is None or row.value < 0.01 * sum(flop.value for flop in summary.flop):
        return ""
    return (
        f"Its {si(row.value, 'FLOP', 4)} of FP16 count both halves of packed instructions; if its code is scalar, half "
        f"of them is work, {si(row.value / 2, 'FLOP', 4)}, as the method of 2020 counts."
    )


def _instruction(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    """mma.sync where the chip has a faster instruction."""
    if nearest.key != TENSOR or verdict not in (COMPUTE, "latency"):
        return ""
    precision = nearest.roofs[0].key.split(".")[0]
    slow = told.path_roofs.get(f"{precision}.tensor.mma.sync")
    fast = told.path_roofs.get(f"{precision}.tensor.wgmma")
    if "mma.sync" not in nearest.roofs[0].key or not slow or not fast or fast <= slow:
        return ""
    return f"It uses mma.sync; the roof of wgmma is {fast / slow:.2f} times as high on this GPU."


def _clock(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    top = nearest.share_at_maximum
    if top is None or verdict != COMPUTE or top >= 0.95 * nearest.share or "sm" not in summary.clocks_hz:
        return ""
    measured = nearest.roofs[0].source == MACHINE
    where = "at the clock of its measurement" if measured else "at the device's highest clock"
    higher = nearest.amount / nearest.seconds_at_maximum if nearest.seconds_at_maximum else 0.0
    return (
        f"That roof is at the SM clock of the profile, {si(summary.clocks_hz['sm'], 'Hz')}; {where} it is "
        f"{si(higher, nearest.roofs[0].unit)}, and this is {top:.0%} of it: a difference of clocks, not of code."
    )


def _busy_schedulers(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    """Whether instructions beside the work stand between a kernel and its roof, or nothing does but waiting."""
    issue = summary.resource(ISSUE)
    if issue is None:
        return ""
    if verdict == "latency":
        return f"Its schedulers issue an instruction in {issue.share:.0%} of their cycles."
    if verdict not in (COMPUTE, BANDWIDTH) or issue.share < max(0.8, nearest.share):
        return ""
    rest = "fill what lies" if issue.share >= 0.95 else "take a part of what lies"
    return (
        f"Its schedulers issue an instruction in {issue.share:.0%} of their cycles: other instructions {rest} between "
        "it and the roof."
    )


def _lanes(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    work = summary.instructions
    if work is None or verdict not in (ISSUE, COMPUTE, "latency") or nearest.key == TENSOR:
        return ""
    useful = work.useful_lanes if work.useful_lanes is not None else work.active_lanes
    if useful is None or useful >= 0.8:
        return ""
    parts = []
    if work.active_lanes is not None:
        parts.append(f"{32 * work.active_lanes:.1f} take part")
    if work.useful_lanes is not None:
        parts.append(f"{32 * work.useful_lanes:.1f} are not predicated off")
    return f"Of the 32 threads of a warp {' and '.join(parts)} in its average instruction."


def _scattered(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    point = summary.instructions.point("global") if summary.instructions is not None else None
    if point is None or point.transactions / point.instructions <= 1.05 * _DENSEST_SECTORS:
        return ""
    return (
        f"A load or store of global memory touches {point.transactions / point.instructions:.1f} sectors a warp: "
        "neighbouring threads use addresses far apart (4 sectors serve neighbouring 4-byte words)."
    )


def _fewer_bytes(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    compute = [row for row in summary.resources if row.kind == COMPUTE]
    best = max(compute, key=lambda row: row.seconds_at_roof, default=None)
    if verdict != BANDWIDTH or best is None or not best.seconds_at_roof:
        return ""
    factor = nearest.seconds_at_roof / best.seconds_at_roof
    remedy = {
        "DRAM": "fusing with its neighbours, smaller number formats, or reuse in caches",
        "L2": "a larger tile",
        "L1": "more reuse in registers and shared memory",
        "SHARED": "more reuse in registers",
    }.get(nearest.key, "fewer transfers")
    if factor > 50:
        return (
            f"Its FLOP alone would need 1/{factor:.0f} of that time: past this roof only fewer bytes help ({remedy})."
        )
    return (
        f"{factor:.1f} times fewer bytes from {LEVEL_WORDS[nearest.key]} for each FLOP would move it to the roof of "
        f"{resource_words(best.key)} ({remedy})."
    )


def _mix(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    """A roof of reads is more than reads and writes together can have of device memory."""
    roof = nearest.roofs[0]
    if verdict != BANDWIDTH or roof.name != "DRAM.read":
        return ""
    mixes = {words: told.measured.get(f"DRAM.{key}", roof.value) for key, words in _MIXES.items()}
    lower = [f"{words} {si(value, 'B/s')}" for words, value in mixes.items() if value < 0.98 * roof.value]
    return f"That roof is of reads alone; measured here too: {', '.join(lower)}." if lower else ""


_MIXES = {"triad": "two reads for each write", "copy": "one read for each write"}


def _short_launches(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    """Time beside the kernels' own, which a profile of counters does not show."""
    cost, mean = told.measured.get("launch.stream"), (summary.seconds or 0.0) / max(summary.timed_launches, 1)
    if cost is None or verdict == LAUNCH or not mean or mean >= cost:
        return ""
    return (
        f"Launched one by one in a stream, {si(cost, 's')} each were measured, more than the {si(mean, 's')} that it "
        "runs: unless it comes in a CUDA graph, the GPU may wait for the host between its launches."
    )


def _reuse(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    """The distance between the dots of neighbouring levels is the reuse in the cache between them.

    Only between definitions that count both directions, each byte once.
    """
    points = {point.definition: point for point in summary.points}
    words = []
    for near, far in (("L1.tag", "L2.sm"), ("L2.sm", "DRAM")):
        one, other = points.get(near), points.get(far)
        if (
            one is None
            or other is None
            or one.launches != other.launches
            or not _matters(summary, one.level, other.level)
        ):
            continue
        ratio, cache = one.bytes / other.bytes, LEVEL_WORDS[one.level]
        if 0.95 < ratio < 1.05:
            words.append(f"{cache} none")
        elif ratio < 1000:
            words.append(f"{cache} moved {ratio:.3g} times the bytes of {LEVEL_WORDS[other.level]}")
    return f"Reuse: {', '.join(words)}." if words and verdict in (BANDWIDTH, COMPUTE) else ""


def _matters(summary: Summary, *levels: str) -> bool:
    resources = (summary.resource(level) for level in levels)
    return any(row is not None and row.share >= _MATTERS for row in resources)


def _grid(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    waves = summary.facts.get("waves_per_sm")
    idle = 1 - nearest.seconds_at_roof / nearest.seconds
    if waves is None or verdict == LAUNCH or idle < 0.1:
        return ""
    of = "Its grids fill, on average," if summary.shapes > 1 else "Its grid fills"
    if waves < 1:
        return f"{of} {part(waves)} of the places for blocks that the GPU has at once: more blocks could help."
    whole = math.ceil(waves)
    lost = 1 - waves / whole
    # A tail cannot cost more than the time that the nearest roof leaves unexplained.
    if summary.shapes > 1 or lost < 0.15 or lost > idle:
        return ""
    return (
        f"Its grid takes {waves:.2f} waves of blocks: the last fills {waves - whole + 1:.0%} of the GPU, so up to "
        f"{lost:.0%} of its time may be lost in that tail."
    )


def _occupancy(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    achieved = summary.facts.get("achieved_occupancy_percent")
    possible = summary.facts.get("theoretical_occupancy_percent")
    if verdict != "latency" or (achieved is None and (possible is None or possible > 99)):
        return ""
    if achieved is None:
        return f"At most {possible:.0f}% of the warps that an SM can hold fit its registers and shared memory."
    limit = f", where its registers and shared memory allow {possible:.0f}%" if possible is not None else ""
    return f"{achieved:.0f}% of the warps that an SM can hold were there{limit}."


_RULES: tuple[Callable[[str, Summary, Resource, Told], str], ...] = (
    _fused, _halves, _instruction, _clock, _busy_schedulers, _lanes, _scattered, _mix, _fewer_bytes, _reuse, _grid,
    _occupancy, _short_launches,
)  # fmt: skip
