"""Output that nobody can take: full, closed, left by its reader; of both command lines, as programs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from example_models import h200_model

from ert_numba.store.documents import save

PROFILE = Path(__file__).parents[1] / "data" / "ncu" / "h200" / "micro.ncu-rep"
FULL = Path("/dev/full")


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    model = save(h200_model(), tmp_path_factory.mktemp("model") / "machine.json")
    return {
        "show": f"-m ert_numba show {model}",
        "show --json": f"-m ert_numba show --json {model}",
        "read": f"-m appprof read {PROFILE}",
        "read --json": f"-m appprof read --json {PROFILE}",
        "help": "-m appprof --help",
    }


def shell(command: str, redirection: str) -> tuple[int, str]:
    """(exit code, stderr) of ``python command redirection``."""
    done = subprocess.run(
        ["bash", "-c", f"'{sys.executable}' {command} {redirection}"], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("name", ["show", "show --json", "read", "read --json", "help"])
def test_a_full_output_is_an_error_that_says_so(commands: dict[str, str], name: str) -> None:
    code, said = shell(commands[name], f"> {FULL}")
    assert code == 3
    assert "No space left" in said
    assert said.count("To do:") == 1


@pytest.mark.parametrize("name", ["show", "read --json"])
def test_a_closed_output_is_an_error_that_says_so(commands: dict[str, str], name: str) -> None:
    code, said = shell(commands[name], ">&-")
    assert code == 3
    assert "it is closed" in said


@pytest.mark.parametrize("name", ["show", "show --json", "read --json", "help"])
def test_a_reader_that_left_is_no_error_and_no_failed_gate(commands: dict[str, str], name: str) -> None:
    code, said = shell(commands[name], "| true; exit ${PIPESTATUS[0]}")
    assert code in (0, 141)  # 0 where all was written before the reader left
    assert "Asked for" not in said


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("where", [f"2> {FULL}", "2>&-"])
def test_notes_that_nobody_can_read_stop_nothing(commands: dict[str, str], where: str) -> None:
    code, _ = shell(commands["read"], where)
    assert code == 0
