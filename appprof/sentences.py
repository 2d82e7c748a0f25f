"""Plain sentences, each derived from numbers that stand beside it. Pure.

A sentence is added as a row of ``_AFTER``: it looks at a summary and the nearest resource, and says nothing where its
numbers are not there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import msgspec

from appprof.roofline import BANDWIDTH, COMPUTE, IMPOSSIBLE, LAUNCH, TENSOR
from appprof.roofs import SOURCE_WORDS
from appprof.summary import Resource, Summary
from appprof.words import LEVEL_WORDS, path_words, precision_words, resource_words
from ert_numba.units import si


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What sentences may refer to beyond one kernel: the seconds of one launch, and roofs of other paths, in FLOP/s."""

    launch_seconds: float | None = None
    path_roofs: Mapping[str, float] = {}


def sentences(
    verdict: str, summary: Summary, short: str, bound: str | None, total_seconds: float, told: Told
) -> Iterator[str]:
    """The verdict in a sentence, then whatever else the numbers say."""
    nearest = summary.resource(bound) if bound is not None else None
    if verdict == "excess" and nearest is not None:
        yield from _excess(summary, short, nearest)
        return
    if nearest is None or summary.seconds is None:
        yield _nothing_known(summary, short)
        return
    yield _OPENINGS[verdict](summary, short, nearest, told)
    gain = summary.judged_seconds - summary.floor_seconds
    if verdict in (COMPUTE, BANDWIDTH, "latency") and gain > 0 and total_seconds:
        opening = "At its nearest roof" if summary.launches == 1 else "With each launch at its nearest roof"
        yield (
            f"{opening} it would take {si(summary.floor_seconds, 's')} instead of "
            f"{si(summary.judged_seconds, 's')}: at most {si(gain, 's')} to gain, {gain / total_seconds:.1%} of the "
            "kernel time of the run."
        )
    for after in _AFTER:
        line = after(verdict, summary, nearest, told)
        if line:
            yield line


def _compute(summary: Summary, short: str, nearest: Resource, told: Told) -> str:
    unit = nearest.roofs[0].unit
    what = ", ".join(dict.fromkeys(path_words(roof.key) for roof in nearest.roofs))
    return (
        f"{short} is bound by {what}: {si(nearest.rate, unit)}, {nearest.share:.0%} of the {si(nearest.roof, unit)} "
        f"that its mix can reach ({SOURCE_WORDS[nearest.roofs[0].source]})."
    )


def _bandwidth(summary: Summary, short: str, nearest: Resource, told: Told) -> str:
    return (
        f"{short} is bound by {resource_words(nearest.key)}: it moves {si(nearest.amount, 'B')} "
        f"({nearest.definition}) in {si(nearest.seconds, 's')}, {si(nearest.rate, 'B/s')}, {nearest.share:.0%} of the "
        f"roof of {si(nearest.roof, 'B/s')} ({SOURCE_WORDS[nearest.roofs[0].source]})."
    )


def _launch(summary: Summary, short: str, nearest: Resource, told: Told) -> str:
    mean = (summary.seconds or 0.0) / summary.timed_launches
    return (
        f"{short} is bound by launching: a launch runs for {si(mean, 's')} and costs "
        f"{si(told.launch_seconds or 0.0, 's')}; fusing kernels or a CUDA graph would help, a faster kernel would not."
    )


def _latency(summary: Summary, short: str, nearest: Resource, told: Told) -> str:
    share = summary.floor_seconds / summary.judged_seconds
    return (
        f"No roof explains the time of {short}: everything was counted, and the nearest roof, "
        f"{resource_words(nearest.key)}, is reached to {share:.0%}. It waits: latency, synchronisation, or too little "
        "work in flight."
    )


def _too_little(summary: Summary, short: str, nearest: Resource, told: Told) -> str:
    share = summary.floor_seconds / summary.judged_seconds
    return (
        f"What bounds {short} is not known: of what was counted the nearest roof, {resource_words(nearest.key)}, is "
        f"reached to {share:.0%} only."
    )


_OPENINGS: dict[str, Callable[[Summary, str, Resource, Told], str]] = {
    COMPUTE: _compute,
    BANDWIDTH: _bandwidth,
    LAUNCH: _launch,
    "latency": _latency,
    "unknown": _too_little,
}


def _nothing_known(summary: Summary, short: str) -> str:
    if summary.seconds is None:
        return f"{short} has no time, so it has no rate."
    reason = summary.flop_reason or "; ".join(summary.unpaired) or "no bytes that have a roof were counted"
    return f"What bounds {short} is not known: {reason}."


