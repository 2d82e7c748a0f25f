"""The stages as functions: what the commands do, for Python programs and notebooks."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ert_numba.errors import DeviceLost, ErtError
from ert_numba.kernels.spec import Request
from ert_numba.machine import MachineModel
from ert_numba.records import DeviceInfo, Sweep

RESULTS = Path("results")


@dataclass(frozen=True)
class Run:
    """One sweep with what was made of it; ``files`` by what they are (sweep, machine, page, roofline, curves).

    ``stopped``: what ended the measuring early, Ctrl-C or the loss of the device.
    """

    sweep: Sweep
    model: MachineModel
    folder: Path | None
    files: dict[str, Path]
    stopped: KeyboardInterrupt | DeviceLost | None = None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return chart(self.model)._repr_mimebundle_(include, exclude)


def sweep(
    request: Request | None = None,
    *,
    backend: str = "auto",
    device: int = 0,
    budget_seconds: float | None = None,
    results: Path | str | None = RESULTS,
    resume: Path | str | None = None,
    full_provenance: bool = False,
    listener: Callable[[Any], None] | None = None,
) -> Run:
    """Measure a machine: plan, measure, fit, save and draw.

    ``request`` says what to measure (all by default), ``budget_seconds`` for how long, ``results`` where a folder for
    the run is made (None: nothing is saved). ``resume`` goes on with an interrupted sweep. ``listener`` is called with
    ``measure.sweep.Progress``. Ctrl-C ends the measuring, and so does the loss of the device; what was measured is
    saved, marked partial. Raises ErtError.
    """
    from ert_numba.charts.vega import prepare_vega
    from ert_numba.files import check_writable
    from ert_numba.sampling import measured

    if results is not None:
        check_writable(Path(results))
    done, stopped = measured(
        request,
        backend=backend,
        device=device,
        budget_seconds=budget_seconds,
        before=load_sweep(resume) if resume is not None else None,
        full_provenance=full_provenance,
        listener=listener,
        begun=lambda device: prepare_vega() if results is not None and _leaves_cores(device) else None,
    )
    if results is None:
        return Run(done, fit(done), None, {}, stopped)
    prepare_vega()  # beside the fit at the latest; beside the measuring of a CPU it would have disturbed that
    return replace(save(done, Path(results)), stopped=stopped)


def _leaves_cores(device: DeviceInfo) -> bool:
    """Whether a process on another core disturbs no figure: a GPU is timed by itself, its launches by one core."""
    return device.kind == "gpu" and (os.cpu_count() or 1) >= 4


def fit(what: Sweep | Path | str) -> MachineModel:
    """The machine model of a sweep or of its file. Raises ErtError."""
    from ert_numba.fit.ceilings import fit_sweep

    return fit_sweep(what if isinstance(what, Sweep) else load_sweep(what))


def load_sweep(path: Path | str) -> Sweep:
    """A sweep from its file (or the folder of its run). Raises ErtError."""
    from ert_numba.store.documents import load
    from ert_numba.store.run_folders import SWEEP, document_in

    return load(document_in(Path(path), SWEEP, "a sweep"), Sweep)


def load(path: Path | str) -> MachineModel:
    """A machine model from its file (or the folder of its run). Raises ErtError."""
    from ert_numba.store.documents import load as load_document
    from ert_numba.store.run_folders import MACHINE, document_in

    return load_document(document_in(Path(path), MACHINE, "a machine model"), MachineModel)


def chart(model: MachineModel) -> Any:
    """The hierarchical roofline of a machine, as an altair chart: shows in notebooks."""
    from ert_numba.charts.machine_chart import machine_chart

    return machine_chart(model)


def save(done: Sweep, results: Path | str) -> Run:
    """The sweep, its machine model and the pictures, in a new folder of the run's own. Raises ErtError.

    The samples are saved first, so that nothing that fails after them can lose them; where the folder takes no more,
    they go to the system's folder for temporary files.
    """
    import msgspec

    from ert_numba.files import run_folder
    from ert_numba.store.documents import save as save_document

    try:
        name = "quick" if done.settings.get("quick") else done.device.kind
        folder = run_folder(Path(results), done.device.slug, name)
        done = msgspec.structs.replace(done, run=folder.name)
        samples = save_document(done, folder / "sweep.json")
    except ErtError as error:
        raise _kept(error, _rescue(done)) from error
    try:
        model = fit(done)
        files = {"sweep": samples, "machine": save_document(model, folder / "machine.json")}
        # A sweep that was ended early may hold nothing that a roofline shows.
        drawn = any(row.kind in ("compute", "bandwidth") and not row.impossible for row in model.ceilings)
        return Run(done, model, folder, files | (draw(model, done, folder) if drawn or not done.partial else {}))
    except ErtError as error:
        raise _kept(error, samples) from error


def _rescue(done: Sweep) -> Path | None:
    """The samples in a new folder for temporary files; None where that is not to be had either."""
    import tempfile

    from ert_numba.store.documents import save as save_document

    try:
        return save_document(done, Path(tempfile.mkdtemp(prefix="ert_numba-")) / "sweep.json")
    except (ErtError, OSError):
        return None


def _kept(error: ErtError, samples: Path | None) -> ErtError:
    if samples is None:
        return error
    return ErtError(error.asked, error.found, f"{error.remedy}. What was measured is safe in {samples}")


def draw(model: MachineModel, done: Sweep | None, folder: Path | str) -> dict[str, Path]:
    """The offline page and the charts as Vega-Lite, in a folder. Raises ErtError, also where nothing is to be drawn."""
    from ert_numba.charts.export import write_vega_lite
    from ert_numba.charts.page import page_charts, write_page

    folder = Path(folder)
    charts = page_charts(model, done)  # once: altair takes longer to build them than to write them
    files = {
        "page": write_page(folder / "machine.html", model, done, charts),
        "roofline": write_vega_lite(folder / "roofline.vl.json", charts["roofline"][0]),
    }
    if "working-sets" in charts:
        files["curves"] = write_vega_lite(folder / "curves.vl.json", charts["working-sets"][0])
    return files
