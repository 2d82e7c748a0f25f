"""The verdict in plain sentences, each derived from numbers that stand beside it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from appprof.remarks import Told, remarks
from appprof.roofline import BANDWIDTH, COMPUTE, IMPOSSIBLE, LAUNCH, TENSOR
from appprof.roofs import ISSUE, MACHINE, SOURCE_WORDS
from appprof.summary import Resource, Summary, lacking, unseen
from appprof.words import many, part, path_words, resource_words
from ert_numba.units import si

__all__ = ["Told", "sentences"]

# From this share on one roof explains nearly all of the time; below it, only most.
_NEARLY_ALL = 0.8


def sentences(
    verdict: str, summary: Summary, short: str, bound: str | None, total_seconds: float, told: Told
) -> Iterator[str]:
    """The verdict in a sentence, then whatever else the numbers say."""
    nearest = summary.resource(bound) if bound is not None else None
    if verdict == "excess" and nearest is not None:
        yield from _excess(short, nearest)
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
    yield from remarks(verdict, summary, nearest, told)


def _compute(summary: Summary, short: str, nearest: Resource, told: Told) -> str:
    unit = nearest.roofs[0].unit
    what = ", ".join(dict.fromkeys(path_words(roof.key) for roof in nearest.roofs))
    mixed = nearest.key != TENSOR and nearest.roof < 0.99 * nearest.roofs[0].value
    of = f"the {si(nearest.roof, unit)} that its mix of fused and single operations can reach" if mixed else (
        f"the roof of {si(nearest.roof, unit)}")  # fmt: skip
    return (
        f"{short} is {_held(nearest)} {what} arithmetic: {si(nearest.rate, unit)}, {nearest.share:.0%} of {of} "
        f"({SOURCE_WORDS[nearest.roofs[0].source]}){_not_alone(nearest)}."
    )


def _bandwidth(summary: Summary, short: str, nearest: Resource, told: Told) -> str:
    return (
        f"{short} is {_held(nearest)} {resource_words(nearest.key)}: it moves {si(nearest.amount, 'B')} "
        f"({nearest.definition}) in {si(nearest.seconds, 's')}, {si(nearest.rate, 'B/s')}, {nearest.share:.0%} of the "
        f"roof of {si(nearest.roof, 'B/s')} ({SOURCE_WORDS[nearest.roofs[0].source]}){_not_alone(nearest)}."
    )


def _held(nearest: Resource) -> str:
    return "bound by" if nearest.share >= _NEARLY_ALL else "limited first by"


def _not_alone(nearest: Resource) -> str:
    return "" if nearest.share >= _NEARLY_ALL else "; something else takes the rest of the time"


def _issue(summary: Summary, short: str, nearest: Resource, told: Told) -> str:
    return (
        f"{short} is {_held(nearest)} the issue of instructions: {many(nearest.amount, 'warp instructions')} in "
        f"{si(nearest.seconds, 's')} keep its schedulers busy in {nearest.share:.0%} of their cycles, and no roof of "
        "FLOP or bytes is near. Fewer instructions would help: wider loads, less address arithmetic, unrolled loops."
    )


def _launch(summary: Summary, short: str, nearest: Resource, told: Told) -> str:
    mean = (summary.seconds or 0.0) / summary.timed_launches
    return (
        f"{short} is bound by launching: a launch runs for {si(mean, 's')}, and the cheapest way to launch that was "
        f"measured ({_way_to_launch(summary)}) takes {si(told.launch_seconds or 0.0, 's')}. Fewer and larger launches, "
        "by fusing kernels, would help; a faster kernel would not."
    )


def _way_to_launch(summary: Summary) -> str:
    launch = summary.resource(LAUNCH)
    return _LAUNCHES.get(launch.definition, launch.definition) if launch is not None else ""


_LAUNCHES = {"launch.graph": "in a CUDA graph", "launch.stream": "in a stream"}


def _latency(summary: Summary, short: str, nearest: Resource, told: Told) -> str:
    share = summary.floor_seconds / summary.judged_seconds
    waits = "The rest it waits: latency, synchronisation, or too little work in flight."
    if unseen(summary):
        waits = (
            "The rest it waits (latency, synchronisation, too little work in flight), or is busy with what was not "
            f"counted: {', or '.join(unseen(summary))}."
        )
    return (
        f"{short} is near no roof: its FLOP and bytes were counted, and the nearest, {resource_words(nearest.key)}, "
        f"explains {part(share)} of its time. {waits}"
    )


def _too_little(summary: Summary, short: str, nearest: Resource, told: Told) -> str:
    share = summary.floor_seconds / summary.judged_seconds
    return (
        f"What bounds {short} is not known: {_missing(summary)}. Of the roofs that it can be held against, the "
        f"nearest, {resource_words(nearest.key)}, explains {part(share)} of its time."
    )


def _missing(summary: Summary) -> str:
    roofless = [line.split(":")[0] for line in summary.unpaired]
    return "; ".join(([_uncounted(summary)] if lacking(summary) else []) + roofless)


def _uncounted(summary: Summary) -> str:
    gaps = lacking(summary)
    levels = [gap for gap in gaps if gap != "FLOP"]
    flop = {"partial": "some of its FLOP", "mixed": "the FLOP of some launches"}.get(summary.flop_status, "its FLOP")
    parts = ([flop] if "FLOP" in gaps else []) + ([f"its bytes at {' and '.join(levels)}"] if levels else [])
    return f"{' and '.join(parts)} were not counted"


_OPENINGS: dict[str, Callable[[Summary, str, Resource, Told], str]] = {
    COMPUTE: _compute,
    BANDWIDTH: _bandwidth,
    ISSUE: _issue,
    LAUNCH: _launch,
    "latency": _latency,
    "unknown": _too_little,
}


def _nothing_known(summary: Summary, short: str) -> str:
    if summary.seconds is None:
        return f"{short} has no time, so it has no rate."
    reasons = [summary.flop_reason, "; ".join(summary.unpaired), _uncounted(summary) if lacking(summary) else ""]
    reason = next(filter(None, reasons), "nothing that was counted has a roof")
    return f"What bounds {short} is not known: {reason}."


def _excess(short: str, nearest: Resource) -> Iterator[str]:
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
    far = nearest.share > _SLIGHTLY or nearest.roofs[0].source != MACHINE
    causes = (*(_FAR_ABOVE if far else _SLIGHTLY_ABOVE), *_CAUSES.get(nearest.kind, ()))
    yield f"Likely causes: {'; '.join(causes)}."


# What card, cooling and time of day make of one product is less than this.
_SLIGHTLY = 1.05
_SLIGHTLY_ABOVE = (
    "the roof was measured on another card, and cards of one product differ by 2 to 3% (measure it on this one)",
    "another clock than when it was measured",
)
_FAR_ABOVE = (
    "a time that is not this launch's, or in another unit",
    "a unit or a decimal mark that was misread",
    "a roof of another GPU, or at another clock than the profile's",
)
_CAUSES: dict[str, tuple[str, ...]] = {
    COMPUTE: ("sparse operations or empty lanes counted as work",),
    BANDWIDTH: ("data that came out of a nearer cache",),
}
