"""From the metrics of launches to :class:`Counts`: one plan for all launches that have the same metrics, then sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from appprof.counts.evidence import tensor_evidence, volta_flop
from appprof.counts.plan import Plan, make_plan
from appprof.counts.record import Absent, Counts, Flop, Quantity, Traffic
from appprof.counts.traffic import why_l1_is_blind
from appprof.metrics import Capability
from appprof.report.profile import KernelProfile

NO_FACTS: dict[str, float] = {}


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


def apply(plan: Plan, kernel: KernelProfile) -> Counts:
    """The counts of one launch by its plan."""
    values = kernel.values
    rounding = plan.rounding_that_matters(kernel.rounding)
    time = plan.time.seconds(values, rounding) if plan.time is not None else None
    seconds = time.value if time is not None else 0.0
    flop: list[Flop] = []
    half_flop = 0.0
    for part in plan.vector:
        found = part.flop(values, rounding, seconds)
        if found is not None:
            flop.append(found)
            if part.precision == "fp16":
                half_flop = found.value
    tensor = plan.tensor.flop(values, rounding, seconds) if plan.tensor.leaves else []
    warnings = plan.warnings
    volta = None if plan.tensor.leaves else volta_flop(kernel.kernel, plan.chip, values)
    if volta is not None:
        tensor = [volta[0]] if volta[0].value else []
        warnings = (*warnings, volta[1]) if volta[1] else warnings
    evidence = tensor_evidence(kernel.kernel, plan.chip, values, half_flop)
    status, reason = plan.status(evidence, bool(tensor), volta is not None)
    return Counts(
        seconds=time,
        flop=(*flop, *tensor),
        flop_status=status,
        flop_reason=reason,
        traffic=_traffic(plan, values, rounding, seconds),
        clocks_hz={unit: values[name] for unit, name in plan.clocks},
        facts={key: values[name] for key, name in plan.facts} if plan.facts else NO_FACTS,
        events=tuple([part.event(values, seconds) for part in plan.events]) if plan.events else (),
        absent=_absent(plan, kernel, time, status, reason),
        warnings=warnings,
    )


def _traffic(
    plan: Plan, values: Mapping[str, float], rounding: Mapping[str, float], seconds: float
) -> tuple[Traffic, ...]:
    rows = tuple([part.traffic(values, rounding, seconds) for part in plan.traffic])
    if not plan.l1_may_be_blind:
        return rows
    withheld = why_l1_is_blind(values, rows)
    if not withheld:
        return rows
    return tuple(msgspec.structs.replace(row, withheld=withheld) if row.level == "L1" else row for row in rows)


def _absent(plan: Plan, kernel: KernelProfile, time: Quantity | None, status: str, reason: str) -> tuple[Absent, ...]:
    if time is not None or not kernel.missing:
        return plan.absent(time is None, status, reason)
    why = next((f"{name}: {why}" for name, why in kernel.missing.items() if name.startswith("gpu__time_duration")), "")
    return plan.absent(True, status, reason, why)
