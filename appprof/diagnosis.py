"""What bounds a kernel, how sure that is, and what it would give back: a verdict out of a summary. Pure."""

from __future__ import annotations

import msgspec

from appprof.roofline import BANDWIDTH, COMPUTE, LAUNCH, NO_FLOOR
from appprof.roofs import ISSUE
from appprof.sentences import Told, sentences
from appprof.summary import Resource, Summary, lacking, unseen

# Verdicts beside the kinds of resources.
LATENCY, UNKNOWN, EXCESS = "latency", "unknown", "excess"
# A kernel below this share of every roof waits for something that no roof describes.
NEAR = 0.6
# At this share of a roof no other that was not counted can matter much.
CLOSE = 0.8
SHORT_SECONDS = 5e-6
_SPARSE = 0.5  # waves of blocks


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """One group of launches with its verdict.

    ``verdict``: ``compute``, ``bandwidth``, ``issue`` (the schedulers are busy with instructions that no other roof
    counts), ``launch``, ``latency`` (nothing near), ``unknown`` (too little was counted), or ``excess`` (a rate above
    its roof: no classification, ``excess`` says which). ``share`` is of the nearest roof ``bound``; ``headroom`` the
    time over the floor; ``gives_back_seconds`` their difference, of all launches, at their roofs. ``confidence``
    (high, medium, low) comes with its ``doubts``.
    """

    summary: Summary
    short: str
    verdict: str
    bound: str | None = None
    excess: str = ""
    share: float | None = None
    headroom: float | None = None
    gives_back_seconds: float | None = None
    confidence: str = "low"
    doubts: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()

    @property
    def nearest(self) -> Resource | None:
        return None if self.bound is None else self.summary.resource(self.bound)


def diagnose(summary: Summary, short: str, total_seconds: float, told: Told) -> Diagnosis:
    """The verdict on one group; ``total_seconds`` is the run's summed kernel time."""
    resources = [row for row in summary.resources if row.kind not in NO_FLOOR]
    nearest = max(resources, key=lambda row: row.seconds_at_roof, default=None)
    excess = [row for row in summary.resources if row.excess]
    doubts = tuple(_doubts(summary, nearest))
    if excess:
        # Each is named: one wrong time or clock lifts several roofs at once.
        worst = max(excess, key=lambda row: (row.excess == "impossible", row.share))
        draft = Diagnosis(summary=summary, short=short, verdict=EXCESS, bound=worst.key, excess=worst.excess,
                          share=worst.share, doubts=doubts)  # fmt: skip
    elif summary.seconds is None or not (nearest or summary.resource(ISSUE)):
        draft = Diagnosis(summary=summary, short=short, verdict=UNKNOWN, doubts=doubts)
    else:
        draft = _classified(summary, short, nearest, doubts)
    return msgspec.structs.replace(
        draft, confidence=_confidence(draft), sentences=tuple(sentences(draft.verdict, summary, short, draft.bound,
                                                                        total_seconds, told)),
    )  # fmt: skip


def _classified(summary: Summary, short: str, nearest: Resource | None, doubts: tuple[str, ...]) -> Diagnosis:
    floor, judged = summary.floor_seconds, summary.judged_seconds
    launch, issue = summary.resource(LAUNCH), summary.resource(ISSUE)
    share = floor / judged if judged else 0.0
    if launch is not None and launch.share >= 1.0:
        verdict = LAUNCH
    elif nearest is not None and share >= NEAR:
        verdict = nearest.kind
    elif issue is not None and issue.seconds_at_roof >= NEAR * (summary.seconds or 0.0):
        return Diagnosis(
            summary=summary, short=short, verdict=ISSUE, bound=ISSUE, share=issue.share, headroom=1 / issue.share,
            gives_back_seconds=issue.seconds - issue.seconds_at_roof, doubts=doubts,
        )  # fmt: skip
    else:
        # Nothing is near only where everything was counted and had a roof.
        verdict = UNKNOWN if nearest is None or lacking(summary) or summary.unpaired else LATENCY
    if verdict == LATENCY:
        doubts = (*doubts, *(f"{what} not counted" for what in unseen(summary)))
    if nearest is None:
        return Diagnosis(summary=summary, short=short, verdict=verdict, doubts=doubts)
    if verdict == UNKNOWN:
        return Diagnosis(summary=summary, short=short, verdict=verdict, bound=nearest.key, share=share, doubts=doubts)
    return Diagnosis(
        summary=summary, short=short, verdict=verdict, bound=nearest.key, share=share,
        headroom=judged / floor if floor else None, gives_back_seconds=judged - floor, doubts=doubts,
    )  # fmt: skip


def _doubts(summary: Summary, nearest: Resource | None) -> list[str]:
    found = []
    if summary.flop_status != "complete":
        words = {
            "partial": "some FLOP were not counted",
            "unknown": "FLOP are not known",
            "mixed": f"FLOP are known of {summary.flop_launches} of {summary.launches} launches",
        }
        found.append(words[summary.flop_status] + (f" ({summary.flop_reason})" if summary.flop_reason else ""))
    levels = [level for level in lacking(summary) if level != "FLOP"]
    if levels:
        found.append(f"no bytes of {', '.join(levels)}")
    found += list(dict.fromkeys(f"no bytes of L1: {row.withheld}" for row in summary.traffic if row.withheld))
    found += [f"{row.key} is an upper bound: packed halves may have had an empty lane" for row in summary.flop
              if row.bound == "upper" and nearest is not None and row.key == nearest.key]  # fmt: skip
    found += [f"{row.definition} counts one direction alone" for row in summary.traffic if row.bound == "lower"]
    if nearest is not None:
        notes = (note for roof in nearest.roofs for note in roof.note.split("; ") if _casts_doubt(note))
        found += [f"roof of {nearest.key}: {note}" for note in dict.fromkeys(notes)]
    if summary.timed_launches < summary.launches:
        found.append(f"no time of {summary.launches - summary.timed_launches} of {summary.launches} launches")
    if summary.seconds and summary.seconds / summary.timed_launches < SHORT_SECONDS:
        found.append("launches this short are timed with their start and end")
    return found


def _casts_doubt(note: str) -> bool:
    return note.startswith(("not ", "noisy", "assumed"))


def _confidence(draft: Diagnosis) -> str:
    if draft.verdict in (UNKNOWN, EXCESS) or any("assumed" in line for line in draft.doubts):
        return "low"
    if draft.verdict == LATENCY and unseen(draft.summary):
        # A grid that leaves most of the GPU empty waits, whatever its instructions are.
        return "medium" if draft.summary.facts.get("waves_per_sm", 1.0) < _SPARSE else "low"
    if not lacking(draft.summary) and not draft.summary.unpaired:
        return "medium" if any(" upper bound" in line or "not " in line for line in draft.doubts) else "high"
    return "medium" if draft.verdict in (COMPUTE, BANDWIDTH, ISSUE) and (draft.share or 0.0) >= CLOSE else "low"
