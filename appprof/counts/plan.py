"""What can be counted from a set of metrics on a chip, and what cannot, with the reason: made once, used often."""

from __future__ import annotations

from collections.abc import Mapping

from appprof.counts.ask import ask_for
from appprof.counts.events import EventPlan, plan_events
from appprof.counts.evidence import Evidence
from appprof.counts.record import Absent
from appprof.counts.tensor import TensorPlan, plan_tensor
from appprof.counts.traffic import TMA_FROM, TimePlan, TrafficPlan, plan_clocks, plan_time, plan_traffic
from appprof.counts.vector import VectorPlan, plan_vector
from appprof.metrics import FACTS, SOC, VECTOR_OPS, Capability

PRECISIONS = tuple(dict.fromkeys(row.precision for row in VECTOR_OPS))
LEVELS = ("L1", "L2", "DRAM")
INTEGER = ("int8", "int4", "int1")
NO_ROUNDING: dict[str, float] = {}


class Plan:
    """How to count launches of one chip that have the same metrics. What follows from few cases is kept once made."""

    def __init__(self, chip: Capability | None, metrics: tuple[str, ...]) -> None:
        names = frozenset(metrics)
        self.chip = chip
        self.time: TimePlan | None = plan_time(names)
        timed = self.time is not None
        self.vector: tuple[VectorPlan, ...] = plan_vector(names, chip, timed)
        self.tensor: TensorPlan = plan_tensor(names, chip, timed)
        self.traffic: tuple[TrafficPlan, ...] = plan_traffic(names, timed)
        self.events: tuple[EventPlan, ...] = plan_events(names, timed)
        self.clocks = plan_clocks(names)
        facts = ((key, next((name for name in rows if name in names), "")) for key, rows in FACTS.items())
        self.facts = tuple((key, name) for key, name in facts if name)
        self.warnings = _time_warnings(self.time, names)
        self.l1_may_be_blind = (chip is None or chip >= TMA_FROM) and any(row.level == "L1" for row in self.traffic)
        self._lacking = _vector_lacking(self.vector)
        self._absent_levels = _absent_levels(chip, self.traffic)
        self._used = self._used_metrics()
        self._roundings: dict[int, tuple[Mapping[str, float], Mapping[str, float]]] = {}
        self._statuses: dict[tuple[bool, bool, str, bool, bool], tuple[str, str]] = {}
        self._absents: dict[tuple[bool, str, str, str], tuple[Absent, ...]] = {}

    def rounding_that_matters(self, rounding: Mapping[str, float]) -> Mapping[str, float]:
        """The file's rounding of the metrics that this plan uses; launches share one dictionary of them."""
        if not rounding:
            return rounding
        known = self._roundings.get(id(rounding))
        if known is None or known[0] is not rounding:
            kept = rounding if self._used & rounding.keys() else NO_ROUNDING
            known = self._roundings[id(rounding)] = (rounding, kept)
        return known[1]

    def status(self, evidence: Evidence, tensor: bool, by_volta: bool) -> tuple[str, str]:
        """Whether the sum of what was counted is the work: (``Counts.flop_status``, reason)."""
        key = (evidence.ran, evidence.idle, evidence.why, tensor, by_volta)
        if key not in self._statuses:
            self._statuses[key] = self._status(evidence, tensor, by_volta)
        return self._statuses[key]

    def absent(self, no_time: bool, status: str, reason: str, why_no_time: str = "") -> tuple[Absent, ...]:
        key = (no_time, status, reason, why_no_time)
        if key not in self._absents:
            self._absents[key] = self._absent(*key)
        return self._absents[key]

    def _status(self, evidence: Evidence, tensor: bool, by_volta: bool) -> tuple[str, str]:
        counted_all = by_volta or (self.tensor.counted and not self.tensor.lacking)
        if evidence.ran and not tensor and not counted_all:
            return "unknown", f"the tensor cores ran ({evidence.why}) and their operations were not counted"
        if not self.vector and not self.tensor.counted and not by_volta:
            return "unknown", "no FLOP counter is in the file"
        lacking = list(self._lacking)
        if not (evidence.idle or by_volta):
            tensors = [f"{precision} on tensor cores" for precision in self.tensor.lacking if precision not in INTEGER]
            lacking += tensors if self.tensor.counted else ["tensor cores"]
        return ("partial", "not counted: " + ", ".join(lacking)) if lacking else ("complete", "")

    def _absent(self, no_time: bool, status: str, reason: str, why_no_time: str) -> tuple[Absent, ...]:
        found = list(self._absent_levels)
        if no_time:
            why = why_no_time or "no counter of it is in the file"
            found.insert(0, Absent(what="time", reason=why, ask=ask_for("time", self.chip)))
        if status != "complete":
            found.append(Absent(what="flop", reason=reason, ask=ask_for("flop", self.chip)))
        return tuple(found)

    def _used_metrics(self) -> frozenset[str]:
        sums = [row.work for row in self.vector] + [row.sum for row in self.traffic]
        terms = [term for row in sums for term in row.terms] + [leaf.plus for leaf in self.tensor.leaves]
        times = (self.time.metric, self.time.divided_by or "") if self.time is not None else ()
        return frozenset((*times, *(term.metric for term in terms)))


def make_plan(chip: Capability | None, metrics: tuple[str, ...]) -> Plan:
    return Plan(chip, metrics)


def _vector_lacking(vector: tuple[VectorPlan, ...]) -> tuple[str, ...]:
    counted = {plan.precision for plan in vector}
    parts = [f"{plan.precision} ({', '.join(plan.lacking)})" for plan in vector if plan.lacking]
    return (*parts, *(precision for precision in PRECISIONS if precision not in counted))


def _absent_levels(chip: Capability | None, traffic: tuple[TrafficPlan, ...]) -> tuple[Absent, ...]:
    levels = {part.level for part in traffic}
    found = []
    for level in LEVELS:
        if level in levels:
            continue
        soc = level == "DRAM" and chip in SOC
        reason = "this chip has no counter of its memory" if soc else "no counter of its bytes is in the file"
        found.append(Absent(what=level, reason=reason, ask=() if soc else ask_for(level, chip)))
    return tuple(found)


def _time_warnings(time: TimePlan | None, names: frozenset[str]) -> tuple[str, ...]:
    if time is None or time.divided_by is None or not any("__sass_" in name for name in names):
        return ()
    return (
        "the time is made of cycles that were counted along with instructions: versions of 2020 counted the patched "
        "code's cycles, up to 155 times too many; take the time from a run without sass metrics",
    )
