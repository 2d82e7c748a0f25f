"""A run's folder in the place of the document that is wanted of it; what to name instead where it holds none."""

from __future__ import annotations

from pathlib import Path

from ert_numba.errors import ErtError

SWEEP, MACHINE = "sweep.json", "machine.json"
_LISTED = 3


def document_in(path: Path, name: str, label: str) -> Path:
    """``path``, or the document ``name`` in it where it is a folder. Raises ErtError that names the runs below it.

    ``label`` says what is wanted, as ``a sweep``.
    """
    if not path.is_dir():
        return path
    document = path / name
    if document.exists():
        return document
    raise ErtError(f"to read {label}", f"{path} is a folder without a {name}", _remedy(path, name))


def _remedy(folder: Path, name: str) -> str:
    if name == MACHINE and (folder / SWEEP).exists():
        return f"Fit its samples: python -m ert_numba fit {folder} -o {folder / MACHINE}"
    below = [path.parent for pattern in ("*/", "*/*/") for path in folder.glob(pattern + name)]
    newest = sorted(below, key=lambda run: run.name, reverse=True)  # a run's name begins with its time
    if not newest:
        return "Name the folder of a run, or its file"
    more = f" or {len(newest) - _LISTED} more" if len(newest) > _LISTED else ""
    return f"Name the folder of a run: {', '.join(map(str, newest[:_LISTED]))}{more}"
