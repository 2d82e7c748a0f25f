"""``compare``: what it accepts, what it prints where, its exit codes, and bad input of every kind."""

import json

import msgspec
import pytest
from example_models import cpu_model, cpu_sweep
from made_up_benchmarks import USER, as_file, foreign, made_up_run, on_a_cpu, save_run
from typer.testing import CliRunner

from ert_numba.cli import app
from ert_numba.judge.judgement import Judgement
from ert_numba.store.documents import load, save

ID = "Linux-CPython-3.11-64bit"
STORAGE = f"results/nvidia-h200/benchmarks/{ID}"


@pytest.fixture(autouse=True)
def storage(tmp_path, monkeypatch):
    """A working directory with three runs: B is slower than A, C is not."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    folder = tmp_path / STORAGE
    save_run(made_up_run("driver-580"), folder)
    save_run(made_up_run("driver-590", seed=2, driver="590.1", times={"DRAM.read": 1.03, USER: 1.03}), folder, 6)
    save_run(made_up_run("driver-595", seed=3, without=("HOST.h2d_pageable",)), folder, 11)
    return folder


def compare(*arguments: object):
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def refused(*arguments: object, code: int = 3) -> str:
    found, out, message = compare(*arguments)
    assert (found, out) == (code, ""), message
    assert all(part in message for part in ("Asked for: ", "Found:     ", "To do:     "))
    return message


def test_what_is_slower_is_listed_and_ends_with_1():
    code, out, notes = compare("driver-580", "driver-590")
    assert code == 1
    assert "driver-590 against driver-580 on NVIDIA H200, driver 580.159 to 590.1" in out
    assert "2 slower, 1 unknown, 8 the same." in out
    assert "fp64.vector.fma" not in out
    assert out.index("DRAM.read") < out.index("HOST.h2d_pageable")
    assert "Between process starts" in notes
    assert all(len(line) <= 80 for line in out.splitlines())


def test_what_is_the_same_ends_with_0_unless_strict():
    assert compare("driver-580", "driver-595")[0] == 0
    assert compare("driver-580", "driver-595", "--strict")[0] == 1  # missing
    assert compare("driver-595", "driver-595", "--strict")[0] == 0


def test_all_lists_what_is_the_same():
    out = compare("driver-580", "driver-595", "--all")[1]
    assert "fp64.vector.fma" in out
    assert "SAME" in out


def test_json_is_the_document(tmp_path):
    code, out, _ = compare("driver-580", "driver-590", "--json", "-o", tmp_path / "j.json")
    assert code == 1
    assert msgspec.json.decode(out, type=Judgement) == load(tmp_path / "j.json", Judgement)
    assert json.loads(out)["schema"] == "ert_numba.judgement"


def test_files_are_written_by_their_endings_and_never_over_another(tmp_path):
    names = [tmp_path / f"out.{ending}" for ending in ("html", "md", "json")]
    options = [word for name in names for word in ("-o", name)]
    code, _, notes = compare("driver-580", "driver-590", *options)
    assert code == 1
    assert all(name.stat().st_size > 500 and str(name) in notes.replace("\n", "") for name in names)
    assert "it exists already" in refused("driver-580", "driver-590", "-o", names[1])
    assert ".html, .md, .json" in refused("driver-580", "driver-590", "-o", tmp_path / "out.pdf")


def test_annotations_follow_the_tables():
    out = compare("driver-580", "driver-590", "--annotate")[1]
    assert "::error title=SLOWER%3A DRAM.read::" in out


@pytest.mark.parametrize(
    "forms",
    [
        ("driver-580", f"{STORAGE}/driver-590"),
        (f"{STORAGE}/driver-580", f"{STORAGE}/driver-590"),
        ("driver-580", "driver-590", "--storage", "results/nvidia-h200/benchmarks"),
        ("driver-580", "driver-590", "--storage", STORAGE),
        ("driver-580", "driver-590", "--results", "results"),
    ],
)
def test_a_run_may_be_named_in_several_ways(forms):
    assert compare(*forms)[0] == 1


def test_pytests_own_storage_is_looked_into(tmp_path):
    save_run(made_up_run("x"), tmp_path / ".benchmarks" / ID)
    save_run(made_up_run("y", seed=2), tmp_path / ".benchmarks" / ID, 6)
    assert compare("x", "y")[0] == 0


def test_folders_of_files_are_runs(tmp_path):
    save_run(made_up_run("x"), tmp_path / "one")
    save_run(made_up_run("y", seed=2, times={"L1.read": 1.1}), tmp_path / "two")
    assert compare("one", "two")[0] == 1


def test_two_files_are_one_start_each(storage):
    code, out, _ = compare(storage / "0001_driver-580.json", storage / "0006_driver-590.json")
    assert code == 0
    assert "bench --starts 5" in " ".join(out.split())
    assert compare(storage / "0001_driver-580.json", storage / "0006_driver-590.json", "--strict")[0] == 1


def test_files_of_somebody_elses_suite_are_compared(tmp_path):
    for name, times in (("x", {}), ("y", {"DRAM.read": 1.1})):
        save_run(foreign(made_up_run(name, seed=4, times=times)), tmp_path / name)
    code, out, _ = compare("x", "y")
    assert code == 1
    assert "test_ceiling[DRAM.read]" in out.replace("\n", "")


def test_sweeps_and_machine_models_are_still_listed_side_by_side(tmp_path):
    (tmp_path / "run").mkdir()
    save(cpu_sweep(), tmp_path / "run" / "sweep.json")
    model = save(cpu_model(), tmp_path / "machine.json")
    for forms in ((model, model), ("run", "run"), (tmp_path / "run" / "sweep.json", "run")):
        code, out, _ = compare(*forms)
        assert code == 0
        assert "Ceilings" in out
    assert "only listed side by side" in refused(model, model, "-o", tmp_path / "x.html")
    assert "A is a machine model or a sweep" in refused(model, "driver-580")


def test_thresholds_of_the_project_and_of_the_command_line(tmp_path):
    assert compare("driver-580", "driver-590", "--threshold", "5")[0] == 0
    (tmp_path / "pyproject.toml").write_text('[tool.ert_numba.compare.thresholds]\n"DRAM.*" = 5\n"tests/*" = 5\n')
    assert compare("driver-580", "driver-590")[0] == 0
    assert compare("driver-580", "driver-590", "--threshold", "1")[0] == 0  # a name goes before it
    assert "0" in refused("driver-580", "driver-590", "--threshold", "0")


def test_thresholds_of_the_project_for_other_devices_are_told_and_no_error(tmp_path):
    text = '[tool.ert_numba.compare.thresholds]\n"L3.*" = 5\n"tests/*" = 5\n"DRAM.raed" = 5\n"DRAM.write_nt" = 5\n'
    (tmp_path / "pyproject.toml").write_text(text)
    code, out, notes = compare("driver-580", "driver-590")
    assert code == 1
    assert "1 slower" in out
    notes = " ".join(notes.split())
    assert "names L3.*, DRAM.write_nt, which neither run has" in notes
    assert "names DRAM.raed, which neither run has. Near it: DRAM.read. Perhaps a slip" in notes


@pytest.mark.parametrize(
    ("arguments", "found", "code"),
    [
        (("driver-580", "driver-59O"), "driver-590", 3),
        (("driver-580", "driver-590", "--storage", "nowhere"), "bench --save", 3),
        (("missing.json", "driver-590"), "does not exist", 3),
        (("driver-580", "on-a-cpu"), "kinds of device", 4),
        (("driver-580", "cut"), "no whole JSON", 3),
        ((STORAGE, "driver-590"), "it holds several", 3),
    ],
)
def test_bad_input_is_refused_with_what_to_do(storage, tmp_path, arguments, found, code):
    save_run(on_a_cpu("on-a-cpu"), tmp_path / "results" / "cpu" / "benchmarks" / ID)
    if "cut" in arguments:
        whole = json.dumps(as_file(made_up_run("cut", starts=1).starts[0]))
        (storage / "0099_cut.json").write_text(whole[:5000])
    assert found in refused(*arguments, code=code)


def test_without_a_command_line_nothing_is_read():
    assert compare()[0] == 2
    assert compare("driver-580")[0] == 2
    assert compare("driver-580", "driver-590", "--threshold", "much")[0] == 2
    assert compare("driver-580", "driver-590", "--json", "--annotate")[0] == 2
