"""FLOP of the ordinary pipes, by precision: which counters a file has for them, and their weighted sum."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from appprof.counts.record import Flop, Origin
from appprof.metric_terms import PER_CYCLE, Term, WeightedSum, find_cycles, find_term, forms_of, weighted_sum
from appprof.metrics import VECTOR_OPS, Capability, VectorOp


class VectorPlan(msgspec.Struct, frozen=True):
    """How to count one precision. ``lacking`` are the instructions that this chip has and the file does not count."""

    precision: str
    work: WeightedSum
    fused: WeightedSum
    lacking: tuple[str, ...]
    packed_half: bool
    origin: Origin

    @property
    def bound(self) -> str:
        return "lower" if self.lacking else "upper" if self.packed_half else "exact"

    def flop(self, values: Mapping[str, float], rounding: Mapping[str, float], seconds: float) -> Flop | None:
        """The work of this precision; None where it is 0."""
        total = self.work.total(values, seconds)
        if not total:
            return None
        return Flop(
            precision=self.precision,
            path="vector",
            value=total,
            fused=self.fused.total(values, seconds),
            rounding=self.work.error(rounding, values, seconds) if rounding else 0.0,
            bound=self.bound,
            origin=self.origin,
        )


def plan_vector(names: Collection[str], chip: Capability | None, has_time: bool) -> tuple[VectorPlan, ...]:
    """One plan for each precision of which the file counts anything."""
    plans = []
    for precision in dict.fromkeys(row.precision for row in VECTOR_OPS):
        found: dict[str, Term | None] = {}
        for row in VECTOR_OPS:
            if row.precision == precision:
                term = _find(row, names, has_time)
                # A chip that is not known is not asked for instructions that only some have.
                if term is not None or chip in row.chips or (chip is None and len(row.chips) > 2):
                    found[row.op] = term
        terms = tuple(term for term in found.values() if term is not None)
        if terms:
            lacking = tuple(op for op, term in found.items() if term is None)
            origin = Origin(metrics=tuple(term.metric for term in terms), form=forms_of(terms))
            fused = weighted_sum(term for term in terms if term.fused)
            plans.append(VectorPlan(precision, weighted_sum(terms), fused, lacking, precision == "fp16", origin))
    return tuple(plans)


def _find(row: VectorOp, names: Collection[str], has_time: bool) -> Term | None:
    for base in row.names:
        term = find_term(base, names, has_time, row.weight, row.fused)
        if term is not None:
            return term
    cycles = find_cycles("smsp", names, has_time)
    for name, factor in row.doubled:
        if name in names and cycles:
            return Term(name, PER_CYCLE, row.weight, cycles, factor, row.fused)
    return None
