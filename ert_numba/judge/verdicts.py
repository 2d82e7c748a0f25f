"""The rules from a shift to a verdict. Pure arithmetic over one benchmark.

SLOWER and FASTER need all of: a shift beyond the threshold, a corrected interval that excludes no change, and starts
whose ranges are disjoint (which no assumption about the noise can weaken). SAME needs the benchmark's own 95 % interval
inside the threshold: two one-sided tests at 2.5 % (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15,
1987), uncorrected, since an overlooked change is not more likely for being one of many. Everything else is UNKNOWN.
"""

from __future__ import annotations

import math

import msgspec

from ert_numba.judge.evidence import Evidence
from ert_numba.judge.judgement import FASTER, SAME, SLOWER, UNKNOWN, Threshold
from ert_numba.judge.noise import Shift
from ert_numba.judge.thresholds import NOISIEST, change_of, percent, threshold_of

ENOUGH = 5  # sound process starts a side


class Verdict(msgspec.Struct, frozen=True):
    text: str
    reason: str = ""


class Decision(msgspec.Struct, frozen=True):
    """``in_cycles``: the time alone was too noisy, the clock cycles decided."""

    verdict: Verdict
    threshold: Threshold
    in_cycles: bool = False


def decide(shift: Shift, threshold: Threshold, comparisons: int) -> Verdict:
    """The verdict on a shift of the time; ``comparisons`` only for the words."""
    limit = math.log1p(threshold.fraction)
    size = abs(shift.value)
    if threshold.source == "its own noise" and threshold.fraction > NOISIEST:
        return Verdict(
            UNKNOWN, f"too noisy: only changes above {100 * threshold.fraction:.0f} % could be told from noise"
        )
    if size > limit and size > shift.corrected and shift.apart:
        return Verdict(SLOWER if shift.value > 0 else FASTER)
    if size + shift.own <= limit:
        return Verdict(SAME)
    if size > limit:
        why = "the starts of A and B overlap" if not shift.apart else f"{comparisons} comparisons bring about as much"
        return Verdict(UNKNOWN, f"a change of {percent(change_of(shift.value))} may be noise: {why}")
    return Verdict(UNKNOWN, f"it may have changed by {percent(change_of(_widest(shift)))}, beyond its threshold")


def decide_in_cycles(time: Shift, cycles: Shift | None, stated: Threshold | None, comparisons: int) -> Decision:
    """By the time; where that is undecided, or alike within a wide threshold, by the clock cycles if they are steadier.

    A kernel at the power cap has a clock that wanders between starts, and cycles that do not. They decide alone where
    the time agrees with them: went the same way, and by no other amount than its noise allows. So no change of the
    clock is taken for one of the kernel, and no change of the time is hidden by the cycles.
    """
    threshold = threshold_of(stated, time)
    by_time = Decision(decide(time, threshold, comparisons), threshold)
    if cycles is None or by_time.verdict.text in (SLOWER, FASTER):
        return by_time
    threshold = threshold_of(stated, cycles)
    verdict = decide(cycles, threshold, comparisons)
    agree = cycles.value * time.value > 0 and abs(cycles.value - time.value) <= time.corrected
    return Decision(verdict, threshold, True) if agree and verdict.text in (SLOWER, FASTER) else by_time


def _widest(shift: Shift) -> float:
    """The end of the interval that is further from no change, with its sign."""
    return shift.value + math.copysign(shift.own, shift.value)


def too_few(a: Evidence, b: Evidence) -> str:
    """Why there is nothing to judge; empty where both sides have enough sound starts."""
    reasons = []
    for side, row in (("A", a), ("B", b)):
        sound, all_of_them = len(row.sound), len(row.readings)
        if sound >= ENOUGH:
            continue
        doubts = "; ".join(dict.fromkeys(doubt for reading in row.readings for doubt in reading.doubts))
        if all_of_them >= ENOUGH or doubts:
            reasons.append(f"{side} has {sound} sound starts of {all_of_them}, {ENOUGH} are needed ({doubts})")
        else:
            starts = "1 process start" if all_of_them == 1 else f"{all_of_them} process starts"
            reasons.append(f"{side} has {starts}, {ENOUGH} are needed: bench --starts {ENOUGH}")
    return "; ".join(reasons)
