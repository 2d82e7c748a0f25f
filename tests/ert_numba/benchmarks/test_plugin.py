"""The plugin in pytest itself: the suite on a made-up machine, its file, and every way in which it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from fake_backend import AMOUNT, RATES, FakeMachine
from fake_timer import FakeTimer

from ert_numba import backends
from ert_numba.errors import ErtError
from ert_numba.store.benchmark_files import read_start

pytest_plugins = ["pytester"]
SUITE = ("-p", "no:cacheprovider", "--pyargs", "ert_numba.benchmarks", "--benchmark-quiet")


def no_gpu(ordinal: int) -> Any:
    raise ErtError("a GPU", "no NVIDIA driver: libcuda was not found", "If there is one, nvidia-smi must work first")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    """A made-up CPU whose name has a space, and no GPU."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # these sessions are workers of nobody
    monkeypatch.setitem(backends.BACKENDS, "cuda", no_gpu)
    return FakeMachine(monkeypatch, name="Made-up CPU")


def saved(pytester: pytest.Pytester) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(next(pytester.path.glob("results/*/benchmarks/*/*.json")).read_text())
    return found


def test_plain_save_keeps_everything_that_a_comparison_needs(pytester: pytest.Pytester, machine: FakeMachine) -> None:
    pytester.runpytest_inprocess(*SUITE, "--benchmark-save=driver-580").assert_outcomes(passed=len(RATES))
    path = next(pytester.path.glob("results/*/benchmarks/*/*.json"))
    assert path.parent.parent == pytester.path / "results" / "made-up-cpu" / "benchmarks"
    assert path.name == "0001_driver-580.json"
    start = read_start(path)
    assert [row.said.key for row in start.observed if row.said] == list(RATES)
    assert start.info is not None
    assert start.info.device == machine.device
    assert start.info.start == 1
    for row in start.observed:
        assert row.name == f"ert_numba/benchmarks/test_ceilings.py::test_ceiling[{row.said.key}]" if row.said else False
        assert len(row.seconds) > 50
    assert machine.timer is not None
    assert machine.timer.closed


def test_the_rounds_are_the_devices_own_times(pytester: pytest.Pytester, machine: FakeMachine) -> None:
    pytester.runpytest_inprocess(*SUITE, "--benchmark-save=a")
    for row in saved(pytester)["benchmarks"]:
        said = row["extra_info"]["ert_numba"]
        assert min(row["stats"]["data"]) == 3 * AMOUNT / RATES[said["key"]] / 3  # to the last bit
        assert row["options"]["timer"] == "device_clock"
        assert set(row["extra_info"]) - {"share of limit"} == {"median", "clock", "ert_numba"}


def test_nothing_private_is_in_the_file_unless_asked(pytester: pytest.Pytester, machine: FakeMachine) -> None:
    pytester.runpytest_inprocess(*SUITE, "--benchmark-save=a")
    found = saved(pytester)
    assert "node" not in found["machine_info"]
    assert found["machine_info"]["ert_numba"]["provenance"]["host_name"] is None
    assert str(pytester.path) not in json.dumps(found)
    pytester.runpytest_inprocess(*SUITE, "--benchmark-json=full.json", "--roofline-provenance=full")
    full = json.loads((pytester.path / "full.json").read_text())["machine_info"]["ert_numba"]["provenance"]
    assert full["host_name"]


def test_a_storage_of_ones_own_is_honoured(pytester: pytest.Pytester, machine: FakeMachine) -> None:
    pytester.runpytest_inprocess(*SUITE, "--benchmark-save=a", "--benchmark-storage=file://mine")
    assert list(pytester.path.glob("mine/*/0001_a.json"))
    assert not (pytester.path / "results").exists()


def test_pytest_benchmarks_own_compare_reads_the_files(pytester: pytest.Pytester, machine: FakeMachine) -> None:
    for _ in range(2):
        pytester.runpytest_inprocess(*SUITE, "--benchmark-save=a")
    storage = f"--storage=file://{pytester.path}/results/made-up-cpu/benchmarks"
    own = "from pytest_benchmark.cli import main; main()"  # this environment's, whatever is on the PATH
    done = pytester.run(sys.executable, "-c", own, storage, "compare", "0001", "0002", "--between=median")
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*L1.read*+0.0%*"])


def test_a_storage_that_takes_nothing_is_found_before_measuring(
    pytester: pytest.Pytester, machine: FakeMachine
) -> None:
    (pytester.path / "results").write_text("a file where the folder should be")
    done = pytester.runpytest_inprocess(*SUITE, "--benchmark-save=a")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*a part of the path is a file, not a folder*"])
    assert machine.opened == 0


def test_cuda_without_a_gpu_says_what_is_missing(pytester: pytest.Pytester, machine: FakeMachine) -> None:
    done = pytester.runpytest_inprocess(*SUITE, "--roofline-backend=cuda")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: a GPU: no NVIDIA driver*"])


