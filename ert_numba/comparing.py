"""What ``compare A B`` accepts, in one table, and which judge it goes to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from ert_numba import api
from ert_numba.errors import ErtError
from ert_numba.judge import models
from ert_numba.judge.judgement import Judgement
from ert_numba.judge.models import Comparison
from ert_numba.judge.suite import judge
from ert_numba.judge.thresholds import Thresholds
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
from ert_numba.store.documents import load_any


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
