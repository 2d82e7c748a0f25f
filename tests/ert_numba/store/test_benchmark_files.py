import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_benchmarks import as_file, foreign, made_up_run, save_run

from ert_numba.errors import ErtError, NotComparable
from ert_numba.starts import KEY, SUITE_VERSION
from ert_numba.store.benchmark_files import is_benchmark_file, read_start

RUN = made_up_run("run", starts=1)


@pytest.fixture
def path(tmp_path):
    return save_run(RUN, tmp_path)[0]


def edited(path, change) -> None:
    plain = json.loads(path.read_text())
    change(plain)
    path.write_text(json.dumps(plain))


def test_a_file_of_the_suite_comes_back_whole(path):
    start = read_start(path)
    assert start.info == RUN.starts[0].info
    assert start.observed == RUN.starts[0].observed
    assert start.label == path.name


def test_a_file_of_somebody_elses_suite_is_read_without_the_name_of_its_host(tmp_path):
    (path,) = save_run(foreign(RUN), tmp_path)
    start = read_start(path)
    assert start.info is None
    assert start.machine == {"cpu": "Example CPU", "python": "3.11.2", "system": "Linux 6.1.0 x86_64"}
    assert [row.seconds for row in start.observed] == [row.seconds for row in RUN.starts[0].observed]
    assert "secret-host" not in repr(start)


def test_what_pytest_benchmark_writes_is_read(tmp_path):
    """A file of the true plugin, of a benchmark that has nothing to do with this suite."""
    (tmp_path / "test_sum.py").write_text("def test_sum(benchmark):\n    benchmark(sum, range(100))\n")
    made = tmp_path / "out.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sum.py",
               f"--benchmark-json={made}", "--benchmark-min-rounds=5", "--benchmark-max-time=0.01"]  # fmt: skip
    # Under xdist pytest-benchmark measures nothing; a worker's mark is not for the process that it starts.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert is_benchmark_file(made)
    (row,) = read_start(made).observed
    assert row.name == "test_sum.py::test_sum"
    assert len(row.seconds) >= 5


def test_a_bare_nan_beside_the_times_does_no_harm(tmp_path):
    plain = as_file(foreign(RUN).starts[0])
    plain["benchmarks"][0]["extra_info"]["loss"] = float("nan")
    (tmp_path / "nan.json").write_text(json.dumps(plain))
    assert len(read_start(tmp_path / "nan.json").observed) == len(RUN.starts[0].observed)


def set_data(value):
    return lambda plain: plain["benchmarks"][1]["stats"].update(data=value)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda plain: plain["benchmarks"][1]["stats"].pop("data"), "fp32.vector.fma] has no raw times"),
        (set_data([]), "empty list"),
        (set_data([1.0, 0.0]), "time 1 of"),
        (set_data([1.0, -1.0]), "-1.0"),
        (set_data([1.0, float("inf")]), "inf"),
        (set_data([1.0, float("nan")]), "nan"),
        (set_data(["soon"]), "float"),
        (lambda plain: plain.update(benchmarks=[]), "no benchmark"),
        (lambda plain: plain.update(benchmarks=7), "array"),
        (lambda plain: plain.pop("machine_info"), "machine_info"),
        (lambda plain: plain["benchmarks"].append(plain["benchmarks"][0]), "appears twice"),
        (lambda plain: plain["machine_info"][KEY].update(suite_version="1"), "suite_version"),
        (lambda plain: plain["machine_info"].update({KEY: []}), "SuiteInfo|object"),
        (lambda plain: plain["benchmarks"][0]["extra_info"][KEY].pop("work"), "work"),
        (lambda plain: plain["benchmarks"][0]["extra_info"][KEY]["work"].update(flop=0), "declares no such work"),
        (lambda plain: plain["benchmarks"][0]["extra_info"][KEY].update(limit=-1.0), "the limit of"),
        (lambda plain: plain["benchmarks"][0]["extra_info"][KEY].update(clock_hz=[0.0]), "the clock of"),
    ],
)
def test_a_broken_file_is_refused_by_name(path, change, found):
    edited(path, change)
    with pytest.raises(ErtError, match=found) as caught:
        read_start(path)
    assert path.name in caught.value.asked
    assert caught.value.exit_code == 3


def test_a_plain_save_without_its_times_says_what_to_do(path):
    edited(path, lambda plain: [row["stats"].pop("data") for row in plain["benchmarks"]])
    with pytest.raises(ErtError) as caught:
        read_start(path)
    assert "--benchmark-save-data" in caught.value.remedy


def test_a_newer_suite_asks_for_an_upgrade(path):
    edited(path, lambda plain: plain["machine_info"].update({KEY: {"suite_version": SUITE_VERSION + 1, "new": 1}}))
    with pytest.raises(NotComparable) as caught:
        read_start(path)
    assert "Upgrade" in caught.value.remedy


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_no_result(path, part):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(ErtError, match=r"no whole JSON|empty"):
        read_start(path)


@given(data=st.binary(max_size=200))
def test_anything_else_is_refused_cleanly(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("any") / "x.json"
    path.write_bytes(data)
    with pytest.raises(ErtError):
        read_start(path)


def test_nesting_without_end_is_refused(path):
    path.write_text('{"machine_info":' + "[" * 200_000)
    with pytest.raises(ErtError):
        read_start(path)


def test_documents_of_this_project_are_no_benchmark_files(tmp_path):
    from example_models import cpu_model

    from ert_numba.store.documents import save

    assert not is_benchmark_file(save(cpu_model(), tmp_path / "machine.json"))
    assert not is_benchmark_file(tmp_path)
    assert not is_benchmark_file(tmp_path / "nothing")
    assert not is_benchmark_file(tmp_path / "nu\0ll")