def _excess(summary: Summary, short: str, nearest: Resource) -> Iterator[str]:
    compute = nearest.kind == COMPUTE
    unit = nearest.roofs[0].unit
    limits = [roof for roof in nearest.roofs if roof.limit]
    if nearest.excess == IMPOSSIBLE and limits:
        factor = limits[0].limit and nearest.share * nearest.roofs[0].value / limits[0].limit
        times = f"{factor:.0f} times" if factor and factor >= 2 else f"{factor:.1%} of"
        note = f" ({limits[0].note})" if "assumed" in limits[0].note else ""
        yield (
            f"{short} is IMPOSSIBLE: {si(nearest.rate, unit)} is {times} what {resource_words(nearest.key)} can do, "
            f"{si(limits[0].limit or 0.0, unit)}, {limits[0].limit_name or 'the limit'}{note}. It is not classified."
        )
    else:
        yield (
            f"{short} is above its roof: {si(nearest.rate, unit)} is {nearest.share:.1%} of {si(nearest.roof, unit)}, "
            f"{SOURCE_WORDS[nearest.roofs[0].source]}. It is not classified."
        )
    causes = [
        "a time that is not this launch's, or in another unit",
        "a unit or a decimal mark that was misread",
        "a roof of another GPU, or at another clock than the profile's",
        "sparse operations or empty lanes counted as work" if compute else "data that came out of a nearer cache",
    ]
    yield f"Likely causes: {'; '.join(causes)}."


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
        f"Its FP16 FLOP count both lanes of packed instructions, {si(row.value, 'FLOP', 4)}; with one lane each they "
        f"are {si(row.value / 2, 'FLOP', 4)}."
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
    return (
        f"The SM clock was {si(summary.clocks_hz['sm'], 'Hz')}: {nearest.share:.0%} of the roof at this clock is "
        f"{top:.0%} of the roof at the clock of its measurement or the device's highest. The difference is the clock's."
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
            f"Its work is {factor:.0f} times too small for {resource_words(best.key)} to matter: only fewer bytes "
            f"help ({remedy})."
        )
    return (
        f"{factor:.1f} times fewer bytes from {LEVEL_WORDS[nearest.key]} for each FLOP would move it to the roof of "
        f"{resource_words(best.key)} ({remedy})."
    )


def _reuse(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    """The distance between the dots of neighbouring levels is the reuse in the cache between them.

    Only between definitions that count both directions, each byte once.
    """
    points = {point.definition: point for point in summary.points}
    words = []
    for near, far in (("L1.tag", "L2.sm"), ("L2.sm", "DRAM")):
        one, other = points.get(near), points.get(far)
        if one is not None and other is not None and one.launches == other.launches:
            ratio = one.bytes / other.bytes
            if ratio < 1000:
                words.append(f"{one.level} moves {ratio:.3g} times the bytes of {LEVEL_WORDS[other.level]}")
    return f"Reuse: {'; '.join(words)}." if words and verdict in (BANDWIDTH, COMPUTE) else ""


def _grid(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    waves = summary.facts.get("waves_per_sm")
    if waves is None or verdict == LAUNCH:
        return ""
    if waves < 1:
        return f"Its grid fills {waves:.0%} of the places for blocks that the GPU has at once: more blocks would help."
    whole = math.ceil(waves)
    if whole > 8 or waves / whole > 0.85 or waves / whole == 1:
        return ""
    return (
        f"Its grid takes {waves:.2f} waves: the last one fills {waves - whole + 1:.0%} of the GPU, and up to "
        f"{1 - waves / whole:.0%} of the time is that tail."
    )


def _occupancy(verdict: str, summary: Summary, nearest: Resource, told: Told) -> str:
    achieved = summary.facts.get("achieved_occupancy_percent")
    possible = summary.facts.get("theoretical_occupancy_percent")
    if verdict != "latency" or (achieved is None and possible is None):
        return ""
    if achieved is None:
        return f"At most {possible:.0f} % of the warps that an SM can hold fit its registers and shared memory."
    limit = f" of {possible:.0f} % that its registers and shared memory allow" if possible is not None else ""
    return f"{achieved:.0f} % of the warps that an SM can hold were there{limit}."


_AFTER: tuple[Callable[[str, Summary, Resource, Told], str], ...] = (
    _fused, _halves, _instruction, _clock, _fewer_bytes, _reuse, _grid, _occupancy,
)  # fmt: skip
