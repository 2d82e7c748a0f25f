"""The command line of ert_numba in process and as a program, and a stored run for it to read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from example_models import cpu_model, cpu_sweep
from typer.testing import CliRunner

from ert_numba.cli import app
from ert_numba.store.documents import save


def call(*arguments: object) -> tuple[int, str, str]:
    """(exit code, stdout, stderr); a traceback is a failure of the test."""
    result = CliRunner().invoke(app, [str(word) for word in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def refused(*arguments: object, code: int = 3) -> str:
    """The message of a refusal: its code, its three parts, nothing on stdout."""
    found, out, message = call(*arguments)
    assert found == code, message
    assert out == ""
    for part in ("Asked for: ", "Found:     ", "To do:     "):
        assert part in message
    assert "Traceback" not in message
    return message


def program(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ert_numba", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )


def stored_run(folder: Path) -> Path:
    """A new folder of a run, as ``sweep`` leaves it."""
    folder.mkdir()
    save(cpu_sweep(), folder / "sweep.json")
    save(cpu_model(), folder / "machine.json")
    return folder
