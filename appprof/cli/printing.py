"""What the commands print: tables to stdout as wide as the terminal, what a reader should know to stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import typer

from ert_numba.terminal import NARROWEST, note, table_console

if TYPE_CHECKING:
    import msgspec

    from appprof.result import Result

MOST_IMPOSSIBLE = 5  # kernels above their roof that are told


def show(tables: Callable[[int], Sequence[Any]]) -> None:
    """Tables, made for the width of the terminal, each followed by an empty line."""
    console = table_console()
    console.width = max(console.width, NARROWEST)  # a narrower terminal wraps: squeezed tables would cut figures
    for table in tables(console.width):
        console.print(table)
        console.print()


def chosen_groups(found: Result, wanted: Sequence[str]) -> list[tuple[str, Any]]:
    """The sums that were asked for, by name, where there are any."""
    from appprof.analysis import GROUPS

    for name in wanted:
        if name not in GROUPS:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(GROUPS)}", param_hint="--by")
    return [(name, found.groups[name]) for name in wanted if found.groups.get(name)]


def first_steps(found: Result) -> None:
    """What would give back the most time."""
    from appprof.result import what_to_do_first
    from appprof.tables import first_steps as steps

    lines = list(steps(what_to_do_first(found.kernels)))
    if lines:
        note("What would give back the most:")
        for line in lines:
            note(f"  {line}")


def notes(found: Result) -> None:
    """What cannot be, what was lost, what is lacking and how to collect it."""
    from appprof.phrases import coverage_words, instruction_words

    for row in [row for row in found.kernels if row.verdict == "excess"][:MOST_IMPOSSIBLE]:
        note(" ".join(row.sentences))
    for line in (*found.notes, *found.warnings):
        note(f"Note: {line}")
    for line in found.lost:
        note(f"LOST: {line}")
    note(coverage_words(found.coverage))
    if found.command:
        note(f"To know the rest, profile again with\n  {found.command}")
    if instruction_words(found):
        note(instruction_words(found))


def print_struct(value: msgspec.Struct) -> None:
    """A record to stdout as JSON."""
    import msgspec

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
