"""From the metrics of launches to :class:`Counts`: one plan for all launches that have the same metrics, then sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from appprof.counts.ask import ask_for
from appprof.counts.evidence import Evidence, tensor_evidence, volta_flop
from appprof.counts.record import Absent, Counts, Flop, Quantity, Traffic
from appprof.counts.tensor import TensorPlan, plan_tensor
from appprof.counts.traffic import (
    TimePlan,
    TrafficPlan,
    plan_clocks,
    plan_time,
    plan_traffic,
    why_l1_is_blind,
)
from appprof.counts.vector import VectorPlan, plan_vector
from appprof.metrics import FACTS, SOC, VECTOR_OPS, Capability
from appprof.report.profile import KernelProfile

PRECISIONS = tuple(dict.fromkeys(row.precision for row in VECTOR_OPS))
LEVELS = ("L1", "L2", "DRAM")
INTEGER = ("int8", "int4", "int1")


class Plan(msgspec.Struct, frozen=True):
    """How to count launches of one chip that have the same metrics."""

    chip: Capability | None
    time: TimePlan | None
    vector: tuple[VectorPlan, ...]
    tensor: TensorPlan
    traffic: tuple[TrafficPlan, ...]
    clocks: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    absent: tuple[Absent, ...]
    vector_lacking: tuple[str, ...]
    warnings: tuple[str, ...]


def count_all(kernels: Iterable[KernelProfile]) -> list[Counts]:
    """The counts of each launch, in order. Pure; the work of planning is shared between launches alike."""
    plans: dict[tuple[Capability | None, tuple[str, ...]], Plan] = {}
    found = []
    for kernel in kernels:
        key = (kernel.device.compute_capability, tuple(kernel.values))
        plan = plans.get(key)
        if plan is None:
            plan = plans[key] = make_plan(*key)
        found.append(apply(plan, kernel))
    return found


def count(kernel: KernelProfile) -> Counts:
    return count_all((kernel,))[0]


def make_plan(chip: Capability | None, metrics: tuple[str, ...]) -> Plan:
    """What can be counted from these metrics, and what cannot, with the reason."""
    names = frozenset(metrics)
    time = plan_time(names)
    vector = plan_vector(names, chip, time is not None)
    counted = {plan.precision for plan in vector}
    lacking = [f"{plan.precision} ({', '.join(plan.lacking)})" for plan in vector if plan.lacking]
    lacking += [precision for precision in PRECISIONS if precision not in counted]
    traffic = plan_traffic(names, time is not None)
    facts = ((key, next((name for name in rows if name in names), "")) for key, rows in FACTS.items())
    return Plan(
        chip=chip,
        time=time,
        vector=vector,
        tensor=plan_tensor(names, chip, time is not None),
        traffic=traffic,
        clocks=plan_clocks(names),
        facts=tuple((key, name) for key, name in facts if name),
        absent=_absent_levels(chip, traffic),
        vector_lacking=tuple(lacking),
        warnings=_time_warnings(time, names),
    )


def apply(plan: Plan, kernel: KernelProfile) -> Counts:
    """The counts of one launch by its plan."""
    values, rounding = kernel.values, kernel.rounding
    time = plan.time.seconds(values, rounding) if plan.time is not None else None
    seconds = time.value if time is not None else 0.0
    flop = [found for part in plan.vector if (found := part.flop(values, rounding, seconds)) is not None]
    tensor = plan.tensor.flop(values, rounding, seconds) if plan.tensor.counted else []
    half_flop = sum(row.value for row in flop if row.precision == "fp16")
    evidence = tensor_evidence(kernel.kernel, plan.chip, values, half_flop)
    warnings = list(plan.warnings)
    volta = None if plan.tensor.counted else volta_flop(kernel.kernel, plan.chip, values)
    if volta is not None:
        tensor = [volta[0]] if volta[0].value else []
        warnings += filter(None, (volta[1],))
    status, reason = _status(plan, tensor, evidence, volta is not None)
    return Counts(
        seconds=time,
        flop=(*flop, *tensor),
        flop_status=status,
        flop_reason=reason,
        traffic=_traffic(plan, values, rounding, seconds),
        clocks_hz={unit: values[name] for unit, name in plan.clocks},
        facts={key: values[name] for key, name in plan.facts},
        absent=_absent(plan, kernel, time, status, reason),
        warnings=tuple(warnings),
    )


def _traffic(
    plan: Plan, values: Mapping[str, float], rounding: Mapping[str, float], seconds: float
) -> tuple[Traffic, ...]:
    rows = tuple(part.traffic(values, rounding, seconds) for part in plan.traffic)
    if not any(row.level == "L1" for row in rows):
        return rows
    withheld = why_l1_is_blind(plan.chip, values, rows)
    if not withheld:
        return rows
    return tuple(msgspec.structs.replace(row, withheld=withheld) if row.level == "L1" else row for row in rows)


def _status(plan: Plan, tensor: list[Flop], evidence: Evidence, by_volta: bool) -> tuple[str, str]:
    """Whether the sum of what was counted is the work: (status, reason)."""
    counted_all = by_volta or (plan.tensor.counted and not plan.tensor.lacking)
    if evidence.ran and not tensor and not counted_all:
        return "unknown", f"the tensor cores ran ({evidence.why}) and their operations were not counted"
    if not plan.vector and not plan.tensor.counted and not by_volta:
        return "unknown", "no FLOP counter is in the file"
    lacking = list(plan.vector_lacking)
    if not (evidence.idle or by_volta):
        tensors = [f"{precision} on tensor cores" for precision in plan.tensor.lacking if precision not in INTEGER]
        lacking += tensors if plan.tensor.counted else ["tensor cores"]
    return ("partial", "not counted: " + ", ".join(lacking)) if lacking else ("complete", "")


def _absent_levels(chip: Capability | None, traffic: tuple[TrafficPlan, ...]) -> tuple[Absent, ...]:
    levels = {part.definition.partition(".")[0] for part in traffic}
    found = []
    for level in LEVELS:
        if level in levels:
            continue
        soc = level == "DRAM" and chip in SOC
        reason = "this chip has no counter of its memory" if soc else "no counter of its bytes is in the file"
        found.append(Absent(what=level, reason=reason, ask=() if soc else ask_for(level, chip)))
    return tuple(found)


def _absent(plan: Plan, kernel: KernelProfile, time: Quantity | None, status: str, reason: str) -> tuple[Absent, ...]:
    if time is not None and status == "complete":
        return plan.absent
    found = list(plan.absent)
    if time is None:
        why = _named_reason(kernel, ("gpu__time_duration.sum",)) or "no counter of it is in the file"
        found.insert(0, Absent(what="time", reason=why, ask=ask_for("time", plan.chip)))
    if status != "complete":
        found.append(Absent(what="flop", reason=reason, ask=ask_for("flop", plan.chip)))
    return tuple(found)


def _named_reason(kernel: KernelProfile, metrics: tuple[str, ...]) -> str:
    return next((f"{name}: {kernel.missing[name]}" for name in metrics if name in kernel.missing), "")


def _time_warnings(time: TimePlan | None, names: frozenset[str]) -> tuple[str, ...]:
    if time is None or time.divided_by is None or not any("__sass_" in name for name in names):
        return ()
    return (
        "the time is made of cycles that were counted along with instructions: versions of 2020 counted the patched "
        "code's cycles, up to 155 times too many; take the time from a run without sass metrics",
    )
