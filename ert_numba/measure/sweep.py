"""The only loop: visit every point in rounds until each has settled or the time is spent.

Noise on a shared machine comes in phases of seconds, so repeats made at one moment agree and may all be slow. Hence
rounds: each point is visited at several moments. After the first round only the contenders of each ceiling go on, and
new sizes are put between those where a curve falls: the budget buys accuracy where it counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import msgspec

from ert_numba.errors import DeviceLost, ErtError
from ert_numba.kernels.spec import CompiledCodeMismatch
from ert_numba.measure.plan import Plan
from ert_numba.measure.rounds import finer, first_of_each, next_round, on_curves
from ert_numba.measure.timers import Bench, Timer
from ert_numba.measure.track import Track, plan_points
from ert_numba.records import Sample, Skipped

__all__ = ["Listener", "Outcome", "Plan", "Progress", "Track", "measure", "plan_points"]


class Progress(msgspec.Struct, frozen=True):
    """Where a sweep stands: for a person to look at."""

    label: str
    round: int
    done: int
    of: int
    seconds_spent: float
    budget_seconds: float


@dataclass
class Outcome:
    """What a sweep gathered; ``partial`` when it was ``stopped``, by Ctrl-C or by the loss of the device, before every
    point had been visited.
    """

    samples: list[Sample] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    partial: bool = False
    stopped: KeyboardInterrupt | DeviceLost | None = None


Listener = Callable[[Progress], None]


def measure(
    tracks: Sequence[Track],
    timer: Timer,
    plan: Plan,
    listener: Listener,
    started: float,
    done: Collection[str] = (),
) -> Outcome:
    """Visit the points in rounds. ``started`` is the time.monotonic() from which the budget counts; ``done`` are the
    keys of points of an earlier run, not to be added again.

    Ctrl-C and a lost device end the loop; what was measured comes back, marked partial if a point was never visited.
    """
    outcome = Outcome()
    active = first_of_each(tracks)
    every = list(tracks)
    try:
        for number in range(plan.rounds):
            for position, track in enumerate(active):
                spent = time.monotonic() - started
                if spent >= plan.budget_seconds:
                    break
                listener(Progress(track.point.ceiling, number, position, len(active), spent, plan.budget_seconds))
                refusal = _visit(track, timer, plan)
                if refusal is not None:
                    outcome.skipped.append(refusal)
            if number == 0 and plan.second_look and (curves := on_curves(every)):
                active = curves
                continue
            if number <= 1:
                every += [track for track in finer(every, plan) if track.point.key not in done]
            active = next_round(every, plan)
            if not active or time.monotonic() - started >= plan.budget_seconds:
                break
    except (KeyboardInterrupt, DeviceLost) as stopped:
        outcome.stopped = stopped
    outcome.samples = [track.sample(plan.rule) for track in every if track.seconds]
    missed = [track for track in every if not track.seconds and not track.refused]
    outcome.partial = outcome.stopped is not None and bool(missed)
    outcome.skipped += _not_reached(missed, outcome, plan)
    return outcome


def _not_reached(missed: Sequence[Track], outcome: Outcome, plan: Plan) -> list[Skipped]:
    """What ended without a single sample, by ceiling."""
    reached = {sample.point.ceiling for sample in outcome.samples}
    if isinstance(outcome.stopped, DeviceLost):
        why = f"the device was lost before its turn: {outcome.stopped}"
    elif outcome.stopped:
        why = "interrupted before its turn"
    else:
        why = f"the budget of {plan.budget_seconds:.0f} s ended before its turn: ask for more with --budget"
    names = dict.fromkeys(track.point.ceiling for track in missed if track.point.ceiling not in reached)
    return [Skipped(what=name, reason=why) for name in names]


def _visit(track: Track, timer: Timer, plan: Plan) -> Skipped | None:
    """One visit; a refusal comes back with its reason. What was timed before a failure stays. Raises DeviceLost."""
    try:
        _open_and_repeat(track, timer, plan)
    except DeviceLost:
        raise
    except CompiledCodeMismatch as mismatch:
        track.refused = True
        return Skipped(what=track.point.key, reason=f"the compiled code is not the declared one: {mismatch}")
    except ErtError as error:
        track.refused = True
        return Skipped(what=track.point.key, reason=str(error))
    return None


def _open_and_repeat(track: Track, timer: Timer, plan: Plan) -> None:
    """Open the point, time it for its share of a round, note the conditions."""
    track.visits += 1
    opened = time.monotonic()
    bench = timer.open(track.spec, track.point, track.repetitions)
    track.open_seconds = time.monotonic() - opened
    # Before the first timing: an interrupt in the middle must leave a whole sample.
    track.repetitions = int(bench.conditions.get("repetitions", 1))
    track.work, track.code, track.conditions = bench.work, bench.code, bench.conditions
    track.verified = bench.verified if track.verified is None else track.verified and bench.verified
    steal = timer.steal_seconds()
    _repeat(track, bench, plan)
    track.steal += timer.steal_seconds() - steal


def _repeat(track: Track, bench: Bench, plan: Plan) -> None:
    began = time.monotonic()
    for repeat in range(plan.rule.most):
        timing = bench.once()
        track.seconds.append(timing.seconds)
        if timing.clock_hz is not None:
            track.clocks.append(timing.clock_hz)
        at_leisure = 4 if plan.dear(track.open_seconds) and not plan.costly(timing.seconds) else 1
        over = time.monotonic() - began >= plan.visit_seconds * at_leisure
        least, most = plan.least_repeats(timing.seconds), plan.visit_repeats * at_leisure
        if repeat + 1 >= most or (over and repeat + 1 >= least):
            return
