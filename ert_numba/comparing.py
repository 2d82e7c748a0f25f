"""What ``compare A B`` accepts, in one table, and which judge it goes to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from ert_numba import api
from ert_numba.errors import ErtError
from ert_numba.files import write_bytes_new
from ert_numba.judge import models
from ert_numba.judge.judgement import Judgement
from ert_numba.judge.markdown import to_markdown
from ert_numba.judge.models import Comparison
from ert_numba.judge.suite import judge
from ert_numba.judge.thresholds import Thresholds, parse_thresholds
from ert_numba.machine import MachineModel
from ert_numba.records import Sweep
from ert_numba.store.benchmark_files import is_benchmark_file
from ert_numba.store.benchmark_runs import (
    Runs,
    choose_pair,
    load_run,
    run_of_file,
    run_of_folder,
    runs_of_name,
    storages,
)
from ert_numba.store.configuration import project_thresholds
from ert_numba.store.documents import encode, load_any


class Form(msgspec.Struct, frozen=True):
    """One way to name a run; the first form whose ``holds`` is true is taken."""

    label: str
    holds: Callable[[Path], bool]
    load: Callable[[str, list[Path]], Runs | MachineModel]


FORMS = (
    Form("a pytest-benchmark file", is_benchmark_file, lambda text, _: run_of_file(Path(text))),
    Form("a machine model or a sweep", Path.is_file, lambda text, _: _model(Path(text))),
    Form("a run's folder", lambda path: _document(path) is not None,
         lambda text, _: _model(_document(Path(text)) or Path(text))),
    Form("a folder of benchmark files", Path.is_dir, lambda text, _: run_of_folder(Path(text))),
    Form("the name of a run of benchmarks", lambda _: True, runs_of_name),
)  # fmt: skip


def compare(
    a: str,
    b: str,
    *,
    thresholds: Thresholds | None = None,
    storage: Path | None = None,
    results: Path = api.RESULTS,
    force: bool = False,
) -> Judgement | Comparison:
    """B against A, each in any of the ``FORMS``: benchmarks with benchmarks, machine models with machine models.

    Names are looked up in ``storage``, or else in every device's folder under ``results``. Raises ErtError.
    """
    one, two = form_of(a), form_of(b)
    where = storages(results, storage)
    left, right = one.load(a, where), two.load(b, where)
    if isinstance(left, MachineModel) and isinstance(right, MachineModel):
        return models.compare(left, right, force=force)
    if isinstance(left, MachineModel) or isinstance(right, MachineModel):
        found = f"A is {one.label}, B is {two.label}"
        raise ErtError("to compare two runs", found, "Compare benchmarks with benchmarks, or sweeps with sweeps")
    files_a, files_b = choose_pair(a, left, b, right)
    return judge(load_run(files_a), load_run(files_b), thresholds=thresholds, force=force)


def thresholds_for(percent: float | None, folder: Path = Path()) -> Thresholds:
    """The project's, from the nearest pyproject.toml; ``percent`` of the command line goes before its general one."""
    found = project_thresholds(folder)
    if percent is None:
        return found
    general = parse_thresholds({"threshold": percent}, "--threshold")
    return msgspec.structs.replace(general, named=found.named, project=found.project)


def write(found: Judgement | Comparison, path: Path) -> Path:
    """The judgement as a new file, in the form that its ending names. Raises ErtError."""
    asked = f"the comparison as {path}"
    if not isinstance(found, Judgement):
        raise ErtError(asked, "sweeps are only listed side by side", "Print them with --json, or compare benchmarks")
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise ErtError(asked, f"the ending {path.suffix!r}", f"End the name in one of {', '.join(WRITERS)}")
    return write_bytes_new(path, writer(found))


def _page(found: Judgement) -> bytes:
    from ert_numba.charts.judgement_page import judgement_page

    return judgement_page(found).encode()


WRITERS: dict[str, Callable[[Judgement], bytes]] = {
    ".html": _page,
    ".md": lambda found: to_markdown(found).encode(),
    ".json": encode,
}


def form_of(text: str) -> Form:
    return next(form for form in FORMS if form.holds(Path(text)))


def _document(folder: Path) -> Path | None:
    return next((folder / name for name in ("machine.json", "sweep.json") if (folder / name).is_file()), None)


def _model(path: Path) -> MachineModel:
    document = load_any(path)
    if isinstance(document, Sweep):
        return api.fit(document)
    if isinstance(document, MachineModel):
        return document
    raise ErtError("to compare two runs", f"{path} is neither a sweep nor a machine model", "Name one of these")
