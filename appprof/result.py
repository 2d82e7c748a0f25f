"""The judgement as flat rows: what tables, CSV, JSON and pages show, so that all of them show the same. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from appprof.analysis import Analysis, Coverage
from appprof.application import Evidence
from appprof.diagnosis import NEAR, Diagnosis
from appprof.instructions import Instructions
from appprof.roofline import NO_FLOOR
from appprof.roofs import Roof
from appprof.summary import Summary, lacking


class KernelRow(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel. A number that is not known is None; ``absent`` has the reason, by quantity.

    ``bytes`` are by definition; ``withheld`` those that must not be drawn, with the reason. ``intensity`` is by level,
    of the definition in ``drawn``. ``roof_share`` is at the clock of the run, ``roof_share_at_maximum`` at the clock
    of the roof's own measurement or the device's highest. ``instructions`` is None where none were counted.
    """

    rank: int
    kernel: str
    short: str
    launches: int
    shapes: int
    seconds: float | None
    time_share: float | None
    shortest_seconds: float | None
    longest_seconds: float | None
    flop_status: str
    flop: float | None
    flop_by_path: dict[str, float]
    flop_per_second: float | None
    bytes: dict[str, float]
    withheld: dict[str, str]
    intensity: dict[str, float]
    drawn: dict[str, str]
    shares: dict[str, float]
    verdict: str
    bound: str | None
    excess: str
    roof: float | None
    roof_source: str | None
    roof_share: float | None
    roof_share_at_maximum: float | None
    headroom: float | None
    gives_back_seconds: float | None
    gives_back_share: float | None
    confidence: str
    doubts: tuple[str, ...]
    sentences: tuple[str, ...]
    absent: dict[str, str]
    instructions: Instructions | None
    sm_clock_hz: float | None
    ranges: tuple[str, ...]


class GroupRow(msgspec.Struct, frozen=True, kw_only=True):
    """One range, stream, precision, process, rank or device: sums over its launches."""

    name: str
    launches: int
    kernels: int
    seconds: float | None
    time_share: float | None
    flop: float | None
    flop_per_second: float | None
    bytes: dict[str, float]
    intensity: dict[str, float]
    floor_seconds: float
    gives_back_seconds: float | None
    bound: str | None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that ``roofline`` found: what ``--json`` writes."""

    schema: str = "appprof.roofline"
    version: int = 1
    run: str
    gpu: str
    machine_run: str | None
    kernel_seconds: float
    launches: int
    coverage: Coverage
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    lost: tuple[str, ...]
    kernels: tuple[KernelRow, ...]
    groups: dict[str, tuple[GroupRow, ...]]
    roofs: tuple[Roof, ...]
    evidence: tuple[Evidence, ...]
    command: str | None
    instruction_roofs: tuple[Roof, ...]
    instruction_command: str | None


def make_result(analysis: Analysis) -> Result:
    """Flat and complete; kernels in the order of their time."""
    total = analysis.model.seconds
    machine = analysis.book.machine
    return Result(
        run=analysis.model.run,
        gpu=analysis.model.chip.label,
        machine_run=machine.run if machine is not None else None,
        kernel_seconds=total,
        launches=analysis.model.launches,
        coverage=analysis.coverage,
        notes=analysis.notes,
        warnings=analysis.model.warnings,
        lost=analysis.model.lost,
        kernels=tuple(_kernel_row(rank, row, total) for rank, row in enumerate(analysis.kernels, 1)),
        groups={by: tuple(_group_row(row, total) for row in rows) for by, rows in analysis.groups.items()},
        roofs=analysis.roofs,
        evidence=analysis.model.evidence,
        command=analysis.command,
        instruction_roofs=analysis.instruction_roofs,
        instruction_command=analysis.instruction_command,
    )


# What gives back less than this part of the run is not worth a sentence, unless nothing gives back more.
WORTH = 0.005


def what_to_do_first(rows: Iterable[KernelRow], most: int = 5) -> tuple[KernelRow, ...]:
    """The kernels that would give back the most time at their roofs, most first."""
    gains = [row for row in rows if row.gives_back_seconds is not None and row.verdict != "unknown"]
    gains.sort(key=lambda row: -(row.gives_back_seconds or 0.0))
    worth = [row for row in gains[:most] if (row.gives_back_share or 0.0) >= WORTH]
    return tuple(worth or gains[:1])


def _kernel_row(rank: int, found: Diagnosis, total: float) -> KernelRow:
    row, nearest = found.summary, found.nearest
    return KernelRow(
        rank=rank,
        kernel=row.name,
        short=found.short,
        launches=row.launches,
        shapes=row.shapes,
        seconds=row.seconds,
        time_share=_part(row.seconds, total),
        shortest_seconds=row.shortest_seconds,
        longest_seconds=row.longest_seconds,
        flop_status=row.flop_status,
        flop=row.total_flop,
        flop_by_path={flop.key: flop.value for flop in row.flop},
        flop_per_second=row.rate,
        bytes={traffic.definition: traffic.value for traffic in row.traffic},
        withheld={traffic.definition: traffic.withheld for traffic in row.traffic if traffic.withheld},
        intensity={point.level: point.intensity for point in row.points},
        drawn={point.level: point.definition for point in row.points},
        shares={resource.key: resource.share for resource in row.resources},
        verdict=found.verdict,
        bound=found.bound,
        excess=found.excess,
        roof=nearest.roof if nearest is not None else None,
        roof_source=nearest.roofs[0].source if nearest is not None and nearest.roofs else None,
        roof_share=nearest.share if nearest is not None else None,
        roof_share_at_maximum=nearest.share_at_maximum if nearest is not None else None,
        headroom=found.headroom,
        gives_back_seconds=found.gives_back_seconds,
        gives_back_share=_part(found.gives_back_seconds, total),
        confidence=found.confidence,
        doubts=found.doubts,
        sentences=found.sentences,
        instructions=row.instructions,
        absent={gap.what: gap.reason for gap in row.absent},
        sm_clock_hz=row.clocks_hz.get("sm"),
        ranges=row.ranges,
    )


def _group_row(row: Summary, total: float) -> GroupRow:
    resources = [resource for resource in row.resources if resource.kind not in NO_FLOOR]
    excess = any(resource.excess for resource in row.resources)
    judged = row.judged_seconds and not excess
    # What was not counted may be what the rest of the time went to.
    explained = not lacking(row) or row.floor_seconds >= NEAR * row.judged_seconds
    return GroupRow(
        name=row.name,
        launches=row.launches,
        kernels=row.kernels,
        seconds=row.seconds,
        time_share=_part(row.seconds, total),
        flop=row.total_flop,
        flop_per_second=row.rate,
        bytes={traffic.definition: traffic.value for traffic in row.traffic},
        intensity={point.level: point.intensity for point in row.points},
        floor_seconds=row.floor_seconds,
        gives_back_seconds=row.judged_seconds - row.floor_seconds if judged and explained else None,
        bound=resources[0].key if resources and judged else None,
    )


def _part(value: float | None, total: float) -> float | None:
    return None if value is None or not total else value / total
