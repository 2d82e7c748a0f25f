"""The options that several commands share, and the models of the profiles that they name."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from appprof.application import ApplicationModel


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
    """What the files hold together, one model a kind of GPU. Raises ErtError."""
    from appprof import api

    decimal = None if mark is None else {Mark.POINT: ".", Mark.COMMA: ","}[mark]
    return api.read(*files, decimal_mark=decimal, full_provenance=provenance is ProvenanceName.FULL)
