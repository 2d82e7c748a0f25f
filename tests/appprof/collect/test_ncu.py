"""Nsight Compute as a process: a made-up ``ncu`` on the PATH that records how it was called and does as it is told."""

import json
import os
import signal
import sys

import example_models
import msgspec
import pytest
from counted_suite import NAMES, ROWS, cells, suite, write_csv
from typer.testing import CliRunner

from appprof.cli import app
from appprof.collect.ncu import collect, find_ncu
from ert_numba.counted import Verdict
from ert_numba.errors import ErtError
from ert_numba.store.documents import load, save

FAKE = """#!{python}
import json, os, pathlib, shutil, sys, time
here = pathlib.Path({folder!r})
words = sys.argv[1:]
options = {{word: words[at + 1] for at, word in enumerate(words[:-1]) if word.startswith("--")}}
(here / "called.json").write_text(json.dumps(words))
(here / "pid").write_text(str(os.getpid()))
plan = json.loads((here / "plan.json").read_text())
pathlib.Path(options["--log-file"]).write_text(plan["log"])
print(plan["printed"])
print(plan["complaint"], file=sys.stderr)
if plan["hangs"]:
    sys.stdout.flush()
    time.sleep(600)
if plan["report"]:
    shutil.copy(plan["report"], options["--export"] + ".ncu-rep")
sys.exit(plan["status"])
"""
DENIED = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"


@pytest.fixture
def ncu(tmp_path, monkeypatch):
    """Puts the made-up tool on the PATH; call it with what it shall do, and read how it was called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    tool = folder / "ncu"
    tool.write_text(FAKE.format(python=sys.executable, folder=str(folder)), encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("COLUMNS", "100")

    def plan(rows=None, **fields):
        printed = msgspec.json.format(msgspec.json.encode(suite()), indent=2).decode()
        report = None if rows is None else str(write_csv(folder / "report.csv", rows))
        default = {"log": "", "printed": printed, "complaint": "", "status": 0, "report": report, "hangs": False}
        (folder / "plan.json").write_text(json.dumps(default | fields), encoding="utf-8")
        return folder

    return plan


@pytest.fixture
def run_folder(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    save(example_models.h200_model(), folder / "machine.json")
    return folder


def verify(*words):
    return CliRunner().invoke(app, ["verify", *map(str, words)])


def called(folder):
    return json.loads((folder / "called.json").read_text())


def test_a_verdict_lies_beside_the_machine_model(ncu, run_folder):
    folder = ncu(cells(ROWS))
    result = verify("--machine", run_folder, "--quick")
    assert result.exit_code == 0, result.stderr
    assert all(name in result.stdout for name in NAMES)
    assert "FAILS" not in result.stdout
    assert "Not compared" in result.stdout
    assert "what the hardware counted" in (run_folder / "machine.html").read_text(encoding="utf-8")
    assert "machine.html" in result.stderr
    stored = load(run_folder / "verdict.json", Verdict)
    assert stored.settings == {
        "clock-control": "none", "cache-control": "all", "profile-from-start": "off", "quick": True,
    }  # fmt: skip
    words = called(folder)
    assert words[-7:] == [sys.executable, "-m", "ert_numba", "launch", "--device", "0", "--quick"]
    for option, value in (("--clock-control", "none"), ("--cache-control", "all"), ("--profile-from-start", "off")):
        assert words[words.index(option) + 1] == value


def test_a_wrong_count_ends_with_1_and_its_name(ncu, run_folder):
    ncu(cells(ROWS, {"L2.read.shared": 1.05}))
    result = verify("--machine", run_folder / "machine.json")
    assert result.exit_code == 1
    assert "1 of 33 checks fail: L2.read.shared (B)" in result.stderr
    assert "FAILS" in result.stdout
    assert [row.ceiling for row in load(run_folder / "verdict.json", Verdict).failed] == ["L2.read.shared"]


def test_json_is_the_document(ncu, run_folder):
    ncu(cells(ROWS))
    result = verify("--machine", run_folder, "--json", "-o", run_folder / "other.json")
    assert result.stdout == (run_folder / "other.json").read_text(encoding="utf-8")
    assert not (run_folder / "verdict.json").exists()
    assert not (run_folder / "machine.html").exists()


def test_nothing_is_counted_where_the_verdict_could_not_be_saved(ncu, run_folder):
    folder = ncu(cells(ROWS))
    (run_folder / "verdict.json").write_text("mine", encoding="utf-8")
    assert verify("--machine", run_folder).exit_code == 3
    assert not (folder / "called.json").exists()
    assert (run_folder / "verdict.json").read_text(encoding="utf-8") == "mine"


def test_without_ncu_it_says_what_to_install(run_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    result = verify("--machine", run_folder)
    assert result.exit_code == 3
    assert "Install Nsight Compute" in result.stderr
    with pytest.raises(ErtError):
        find_ncu()


@pytest.mark.parametrize("where", ["log", "complaint", "printed"])
@pytest.mark.parametrize("status", [0, 1])
def test_no_rights_name_both_ways_out(ncu, run_folder, where, status):
    """Also where ncu ends with 0 and writes a report whose counters have no values."""
    ncu(cells(ROWS) if status == 0 else None, status=status, **{where: DENIED})
    result = verify("--machine", run_folder)
    assert result.exit_code == 3
    assert "as root" in result.stderr
    assert "NVreg_RestrictProfilingToAdminUsers=0" in result.stderr
    assert not (run_folder / "verdict.json").exists()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"log": "==ERROR== Failed to find metric dram__x\n", "status": 1}, "newer Nsight Compute"),
        ({"log": "==ERROR== The application returned an error code (3).\n", "complaint": "Found:     no GPU",
          "status": 3}, "no GPU"),
        ({"log": "==WARNING== No kernels were profiled.\n"}, "must launch kernels"),
        ({"log": "==ERROR== Failed to initialize the profiler: LibraryNotLoaded\n", "status": 1}, "LibraryNotLoaded"),
        ({"printed": "", "status": 0}, "no whole report"),
    ],
)  # fmt: skip
def test_other_failures_say_what_ncu_said(ncu, run_folder, fields, said):
    ncu(None, **fields)
    result = verify("--machine", run_folder)
    assert result.exit_code == 3
    assert said in result.stderr


def test_a_tool_that_never_ends_is_ended(ncu):
    folder = ncu(None, hangs=True)
    with pytest.raises(ErtError, match="had not ended"):
        collect(("m.sum",), ("program",), seconds=2.0)
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text()), signal.SIGTERM)


def test_a_cpu_is_refused_before_anything_runs(ncu, tmp_path):
    folder = ncu(cells(ROWS))
    path = save(example_models.cpu_model(), tmp_path / "cpu.json")
    result = verify("--machine", path)
    assert result.exit_code == 3
    assert "NVIDIA GPUs" in result.stderr
    assert not (folder / "called.json").exists()
