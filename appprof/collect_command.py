"""The exact ``ncu`` command that collects what a profile lacks, for the chip in hand. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Sequence

from appprof.counts.ask import ask_for, ask_for_all, byte_metrics
from appprof.counts.events import ask_for_events
from appprof.counts.record import Absent
from appprof.metrics import SOC, Capability
from appprof.metrics_events import EVENT_COUNTERS, TRANSACTIONS

PROGRAM = ("your_program", "and", "its", "arguments")


def collect_command(
    chip: Capability | None, metrics: Iterable[str] = (), program: Sequence[str] = PROGRAM, report: str = "profile"
) -> str:
    """One line for a shell. ``metrics`` default to everything that a hierarchical roofline needs on ``chip``.

    Clocks are left as they run, since the roofs are measured so; the report keeps every digit, unlike a CSV.
    """
    names = tuple(dict.fromkeys(metrics)) or ask_for_all(chip)
    words = ["ncu", "--clock-control", "none", "--metrics", ",".join(names), "-o", report, *program]
    return shlex.join(words)


def command_for(absent: Iterable[Absent], chip: Capability | None) -> str | None:
    """The command that fills these gaps; None where the chip has no counter that would."""
    names = [name for row in absent for name in row.ask]
    if not names:
        return None
    # A time belongs to the run it was taken in: it is collected again with whatever is counted.
    return collect_command(chip, ("gpu__time_duration.sum", *names))


def instruction_command(known: Collection[str], chip: Capability | None) -> str | None:
    """The command that collects an instruction roofline; None where every event of it is ``known`` already."""
    if {row.event for row in EVENT_COUNTERS} <= set(known):
        return None
    levels = [name for name in TRANSACTIONS if not (name == "DRAM" and chip in SOC)]
    moved = (metric for name in levels for metric in byte_metrics(name, chip))
    return collect_command(chip, (*ask_for("time", chip), *ask_for_events(), *moved))
