"""The workflow that users copy: its structure, and that every command in it exists with its options."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from ert_numba.cli import app

PATH = Path(__file__).parents[2] / "docs" / "workflows" / "nightly-roofline.yml"
TEXT = PATH.read_text(encoding="utf-8")
CALLS = [line for line in re.sub(r"\n\s+(?=-o )", " ", TEXT).splitlines() if "-m ert_numba" in line]


def command_line(line: str) -> list[str]:
    return shlex.split(line.split("-m ert_numba", 1)[1])


def test_it_benchmarks_judges_and_records():
    assert [command_line(line)[0] for line in CALLS] == ["bench", "compare", "history"]


@pytest.mark.parametrize("line", CALLS, ids=lambda line: command_line(line)[0])
def test_every_command_takes_what_it_is_given(line):
    verb, *words = command_line(line)
    command = typer.main.get_command(app).commands[verb]  # type: ignore[attr-defined]
    # Parsed by the command's own parser; a wrong option or number of arguments raises.
    with command.make_context(verb, list(words), resilient_parsing=False) as context:
        assert not context.args


def test_the_gate_is_the_exit_code_and_its_files_are_kept():
    (gate,) = [line for line in CALLS if " compare " in line]
    assert "||" not in gate
    assert "continue-on-error" not in TEXT
    written = re.findall(r"-o (\S+)", " ".join(CALLS))
    assert {Path(name).suffix for name in written} == {".html", ".md", ".json"}
    assert {Path(name).parent.name for name in written} == {"roofline-out"}
    assert "path: roofline-out" in TEXT
    assert "mkdir roofline-out" in TEXT
    assert TEXT.count("if: always()") == 3


def test_no_text_from_outside_is_pasted_into_a_script():
    body = TEXT[TEXT.index("\njobs:") :]
    assert "${{" not in body
    assert "permissions:\n  contents: read" in TEXT
    assert "self-hosted" in TEXT
    assert "schedule:" in TEXT


def test_it_is_plain_yaml():
    yaml = pytest.importorskip("yaml", reason="no YAML parser is installed; the structure is checked above")
    document = yaml.safe_load(TEXT)
    steps = document["jobs"]["roofline"]["steps"]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    assert set(document) == {"name", True, "permissions", "concurrency", "env", "jobs"}  # YAML 1.1 reads `on` as true


def test_its_indentation_is_that_of_yaml():
    for number, line in enumerate(TEXT.splitlines(), start=1):
        assert "\t" not in line, number
        assert line == line.rstrip(), number
        if line.strip() and not line.lstrip().startswith("#"):
            assert (len(line) - len(line.lstrip())) % 2 == 0, number
