"""The command line: what it prints where, its exit codes, and bad input of every kind, in process and as a program."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from example_models import cpu_device, cpu_model, cpu_sweep
from fake_backend import RATES, FakeMachine
from fake_timer import FakeTimer
from made_up_sysfs import allow, server
from typer.testing import CliRunner

from ert_numba import api, files
from ert_numba.cli import app
from ert_numba.device import cpu as cpu_module
from ert_numba.device import gpu, topology
from ert_numba.errors import DeviceLost
from ert_numba.machine import MachineModel
from ert_numba.records import Skipped
from ert_numba.store.documents import encode, save

COMMANDS = ("sweep", "devices", "fit", "show", "plot", "compare", "history", "import-ert")


def call(*arguments: object):
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


@pytest.fixture
def machine(monkeypatch):
    monkeypatch.setattr(api, "draw", lambda model, done, folder: {})
    return FakeMachine(monkeypatch)


@pytest.fixture
def run(tmp_path):
    """A folder of a run, as ``sweep`` leaves it."""
    folder = tmp_path / "run"
    folder.mkdir()
    save(cpu_sweep(), folder / "sweep.json")
    save(cpu_model(), folder / "machine.json")
    return folder


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


# Stored documents: read with no device.


def test_show_fit_compare_and_plot_read_a_run(run, tmp_path):
    for arguments in (("show", run), ("show", run / "machine.json"), ("compare", run, run)):
        code, out, message = call(*arguments)
        assert code == 0, message
        assert "GB/s" in out
        code, out, message = call(*arguments, "--json")
        assert code == 0, message
        assert json.loads(out)
    for form in ("html", "json", "svg"):
        picture = tmp_path / f"picture.{form}"
        assert call("plot", run, "-o", picture)[0] == 0
        assert picture.stat().st_size > 1000


def test_fit_makes_the_model_again(run, tmp_path):
    new = tmp_path / "again.json"
    assert call("fit", run, "-o", new)[0] == 0
    assert api.load(new).ceilings == api.fit(run).ceilings


def broken(tmp_path: Path, kind: str) -> Path:
    """A machine model with a fault of one kind."""
    path, text = tmp_path / "broken.json", encode(cpu_model()).decode()
    document = json.loads(text)
    if kind == "truncated":
        text = text[: len(text) // 2]
    elif kind == "hand-edited":
        document["ceilings"][0]["value"] = "fast"
    elif kind == "newer":
        document["version"] = 99
    elif kind == "wrong schema":
        document["schema"] = "someone.elses"
    elif kind == "no schema":
        del document["schema"]
    elif kind == "extra field":
        document["ceilings"][0]["speed"] = 1
    elif kind == "interval":
        document["ceilings"][0]["low"] = 2 * document["ceilings"][0]["high"]
    elif kind == "negative":
        document["ceilings"][0]["value"] = -1.0
    elif kind == "empty":
        text = ""
    elif kind == "no JSON":
        text = "hello"
    same = kind in ("truncated", "empty", "no JSON")
    path.write_text(text if same else json.dumps(document))
    return path


FAULTS = {
    "truncated": "no whole JSON",
    "hand-edited": "$.ceilings[0].value",
    "newer": "newer ert_numba",
    "wrong schema": "someone.elses",
    "no schema": "`schema`",
    "extra field": "speed",
    "interval": "low",
    "negative": "-1.0",
    "empty": "empty",
    "no JSON": "no whole JSON",
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_broken_model_is_refused_by_every_command_that_reads_one(kind, run, tmp_path):
    path = broken(tmp_path, kind)
    for arguments in (("show", path), ("compare", path, run), ("compare", run, path)):
        message = refused(*arguments)
        assert FAULTS[kind] in message
        assert "broken.json" in message
    assert FAULTS[kind] in refused("plot", path, "-o", tmp_path / "new.html")
    assert not (tmp_path / "new.html").exists()


def test_another_kind_of_document_is_named(run):
    assert "is a sweep" in refused("show", run / "sweep.json")
    assert "machine model" in refused("fit", run / "machine.json")
    assert "machine model" in refused("sweep", "--resume", run / "machine.json", "--backend", "cpu")


@pytest.mark.parametrize("value", [float("nan"), -1e-3, 0, None, float("inf"), "soon"])
def test_samples_that_are_no_times_are_refused(value, run, tmp_path):
    text = (run / "sweep.json").read_text()
    document = json.loads(text)
    document["samples"][3]["seconds"][1] = value
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(document))
    for arguments in (("fit", path), ("plot", path, "-o", tmp_path / "x.html"), ("sweep", "--resume", path)):
        message = refused(*arguments)
        assert "edited.json" in message
        assert "seconds" in message or "JSON" in message


def test_what_does_not_exist(tmp_path):
    for arguments in (("show", "nothing"), ("fit", "nothing"), ("plot", "nothing", "-o", tmp_path / "x.html")):
        assert "does not exist" in refused(*arguments)
    assert "does not exist" in refused("show", tmp_path)
    assert "does not exist" in refused("import-ert", "nothing", "-o", tmp_path / "x.json")


def test_an_output_file_that_exists_stays_as_it_is(run, tmp_path):
    there = tmp_path / "there.html"
    svg = tmp_path / "there.svg"
    for path in (there, svg):
        path.write_text("mine")
    ert = tmp_path / "roofline.json"
    ert.write_text(json.dumps({"empirical": {"gflops": {"data": [["FP64 GFLOPs", 1.0]]}, "gbytes": {"data": []}}}))
    for arguments in (
        ("plot", run, "-o", there),
        ("plot", run, "-o", there, "--format", "json"),
        ("plot", run, "-o", svg),
        ("fit", run, "-o", there),
        ("import-ert", ert, "-o", there),
    ):
        assert "exists already" in refused(*arguments)
    assert there.read_text() == svg.read_text() == "mine"


def test_an_output_of_no_known_form(run, tmp_path):
    for name in ("picture.jpeg", "picture", "picture."):
        assert "html, json, svg, png" in refused("plot", run, "-o", tmp_path / name)


def test_a_model_with_no_ceilings_is_not_drawn(tmp_path):
    empty = tmp_path / "empty.json"
    save(msgspec.structs.replace(cpu_model(), ceilings=(), knees=(), proof=()), empty)
    for form in ("html", "json", "svg"):
        refused("plot", empty, "-o", tmp_path / f"x.{form}")
        assert not (tmp_path / f"x.{form}").exists()
    assert call("show", empty)[0] == 0


def test_the_curves_of_a_model_without_samples(run, tmp_path):
    assert "samples" in refused("plot", run / "machine.json", "--curves", "-o", tmp_path / "x.svg")


def test_unlike_devices_are_not_compared(run, tmp_path):
    other = tmp_path / "other.json"
    device = msgspec.structs.replace(cpu_device(), name="Another CPU")
    save(msgspec.structs.replace(cpu_model(), device=device), other)
    message = refused("compare", run, other, code=4)
    assert "Another CPU" in message
    assert call("compare", run, other, "--force")[0] == 0


def test_text_out_of_a_file_is_no_markup_and_commands_no_terminal(tmp_path):
    path, other = tmp_path / "hostile.json", tmp_path / "other.json"
    evil = "[/red]\x1b[31m"
    model = cpu_model()
    device = msgspec.structs.replace(cpu_device(), name=evil)
    rows = [msgspec.structs.replace(row, access=evil, key=f"{row.key}{evil}", unit=row.unit) for row in model.ceilings]
    knees = [msgspec.structs.replace(row, level=evil, shape=evil, witness=evil) for row in model.knees]
    skipped = (Skipped(what=evil, reason=evil),)
    model = msgspec.structs.replace(
        model, device=device, ceilings=tuple(rows), knees=tuple(knees), skipped=skipped, notes=(evil,)
    )
    save(model, path)
    save(msgspec.structs.replace(model, ceilings=tuple(rows[:2])), other)
    for arguments in (("show", path), ("compare", path, other)):
        code, out, notes = call(*arguments)
        assert code == 0
        assert "[/red]?[31m" in out + notes
        assert "\x1b" not in out + notes


# Machines that hide or lack something.


@pytest.fixture
def hidden(tmp_path, monkeypatch):
    """This host as a container sees it that shows neither sysfs nor quotas: (sysfs, cgroup) to fill."""
    from ert_numba.device.cpu import probe_cpu
    from ert_numba.device.topology import probe

    sysfs, cgroup = tmp_path / "sys", tmp_path / "cgroup"
    for folder in (sysfs, cgroup):
        folder.mkdir()
    monkeypatch.setattr(topology, "_own_cgroups", lambda folder: [folder])
    monkeypatch.setattr(topology, "probe", lambda: probe(sysfs, cgroup))
    monkeypatch.setattr(cpu_module, "probe_cpu", lambda found: probe_cpu(found, sysfs, cgroup))
    return sysfs, cgroup


def test_no_sysfs(hidden):
    code, out, _ = call("devices", "--backend", "cpu")
    assert code == 0
    assert "physical cores" in out
    code, out, _ = call("devices", "--backend", "cpu", "--json")
    assert code == 0
    assert json.loads(out)["sockets"] == 1


def test_half_a_core(hidden, monkeypatch):
    allow(monkeypatch, server(hidden[0]))
    (hidden[1] / "cpu.max").write_text("50000 100000\n")
    code, out, _ = call("devices", "--backend", "cpu", "--json")
    assert code == 0
    device = json.loads(out)
    assert device["units"] == 1
    assert any("0.5 processors" in note for note in device["notes"])


@pytest.mark.parametrize(("gpus", "said"), [(1, False), (4, True)])
def test_devices_says_how_to_reach_the_other_gpus(gpus, said, monkeypatch):
    FakeMachine(monkeypatch, kind="gpu")
    monkeypatch.setattr(gpu, "count_gpus", lambda: gpus)
    code, _, notes = call("devices", "--backend", "cpu")
    assert code == 0
    assert (f"GPU 0 of {gpus}: --device chooses another, sweep --device all measures each" in notes) is said


def test_devices_says_what_can_be_measured_and_what_not(machine):
    code, out, _ = call("devices", "--backend", "cpu")
    assert code == 0
    for text in ("fp64.vector.fma", "AMX", "Cannot be measured", "Physical limits"):
        assert text in out


def test_cuda_without_a_driver(tmp_path):
    if Path("/dev/nvidiactl").exists():
        pytest.skip("there is a driver")
    refused("devices", "--backend", "cuda")
    refused("sweep", "--backend", "cuda", "--results", tmp_path)
    assert list(tmp_path.iterdir()) == []
    code, _, notes = call("devices", "--json")
    assert code == 0
    assert "cuda: not measured" in notes


# As a program.


def program(*arguments: str, **options):
    return subprocess.run(
        [sys.executable, "-m", "ert_numba", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )


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


def test_the_program_prints_json(run):
    result = program("show", str(run), "--json")
    assert result.returncode == 0
    assert msgspec.json.decode(result.stdout, type=MachineModel) == cpu_model()


def test_one_processor_allowed():
    first = min(os.sched_getaffinity(0))
    result = program("devices", "--backend", "cpu", "--json", preexec_fn=lambda: os.sched_setaffinity(0, {first}))
    assert result.returncode == 0
    device = json.loads(result.stdout)
    assert (device["units"], device["threads"], device["sockets"]) == (1, 1, 1)
    assert all(row["shared_by"] == 1 for row in device["caches"])
