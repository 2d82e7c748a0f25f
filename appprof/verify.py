"""Declared work against counted work, kernel by kernel: the checks of a verdict. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from appprof.counts.record import Counts
from appprof.counts.resolve import count
from appprof.metrics import Capability
from appprof.report.profile import KernelProfile, Report
from appprof.witnesses import HIT_RATE, HIT_TOLERANCE, Witness, without_kernel, witness_of
from ert_numba.counted import HIT_SHARE, Check
from ert_numba.errors import ErtError, NotComparable
from ert_numba.machine import MachineModel
from ert_numba.records import Skipped, Work

NOT_PROFILED = "the launch is not in the report"


class Launched(msgspec.Struct, frozen=True, kw_only=True):
    """One launch as ``python -m ert_numba launch`` prints it."""

    name: str
    ceiling: str
    blocks: int
    threads: int
    work: Work


class LaunchedSuite(msgspec.Struct, frozen=True, kw_only=True):
    """All launches of one run, in order."""

    device: str
    launches: tuple[Launched, ...]
    skipped: tuple[Skipped, ...] = ()


def capability_of(machine: MachineModel) -> Capability:
    """The machine's compute capability. Raises ErtError for a machine that is no NVIDIA GPU."""
    device = machine.device
    digits = device.architecture.removeprefix("sm_")
    if device.kind != "gpu" or not digits.isdigit() or len(digits) < 2:
        raise ErtError(
            "to verify the kernels of a machine model",
            f"it is of {device.name} ({device.architecture}), and Nsight Compute counts on NVIDIA GPUs",
            "Give the machine model of a GPU with --machine",
        )
    return int(digits[:-1]), int(digits[-1])


def parse_suite(text: str) -> LaunchedSuite:
    """What the launched program printed, among whatever a profiler adds. Raises ErtError."""
    lines = text.splitlines()
    try:
        first = lines.index("{")
        last = len(lines) - lines[::-1].index("}")
        return msgspec.json.decode("\n".join(lines[first:last]), type=LaunchedSuite)
    except (ValueError, msgspec.DecodeError) as error:  # a ValidationError is a DecodeError
        raise ErtError(
            "the declared work of the suite",
            f"what `python -m ert_numba launch` printed is no list of launches: {error}",
            "Run it alone to see what it says",
        ) from error


def judge(suite: LaunchedSuite, report: Report, machine: MachineModel) -> tuple[tuple[Check, ...], tuple[Skipped, ...]]:
    """Every launch beside its counters; what cannot be compared with the reason, unmeasured ceilings included.

    Raises NotComparable where the profile is of another GPU than the machine model.
    """
    chip = capability_of(machine)
    _same_gpu(report, suite, machine)
    checks: list[Check] = []
    skipped = list(suite.skipped)
    for launch, kernel in zip(suite.launches, _profiles(suite.launches, report.kernels), strict=True):
        witness = witness_of(launch.ceiling, chip)
        if isinstance(witness, str):
            skipped.append(Skipped(what=launch.ceiling, reason=witness))
        else:
            checks += _checks(launch, kernel, witness)
    launched = {row.ceiling for row in suite.launches}
    absent = (row.key for row in machine.ceilings if row.key not in launched)
    skipped += [Skipped(what=key, reason=without_kernel(key)) for key in absent]
    return tuple(checks), tuple(skipped)


def _profiles(launches: Sequence[Launched], kernels: Iterable[KernelProfile]) -> list[KernelProfile | None]:
    """The profile of each launch: the next one of its name and shape; None where there is none left."""
    left: dict[tuple[str, int, int], list[KernelProfile]] = {}
    for kernel in kernels:
        shape = (math.prod(kernel.grid or ()), math.prod(kernel.block or ()))
        # A report's plain name is that of the Python function; the entry, which the suite names, is the mangled one.
        left.setdefault((kernel.mangled or kernel.kernel, *shape), []).append(kernel)
    found: list[KernelProfile | None] = []
    for row in launches:
        rest = left.get((row.name, row.blocks, row.threads))
        found.append(rest.pop(0) if rest else None)
    if any(left.values()):
        extra = next(rows[0] for rows in left.values() if rows)
        raise ErtError(
            "one profile of each launch of the suite",
            f"{sum(map(len, left.values()))} more were profiled, {extra.mangled or extra.kernel} among them",
            "Let nothing but the suite run in the profiled program",
        )
    return found


