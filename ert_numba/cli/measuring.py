"""The commands that look at this machine, measure it, or fit what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ert_numba.cli.options import AsJson, Backend, BackendName, Device, Provenance, ProvenanceName, Source, Threads
from ert_numba.cli.progress import progress_listener
from ert_numba.errors import ErtError
from ert_numba.terminal import INTERRUPTED, note, print_json, show_tables

if TYPE_CHECKING:
    from ert_numba.api import Run
    from ert_numba.kernels.spec import Request

DeviceOrAll = Annotated[str, typer.Option(help="Which GPU, as CUDA counts them; all measures each, and all at once.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="A new file; standard output or a name beside by default.")
]


def sweep(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer points and repeats: some 15 s in all.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Everything there is, also what is slow.")] = False,
    precisions: Annotated[str, typer.Option(help="Only these, for example fp64,fp32.")] = "",
    levels: Annotated[str, typer.Option(help="Only these memory levels, for example L1,DRAM; no curves then.")] = "",
    sizes: Annotated[str, typer.Option(help="Working sets of the curve, per core: 32K,1M,64M.")] = "",
    threads: Threads = None,
    budget: Annotated[str, typer.Option(help="Time for measuring, for example 30s or 2min.")] = "",
    seed: Annotated[int, typer.Option(help="Of the random orders.")] = 1,
    results: Annotated[Path, typer.Option(help="Folder under which the run gets a folder of its own.")] = Path(
        "results"
    ),
    resume: Annotated[Path | None, typer.Option(help="Go on with this interrupted sweep.json.")] = None,
    backend: Backend = BackendName.AUTO,
    device: DeviceOrAll = "0",
    provenance: Provenance = ProvenanceName.MINIMAL,
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


def devices(backend: Backend = BackendName.AUTO, device: Device = 0, as_json: AsJson = False) -> None:
    """What is here: topology, caches, limits, what can be measured and what not, with the reason."""
    from ert_numba.backends import choose
    from ert_numba.device.gpu import count_gpus
    from ert_numba.kernels.spec import Request
    from ert_numba.tables import device_tables

    chosen, refusals = choose(backend.value, device)
    for refusal in refusals:
        note(f"{refusal.backend}: not measured, {refusal.reason}")
    if chosen.device.kind == "gpu" and (gpus := count_gpus()) > 1:
        note(f"GPU {device} of {gpus}: --device chooses another, sweep --device all measures each")
    if as_json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(chosen.device)).decode())
    else:
        show_tables(iter(device_tables(chosen.device, chosen.offered(Request()))))


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
