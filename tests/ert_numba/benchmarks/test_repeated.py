"""Repeated process starts on this host's CPU, one benchmark each: saved whole, added to, interrupted, refused."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ert_numba.backends import Refusal
from ert_numba.bench_tables import bench_table, report_of, show_repeated
from ert_numba.benchmarks import repeated
from ert_numba.benchmarks.progress import Left, Measuring, heard, tell
from ert_numba.benchmarks.repeated import Asked, Repeated, Step, run_starts
from ert_numba.cli import app
from ert_numba.errors import ErtError, NotComparable
from ert_numba.judge.evidence import evidence_of
from ert_numba.store.benchmark_runs import load_run, runs_in

ONLY = "L1.latency"


def ask(folder: Path, **more: Any) -> Asked:
    wanted = {"save": "driver-580", "starts": 1, "backend": "cpu", "only": ONLY, "results": folder / "results"}
    return Asked(**{**wanted, **more})


def stand_in(monkeypatch: pytest.MonkeyPatch, program: str, whole: Path | None = None) -> None:
    """Another program in place of pytest: ``number`` is the start's, ``said`` tells, ``save()`` makes its file."""
    frame = """
import shutil, signal, sys
from ert_numba.benchmarks.progress import Left, Measuring, tell
number = {number}
def said(told): tell({pipe}, told)
def save(): shutil.copy({whole!r}, {made!r})
"""

    def command(asked: Asked, done: Repeated, number: int, made: Path, descriptor: int) -> list[str]:
        text = frame.format(number=number, pipe=descriptor, whole=str(whole), made=str(made))
        return [sys.executable, "-c", text + program]

    monkeypatch.setattr(repeated, "_command", command)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repeated, list[Step]]:
    """Two starts, run in a folder whose own pytest settings would break any test."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "conftest.py").write_text("raise RuntimeError('a conftest of the user')")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option")
    steps: list[Step] = []
    here = Path.cwd()
    os.chdir(folder)
    try:
        return run_starts(ask(folder, starts=2), steps.append), steps
    finally:
        os.chdir(here)


def test_each_start_is_a_file_that_the_judge_reads(two: tuple[Repeated, list[Step]]) -> None:
    done, steps = two
    assert [path.name for path in done.files] == ["0001_driver-580.json", "0002_driver-580.json"]
    assert runs_in([done.folder.parent]) == {(done.folder, "driver-580"): done.files}
    run = load_run(done.files)
    assert [start.info.start for start in run.starts if start.info] == [1, 2]
    evidence = evidence_of(run)
    assert list(evidence) == [f"ert_numba/benchmarks/test_ceilings.py::test_ceiling[{ONLY}]"]
    assert [step.start for step in steps if step.share == 0] == [1, 2]
    assert all(step.key == ONLY and step.starts == 2 for step in steps)
    assert not done.interrupted
    assert done.left == {}


def test_the_folder_is_the_devices_own(two: tuple[Repeated, list[Step]]) -> None:
    done, _ = two
    assert done.folder.parent.name == "benchmarks"
    assert done.folder.parent.parent.name == done.device.slug


def test_the_files_hold_no_line_a_number(two: tuple[Repeated, list[Step]]) -> None:
    assert two[0].files[0].read_text().count("\n") == 0


def test_the_report_and_its_table(two: tuple[Repeated, list[Step]]) -> None:
    report = report_of(two[0])
    (row,) = report.rows
    assert (row.key, row.unit, row.starts, row.share) == (ONLY, "s", 2, None)
    assert 0.1e-9 < row.value < 20e-9
    assert row.spread is not None
    assert len(report.files) == 2
    table = bench_table(report.rows, "title")
    assert list(table.columns[0].cells) == [ONLY]


def test_a_second_call_adds_starts(two: tuple[Repeated, list[Step]], monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = two
    words: list[list[str]] = []
    original = repeated._command
    monkeypatch.setattr(repeated, "_command", lambda *given: words.append(original(*given)) or ["false"])
    with pytest.raises(ErtError):
        run_starts(ask(done.folder.parents[3]), lambda step: None)
    assert "--roofline-start=3" in words[0]
    stand_in(monkeypatch, "save()", done.files[0])
    more = run_starts(ask(done.folder.parents[3]), lambda step: None)
    assert more.earlier == done.files
    assert [path.name for path in more.files] == ["0003_driver-580.json"]
    assert len(more.all_files) == 3
    more.files[0].unlink()


def test_starts_of_another_driver_or_device_are_not_added_to(two: tuple[Repeated, list[Step]], tmp_path: Path) -> None:
    done, _ = two
    plain = json.loads(done.files[0].read_text())
    for change, says in (
        (lambda machine: machine["device"].update(name="Another CPU"), "its device was Another CPU"),
        (lambda machine: machine["device"]["properties"].update(driver="470.1"), "its driver was 470.1"),
    ):
        there = json.loads(json.dumps(plain))
        change(there["machine_info"]["ert_numba"])  # type: ignore[no-untyped-call]
        folder = tmp_path / says.split()[1] / done.folder.name
        folder.mkdir(parents=True)
        (folder / "0001_driver-580.json").write_text(json.dumps(there))
        with pytest.raises(NotComparable, match=says):
            run_starts(ask(tmp_path, storage=folder.parent), no_start)


def no_start(step: Step) -> None:
    raise AssertionError("a start was made")


def test_an_interrupt_keeps_the_whole_starts_and_ends_the_other(
    two: tuple[Repeated, list[Step]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = f"""
