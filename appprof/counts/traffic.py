"""Bytes by level, each by a definition that is named with it, and the times and clocks that rates need."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import msgspec

from appprof.counts.record import Origin, Quantity, Traffic
from appprof.metric_terms import Term, WeightedSum, find_term, forms_of, weighted_sum
from appprof.metrics import BYTE_COUNTERS, BYTE_DEFINITIONS, CLOCKS, TIMES, TMA_BYTES, ByteCounter, Capability
from ert_numba.units import si

if TYPE_CHECKING:
    from appprof.metric_terms import Array

TMA_FROM: Capability = (9, 0)
TMA_SUMS = tuple(f"{name}.sum" for name in TMA_BYTES)
# Without TMA, what L2 gives the SMs passes L1: an L1 count below this share of it has missed most of the traffic.
L1_SHARE_OF_L2 = 0.5


class TrafficPlan(msgspec.Struct, frozen=True):
    level: str
    definition: str
    sum: WeightedSum
    bound: str
    origin: Origin

    def traffic(self, values: Mapping[str, float], rounding: Mapping[str, float], seconds: float) -> Traffic:
        return Traffic(
            level=self.level,
            definition=self.definition,
            value=self.sum.total(values, seconds),
            rounding=self.sum.error(rounding, values, seconds) if rounding else 0.0,
            bound=self.bound,
            origin=self.origin,
        )


class TimePlan(msgspec.Struct, frozen=True):
    metric: str
    divided_by: str | None
    origin: Origin

    def seconds(self, values: Mapping[str, float], rounding: Mapping[str, float]) -> Quantity | None:
        divisor = 1.0 if self.divided_by is None else values[self.divided_by]
        if not divisor or not values[self.metric]:
            return None
        value = values[self.metric] / divisor
        error = rounding.get(self.metric, 0.0) / divisor
        if self.divided_by is not None:
            error += value * rounding.get(self.divided_by, 0.0) / divisor
        return Quantity(value=value, rounding=error, origin=self.origin)

    def columns(self, values: Mapping[str, Array], rounding: Mapping[str, float]) -> tuple[Array, Array, Array]:
        """:meth:`seconds` of many launches: which have a time, the times and their rounding, 0 where there is none."""
        own = values[self.metric]
        divisor = own * 0.0 + 1.0 if self.divided_by is None else values[self.divided_by]
        known = (divisor != 0) & (own != 0)
        divisor = divisor + ~known  # nothing is divided by 0
        value = own / divisor * known
        error = rounding.get(self.metric, 0.0) / divisor
        if self.divided_by is not None:
            error += value * rounding.get(self.divided_by, 0.0) / divisor
        return known, value, error * known


def plan_time(names: Collection[str]) -> TimePlan | None:
    for metric, divisor in TIMES:
        if metric in names and (divisor is None or divisor in names):
            used = (metric,) if divisor is None else (metric, divisor)
            return TimePlan(metric, divisor, Origin(metrics=used, form="sum" if divisor is None else "cycles / clock"))
    return None


def plan_clocks(names: Collection[str]) -> tuple[tuple[str, str], ...]:
    """(unit, metric of its clock) for every unit whose clock the file has."""
    found = ((unit, next((name for name in metrics if name in names), "")) for unit, metrics in CLOCKS.items())
    return tuple((unit, metric) for unit, metric in found if metric)


def plan_traffic(names: Collection[str], has_time: bool) -> tuple[TrafficPlan, ...]:
    """One plan for each definition that the file has anything of: the first row that is whole, else a half."""
    plans = []
    for definition in BYTE_DEFINITIONS:
        rows = [row for row in BYTE_COUNTERS if row.definition == definition]
        found = [(row, _terms(row, names, has_time)) for row in rows]
        whole = next((terms for row, terms in found if len(terms) == len(row.names)), None)
        terms = whole or next((terms for _, terms in found if terms), ())
        if terms:
            origin = Origin(metrics=tuple(term.metric for term in terms), form=forms_of(terms))
            level = BYTE_DEFINITIONS[definition].level
            plans.append(TrafficPlan(level, definition, weighted_sum(terms), "exact" if whole else "lower", origin))
    return tuple(plans)


def _terms(row: ByteCounter, names: Collection[str], has_time: bool) -> tuple[Term, ...]:
    found = (find_term(name, names, has_time, row.weight) for name in row.names)
    return tuple(term for term in found if term is not None)


def why_l1_is_blind(values: Mapping[str, float], rows: Collection[Traffic]) -> str:
    """The reason why L1's count must not be drawn on a chip that has a TMA; empty where it may be."""
    tma = [values[name] for name in TMA_SUMS if name in values]
    if sum(tma) > 0:
        return f"the tensor memory accelerator moved {si(sum(tma), 'B')} past the L1 counters"
    if len(tma) == len(TMA_SUMS):
        return ""
    seen = {row.definition: row.value for row in rows}
    l1, l2 = seen.get("L1.tag", seen.get("L1.wb")), seen.get("L2.sm", seen.get("L2.in"))
    if l1 is not None and l2 is not None and l1 < L1_SHARE_OF_L2 * l2:
        return (
            f"L1 counted {si(l1, 'B')} and L2 gave the SMs {si(l2, 'B')}: most of the traffic passed the L1 counters "
            "by, as that of the tensor memory accelerator does"
        )
    return ""


def blind_l1(values: Mapping[str, Array], seen: Mapping[str, Array], none: Array) -> Array:
    """Of which launches :func:`why_l1_is_blind` has a reason; ``seen`` is bytes by definition, ``none`` all False."""
    tma = [values[name] for name in TMA_SUMS if name in values]
    passed = sum(tma) > none
    l1, l2 = seen.get("L1.tag", seen.get("L1.wb")), seen.get("L2.sm", seen.get("L2.in"))
    if len(tma) == len(TMA_SUMS) or l1 is None or l2 is None:
        return passed
    return passed | (l1 < L1_SHARE_OF_L2 * l2)
