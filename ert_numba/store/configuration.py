"""What a project says of its comparisons: ``[tool.ert_numba.compare]`` in the nearest pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

from ert_numba.errors import ErtError
from ert_numba.files import read_text
from ert_numba.judge.thresholds import Thresholds, parse_thresholds

_MAXIMUM_BYTES = 1 << 22


def project_thresholds(folder: Path) -> Thresholds:
    """Those of the pyproject.toml in ``folder`` or the nearest one above; none where there is none. Raises ErtError."""
    folder = folder.resolve()
    path = next((at / "pyproject.toml" for at in (folder, *folder.parents) if (at / "pyproject.toml").is_file()), None)
    return read_thresholds(path) if path is not None else Thresholds()


def read_thresholds(path: Path) -> Thresholds:
    """Raises ErtError that names the file and the entry."""
    asked = f"to read the thresholds in {path}"
    try:
        table = tomllib.loads(read_text(path, asked, _MAXIMUM_BYTES).decode())
    except ValueError as error:  # of its syntax or its encoding
        raise ErtError(asked, f"it is no whole TOML: {error}", "Mend it") from error
    for name in ("tool", "ert_numba", "compare"):
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise ErtError(asked, f"{name} is no table", "Write [tool.ert_numba.compare]")
    return parse_thresholds(table, f"[tool.ert_numba.compare] of {path.name}")
