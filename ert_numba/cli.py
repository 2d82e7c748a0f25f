"""The command line: each command parses, calls one function of the API, and prints one table or path.

Numbers go to stdout, notes to stderr. Heavy imports stand inside the commands, so that ``--help`` is instant.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ert_numba.errors import ErtError
from ert_numba.terminal import INTERRUPTED, application, command_of, note, print_json, show_tables

if TYPE_CHECKING:
    from ert_numba.api import Run
    from ert_numba.judge.models import Comparison
    from ert_numba.kernels.spec import Request

app = application("Measure what a machine can do: its hierarchical roofline, with intervals.")
command = command_of(app)


class BackendName(StrEnum):
    AUTO = "auto"
    CUDA = "cuda"
    CPU = "cpu"


class PlotFormat(StrEnum):
    HTML = "html"
    VEGA_LITE = "json"
    SVG = "svg"
    PNG = "png"


class ProvenanceName(StrEnum):
    MINIMAL = "minimal"
    FULL = "full"


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Backend = Annotated[BackendName, typer.Option(help="What to measure; auto takes a GPU where it can.")]
Device = Annotated[int, typer.Option(help="Which GPU, as CUDA counts them.", min=0)]
DeviceOrAll = Annotated[str, typer.Option(help="Which GPU, as CUDA counts them; all measures each, and all at once.")]


@command
def sweep(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer points and repeats: some 15 s in all.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Everything there is, also what is slow.")] = False,
    precisions: Annotated[str, typer.Option(help="Only these, for example fp64,fp32.")] = "",
    levels: Annotated[str, typer.Option(help="Only these memory levels, for example L1,DRAM; no curves then.")] = "",
    sizes: Annotated[str, typer.Option(help="Working sets of the curve, per core: 32K,1M,64M.")] = "",
    threads: Annotated[int | None, typer.Option(help="Workers on the CPU; one a physical core by default.")] = None,
    budget: Annotated[str, typer.Option(help="Time for measuring, for example 30s or 2min.")] = "",
    seed: Annotated[int, typer.Option(help="Of the random orders.")] = 1,
    results: Annotated[Path, typer.Option(help="Folder under which the run gets a folder of its own.")] = Path(
        "results"
    ),
    resume: Annotated[Path | None, typer.Option(help="Go on with this interrupted sweep.json.")] = None,
    backend: Backend = BackendName.AUTO,
    device: DeviceOrAll = "0",
    provenance: Annotated[
        ProvenanceName, typer.Option(help="full adds host name, user and command line to the files.")
    ] = ProvenanceName.MINIMAL,
    as_json: AsJson = False,
) -> None:
    """Measure this machine: plan, measure, fit, save and draw."""
    from ert_numba import api
    from ert_numba.kernels.spec import Request
    from ert_numba.units import parse_duration, parse_size

    request = Request(
        precisions=_words(precisions),
        levels=_words(levels),
        sizes=tuple(parse_size(size) for size in _words(sizes)),
        threads=threads,
        quick=quick,
        full=full,
        seed=seed,
    )
    if resume is not None and request != Request():
        raise ErtError(
            f"to go on with {resume}", "a request beside it", "Leave the other options out: a sweep goes on as it began"
        )
    if device == "all":
        if resume is not None or backend is BackendName.CPU:
            raise typer.BadParameter("all goes with neither --resume nor --backend cpu", param_hint="--device")
        _sweep_every_gpu(request, budget, results, provenance is ProvenanceName.FULL, as_json)
        return
    with progress_listener() as listener:
        run = api.sweep(
            None if resume else request,
            backend=backend.value,
            device=_ordinal(device),
            budget_seconds=parse_duration(budget) if budget else None,
            results=results,
            resume=resume,
            full_provenance=provenance is ProvenanceName.FULL,
            listener=listener,
        )
    report(run, as_json)
    if isinstance(run.stopped, KeyboardInterrupt):
        raise typer.Exit(INTERRUPTED)
    if run.stopped is not None:
        raise run.stopped


def _gpus() -> int:
    from ert_numba.device.gpu import count_gpus

    return count_gpus()


def _ordinal(text: str) -> int:
    if not text.isdecimal():
        raise typer.BadParameter(f"{text!r} is no number from 0 and not all", param_hint="--device")
    return int(text)


def _sweep_every_gpu(request: Request, budget: str, results: Path, full_provenance: bool, as_json: bool) -> None:
    """A run for each GPU; an error of one is told when all are done."""
    from ert_numba.every_gpu.sweep import sweep_every_gpu
    from ert_numba.units import parse_duration

    with progress_listener() as listener:
        found = sweep_every_gpu(
            request,
            budget_seconds=parse_duration(budget) if budget else None,
            results=results,
            full_provenance=full_provenance,
            listener=listener,
        )
    runs = [row.run for row in found if row.run is not None]
    if as_json:
        print_json(*(run.model for run in runs))
    for row in found:
        if row.run is not None:
            note(f"GPU {row.ordinal}: {row.run.model.device.name}")
            tell(row.run) if as_json else report(row.run, as_json)
        if row.beside is not None:
            note(f"GPU {row.ordinal}: no figures beside the others: {row.beside}")
    if any(isinstance(run.stopped, KeyboardInterrupt) for run in runs):
        raise typer.Exit(INTERRUPTED)
    failed = [(row.ordinal, error) for row in found if (error := row.failure or (row.run and row.run.stopped))]
    if failed:
        text = "; ".join(f"GPU {ordinal}: {error}" for ordinal, error in failed)
        raise ErtError(f"every GPU of {len(found)}", text, "The others are saved")


def report(run: Run, as_json: bool) -> None:
    """A finished run: its tables or its document, then where the files are."""
    from ert_numba.tables import machine_tables

    if as_json:
        print_json(run.model)
    else:
        show_tables(iter(machine_tables(run.model)))
    tell(run)


def tell(run: Run) -> None:
    """The notes of a finished run, and where its files are."""
    for text in run.model.notes:
        note(f"Note: {text}")
    if run.sweep.partial:
        note(f"Partial: go on with  python -m ert_numba sweep --resume {run.files.get('sweep')}")
    for what, path in run.files.items():
        note(f"{what:9} {path}")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


@contextmanager
def progress_listener() -> Iterator[Callable[[Any], None]]:
    """A progress bar on stderr with the time left; nothing where stderr is no terminal."""
    with _bar(0.1) as draw:

        def listen(event: Any) -> None:
            if draw is not None:
                left = max(0.0, event.budget_seconds - event.seconds_spent)
                draw(event.seconds_spent / event.budget_seconds, f"round {event.round + 1}: {event.label}", left)

        yield listen


@contextmanager
def starts_listener() -> Iterator[Callable[[Any], None]]:
    """The same for process starts; a line for each of them where stderr is no terminal."""
    # Once a second: the measuring goes on in another process, beside every redrawing.
    with _bar(1.0) as draw:
        began, noted = 0.0, 0

        def listen(step: Any) -> None:
            nonlocal began, noted
            began = began or time.monotonic()  # the first start's imports say nothing of the visits
            if draw is None and step.start > noted:
                noted = step.start
                note(f"start {step.start} of {step.starts}")
            share = (step.start - 1 + step.share) / step.starts
            if draw is not None and share > 0:
                left = (time.monotonic() - began) * (1 / share - 1)
                draw(share, f"start {step.start} of {step.starts}: {step.key}", left)

        yield listen


@contextmanager
def _bar(interval_seconds: float) -> Iterator[Callable[[float, str, float], None] | None]:
    """Draws the share that is done, what is going on and the seconds left; None where stderr is no terminal.

    It redraws only when it is called, between measurements: a thread of its own would disturb them.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description:32}"), BarColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=console, auto_refresh=False, transient=True) as bar:
        task = bar.add_task("starting", total=1.0, left="")
        drawn = -interval_seconds

        def draw(share: float, description: str, left: float) -> None:
            nonlocal drawn
            if time.monotonic() - drawn < interval_seconds:
                return
            drawn = time.monotonic()
            bar.update(task, completed=min(1.0, share), description=description, left=f"{left:.0f} s left")
            bar.refresh()

        yield draw


