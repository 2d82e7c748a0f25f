"""The history of a device: what its folder under ``results`` holds, recorded once a run and never changed again.

``results/<device>/history/`` gets one small document for each run of benchmarks (whose raw files may then be removed)
and for each sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ert_numba.errors import ErtError
from ert_numba.files import write_text_new
from ert_numba.judge.history import HistoryEntry, entry_of_model, entry_of_run
from ert_numba.machine import MachineModel
from ert_numba.records import slug
from ert_numba.store.benchmark_runs import RESULTS, load_run, runs_in
from ert_numba.store.documents import load, save

FOLDER = "history"


class History(msgspec.Struct, frozen=True, kw_only=True):
    """All entries in the order of time, which of their files are new, and what was not recorded, with the reason."""

    device: str
    entries: tuple[HistoryEntry, ...]
    added: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def device_folder(device: str | None, results: Path = RESULTS) -> Path:
    """The folder of a device by its name there, or of the only one. Raises ErtError that says which there are."""
    there = sorted(path for path in results.iterdir() if _holds_runs(path)) if results.is_dir() else []
    asked = f"the history of {device or 'the device'}"
    if not there:
        raise ErtError(asked, f"no run lies under {results}", "Make one: python -m ert_numba bench --save NAME")
    names = ", ".join(path.name for path in there)
    found = [path for path in there if device in (None, path.name)]
    if len(found) != 1:
        what = "there is none of that name" if device else "there are several"
        raise ErtError(asked, what, f"Name one: {names}")
    return found[0]


def _holds_runs(folder: Path) -> bool:
    return (folder / FOLDER).is_dir() or (folder / "benchmarks").is_dir() or any(folder.glob("*/machine.json"))


def record(folder: Path) -> History:
    """Record the runs under a device's folder that are not yet, and return its whole history. Raises ErtError if empty.

    A run that cannot be read is named in the notes and keeps no other one back.
    """
    entries: list[HistoryEntry] = []
    added: list[Path] = []
    notes: list[str] = []
    for path in sorted((folder / FOLDER).glob("*.json")):
        try:
            entries.append(load(path, HistoryEntry))
        except ErtError as error:
            notes.append(f"not read: {error}")
    for path, make in _unrecorded(folder):
        try:
            entry = make()
        except ErtError as error:
            notes.append(f"not recorded: {error}")
            continue
        entries.append(entry)
        try:
            path.parent.mkdir(exist_ok=True)
            added.append(save(entry, path))
        except (ErtError, OSError) as error:
            notes.append(f"shown, and not recorded: {error}")
    if not entries:
        raise ErtError(
            f"the history of {folder.name}", "; ".join(notes) or "no run", "Make one with `bench` or `sweep`"
        )
    entries.sort(key=lambda entry: entry.created)
    return History(device=entries[-1].device, entries=tuple(entries), added=tuple(added), notes=tuple(notes))


def _unrecorded(folder: Path) -> Iterator[tuple[Path, Callable[[], HistoryEntry]]]:
    """Where each run of benchmarks and each sweep would be recorded, and how its entry is made; nothing is read yet."""
    for (machine, name), files in runs_in([folder / "benchmarks"]).items():
        numbers = f"{files[0].name.split('_')[0]}-{files[-1].name.split('_')[0]}"
        path = folder / FOLDER / f"{slug(name, 'run')}-{numbers}-{slug(machine.name, 'machine')}.json"
        if not path.exists():
            yield path, lambda files=files: entry_of_run(load_run(files))  # type: ignore[misc]
    for model in sorted(folder.glob("*/machine.json")):
        path = folder / FOLDER / f"{slug(model.parent.name, 'run')}.json"
        if not path.exists():
            yield path, lambda model=model: entry_of_model(load(model, MachineModel))  # type: ignore[misc]


def write_page(history: History, path: Path) -> Path:
    """Write the history's page to a path where nothing stands yet. Raises ErtError."""
    from ert_numba.charts.history_page import history_page

    return write_text_new(path, history_page(history.device, history.entries))
