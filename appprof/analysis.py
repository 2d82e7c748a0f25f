"""The judgement of one profile: every kernel diagnosed, groups, coverage, roofs, what to collect next. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from appprof.application import ApplicationModel, Cell
from appprof.collect_command import command_for, instruction_command
from appprof.diagnosis import Diagnosis, diagnose
from appprof.grouping import distinct, summarise, summary
from appprof.metrics import BYTE_DEFINITIONS
from appprof.modules import check_pattern
from appprof.remarks import Told
from appprof.roofline import Placed, place, roofs_used
from appprof.roofs import Roof, RoofBook, make_roofs
from appprof.summary import Summary
from appprof.words import unique_short_names
from ert_numba.machine import MachineModel

LEVELS = ("L1", "L2", "DRAM")
GROUPS = ("range", "module-kind", "module", "precision", "stream", "process", "rank", "device")


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of the summed kernel time: of launches all of whose FLOP are known, some, and bytes by level."""

    flop: float
    flop_partial: float
    bytes: dict[str, float]
    timed_launches: int
    launches: int


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """``kernels`` and each of ``groups`` are the longest in time first; ``whole`` is everything as one.

    ``roofs`` are at the mean clocks of the run; ``used_roofs`` the keys of those that kernels stand under. ``command``
    collects what is lacking; None where nothing is, or the chip has no counter for it. ``instruction_roofs`` are those
    of the instruction roofline, the issue of instructions first, empty where no instructions were counted;
    ``instruction_command`` collects what that view lacks.
    """

    model: ApplicationModel
    book: RoofBook
    whole: Summary
    kernels: tuple[Diagnosis, ...]
    groups: dict[str, tuple[Summary, ...]]
    coverage: Coverage
    roofs: tuple[Roof, ...]
    used_roofs: tuple[str, ...]
    command: str | None
    instruction_roofs: tuple[Roof, ...]
    instruction_command: str | None
    notes: tuple[str, ...]


def analyse(
    model: ApplicationModel, machine: MachineModel | None = None, force: bool = False, module_pattern: str = ""
) -> Analysis:
    """Raises NotComparable where the machine model is of another GPU and ``force`` is not set.

    ``module_pattern``: which NVTX ranges name modules, in the place of the rules of ``appprof.modules``.
    """
    book = make_roofs(model, machine, force)
    placed = place(model, book)
    whole = summary("everything", placed)
    kernels = summarise(placed, "kernel")
    used = roofs_used(placed)
    roofs = all_roofs(book, whole.clocks_hz, placed)
    told = Told(
        launch_seconds=book.launch_seconds[0] if book.launch_seconds else None,
        measured={row.key: row.value for row in machine.ceilings if not row.impossible} if machine else {},
        path_roofs={roof.key: roof.value for roof in roofs},
    )
    short = unique_short_names(row.name for row in kernels)
    total = model.seconds
    return Analysis(
        model=model,
        book=book,
        whole=whole,
        kernels=tuple(diagnose(row, short[row.name], total, told) for row in kernels),
        groups=_groups(placed, check_pattern(module_pattern)),
        coverage=cover(model.cells),
        roofs=roofs,
        used_roofs=tuple(used),
        command=command_for((gap for cell in model.cells for gap in cell.absent), model.chip.compute_capability),
        instruction_roofs=_instruction_roofs(book, whole),
        instruction_command=instruction_command(
            {event for cell in model.cells for event in cell.events}, model.chip.compute_capability
        ),
        notes=(*book.notes, *_conditions(model)),
    )


def _groups(placed: Sequence[Placed], pattern: str) -> dict[str, tuple[Summary, ...]]:
    """Each way to group that tells launches apart; modules of one kind only where they are fewer than modules."""
    counts = {by: distinct((row.cell for row in placed), by, pattern) for by in GROUPS}
    if counts["module-kind"] == counts["module"]:
        counts["module-kind"] = 0
    return {by: summarise(placed, by, pattern) for by in GROUPS if by == "precision" or counts[by] > 1}


def cover(cells: Sequence[Cell]) -> Coverage:
    total = sum(cell.seconds or 0.0 for cell in cells)

    def share(rows: Iterable[Cell]) -> float:
        return sum(cell.seconds or 0.0 for cell in rows) / total if total else 0.0

    return Coverage(
        flop=share(cell for cell in cells if cell.flop_status == "complete"),
        flop_partial=share(cell for cell in cells if cell.flop_status == "partial"),
        bytes={level: share(cell for cell in cells if any(row.level == level and not row.withheld
                                                          for row in cell.traffic)) for level in LEVELS},
        timed_launches=sum(cell.launches for cell in cells if cell.seconds is not None),
        launches=sum(cell.launches for cell in cells),
    )  # fmt: skip


def all_roofs(book: RoofBook, clocks: dict[str, float], placed: Iterable[Placed]) -> tuple[Roof, ...]:
    """Every roof that this profile could have, at its mean clocks: levels that are drawn, and all compute paths."""
    drawn = dict.fromkeys(name for row in placed for name in row.drawn)
    paths = dict.fromkeys((flop.precision, flop.path, flop.sparse) for row in placed for flop in row.cell.flop)
    paths |= dict.fromkeys(
        (row.precision or "", "vector" if row.path == "vector.fma" else row.path or "", row.sparse)
        for row in (book.machine.roofs("compute") if book.machine else ())
        if row.path in ("vector.fma", "tensor.mma.sync", "tensor.wgmma", "tensor.tcgen05")
    )
    for key in (peak.key for peak in book.reported.values() if not peak.sparse and peak.unit == "sm"):
        precision, _, path = key.partition(".")
        paths.setdefault((precision, path, False))
    found = [book.bandwidth(name, clocks) for name in drawn]
    found += [book.compute(*path, clocks) for path in paths]
    return tuple(roof for roof in found if roof is not None)


def _instruction_roofs(book: RoofBook, whole: Summary) -> tuple[Roof, ...]:
    """The peak of the schedulers, then the bandwidth of each level that has a point."""
    if whole.instructions is None:
        return ()
    levels = (row.definition for row in whole.instructions.points if row.definition in BYTE_DEFINITIONS)
    found = (book.issue(whole.clocks_hz), *(book.bandwidth(name, whole.clocks_hz) for name in levels))
    return tuple(roof for roof in found if roof is not None)


def _conditions(model: ApplicationModel) -> list[str]:
    """How the profile was taken, where that changes how its numbers read."""
    lines = []
    controls = {source.clock_control for source in model.sources if source.clock_control}
    if controls - {"none"}:
        lines.append(
            f"The profiler held the clocks ({', '.join(sorted(controls))}): times are not those of a free run."
        )
    caches = {source.cache_control for source in model.sources if source.cache_control}
    if caches == {"none"}:
        lines.append("Caches were not flushed between passes: bytes of device memory may be those of warm caches.")
    modes = {source.replay_mode for source in model.sources if source.replay_mode}
    if "application" in modes:
        lines.append(
            "Application replay: counters of kernels that wait for others describe the replay, not the program."
        )
    return lines
