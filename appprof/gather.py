"""From a report's launches to application models, one for each kind of GPU in it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from appprof.application import ApplicationModel, Chip, Evidence
from appprof.cells import FACTS, cells_of
from appprof.counts.columns import Columns
from appprof.counts.peaks import Peak, report_peaks
from appprof.report.profile import Device, KernelProfile, Private, Report
from ert_numba.errors import ErtError
from ert_numba.records import Provenance


def gather(report: Report, run: str, provenance: Provenance, private: bool = False) -> tuple[ApplicationModel, ...]:
    """One model a kind of GPU, the busiest first. ``private`` keeps paths and host names of the sources.

    Raises ErtError for a report without launches.
    """
    if not report.kernels:
        said = "; ".join(report.messages[:3])
        raise ErtError(
            "kernels of a profile",
            "none was profiled" + (f": {said}" if said else ""),
            "Profile again, with rights to the counters, around code that launches kernels",
        )
    chips: dict[Chip, list[KernelProfile]] = {}
    of_device: dict[int, Chip] = {}
    for kernel in report.kernels:
        chip = of_device.get(id(kernel.device))
        if chip is None:
            chip = of_device[id(kernel.device)] = chip_of(kernel.device)
        chips.setdefault(chip, []).append(kernel)
    models = [_model(chip, kernels, report, run, provenance, private) for chip, kernels in chips.items()]
    return tuple(sorted(models, key=lambda model: -model.seconds))


def chip_of(device: Device) -> Chip:
    return Chip(
        name=device.name,
        compute_capability=device.compute_capability,
        sm_count=device.sm_count,
        maximum_sm_clock_hz=device.maximum_sm_clock_hz,
        maximum_memory_clock_hz=device.maximum_memory_clock_hz,
        memory_bus_bits=device.memory_bus_bits,
        memory_bytes=device.memory_bytes,
        l2_bytes=device.l2_bytes,
    )


def _model(
    chip: Chip, kernels: Sequence[KernelProfile], report: Report, run: str, provenance: Provenance, private: bool
) -> ApplicationModel:
    columns = Columns(kernels, FACTS)
    labels = {kernel.source.label for kernel in kernels} | {
        label for kernel in kernels for label in kernel.other_sources.values()
    }
    doubts = sorted(columns.warnings, key=columns.warnings.__getitem__)
    sources = (source for source in report.sources if source.label in labels)
    return ApplicationModel(
        run=run,
        chip=chip,
        devices=tuple(sorted({kernel.device.index for kernel in kernels if kernel.device.index is not None})),
        cells=cells_of(columns),
        peaks=_peaks(kernels, chip),
        evidence=_evidence(columns),
        sources=tuple(source if private else msgspec.structs.replace(source, private=Private()) for source in sources),
        warnings=(*report.warnings, *dict.fromkeys(doubts)),
        lost=report.lost,
        messages=report.messages if private else (),
        provenance=provenance,
    )


def _peaks(kernels: Iterable[KernelProfile], chip: Chip) -> tuple[Peak, ...]:
    """The report's roofs, out of one launch of each set of metrics: a peak a cycle is the same in all of a chip."""
    best: dict[tuple[str, bool], Peak] = {}
    seen: set[tuple[str, ...]] = set()
    for kernel in kernels:
        metrics = tuple(kernel.values)
        if metrics in seen:
            continue
        seen.add(metrics)
        for peak in report_peaks(kernel.values, chip.compute_capability):
            known = best.get((peak.key, peak.sparse))
            if known is None or peak.per_cycle > known.per_cycle:
                best[peak.key, peak.sparse] = peak
    return tuple(best.values())


def _evidence(columns: Columns) -> tuple[Evidence, ...]:
    found: dict[tuple[str, tuple[str, ...], str], int] = {}
    for what, origin, launches in columns.evidence:
        key = (what, origin.metrics, origin.form)
        found[key] = found.get(key, 0) + launches
    return tuple(
        Evidence(what=what, metrics=metrics, form=form, launches=count)
        for (what, metrics, form), count in sorted(found.items())
    )
