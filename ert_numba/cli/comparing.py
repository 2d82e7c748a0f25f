"""The commands around a change: benchmarks before and after it, their verdict, the history of a device."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ert_numba.cli.options import AsJson, Backend, BackendName, Device, Provenance, ProvenanceName, Results, Threads
from ert_numba.cli.progress import starts_listener
from ert_numba.errors import ErtError
from ert_numba.terminal import INTERRUPTED, note, print_json, show_tables

if TYPE_CHECKING:
    from ert_numba.judge.models import Comparison


def bench(
    *,
    save: Annotated[str, typer.Option(help="Name of the run, for example driver-580; again adds starts to it.")],
    starts: Annotated[int, typer.Option(help="Process starts; a comparison needs five a side.", min=1)] = 5,
    only: Annotated[str, typer.Option(help="Only these, as pytest's -k: 'fp64 or DRAM'.")] = "",
    threads: Threads = None,
    storage: Annotated[
        Path | None, typer.Option(help="Folder of pytest-benchmark's files; else one of the device's under results.")
    ] = None,
    results: Results = Path("results"),
    backend: Backend = BackendName.AUTO,
    device: Device = 0,
    provenance: Provenance = ProvenanceName.MINIMAL,
    as_json: AsJson = False,
) -> None:
    """Benchmark every kernel in fresh process starts, to compare drivers: what `pytest --pyargs` does, repeated.

    Ctrl-C keeps the starts that are whole.
    """
    from ert_numba.bench_tables import show_repeated
    from ert_numba.benchmarks.repeated import Asked, run_starts

    asked = Asked(
        save=save,
        starts=starts,
        backend=backend.value,
        device=device,
        threads=threads,
        only=only,
        results=results,
        storage=storage,
        full_provenance=provenance is ProvenanceName.FULL,
    )
    with starts_listener() as listener:
        done = run_starts(asked, listener)
    show_repeated(done, as_json)
    raise typer.Exit(INTERRUPTED if done.interrupted else ErtError.exit_code if done.failed else 0)


def compare(
    a: Annotated[str, typer.Argument(help="A run: its name, its folder, a benchmark file, a sweep or machine model.")],
    b: Annotated[str, typer.Argument(help="The other one, judged against the first.")],
    *,
    force: Annotated[bool, typer.Option("--force", help="Compare devices of different names.")] = False,
    threshold: Annotated[
        float | None,
        typer.Option(help="Percent of the time from which a change counts; pyproject.toml names single ones."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 for what is unknown or missing, too.")] = False,
    every: Annotated[bool, typer.Option("--all", help="List what is the same, too.")] = False,
    output: Annotated[
        list[Path] | None, typer.Option("--output", "-o", help="New files: .html, .md or .json; may be repeated.")
    ] = None,
    annotate: Annotated[bool, typer.Option("--annotate", help="Print GitHub annotations, too.")] = False,
    storage: Annotated[Path | None, typer.Option(help="Folder of pytest-benchmark's files; else all results.")] = None,
    results: Results = Path("results"),
    as_json: AsJson = False,
) -> None:
    """Judge run B against run A: what is slower, what is faster, by more than the noise between process starts.

    Exits with 1 where a benchmark is slower. Two sweeps, of one run each, are listed side by side and not judged.
    """
    if annotate and as_json:
        raise typer.BadParameter("annotations among JSON are no JSON: leave one out", param_hint="--annotate")
    from ert_numba import comparing
    from ert_numba.judge.annotations import to_annotations
    from ert_numba.judge.judgement import Judgement, exit_code
    from ert_numba.verdict_tables import show_judgement

    thresholds = comparing.thresholds_for(threshold)
    found = comparing.compare(a, b, thresholds=thresholds, storage=storage, results=results, force=force)
    for path in output or ():
        note(f"written   {comparing.write(found, path)}")
    if not isinstance(found, Judgement):
        _show_models(found, as_json)
        return
    if as_json:
        print_json(found)
    else:
        show_judgement(found, every)
    for line in to_annotations(found) if annotate else ():
        print(line)
    raise typer.Exit(exit_code(found, strict))


def _show_models(comparison: Comparison, as_json: bool) -> None:
    from ert_numba.tables import comparison_tables

    if as_json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(comparison)).decode())
        return
    for text in comparison.notes:
        note(f"Note: {text}")
    show_tables(iter(comparison_tables(comparison)))


def history(
    device: Annotated[str | None, typer.Argument(help="A device's folder under the results, or the only one.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A new file for the page.")] = None,
    results: Results = Path("results"),
    as_json: AsJson = False,
) -> None:
    """Record a device's runs in results/<device>/history, and show each ceiling over time and driver."""
    from ert_numba.history_tables import history_tables
    from ert_numba.recording import device_folder, record, write_page

    found = record(device_folder(device, results))
    for text in found.notes:
        note(f"Note: {text}")
    for path in found.added:
        note(f"recorded  {path}")
    if output is not None:
        note(f"page      {write_page(found, output)}")
    if as_json:
        print_json(*found.entries)
    else:
        show_tables(iter(history_tables(found)))
