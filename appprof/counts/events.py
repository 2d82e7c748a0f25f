"""Warp instructions, the threads that took part, what they asked of memory: sums, each with its origin."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from appprof.counts.record import Event, Origin
from appprof.metric_terms import RATIO, Term, WeightedSum, find_term, forms_of, weighted_sum
from appprof.metrics_events import EVENT_COUNTERS, EventCounter


class EventPlan(msgspec.Struct, frozen=True):
    key: str
    sum: WeightedSum
    origin: Origin

    def event(self, values: Mapping[str, float], seconds: float) -> Event:
        return Event(key=self.key, value=self.sum.total(values, seconds), origin=self.origin)


def plan_events(names: Collection[str], has_time: bool) -> tuple[EventPlan, ...]:
    """One plan for each event of which the file has all counters; of a pair, half would be no smaller truth."""
    found: dict[str, EventPlan] = {}
    for row in EVENT_COUNTERS:
        terms = _ratio(row, names) if row.ratio_of else tuple(find_term(name, names, has_time) for name in row.names)
        whole = tuple(term for term in terms if term is not None)
        if row.event not in found and len(whole) == len(row.names):
            used = (*(term.metric for term in whole), *(term.cycles for term in whole if term.form == RATIO))
            origin = Origin(metrics=used, form=forms_of(whole))
            found[row.event] = EventPlan(row.event, weighted_sum(whole), origin)
    return tuple(found.values())


def _ratio(row: EventCounter, names: Collection[str]) -> tuple[Term | None, ...]:
    """An average of one event for each of another, brought back to a count by that one's sum."""
    counts = (f"{name}.sum" for base in EVENT_COUNTERS if base.event == row.ratio_of for name in base.names)
    events = next((name for name in counts if name in names), "")
    metric = row.names[0] + RATIO
    return (Term(metric, RATIO, cycles=events) if events and metric in names else None,)


def ask_for_events() -> tuple[str, ...]:
    """Full names of the preferred counter of each event, each once."""
    rows: dict[str, EventCounter] = {}
    for row in EVENT_COUNTERS:
        rows.setdefault(row.event, row)
    return tuple(f"{name}.sum" for row in rows.values() for name in row.names)