@command
def devices(backend: Backend = BackendName.AUTO, device: Device = 0, as_json: AsJson = False) -> None:
    """What is here: topology, caches, limits, what can be measured and what not, with the reason."""
    from ert_numba.backends import choose
    from ert_numba.kernels.spec import Request
    from ert_numba.tables import device_tables

    chosen, refusals = choose(backend.value, device)
    for refusal in refusals:
        note(f"{refusal.backend}: not measured, {refusal.reason}")
    if chosen.device.kind == "gpu" and (gpus := _gpus()) > 1:
        note(f"GPU {device} of {gpus}: --device chooses another, sweep --device all measures each")
    if as_json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(chosen.device)).decode())
    else:
        show_tables(iter(device_tables(chosen.device, chosen.offered(Request()))))


@command
def launch(
    device: Device = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller working sets in device memory.")] = False,
) -> None:
    """Launch each GPU kernel once and print its name, shape and declared work as JSON: to run under a profiler."""
    import msgspec

    from ert_numba.device.gpu import probe_gpu
    from ert_numba.kernels.spec import Request
    from ert_numba.measure.launch_gpu import launch_suite

    suite = launch_suite(probe_gpu(device), device, Request(quick=quick))
    print(msgspec.json.format(msgspec.json.encode(suite)).decode())


Source = Annotated[Path, typer.Argument(help="A run's folder, or its file.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="A new file; standard output or a name beside by default.")
]


@command
def fit(source: Source, output: Output = None, as_json: AsJson = False) -> None:
    """Fit the machine model again from a sweep's samples: no device needed."""
    from ert_numba import api
    from ert_numba.store.documents import save
    from ert_numba.tables import machine_tables

    model = api.fit(source)
    if output is not None:
        note(f"machine   {save(model, output)}")
    elif as_json:
        print_json(model)
    else:
        show_tables(iter(machine_tables(model)))


@command
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


@command
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


@command
def bench(
    *,
    save: Annotated[str, typer.Option(help="Name of the run, for example driver-580; again adds starts to it.")],
    starts: Annotated[int, typer.Option(help="Process starts; a comparison needs five a side.", min=1)] = 5,
    only: Annotated[str, typer.Option(help="Only these, as pytest's -k: 'fp64 or DRAM'.")] = "",
    threads: Annotated[int | None, typer.Option(help="Workers on the CPU; one a physical core by default.")] = None,
    storage: Annotated[
        Path | None, typer.Option(help="Folder of pytest-benchmark's files; else one of the device's under results.")
    ] = None,
    results: Annotated[Path, typer.Option(help="Folder with the devices' results.")] = Path("results"),
    backend: Backend = BackendName.AUTO,
    device: Device = 0,
    provenance: Annotated[
        ProvenanceName, typer.Option(help="full adds host name, user and command line to the files.")
    ] = ProvenanceName.MINIMAL,
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


@command
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
    results: Annotated[Path, typer.Option(help="Folder with the devices' results.")] = Path("results"),
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


@command
def history(
    device: Annotated[str | None, typer.Argument(help="A device's folder under the results, or the only one.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A new file for the page.")] = None,
    results: Annotated[Path, typer.Option(help="Folder with the devices' results.")] = Path("results"),
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


@command
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