def _checks(launch: Launched, kernel: KernelProfile | None, witness: Witness) -> Iterator[Check]:
    declared = getattr(launch.work, witness.declared) * witness.each
    counts = count(kernel) if kernel is not None else None
    counted, counter, doubt = _counted(kernel, counts, witness)
    error = None if counted is None or not declared else counted / declared - 1
    yield _check(launch, witness.what, counter, (declared, counted, error), witness.tolerance, doubt or witness.note)
    if witness.past_l1:
        share = None if kernel is None else kernel.values.get(HIT_RATE)
        share = None if share is None else share / 100
        lacking = _why_missing(kernel, (HIT_RATE,))
        yield _check(launch, HIT_SHARE, HIT_RATE, (0.0, share, share), HIT_TOLERANCE, lacking)


def _check(
    launch: Launched,
    what: str,
    counter: str,
    amounts: tuple[float, float | None, float | None],
    tolerance: float,
    note: str,
) -> Check:
    declared, counted, error = amounts
    passed = error is not None and abs(error) <= tolerance
    return Check(
        ceiling=launch.ceiling, kernel=launch.name, what=what, counter=counter, declared=declared, counted=counted,
        error=error, tolerance=tolerance, passed=passed, note=note,
    )  # fmt: skip


def _counted(kernel: KernelProfile | None, counts: Counts | None, witness: Witness) -> tuple[float | None, str, str]:
    """(amount, what counted it, why there is no amount)."""
    names = [name for name, _ in witness.metrics]
    if kernel is None or counts is None:
        return None, witness.flop or witness.definition or " + ".join(names), NOT_PROFILED
    if witness.flop:
        return _counted_flop(counts, witness.flop, witness.sparse)
    if witness.definition:
        traffic = counts.bytes_at(witness.definition)
        if traffic is None or traffic.bound != "exact":
            return None, witness.definition, "the report lacks its counter"
        return traffic.value, f"{witness.definition}: {' + '.join(traffic.origin.metrics)}", ""
    lacking = _why_missing(kernel, names)
    amount = None if lacking else sum(kernel.values[name] * weight for name, weight in witness.metrics)
    return amount, " + ".join(names), lacking


def _counted_flop(counts: Counts, key: str, sparse: bool) -> tuple[float | None, str, str]:
    rows = [row for row in counts.flop if row.key == key and row.sparse is sparse]
    if not rows:  # 0 is known to be 0 only where every path was counted
        complete = counts.flop_status == "complete"
        return (0.0, key, "none was counted") if complete else (None, key, f"none was found; {counts.flop_reason}")
    used = dict.fromkeys(name for row in rows for name in row.origin.metrics)
    return sum(row.value for row in rows), " + ".join(used), ""


def _why_missing(kernel: KernelProfile | None, names: Sequence[str]) -> str:
    if kernel is None:
        return NOT_PROFILED
    missing: Mapping[str, str] = kernel.missing
    return "; ".join(f"{name}: {missing.get(name, 'not in the report')}" for name in names if name not in kernel.values)


def _same_gpu(report: Report, suite: LaunchedSuite, machine: MachineModel) -> None:
    device = machine.device
    found = [(suite.device, device.name)]
    for profiled in {id(row.device): row.device for row in report.kernels}.values():
        found += [(profiled.architecture, device.architecture), (profiled.sm_count, device.units)]  # type: ignore[list-item]
    unlike = dict.fromkeys(f"{a} beside {b}" for a, b in found if a is not None and a != b)
    if unlike:
        raise NotComparable(
            "counters of the GPU of the machine model",
            f"the profiled one is another: {'; '.join(unlike)}",
            "Choose it with --device, or give its own machine model with --machine",
        )
