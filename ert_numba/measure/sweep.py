"""The only loop: visit every point in rounds until each has settled or the time is spent.

Noise on a shared machine comes in phases of seconds, so repeats made at one moment agree and may all be slow. Hence
rounds: each point is visited at several moments. After the first round only the contenders of each ceiling go on, and
new sizes are put between those where a curve falls: the budget buys accuracy where it counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from ert_numba.errors import DeviceLost, ErtError
from ert_numba.kernels.spec import CompiledCodeMismatch, KernelSpec
from ert_numba.measure.refine import contenders, finer_sizes
from ert_numba.measure.stopping import Settled
from ert_numba.measure.timers import Bench, Timer
from ert_numba.records import AxisValue, Point, Sample, Skipped, Work

SERIES = ("curve.", "intensity.")  # keys whose every point counts: no point of a series competes with another


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How much to measure. A visit makes ``visit_repeats`` calls, or fewer (3 at least) after ``visit_seconds``.

    A call longer than ``dear_seconds`` is made once a visit. Where calls take ``costly_seconds`` and more, a point goes
    on after the first round only if it leads its ceiling. What begins with one of ``patient`` is shared with others, so
    it is visited ``patient_visits`` times though it agreed with itself at once.
    """

    budget_seconds: float
    visit_seconds: float = 0.008
    visit_repeats: int = 24
    rounds: int = 30
    least_visits: int = 4
    costly_seconds: float = 0.02
    dear_seconds: float = 0.2
    rule: Settled = Settled(tolerance=0.015, agreeing=10, least=48, most=400)
    refine_points: int = 14
    patient: tuple[str, ...] = ()
    patient_visits: int = 1
    second_look: bool = True  # at curves before they get new sizes: one look may have seen a neighbour's burst

    def least_repeats(self, call_seconds: float) -> int:
        """Calls of this length in one visit, at least."""
        return 1 if self.dear(call_seconds) else min(3, self.visit_repeats)

    def costly(self, call_seconds: float) -> bool:
        return call_seconds > self.costly_seconds

    def dear(self, call_seconds: float) -> bool:
        return call_seconds > self.dear_seconds


class Progress(msgspec.Struct, frozen=True):
    """Where a sweep stands: for a person to look at."""

    label: str
    round: int
    done: int
    of: int
    seconds_spent: float
    budget_seconds: float


@dataclass
class Track:
    """What has been gathered of one point so far."""

    spec: KernelSpec
    point: Point
    seconds: list[float] = field(default_factory=list)
    clocks: list[float] = field(default_factory=list)
    steal: float = 0.0
    visits: int = 0
    open_seconds: float = 0.0  # of the last visit: laying a ring through device memory takes longer than chasing it
    refused: bool = False
    repetitions: int | None = None
    work: Work = field(default_factory=Work)
    verified: bool | None = None
    code: str = ""
    conditions: dict[str, AxisValue] = field(default_factory=dict)

    def rate(self) -> float:
        """The best so far, in work per second (accesses per second for a latency)."""
        amount = self.work.flop or self.work.bytes_counted or self.work.accesses
        return amount / min(self.seconds)

    def sample(self, rule: Settled) -> Sample:
        return Sample(
            point=self.point,
            work=self.work,
            seconds=tuple(self.seconds),
            clock_hz=tuple(self.clocks),
            steal_seconds=self.steal,
            noisy=not rule.settled(self.seconds),
            verified=self.verified,
            code=self.code,
            conditions=self.conditions,
        )


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


def plan_points(
    kernels: Iterable[KernelSpec], offered: Callable[[KernelSpec], Iterable[Point | Skipped]], done: Iterable[str]
) -> tuple[list[Track], list[Skipped]]:
    """The points that the kernels offer, each once, less those whose key is ``done`` (a resumed sweep)."""
    tracks: list[Track] = []
    skipped: list[Skipped] = []
    finished = set(done)
    for spec in kernels:
        for item in offered(spec):
            if isinstance(item, Skipped):
                skipped.append(item)
            elif item.key not in finished:
                finished.add(item.key)
                tracks.append(Track(spec, item))
    return tracks, skipped


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
    active = _first_of_each(tracks)
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
            if number == 0 and plan.second_look and (curves := _curves(every)):
                active = curves
                continue
            if number <= 1:
                every += [track for track in _finer(every, plan) if track.point.key not in done]
            active = [track for track in _go_on(every, plan) if not _finished(track, plan)]
            if not active or time.monotonic() - started >= plan.budget_seconds:
                break
    except (KeyboardInterrupt, DeviceLost) as stopped:
        outcome.stopped = stopped
    outcome.samples = [track.sample(plan.rule) for track in every if track.seconds]
    missed = [track for track in every if not track.seconds and not track.refused]
    outcome.partial = outcome.stopped is not None and bool(missed)
    outcome.skipped += _not_reached(missed, outcome, plan)
    return outcome


def _first_of_each(tracks: Sequence[Track]) -> list[Track]:
    """In the given order, but one point of each ceiling before any second: a budget that ends early costs variants."""
    seen: dict[str, int] = {}
    ranked = []
    for track in tracks:
        rank = seen.get(track.point.ceiling, 0)
        seen[track.point.ceiling] = rank + 1
        series = track.point.ceiling.startswith(SERIES)
        ranked.append((bool(rank) and not series, track))
    return [track for _, track in sorted(ranked, key=lambda pair: pair[0])]


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


def _finished(track: Track, plan: Plan) -> bool:
    if track.point.ceiling.startswith("intensity.") and track.seconds and plan.costly(min(track.seconds)):
        return True  # a witness, not a ceiling: the time is better spent on its roofs
    if plan.dear(track.open_seconds) and track.seconds and not plan.costly(min(track.seconds)):
        return True  # opened once, repeated at leisure
    least = plan.patient_visits if track.point.ceiling.startswith(plan.patient) else plan.least_visits
    return track.visits >= least and plan.rule.finished(track.seconds)


def _go_on(tracks: Sequence[Track], plan: Plan) -> list[Track]:
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


def _curves(tracks: Sequence[Track]) -> list[Track]:
    return [track for track in tracks if track.point.ceiling.startswith("curve.") and track.seconds]


def _finer(tracks: Sequence[Track], plan: Plan) -> list[Track]:
    """New points of each curve where it falls, as copies of its first point with another size."""
    curves: dict[str, list[Track]] = {}
    for track in _curves(tracks):
        curves.setdefault(track.point.ceiling, []).append(track)
    added = []
    for rows in curves.values():
        sizes = [int(row.point.axes["working_set_bytes"]) for row in rows]
        for size in finer_sizes(sizes, [row.rate() for row in rows], plan.refine_points):
            model = rows[0]
            axes = {**model.point.axes, "working_set_bytes": size}
            added.append(Track(model.spec, Point(kernel=model.point.kernel, ceiling=model.point.ceiling, axes=axes)))
    return added


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
