"""``sweep``: what it prints where, what it refuses, and that nothing measured is lost."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import msgspec
import pytest
from command_line import call, refused, stored_run
from fake_backend import RATES, FakeMachine
from fake_timer import FakeTimer

from ert_numba import api, files
from ert_numba.errors import DeviceLost
from ert_numba.machine import MachineModel


@pytest.fixture
def machine(monkeypatch):
    monkeypatch.setattr(api, "draw", lambda model, done, folder: {})
    return FakeMachine(monkeypatch)


@pytest.fixture
def run(tmp_path):
    return stored_run(tmp_path / "run")


def sweep(tmp_path, *more: object):
    return call("sweep", "--backend", "cpu", "--results", tmp_path / "results", *more)


def test_a_sweep_prints_tables_to_stdout_and_paths_to_stderr(machine, tmp_path):
    code, out, notes = sweep(tmp_path)
    assert code == 0
    assert "FP64" in out
    assert "380 GB/s" in out
    assert "96.0 GFLOP/s" in out
    for name in ("sweep.json", "machine.json"):
        assert name in notes
        assert name not in out


def test_json_is_json_on_stdout_alone(machine, tmp_path):
    code, out, notes = sweep(tmp_path, "--json")
    assert code == 0
    assert {row["key"] for row in json.loads(out)["ceilings"]} == set(RATES)
    assert msgspec.json.decode(out, type=MachineModel).run
    assert "sweep.json" in notes


def test_a_second_sweep_adds_a_folder(machine, tmp_path):
    sweep(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    sweep(tmp_path)
    assert len(list((tmp_path / "results").glob("*/*"))) == 2
    assert all(path.read_bytes() == content for path, content in before.items())


@pytest.mark.parametrize(
    ("options", "found", "to_do"),
    [
        (("--precisions", "fp63"), "'fp63'", "fp64"),
        (("--precisions", "fp64,fp128"), "'fp128'", "bf16"),
        (("--levels", "L9"), "'L9'", "DRAM"),
        (("--sizes", "8"), "8 B", "1 KiB"),
        (("--sizes", "32K,many"), "'many'", "1.5MiB"),
        (("--sizes", "-1"), "'-1'", "32K"),
        (("--budget", "0"), "0 s", "--budget"),
        (("--budget", "-5"), "'-5'", "45s"),
        (("--budget", "soon"), "'soon'", "45s"),
        (("--threads", "0"), "2 processors", "number"),
        (("--threads", "1000"), "2 processors", "number"),
    ],
)
def test_a_bad_request_is_refused_before_anything_is_measured(options, found, to_do, machine, tmp_path):
    message = refused("sweep", "--backend", "cpu", "--results", tmp_path / "results", *options)
    assert found in message
    assert to_do in message
    assert machine.opened == 0
    assert not list(tmp_path.rglob("*.json"))


def test_a_results_folder_that_cannot_be_written_is_found_out_before_measuring(machine, tmp_path):
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file/below", Path("/proc/results"), tmp_path / ("long" * 100)):
        message = refused("sweep", "--backend", "cpu", "--results", folder)
        assert str(folder)[:60] in message
    assert machine.opened == 0
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_disk_that_fills_up_during_the_save_loses_nothing(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    whole = files._write_and_sync

    def write(path, data):
        if "results" in path.parts and len(data) != files._PROBE_BYTES:
            path.write_bytes(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(path, data)

    monkeypatch.setattr(files, "_write_and_sync", write)
    message = refused("sweep", "--backend", "cpu", "--results", tmp_path / "results")
    assert "full" in message
    (kept,) = tmp_path.glob("ert_numba-*/sweep.json")
    assert str(kept) in message
    assert call("fit", kept)[0] == 0
    assert not [path for path in (tmp_path / "results").rglob("*") if path.is_file()], "no half file stays"


def test_ctrl_c_keeps_what_was_measured_and_resume_goes_on(machine, tmp_path):
    machine.interrupt_at = 5
    code, _, notes = sweep(tmp_path)
    assert code == 130
    assert "Partial: go on with  python -m ert_numba sweep --resume" in notes
    (first,) = tmp_path.rglob("sweep.json")
    kept = first.read_bytes()
    machine.interrupt_at = None
    code, out, notes = call("sweep", "--resume", first, "--results", tmp_path / "results", "--json")
    assert code == 0
    assert not json.loads(out)["partial"]
    assert "Partial" not in notes
    assert first.read_bytes() == kept
    assert len(list(tmp_path.rglob("sweep.json"))) == 2


def test_a_lost_device_is_said_after_what_was_measured_is_saved(machine, tmp_path, monkeypatch):
    def lose(self, spec, point, repetitions, opened=FakeTimer.open):
        if point.ceiling == "L1.latency":
            raise DeviceLost("cuEventSynchronize", "CUDA_ERROR_ECC_UNCORRECTABLE", "Look at the memory")
        return opened(self, spec, point, repetitions)

    monkeypatch.setattr(FakeTimer, "open", lose)
    code, out, notes = sweep(tmp_path, "--json")
    assert code == 3
    assert json.loads(out)["partial"]
    assert "Found:     CUDA_ERROR_ECC_UNCORRECTABLE" in notes
    assert "sweep --resume" in notes
    (saved,) = tmp_path.rglob("sweep.json")
    assert call("fit", saved)[0] == 0


def test_ctrl_c_before_the_first_sample(machine, tmp_path):
    machine.interrupt_at = 1
    assert "nothing was measured" in refused("sweep", "--backend", "cpu", "--results", tmp_path / "results")


@pytest.mark.parametrize("option", [("--quick",), ("--levels", "L1"), ("--threads", "1"), ("--seed", "7")])
def test_resume_takes_no_other_request(option, machine, run, tmp_path):
    message = refused("sweep", "--resume", run, *option, "--results", tmp_path / "results")
    assert "goes on as it began" in message
    assert machine.opened == 0


def test_resume_on_another_machine_is_not_comparable(machine, tmp_path, monkeypatch):
    machine.interrupt_at = 5
    sweep(tmp_path)
    (first,) = tmp_path.rglob("sweep.json")
    FakeMachine(monkeypatch, name="Another CPU")
    message = refused("sweep", "--resume", first, "--results", tmp_path / "results", code=4)
    assert "'Made-up CPU'" in message
    assert "'Another CPU'" in message


@pytest.mark.parametrize("name", ["Weird/Name: ÄÖÜ 100 %", "模型", "../../etc/passwd"])
def test_device_names_of_any_kind(name, machine, monkeypatch, tmp_path):
    FakeMachine(monkeypatch, name=name)
    code, _, notes = sweep(tmp_path)
    assert code == 0
    (folder,) = (tmp_path / "results").glob("*/*")
    assert str(folder) in notes
    code, _, notes = call("show", folder)
    assert code == 0
    assert name in notes


def test_one_core_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(api, "draw", lambda model, done, folder: {})
    FakeMachine(monkeypatch, units=1, threads=1)
    assert sweep(tmp_path)[0] == 0
    assert "1 processors" in refused("sweep", "--backend", "cpu", "--threads", "2", "--results", tmp_path)
