"""One counter in whatever form a file has it: a sum, a rate times the time, or a value per cycle times the cycles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

# The same arithmetic serves one launch and, as arrays, many.
Number = TypeVar("Number", float, "Array")

TIME = "gpu__time_duration.sum"
SUM, RATE, PER_CYCLE, RATIO = ".sum", ".sum.per_second", ".sum.per_cycle_elapsed", ".ratio"
FORM_WORDS = {SUM: "sum", RATE: "rate x time", PER_CYCLE: "per cycle x cycles", RATIO: "ratio x instructions"}


class Term(msgspec.Struct, frozen=True, gc=False):
    """``metric`` is the full name; ``cycles`` what it is an average over: cycles (PER_CYCLE), events (RATIO).

    ``divide`` undoes a factor that the metric has inside. ``whole``: the count is a whole number of events.
    """

    metric: str
    form: str
    weight: float = 1.0
    cycles: str = ""
    divide: float = 1.0
    fused: bool = False

    def count(self, values: Mapping[str, Number], seconds: Number) -> Number:
        """The number of events, before the weight: exact where the file is, since events are whole."""
        value = values[self.metric] / self.divide
        if self.form == SUM:
            return value
        return _whole(value * self._factor(values, seconds))

    def error(self, rounding: Mapping[str, float], values: Mapping[str, Number], seconds: Number) -> Number | float:
        """How far the count may be off by the file's decimals, those of the time and the clock included, weighted."""
        own = rounding.get(self.metric, 0.0)
        if self.form == SUM:
            return own / self.divide * self.weight
        error = own * self._factor(values, seconds)
        error = error + abs(values[self.metric]) * self._factor_error(rounding, values, seconds)
        return error / self.divide * self.weight

    def _factor_error(
        self, rounding: Mapping[str, float], values: Mapping[str, Number], seconds: Number
    ) -> Number | float:
        time = rounding.get(TIME, 0.0)
        if self.form == RATE:
            return time
        own = rounding.get(self.cycles, 0.0)
        if not self.cycles.endswith(".per_second"):
            return own
        return own * seconds + values[self.cycles] * time

    def _factor(self, values: Mapping[str, Number], seconds: Number) -> Number:
        if self.form == RATE:
            return seconds
        cycles = values[self.cycles]
        return cycles * seconds if self.cycles.endswith(".per_second") else cycles


def added(parts: Iterable[Any]) -> Any:
    """Their sum, added one by one: ``sum`` itself adds plain numbers, and no arrays, with compensation since 3.12."""
    total: Any = 0.0
    for part in parts:
        total = total + part
    return total


def _whole(events: Number) -> Number:
    return float(round(events)) if isinstance(events, float) else events.round()


class WeightedSum(msgspec.Struct, frozen=True, gc=False):
    """Several counters added up. ``plain`` are (metric, weight) where all are sums already, which most files have."""

    terms: tuple[Term, ...]
    plain: tuple[tuple[str, float], ...] = ()

    def total(self, values: Mapping[str, Number], seconds: Number) -> Number:
        if self.plain:
            total: Number = added(values[metric] * weight for metric, weight in self.plain)
        else:
            total = added(term.count(values, seconds) * term.weight for term in self.terms)
        return total

    def error(self, rounding: Mapping[str, float], values: Mapping[str, Number], seconds: Number) -> Number | float:
        error: Number | float = added(term.error(rounding, values, seconds) for term in self.terms)
        return error


def weighted_sum(terms: Iterable[Term]) -> WeightedSum:
    kept = tuple(terms)
    simple = all(term.form == SUM and term.divide == 1.0 for term in kept)
    return WeightedSum(kept, tuple((term.metric, term.weight) for term in kept) if simple else ())


def unit_of_counter(base: str) -> str:
    """The hardware unit that a counter belongs to: ``lts`` of ``derived__lts__lts2xbar_bytes``."""
    return base.removeprefix("derived__").split("__", 1)[0]


def find_term(
    base: str, names: Collection[str], has_time: bool, weight: float = 1.0, fused: bool = False
) -> Term | None:
    """The counter in the best form that the file has; None where it has none that can be used."""
    if base + SUM in names:
        return Term(base + SUM, SUM, weight, fused=fused)
    if base + RATE in names and has_time:
        return Term(base + RATE, RATE, weight, fused=fused)
    cycles = find_cycles(unit_of_counter(base), names, has_time)
    if base + PER_CYCLE in names and cycles:
        return Term(base + PER_CYCLE, PER_CYCLE, weight, cycles, fused=fused)
    return None


def find_cycles(unit: str, names: Collection[str], has_time: bool) -> str:
    """The metric that gives a unit's cycles: their average, never their maximum, which is up to 0.3 % too high."""
    average = f"{unit}__cycles_elapsed.avg"
    if average in names:
        return average
    rate = f"{average}.per_second"
    return rate if rate in names and has_time else ""


def forms_of(terms: Collection[Term]) -> str:
    return ", ".join(dict.fromkeys(FORM_WORDS[term.form] for term in terms))
