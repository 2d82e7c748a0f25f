"""The command that counts the work of the suite's own kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from appprof.cli.options import AsJson
from appprof.cli.printing import show
from ert_numba.errors import GateFailed
from ert_numba.terminal import note, print_json


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
