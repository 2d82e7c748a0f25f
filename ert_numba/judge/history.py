"""What each run said of each ceiling, small enough to keep for ever: one document a run, series made of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ert_numba.catalog.memory_levels import MEMORY_LEVELS
from ert_numba.catalog.precisions import PRECISIONS
from ert_numba.judge.evidence import SuiteRun, driver_of, evidence_of
from ert_numba.judge.rows import level
from ert_numba.machine import MachineModel
from ert_numba.records import Provenance

BENCHMARKS, SWEEP = "benchmarks", "sweep"
_CATALOGUED = [*(row.key for row in PRECISIONS), *(row.key for row in MEMORY_LEVELS)]
_CARD = "uuid hash"  # of `device.gpu`


class Past(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One ceiling, or one user's kernel, in one run, in ``unit``.

    ``low``..``high`` is the range of the process starts of benchmarks, the 95 % interval of a sweep.
    """

    kind: str
    unit: str
    value: float
    low: float
    high: float


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run: ``source`` is "benchmarks" (of so many process ``starts``) or "sweep"."""

    schema: str = "ert_numba.history"
    version: int = 1
    run: str
    source: str
    device: str
    created: str  # ISO 8601, UTC, of its first start
    driver: str | None = None
    card: str | None = None  # a hash that tells cards of one product apart
    versions: dict[str, str] = {}
    starts: int = 1
    ceilings: dict[str, Past] = {}


class Dot(msgspec.Struct, frozen=True, kw_only=True):
    """One ceiling in one run, with what the run was."""

    entry: HistoryEntry
    past: Past


Series = dict[str, tuple[Dot, ...]]
"""By key, in the order of time; one source and one unit in each."""


def entry_of_run(run: SuiteRun) -> HistoryEntry:
    """Of benchmarks that this suite made. Raises NotComparable where the run's starts are unlike."""
    evidence = evidence_of(run)
    info = run.info
    ceilings = {}
    for row in evidence.values():
        if row.said is not None:
            found = level(row)
            past = Past(kind=row.said.kind, unit=row.unit, value=found.value, low=found.low, high=found.high)
            ceilings[row.said.key] = past
    return HistoryEntry(
        run=run.name,
        source=BENCHMARKS,
        device=run.device_name,
        created=min(start.created for start in run.starts),
        driver=driver_of(info) if info else None,
        card=run.device.properties.get(_CARD) if run.device else None,
        versions=info.provenance.versions if info else {},
        starts=len(run.starts),
        ceilings=ceilings,
    )


def entry_of_model(model: MachineModel) -> HistoryEntry:
    """Of a sweep's machine model; what lies above its physical limit is no ceiling."""
    return HistoryEntry(
        run=model.run,
        source=SWEEP,
        device=model.device.name,
        created=model.provenance.created,
        driver=_driver(model.device.properties, model.provenance),
        card=model.device.properties.get(_CARD),
        versions=model.provenance.versions,
        ceilings={
            row.key: Past(kind=row.kind, unit=row.unit, value=row.value, low=row.low, high=row.high)
            for row in model.ceilings
            if not row.impossible
        },
    )


def _driver(properties: dict[str, str], provenance: Provenance) -> str | None:
    stated = properties | provenance.versions
    return stated.get("driver") or stated.get("CUDA driver")


def series_of(entries: Iterable[HistoryEntry], source: str) -> Series:
    """The runs of one source, ceiling by ceiling: benchmarks and sweeps read a ceiling differently, and never mix.

    Of a run that was recorded again, with more starts, the fullest record counts.
    """
    fullest: dict[tuple[str, str], HistoryEntry] = {}
    for entry in entries:
        key = (entry.run, entry.created)
        if entry.source == source and (key not in fullest or entry.starts > fullest[key].starts):
            fullest[key] = entry
    found: dict[str, list[Dot]] = {}
    for entry in sorted(fullest.values(), key=lambda entry: entry.created):
        for name, past in entry.ceilings.items():
            found.setdefault(name, []).append(Dot(entry=entry, past=past))
    return {name: _of_one_unit(found[name]) for name in sorted(found, key=_place)}


def _place(key: str) -> tuple[int, str]:
    """As the catalogue lists precisions and levels: a file keeps its ceilings in the order of the alphabet."""
    first = key.partition("@")[0].partition(".")[0]
    return (_CATALOGUED.index(first) if first in _CATALOGUED else len(_CATALOGUED)), key


def _of_one_unit(dots: list[Dot]) -> tuple[Dot, ...]:
    """Those in the unit of the last one: a benchmark that changed its meaning begins anew."""
    return tuple(dot for dot in dots if dot.past.unit == dots[-1].past.unit)


def changed(before: Past, after: Past) -> float:
    """Of the value, after / before - 1: a rate that grew is better, a time that grew is worse."""
    return after.value / before.value - 1
