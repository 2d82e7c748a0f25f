"""The command line as a whole: wrong command lines, what ``--help`` may import, and it as a program."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest
from command_line import call, program, stored_run
from example_models import cpu_model

from ert_numba.machine import MachineModel

COMMANDS = ("sweep", "devices", "fit", "show", "plot", "compare", "history", "import-ert")


@pytest.mark.parametrize(
    "arguments",
    [
        ("sweep", "--backend", "abacus"),
        ("sweep", "--threads", "many"),
        ("sweep", "--no-such-option"),
        ("sweep", "--device", "-1"),
        ("show",),
        ("plot", "somewhere"),
        ("no-such-command",),
    ],
)
def test_a_wrong_command_line_is_typers(arguments):
    code, _, message = call(*arguments)
    assert code == 2
    assert "Traceback" not in message


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from ert_numba.cli import app\n"
        "from typer.testing import CliRunner\n"
        f"for name in [[], *([name] for name in {COMMANDS!r})]:\n"
        "    result = CliRunner().invoke(app, [*name, '--help'])\n"
        "    assert result.exit_code == 0, result.output\n"
        "heavy = {'numba', 'scipy', 'altair', 'numpy', 'llvmlite', 'pandas', 'vl_convert', 'msgspec'}\n"
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    result = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=300)
    assert result.stdout.strip() == "[]", result.stdout + result.stderr


def test_importing_the_package_imports_nothing():
    code = "import sys, ert_numba; print([n for n in ('numba', 'typer', 'altair', 'msgspec') if n in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=300)
    assert result.stdout.strip() == "[]"


def test_the_program_refuses_without_a_traceback(tmp_path):
    result = program("sweep", "--backend", "cpu", "--precisions", "fp63", "--results", str(tmp_path))
    assert result.returncode == 3
    assert result.stdout == ""
    assert "Asked for: a precision" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_program_prints_json(tmp_path):
    result = program("show", str(stored_run(tmp_path / "run")), "--json")
    assert result.returncode == 0
    assert msgspec.json.decode(result.stdout, type=MachineModel) == cpu_model()
