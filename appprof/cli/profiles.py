"""The commands on profiles: what one holds, where its kernels stand, what another changed."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from appprof.cli.options import (
    AsJson,
    DecimalMark,
    Files,
    Force,
    Gpu,
    Machine,
    Output,
    Provenance,
    ProvenanceName,
    models_of,
)
from appprof.cli.printing import chosen_groups, first_steps, notes, print_struct, show
from ert_numba.terminal import note, print_json


class Format(StrEnum):
    HTML = "html"
    VEGA_LITE = "json"
    SVG = "svg"
    PNG = "png"
    CSV = "csv"
    MARKDOWN = "md"


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
    instructions: Annotated[
        bool,
        typer.Option(
            "--instructions",
            help="The instruction roofline in the FLOP one's place (json, svg and png; pages hold both).",
        ),
    ] = False,
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
    written = write(analysis, found, output, ending, instructions=instructions, dark=dark, choose_name=not as_json)
    note(f"{written.ending:11} {written.path}") if written.path else print(written.text, end="")


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
