"""The command line: each command parses, calls one function, and prints one table or path.

Numbers go to stdout, notes to stderr. Heavy imports stand inside the commands, so that ``--help`` is instant.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ert_numba.errors import GateFailed
from ert_numba.terminal import application, command_of, note, print_json, table_console

if TYPE_CHECKING:
    import msgspec

    from appprof.application import ApplicationModel
    from appprof.result import Result

app = application("From a profile that you have to a hierarchical roofline that says what to do.")
command = command_of(app)
MOST_IMPOSSIBLE = 5


class Format(StrEnum):
    HTML = "html"
    VEGA_LITE = "json"
    SVG = "svg"
    PNG = "png"
    CSV = "csv"
    MARKDOWN = "md"


class ProvenanceName(StrEnum):
    MINIMAL = "minimal"
    FULL = "full"


class Mark(StrEnum):
    POINT = "point"
    COMMA = "comma"


Files = Annotated[list[Path], typer.Argument(help="Reports (.ncu-rep), CSV exports, or a saved application model.")]
Machine = Annotated[Path | None, typer.Option(help="A machine.json, or the folder of its run.")]
Gpu = Annotated[int | None, typer.Option(help="Which kind of GPU, where a profile holds several; from 1.", min=1)]
DecimalMark = Annotated[Mark | None, typer.Option(help="Of a CSV whose own numbers do not decide it.")]
Provenance = Annotated[ProvenanceName, typer.Option(help="full keeps host names, paths and command lines.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the data as JSON instead of tables.")]
Force = Annotated[bool, typer.Option("--force", help="Take roofs of another GPU, marked as such.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="A new file.")]


def models_of(
    files: Sequence[Path], mark: Mark | None, provenance: ProvenanceName = ProvenanceName.MINIMAL
) -> tuple[ApplicationModel, ...]:
    from appprof import api

    decimal = None if mark is None else {Mark.POINT: ".", Mark.COMMA: ","}[mark]
    return api.read(*files, decimal_mark=decimal, full_provenance=provenance is ProvenanceName.FULL)


@command
def read(
    files: Files,
    *,
    output: Output = None,
    gpu: Gpu = None,
    decimal_mark: DecimalMark = None,
    provenance: Provenance = ProvenanceName.MINIMAL,
    as_json: AsJson = False,
) -> None:
    """What a profile holds: FLOP by precision, bytes by level, time; what is lacking, and how to collect it."""
    from appprof import api
    from appprof.tables import work_table

    model = api.pick(models_of(files, decimal_mark, provenance), gpu)
    if output is not None:
        note(f"application {api.save(model, output)}")
    if as_json:
        print_json(model)
        return
    found = api.make_result(api.analyse(model))
    show(lambda width: [work_table(found, width)])
    notes(found)


@command
def roofline(
    files: Files,
    *,
    machine: Machine = None,
    output: Output = None,
    form: Annotated[Format | None, typer.Option("--format", help="By the output's ending where not given.")] = None,
    by: Annotated[
        str,
        typer.Option(help="Also a table by range, module, module-kind, precision, stream, process, rank or device."),
    ] = "",
    module_pattern: Annotated[
        str, typer.Option(help="A regular expression for NVTX ranges that name modules, its group 1 the path.")
    ] = "",
    force: Force = False,
    gpu: Gpu = None,
    decimal_mark: DecimalMark = None,
    provenance: Provenance = ProvenanceName.MINIMAL,
    dark: Annotated[bool, typer.Option("--dark", help="Dark colours (svg and png; pages follow the reader).")] = False,
    as_json: AsJson = False,
) -> None:
    """Every kernel under its roofs: what bounds it, how far from that, what it would give back; one offline page."""
    from appprof.report.csv_parts import begin

    is_read_beside = begin(files)
    from appprof import api
    from appprof.drawing import prepare, write

    ending = form.value if form is not None else output.suffix.lstrip(".").lower() if output is not None else ""
    if not as_json:
        prepare(ending, is_read_beside=is_read_beside)
    known = api.load_machine(machine) if machine is not None else None
    model = api.pick(models_of(files, decimal_mark, provenance), gpu)
    analysis = api.analyse(model, known, force, module_pattern)
    found = api.make_result(analysis)
    if as_json:
        print_struct(found)
    elif ending not in ("csv", "md") or output is not None:
        from appprof.phrases import why_one_group
        from appprof.tables import groups_table, kernels_table

        wanted = [name.strip() for name in by.split(",") if name.strip()]
        show(lambda width: [kernels_table(found, width), *(groups_table(name, rows, width) for name, rows in
                                                          chosen_groups(found, wanted))])  # fmt: skip
        for name in wanted:
            if not found.groups.get(name):
                note(f"By {name}: {why_one_group(name)}.")
        first_steps(found)
        notes(found)
    written = write(analysis, found, output, ending, dark=dark, choose_name=not as_json)
    note(f"{written.ending:11} {written.path}") if written.path else print(written.text, end="")


@command
def diff(
    a: Annotated[Path, typer.Argument(help="A report, CSV, or saved application model: before.")],
    b: Annotated[Path, typer.Argument(help="Another one: after.")],
    *,
    machine: Machine = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Also a new page (.html) or Markdown.")] = None,
    fail_if: Annotated[
        list[str] | None, typer.Option("--fail-if", help="Exit with 1 where this holds: 'time > +5%'.")
    ] = None,
    force: Force = False,
    decimal_mark: DecimalMark = None,
    as_json: AsJson = False,
) -> None:
    """Two profiles: which kernels changed, appeared and vanished; time, FLOP, bytes and bounds; gates."""
    from appprof import api
    from appprof.gates import check_gates, parse_gate

    gates = [parse_gate(text) for text in fail_if or ()]
    known = api.load_machine(machine) if machine is not None else None
    before, after = (api.analyse(api.pick(models_of([path], decimal_mark), None), known, force) for path in (a, b))
    found = api.compare(before, after, force)
    if as_json:
        print_struct(found)
    else:
        from appprof.tables import diff_tables

        show(lambda width: list(diff_tables(found, width)))
    if output is not None:
        from appprof.drawing import write_diff

        note(f"diff        {write_diff(found, output)}")
    for line in (*found.differences, *found.notes):
        note(f"Note: {line}")
    for line in check_gates(found, gates):
        note(f"Holds: not {line}")


@command
def verify(
    *,
    machine: Annotated[Path, typer.Option(help="The GPU's machine.json, or the folder of its run.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A new file; verdict.json beside the machine model by default."),
    ] = None,
    device: Annotated[int, typer.Option(help="Which GPU, as CUDA counts them.", min=0)] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller working sets in device memory.")] = False,
    as_json: AsJson = False,
) -> None:
    """Count the suite's GPU kernels with Nsight Compute: do they do the work that they declare? Exit code 1 if not."""
    from appprof import api

    found = api.verify_machine(machine, output, device, quick)
    if as_json:
        print_json(found)
    else:
        from appprof.tables import verdict_tables

        show(lambda width: list(verdict_tables(found, width)))
    note(f"verdict     {output or api.verdict_path(machine)}")
    if output is None:
        note(f"page        {api.verdict_path(machine).with_name(api.PAGE)}, drawn again with it")
    if found.failed:
        rows = "; ".join(f"{row.ceiling} ({row.what})" for row in found.failed)
        raise GateFailed(
            "kernels that do the work they declare",
            f"{len(found.failed)} of {len(found.checks)} checks fail: {rows}",
            "Do not trust these ceilings; see the notes of the table",
        )


def chosen_groups(found: Result, wanted: Sequence[str]) -> list[tuple[str, Any]]:
    from appprof.analysis import GROUPS

    for name in wanted:
        if name not in GROUPS:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(GROUPS)}", param_hint="--by")
    return [(name, found.groups[name]) for name in wanted if found.groups.get(name)]


def first_steps(found: Result) -> None:
    from appprof.result import what_to_do_first
    from appprof.tables import first_steps as steps

    lines = list(steps(what_to_do_first(found.kernels)))
    if lines:
        note("What would give back the most:")
        for line in lines:
            note(f"  {line}")


def notes(found: Result) -> None:
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


def show(tables: Callable[[int], Sequence[Any]]) -> None:
    console = table_console()
    for table in tables(console.width):
        console.print(table)
        console.print()


def print_struct(value: msgspec.Struct) -> None:
    import msgspec

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
