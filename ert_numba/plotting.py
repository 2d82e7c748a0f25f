"""One picture of a stored run, in the form that its reader wants."""

from __future__ import annotations

from pathlib import Path

from ert_numba import api
from ert_numba.errors import ErtError

FORMS = ("html", "json", "svg", "png")


def plot_file(source: Path, output: Path, form: str, *, curves: bool = False, dark: bool = False) -> Path:
    """Draw ``source`` (a run's folder or one of its documents) into the new file ``output``. Raises ErtError."""
    from ert_numba.charts.export import write_image, write_vega_lite
    from ert_numba.charts.machine_chart import machine_chart
    from ert_numba.charts.page import write_page
    from ert_numba.charts.sweep_chart import sweep_chart
    from ert_numba.counted import Verdict
    from ert_numba.machine import MachineModel
    from ert_numba.records import Sweep
    from ert_numba.store.documents import load, load_any

    if form not in FORMS:
        raise ErtError(
            f"the picture {output}", f"the form {form!r}", f"Choose among {', '.join(FORMS)}, or end the name in one"
        )
    sweep: Sweep | None = None
    verdict: Verdict | None = None
    if source.is_dir():
        verdict = load(source / "verdict.json", Verdict) if (source / "verdict.json").exists() else None
        model = api.load(source)
        sweep = api.load_sweep(source) if (source / "sweep.json").exists() else None
    else:
        document = load_any(source)
        if isinstance(document, Sweep):
            sweep, model = document, api.fit(document)
        elif isinstance(document, MachineModel):
            model = document
        else:
            raise ErtError("to draw a machine", f"{source} is neither a sweep nor a machine model", "Name one of these")
    if form == "html":
        return write_page(output, model, sweep, verdict=verdict)
    if curves and sweep is None:
        raise ErtError("the curves of a run", f"{source} holds no samples", "Name the run's folder, or its sweep.json")
    chart = sweep_chart(sweep, model) if curves and sweep is not None else machine_chart(model)
    return write_vega_lite(output, chart) if form == "json" else write_image(output, chart, dark, form)