if number == 1:
    save()
else:
    try:
        said(Measuring("L1.read", 0, 9))
        signal.pause()
    except KeyboardInterrupt:
        open({str(tmp_path / "ended")!r}, "w").close()
        save()
"""
    stand_in(monkeypatch, program, two[0].files[0])

    def interrupt(step: Step) -> None:
        raise KeyboardInterrupt

    done = run_starts(ask(tmp_path, starts=3), interrupt)
    assert done.interrupted
    assert [path.name for path in done.files] == ["0001_driver-580.json"]
    assert list(done.folder.iterdir()) == done.files
    assert (tmp_path / "ended").exists()  # it was asked to end, and waited for


@pytest.mark.parametrize("name", ["", "a/b", "../x", "driver 580", ".hidden", "x" * 100])
def test_names_that_are_no_file_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(ErtError, match="a name to save under"):
        run_starts(ask(tmp_path, save=name), no_start)


def test_a_folder_that_takes_nothing_is_found_before_the_first_start(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(ErtError, match="not a folder"):
        run_starts(ask(tmp_path), no_start)


def test_an_unknown_back_end_and_a_gpu_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ErtError, match="Choose auto"):
        run_starts(ask(tmp_path, backend="rocm"), no_start)
    monkeypatch.setattr("ert_numba.device.gpu._has_driver", lambda: False)
    with pytest.raises(ErtError, match="no NVIDIA driver"):
        run_starts(ask(tmp_path, backend="cuda"), no_start)


def test_a_choice_of_nothing_ends_in_words(tmp_path: Path) -> None:
    with pytest.raises(ErtError, match="no benchmark is chosen"):
        run_starts(ask(tmp_path, only="no_such_benchmark"), lambda step: None)
    assert list(tmp_path.glob("results/*/benchmarks/*/*.json")) == []


FAULTY = """
said(Left("DRAM.read", "no room", False))
said(Left("L2.read", "a wrong result", True))
save()
sys.exit(1)
"""


def test_what_failed_and_what_was_skipped_is_told_by_name(
    two: tuple[Repeated, list[Step]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, FAULTY, two[0].files[0])
    done = run_starts(ask(tmp_path), lambda step: None)
    assert len(done.files) == 1  # the others' figures are kept
    report = report_of(done)
    assert report.skipped["DRAM.read"] == "no room"
    assert set(report.skipped) == {"DRAM.read", *(row.what for row in done.skipped)}
    assert report.failed == {"L2.read": "a wrong result"}


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("print('Traceback: out of luck'); sys.exit(3)", "it failed:\nTraceback: out of luck"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "pytest ended with -9"),
        ("said(Left('L1.read', 'no room', False))", "L1.read: no room"),
    ],
)
def test_a_start_without_a_file_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, says: str
) -> None:
    stand_in(monkeypatch, program)
    with pytest.raises(ErtError) as raised:
        run_starts(ask(tmp_path), lambda step: None)
    assert says in raised.value.found


def test_two_that_save_at_once_take_different_numbers(
    two: tuple[Repeated, list[Step]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, "save()", two[0].files[0])
    write = repeated.write_bytes_new

    def raced(path: Path, data: bytes) -> Path:
        if path.name.startswith("0001"):
            path.write_text("of another bench")
        return write(path, data)

    monkeypatch.setattr(repeated, "write_bytes_new", raced)
    done = run_starts(ask(tmp_path), lambda step: None)
    assert [path.name for path in done.files] == ["0002_driver-580.json"]
    assert (done.folder / "0001_driver-580.json").read_text() == "of another bench"


def test_a_better_device_that_was_not_measured_is_named(
    two: tuple[Repeated, list[Step]], capsys: pytest.CaptureFixture[str]
) -> None:
    show_repeated(replace(two[0], refusals=(Refusal("cuda", "no NVIDIA driver"),)), as_json=False)
    assert "cuda: not measured, no NVIDIA driver" in capsys.readouterr().err


@pytest.fixture
def pipe() -> Iterator[tuple[Any, int]]:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as file:
        yield file, writer


def test_what_is_told_is_heard_and_other_lines_are_not(pipe: tuple[Any, int]) -> None:
    file, writer = pipe
    told = [Measuring("L1.read", 3, 9), Left("L2.read", 'a "reason"\nof two lines', True)]
    tell(writer, told[0])
    os.write(writer, b"Fatal Python error\n\xff\n")
    tell(writer, told[1])
    os.close(writer)
    assert list(heard(file)) == told


def test_a_listener_that_went_away_does_not_end_the_measuring(pipe: tuple[Any, int]) -> None:
    file, writer = pipe
    file.close()
    tell(writer, Measuring("L1.read", 3, 9))
    os.close(writer)


def bench(*words: str) -> Any:
    return CliRunner().invoke(app, ["bench", "--backend", "cpu", "--only", ONLY, *words])


def test_the_command_prints_a_table_and_where_the_files_are(
    two: tuple[Repeated, list[Step]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, "save()", two[0].files[0])
    done = bench("--save", "a", "--starts", "1", "--results", str(tmp_path))
    assert done.exit_code == 0, done.output
    assert ONLY in done.stdout
    assert "1 start" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "0001_a.json" in done.stderr
    assert "Add starts: python -m ert_numba bench --save a" in done.stderr


def test_the_command_as_json_and_after_an_interrupt(
    two: tuple[Repeated, list[Step]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, "save()", two[0].files[0])

    def interrupted(asked: Asked, listener: Any) -> Repeated:
        done = run_starts(asked, listener)
        done.interrupted = True
        return done

    monkeypatch.setattr(repeated, "run_starts", interrupted)
    done = bench("--save", "a", "--starts", "1", "--results", str(tmp_path), "--json")
    assert done.exit_code == 130
    report = json.loads(done.stdout)
    assert report["interrupted"] is True
    assert [row["key"] for row in report["rows"]] == [ONLY]
    assert "Interrupted: 1 whole start kept" in done.stderr


def test_the_command_exits_with_3_where_something_failed(
    two: tuple[Repeated, list[Step]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, FAULTY, two[0].files[0])
    done = bench("--save", "a", "--starts", "1", "--results", str(tmp_path))
    assert done.exit_code == 3
    assert "Failed: L2.read: a wrong result" in done.stderr


def test_the_command_refuses_a_bad_name_with_3(tmp_path: Path) -> None:
    done = bench("--save", "a/b", "--results", str(tmp_path))
    assert done.exit_code == 3
    assert "a name to save under" in done.stderr