def test_the_header_names_the_device_and_why_it_is_no_better_one(
    pytester: pytest.Pytester, machine: FakeMachine
) -> None:
    done = pytester.runpytest_inprocess(*SUITE, "--collect-only")
    done.stdout.fnmatch_lines(["roofline: Made-up CPU", "roofline: cuda is not measured, no NVIDIA driver*"])


def test_a_device_that_cannot_be_opened_ends_the_session_in_words(
    pytester: pytest.Pytester, machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Any, *arguments: Any, **more: Any) -> None:
        raise ErtError("a worker on processor 1", "not allowed", "Look whether it still is")

    monkeypatch.setattr(FakeTimer, "__init__", refuse)
    done = pytester.runpytest_inprocess(*SUITE, "--benchmark-save=a")
    assert done.ret == pytest.ExitCode.INTERNAL_ERROR
    done.stdout.fnmatch_lines(["*a worker on processor 1: not allowed*"])
    assert machine.opened == 1


def test_an_unknown_back_end_is_refused(pytester: pytest.Pytester, machine: FakeMachine) -> None:
    done = pytester.runpytest_inprocess(*SUITE, "--roofline-backend=rocm")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*invalid choice: *rocm*"])


@pytest.mark.parametrize("words", [("-n", "1"), ("--benchmark-disable",)])
def test_where_benchmarks_are_off_they_are_skipped_with_the_reason(
    pytester: pytest.Pytester, words: tuple[str, ...], machine: FakeMachine
) -> None:
    if words[0] == "-n":  # its workers are processes of their own: the host's own CPU, one benchmark
        done = pytester.runpytest_subprocess(*SUITE, "-rs", "-k", "L1.latency", "--roofline-backend=cpu", *words)
    else:
        done = pytester.runpytest_inprocess(*SUITE, "-rs", *words)
    done.assert_outcomes(skipped=1 if words[0] == "-n" else len(RATES))
    done.stdout.fnmatch_lines(["*benchmarks are off here: under xdist*"])


def test_only_what_is_chosen_is_measured(pytester: pytest.Pytester, machine: FakeMachine) -> None:
    pytester.runpytest_inprocess(*SUITE, "--benchmark-save=a", "-k", "L1.read").assert_outcomes(passed=1, deselected=3)
    assert machine.timer is not None
    assert {key.split(":")[1].split("[")[0] for key, _ in machine.timer.opened} == {"L1.read"}


def test_one_that_fails_one_that_is_wrong_and_one_that_cannot_be_do_not_cost_the_others(
    pytester: pytest.Pytester, machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = FakeTimer.__init__

    def broken(self: Any, *arguments: Any, **more: Any) -> None:
        original(self, *arguments, **more)
        self.refusals = {"L1.read": RuntimeError("fell over"), "DRAM.read": ErtError("a", "no room", "b")}
        self.verified = {"L1.latency": False}

    monkeypatch.setattr(FakeTimer, "__init__", broken)
    done = pytester.runpytest_inprocess(*SUITE, "-rs", "--benchmark-save=a")
    done.assert_outcomes(passed=1, failed=2, skipped=1)
    done.stdout.fnmatch_lines(["*a: no room. b*"])
    keys = {row["extra_info"]["ert_numba"]["key"]: row for row in saved(pytester)["benchmarks"]}
    assert set(keys) == {"fp64.vector.fma", "L1.latency"}
    assert keys["L1.latency"]["extra_info"]["ert_numba"]["verified"] is False


def test_a_folders_own_settings_do_not_turn_other_tests_into_the_suite(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_of_somebody(): pass")
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--benchmark-save=a")
    done.assert_outcomes(passed=1)
    assert not (pytester.path / "results").exists()


def test_without_pytest_benchmark_the_suite_says_what_it_needs(pytester: pytest.Pytester, machine: FakeMachine) -> None:
    done = pytester.runpytest_inprocess(
        "-p", "no:benchmark", "-p", "no:cacheprovider", "--pyargs", "ert_numba.benchmarks"
    )
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*the suite needs pytest-benchmark*"])


def test_the_plugin_loads_nothing_heavy() -> None:
    """pytest imports it at every start, in every project of an environment that has this package."""
    program = (
        "import sys, pytest; before = set(sys.modules); import ert_numba.benchmarks.plugin;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ert_numba", "ert_numba.benchmarks", "ert_numba.benchmarks.plugin"]


def test_every_start_finds_it(pytester: pytest.Pytester) -> None:
    """By the entry point of the installed package, with no conftest."""
    done = pytester.runpytest_subprocess("--fixtures", "-q")
    done.stdout.fnmatch_lines(["roofline_benchmark*"])
