"""The machine model of a sweep: every group of samples becomes a ceiling, knees, proof points, or a reason why not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ert_numba.catalog.memory_levels import level_order
from ert_numba.fit.between_runs import with_spread
from ert_numba.fit.curves import CurveReading, read_curve
from ert_numba.fit.evidence import Evidence, by_series, gather
from ert_numba.fit.keys import SeriesKey, is_series, parse_ceiling, parse_series
from ert_numba.fit.naming import AGREEMENT
from ert_numba.fit.neighbours import with_neighbours
from ert_numba.fit.proof import prove, refuted
from ert_numba.fit.roofs import roof
from ert_numba.fit.surroundings import surroundings
from ert_numba.fit.together import beside_alone
from ert_numba.machine import Ceiling, Knee, MachineModel
from ert_numba.records import DeviceInfo, Sweep
from ert_numba.units import capacity, si


def fit_sweep(sweep: Sweep) -> MachineModel:
    """Everything that the samples of one run support, with intervals; nothing is drawn from any other run.

    Raises ErtError for an empty sweep, for times that are not positive numbers, and for keys that cannot be read.
    """
    evidence, wrong = gather(sweep)
    groups = by_series(evidence)
    series = {key: parse_series(key) for key in groups if is_series(key)}
    highest = max((clock for point in evidence for clock in point.clock_hz), default=0.0)
    ceilings = {
        key: roof(parse_ceiling(key), points, sweep.device, highest)
        for key, points in groups.items()
        if key not in series
    }
    curves = _curves(groups, series, sweep.device)
    for row in (row for reading in curves for row in reading.ceilings):
        ceilings.setdefault(row.key, row)
    ceilings, neighbours = with_neighbours(ceilings) if sweep.device.kind == "cpu" else (ceilings, ())
    ceilings, beside = beside_alone(with_spread(ceilings, sweep.device))
    knees = tuple(knee for reading in curves for knee in reading.knees)
    proof, skipped = [], [*sweep.skipped, *wrong]
    for key, parts in series.items():
        if parts.kind == "intensity":
            points, unproven = prove(key, parts, groups[key], ceilings)
            proof += points
            skipped += unproven
    return MachineModel(
        run=sweep.run,
        device=sweep.device,
        ceilings=tuple(_ordered(ceilings, sweep.device)),
        knees=knees,
        proof=tuple(proof),
        skipped=tuple(skipped),
        partial=sweep.partial,
        notes=(
            *_part(sweep),
            *neighbours,
            *beside,
            *surroundings(ceilings.values()),
            *refuted(proof, ceilings),
            *_doubts(ceilings),
            *(note for one in curves for note in one.notes),
            *_contradictions(knees),
        ),
        settings=sweep.settings,
        provenance=sweep.provenance,
    )


def _part(sweep: Sweep) -> Iterator[str]:
    """What the figures of ``all`` cores are of, where a user asked for fewer."""
    threads, units = sweep.settings.get("threads", 0), sweep.device.units
    if sweep.device.kind == "cpu" and isinstance(threads, int) and 0 < threads < units:
        yield f"measured with {threads} of {units} cores, as asked: the figures are not those of the whole processor"


def _curves(groups: dict[str, list[Evidence]], series: dict[str, SeriesKey], device: DeviceInfo) -> list[CurveReading]:
    return [read_curve(key, parts, groups[key], device) for key, parts in series.items() if parts.kind == "curve"]


def _ordered(ceilings: dict[str, Ceiling], device: DeviceInfo) -> list[Ceiling]:
    """Compute first, then memory from the core outwards; otherwise as measured."""
    kinds = ("compute", "bandwidth", "latency", "overhead")
    return sorted(ceilings.values(), key=lambda row: (kinds.index(row.kind), level_order(device.kind, row.level or "")))


def _doubts(ceilings: dict[str, Ceiling]) -> list[str]:
    notes = [
        f"{row.key}: {si(row.value, row.unit)} is above the physical limit of {si(row.limit, row.unit)}: not a roof"
        for row in ceilings.values()
        if row.impossible and row.limit is not None
    ]
    noisy = [row.key for row in ceilings.values() if row.noisy]
    if noisy:
        notes.append(f"{len(noisy)} of {len(ceilings)} ceilings are noisy: another run may differ by more than 4 %")
    return notes


def _contradictions(knees: tuple[Knee, ...]) -> list[str]:
    """Where two curves put the end of one level at places that neither the intervals nor 15 % reconcile."""
    notes = []
    for one, other in combinations(knees, 2):
        if one.level != other.level or one.level == "unknown" or one.witness == other.witness:
            continue
        if one.ceiling.endswith(".shared") != other.ceiling.endswith(".shared"):
            continue  # lines that every SM reads lie in both halves of a GPU's L2
        apart = abs(one.capacity_bytes / other.capacity_bytes - 1) > AGREEMENT
        if apart and (one.low > other.high or other.low > one.high):
            notes.append(
                f"{one.level}: {one.witness} puts its end at {capacity(one.capacity_bytes)}, "
                f"{other.witness} at {capacity(other.capacity_bytes)}"
            )
    return notes
