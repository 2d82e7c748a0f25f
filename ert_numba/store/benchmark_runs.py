"""Named runs of benchmarks on disk: which files are their process starts, wherever pytest-benchmark's storage lies.

A storage holds folders by machine id (system, Python, bits), these hold ``NNNN_<name>.json``, one file a process start.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

from ert_numba.errors import ErtError
from ert_numba.judge.evidence import SuiteRun
from ert_numba.store.benchmark_files import read_start

RESULTS = Path("results")
PYTEST_STORAGE = Path(".benchmarks")  # pytest-benchmark's own default
_NUMBERED = re.compile(r"[0-9]{4,}_(.+)\.json", re.DOTALL)
_LISTED = 12

Runs = dict[tuple[Path, str], list[Path]]
"""(folder, name) -> files in their order."""


def storages(results: Path = RESULTS, storage: Path | None = None) -> list[Path]:
    """Where to look for a run's name: the folder that is given, or every device's under ``results``."""
    if storage is not None:
        return [storage]
    return [*sorted(results.glob("*/benchmarks")), PYTEST_STORAGE]


def runs_in(folders: Iterable[Path]) -> Runs:
    """The runs of storages (or of folders of files), by their own folder and name."""
    found: Runs = {}
    for folder in folders:
        for path in sorted([*folder.glob("*.json"), *folder.glob("*/*.json")]):
            if match := _NUMBERED.fullmatch(path.name):
                found.setdefault((path.parent, match[1]), []).append(path)
    return found


def runs_of_name(text: str, where: list[Path]) -> Runs:
    """The runs that ``text`` may mean: a name in the storages, or ``FOLDER/NAME``. Raises ErtError where none."""
    path = Path(text)
    runs = runs_in(where)
    found = {key: files for key, files in runs.items() if key[1] == text}
    if not found and "/" in text and path.parent.is_dir():
        runs = runs_in([path.parent])
        found = {key: files for key, files in runs.items() if key[1] == path.name}
    if found:
        return found
    if text.endswith(".json") or ("/" in text and not path.parent.is_dir()):
        raise ErtError("to compare two runs", f"{text} does not exist", "Check the name")
    names = list(dict.fromkeys(name for _, name in runs))
    if not names:
        places = ", ".join(str(folder) for folder in where)
        remedy = f"Make one: python -m ert_numba bench --save {path.name} --starts 5"
        raise ErtError(f"the run {text!r}", f"no benchmarks are saved in {places}", remedy)
    near = difflib.get_close_matches(path.name, names, n=_LISTED, cutoff=0.4) or names[:_LISTED]
    more = f" and {len(names) - len(near)} more" if len(names) > len(near) else ""
    raise ErtError(f"the run {text!r}", "there is none of that name", f"There are: {', '.join(near)}{more}")


def run_of_folder(folder: Path) -> Runs:
    """The one run in a folder. Raises ErtError where there is none, or more than one."""
    runs = runs_in([folder])
    if len(runs) == 1:
        return runs
    if not runs:
        remedy = "Name a run, a folder of NNNN_<name>.json files, or a run's folder with a machine.json"
        raise ErtError(f"the run in {folder}", "no benchmark file and no machine model is in it", remedy)
    names = ", ".join(f"{name} ({len(files)} starts)" for (_, name), files in runs.items())
    raise ErtError(f"the run in {folder}", f"it holds several: {names}", f"Say which: {folder}/NAME")


def run_of_file(path: Path) -> Runs:
    return {(path.parent, path.stem): [path]}


def choose_pair(a: str, left: Runs, b: str, right: Runs) -> tuple[list[Path], list[Path]]:
    """The files of each side; where a name lies in several storages, those of the one that has both.

    Raises ErtError where that does not decide it.
    """
    shared = [folder for folder, _ in left if any(folder == other for other, _ in right)]
    return _only(a, left, shared), _only(b, right, shared)


def _only(text: str, runs: Runs, shared: list[Path]) -> list[Path]:
    kept = [files for (folder, _), files in runs.items() if not shared or folder in shared]
    if len(kept) > 1:
        places = ", ".join(str(files[0].parent) for files in kept)
        raise ErtError(f"the run {text!r}", f"it is in {places}", "Say which: FOLDER/NAME, or --storage FOLDER")
    return kept[0]


def load_run(files: list[Path]) -> SuiteRun:
    """All process starts of one run. Raises ErtError."""
    match = _NUMBERED.fullmatch(files[0].name)
    return SuiteRun(name=match[1] if match else files[0].stem, starts=tuple(read_start(path) for path in files))
