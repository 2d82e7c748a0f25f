"""What the commands do, as functions: read profiles, judge them, draw and compare them.

Everything raises ``ErtError`` with what was asked, what was found and what to do; nothing prints.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from appprof import analysis as analysis_of
from appprof.analysis import Analysis
from appprof.application import ApplicationModel
from appprof.collect import ncu
from appprof.diff import Diff, diff
from appprof.gather import gather
from appprof.report.collector import collector_at_rest
from appprof.report.read import read_report
from appprof.result import Result, make_result
from appprof.verify import capability_of, judge, parse_suite
from appprof.witnesses import metrics_for
from ert_numba.counted import Verdict
from ert_numba.errors import ErtError
from ert_numba.files import check_new, replace_text
from ert_numba.machine import MachineModel
from ert_numba.records import Sweep, slug
from ert_numba.store.documents import load, save
from ert_numba.store.provenance import collect
from ert_numba.store.run_folders import MACHINE, document_in

if TYPE_CHECKING:
    from ert_numba.charts.theme import AnyChart

PAGE = "machine.html"
DOCUMENT_HEAD = b'"appprof.application"'


def read(
    *paths: Path | str, decimal_mark: str | None = None, full_provenance: bool = False
) -> tuple[ApplicationModel, ...]:
    """The application models of one or several files of one run, one a kind of GPU, the busiest first.

    Files are Nsight Compute reports or CSV exports of any layout, or one application model that was saved.
    ``decimal_mark`` overrides what a CSV's own numbers say. ``full_provenance`` keeps host names, paths and commands.
    """
    files = [Path(path) for path in paths]
    if not files:
        raise ErtError("to read a profile", "no file was named", "Name a report, or its export as CSV")
    if len(files) == 1 and _is_document(files[0]):
        return (load(files[0], ApplicationModel),)
    with collector_at_rest():
        report = read_report(files, decimal_mark)
        provenance = collect("appprof", full=full_provenance)
        return gather(report, slug(files[0].stem, "profile"), provenance, private=full_provenance)


def read_one(*paths: Path | str, gpu: int | None = None, decimal_mark: str | None = None) -> ApplicationModel:
    """As ``read``, for files of one kind of GPU; ``gpu`` picks one of several, counted from 1."""
    models = read(*paths, decimal_mark=decimal_mark)
    return pick(models, gpu)


def pick(models: Sequence[ApplicationModel], gpu: int | None) -> ApplicationModel:
    """One of several models. Raises ErtError where it must be chosen and is not."""
    names = "; ".join(f"{number}: {model.chip.label}" for number, model in enumerate(models, 1))
    if gpu is None and len(models) == 1:
        return models[0]
    if gpu is None or not 1 <= gpu <= len(models):
        raise ErtError("one kind of GPU", f"the profile has {names}", "Choose one with --gpu and its number")
    return models[gpu - 1]


def load_machine(path: Path | str) -> MachineModel:
    """A machine model from its file, or from the folder of the run that made it."""
    return load(document_in(Path(path), MACHINE, "a machine model"), MachineModel)


def analyse(
    source: ApplicationModel | Path | str,
    machine: MachineModel | Path | str | None = None,
    force: bool = False,
    module_pattern: str = "",
) -> Analysis:
    """A profile under its roofs: every kernel with its bound, its headroom and the reasons.

    ``machine`` gives measured roofs; without one they are the report's own or theoretical. A machine model of another
    GPU is refused (``NotComparable``) unless ``force``. ``module_pattern`` is a regular expression for the NVTX ranges
    that name modules, where they are not named as ``appprof.modules`` knows them.
    """
    model = source if isinstance(source, ApplicationModel) else read_one(source)
    known = machine if machine is None or isinstance(machine, MachineModel) else load_machine(machine)
    return analysis_of.analyse(model, known, force, module_pattern)


def compare(a: Analysis, b: Analysis, force: bool = False) -> Diff:
    """B against A, kernel by kernel. Raises NotComparable for unlike GPUs or clocks, unless ``force``."""
    return diff(a, b, force)


def chart(analysis: Analysis) -> AnyChart:
    """The hierarchical roofline as an altair chart, which shows itself in a notebook."""
    from appprof.charts.roofline_chart import roofline_chart

    return roofline_chart(analysis)


def instruction_chart(analysis: Analysis) -> AnyChart:
    """The instruction roofline as an altair chart. Raises ErtError where no instructions were counted."""
    from appprof.charts.instruction_chart import instruction_chart as draw

    return draw(analysis)


def diff_chart(changes: Diff) -> AnyChart:
    """The roofline of two profiles as an altair chart. Raises ErtError where no kernel has FLOP, bytes and a time."""
    from appprof.charts.diff_roofline import diff_roofline

    return diff_roofline(changes)


def write_page(analysis: Analysis, path: Path | str) -> Path:
    """One offline HTML page, written to a path where nothing stands yet."""
    from appprof.charts.page import write_page as write

    return write(Path(path), analysis)


def verify_machine(
    machine: Path | str, output: Path | str | None = None, device: int = 0, quick: bool = False
) -> Verdict:
    """Count the work of every GPU kernel of the suite with Nsight Compute, and save the verdict on what it declares.

    ``machine`` is the GPU's machine model; the verdict lies beside it as ``verdict.json``, and the page there,
    ``machine.html``, is drawn again with it, unless ``output`` names another file. ``quick`` takes smaller working sets
    in device memory.
    """
    place = Path(machine)
    model = load_machine(place)
    target = check_new(verdict_path(place) if output is None else Path(output))
    metrics = metrics_for(capability_of(model))
    words = ["--device", str(device), *(["--quick"] if quick else [])]
    collected = ncu.collect(metrics, (sys.executable, "-m", "ert_numba", "launch", *words))
    checks, skipped = judge(parse_suite(collected.printed), collected.report, model)
    verdict = Verdict(
        run=model.run,
        device=model.device.name,
        architecture=model.device.architecture,
        tool=" ".join(word for word in ("Nsight Compute", collected.report.sources[0].tool_version) if word),
        settings={**ncu.OPTIONS, "quick": quick},
        checks=checks,
        skipped=skipped,
        provenance=collect("appprof"),
    )
    save(verdict, target)
    if output is None:
        draw_machine_again(target.parent, model, verdict)
    return verdict


def draw_machine_again(folder: Path, model: MachineModel, verdict: Verdict) -> Path:
    """The page of a machine model with a verdict on it, in the place of the page in its folder. Raises ErtError."""
    from ert_numba.charts.page import machine_page

    samples = folder / "sweep.json"
    sweep = load(samples, Sweep) if samples.exists() else None
    return replace_text(folder / PAGE, machine_page(model, sweep, verdict=verdict))


def verdict_path(machine: Path) -> Path:
    """Where the verdict on a machine model lies."""
    return (machine if machine.is_dir() else machine.parent) / "verdict.json"


def _is_document(path: Path) -> bool:
    try:
        if not path.is_file():  # a pipe can be read only once
            return False
        with path.open("rb") as file:
            head = file.read(256)
    except (OSError, ValueError):
        return False  # the reader says what is wrong with it
    return head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{") and DOCUMENT_HEAD in head


__all__ = [
    "Analysis", "ApplicationModel", "Diff", "MachineModel", "Result", "Verdict", "analyse", "chart", "compare",
    "diff_chart", "instruction_chart", "load_machine", "make_result", "pick", "read", "read_one", "save",
    "verify_machine", "write_page",
]  # fmt: skip
