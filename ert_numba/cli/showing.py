"""The commands that show a stored result, or read one of another tool; no device is needed."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ert_numba.cli.options import AsJson, Source
from ert_numba.terminal import note, print_json, show_tables


class PlotFormat(StrEnum):
    HTML = "html"
    VEGA_LITE = "json"
    SVG = "svg"
    PNG = "png"


def show(source: Source, as_json: AsJson = False) -> None:
    """Print a machine model as tables."""
    from ert_numba import api
    from ert_numba.tables import machine_tables

    model = api.load(source)
    if as_json:
        print_json(model)
        return
    note(f"{model.device.name}, run {model.run}, {model.provenance.created}")
    show_tables(iter(machine_tables(model)))
    for text in model.notes:
        note(f"Note: {text}")


def plot(
    source: Source,
    output: Annotated[Path, typer.Option("--output", "-o", help="A new file.")],
    form: Annotated[PlotFormat | None, typer.Option("--format", help="By the file's ending where not given.")] = None,
    curves: Annotated[
        bool, typer.Option("--curves", help="Bandwidth against working set instead of the roofline.")
    ] = False,
    dark: Annotated[bool, typer.Option("--dark", help="Dark colours (svg and png; pages follow the reader).")] = False,
) -> None:
    """Draw a machine model: an offline page, Vega-Lite JSON, SVG or PNG."""
    from ert_numba.plotting import plot_file

    ending = form.value if form is not None else output.suffix.lstrip(".").lower()
    note(f"{ending:9} {plot_file(source, output, ending, curves=curves, dark=dark)}")


def import_ert(
    source: Annotated[Path, typer.Argument(help="ERT's roofline.json.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A new file for the machine model.")],
    name: Annotated[str, typer.Option(help="Name of the device, to compare with runs of it.")] = "imported from ERT",
) -> None:
    """Read a result of the Empirical Roofline Toolkit; its values stay marked unverified."""
    from ert_numba.store.documents import save
    from ert_numba.store.import_ert import import_ert as read_ert

    model = read_ert(source, name)
    for text in model.notes:
        note(f"Note: {text}")
    note(f"machine   {save(model, output)}")
