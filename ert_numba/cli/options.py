"""The options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class BackendName(StrEnum):
    AUTO = "auto"
    CUDA = "cuda"
    CPU = "cpu"


class ProvenanceName(StrEnum):
    MINIMAL = "minimal"
    FULL = "full"


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Backend = Annotated[BackendName, typer.Option(help="What to measure; auto takes a GPU where it can.")]
Device = Annotated[int, typer.Option(help="Which GPU, as CUDA counts them.", min=0)]
Source = Annotated[Path, typer.Argument(help="A run's folder, or its file.")]
Threads = Annotated[int | None, typer.Option(help="Workers on the CPU; one a physical core by default.")]
Results = Annotated[Path, typer.Option(help="Folder with the devices' results.")]
Provenance = Annotated[ProvenanceName, typer.Option(help="full adds host name, user and command line to the files.")]
