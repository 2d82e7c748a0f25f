from pathlib import Path

import pytest
from made_up_benchmarks import made_up_run, save_run

from ert_numba.errors import ErtError
from ert_numba.store.benchmark_runs import (
    choose_pair,
    load_run,
    run_of_folder,
    runs_of_name,
    storages,
)

ID = "Linux-CPython-3.11-64bit"


@pytest.fixture
def results(tmp_path) -> Path:
    folder = tmp_path / "results" / "nvidia-h200" / "benchmarks" / ID
    save_run(made_up_run("driver-580", starts=3), folder)
    save_run(made_up_run("driver-590", starts=2), folder, 4)
    return tmp_path / "results"


def find(a: str, b: str, results: Path, storage: Path | None = None):
    where = storages(results, storage)
    return choose_pair(a, runs_of_name(a, where), b, runs_of_name(b, where))


def test_a_run_is_all_files_of_its_name_in_their_order(results):
    a, b = find("driver-580", "driver-590", results)
    assert [path.name for path in a] == [f"000{number}_driver-580.json" for number in (1, 2, 3)]
    assert [path.name for path in b] == ["0004_driver-590.json", "0005_driver-590.json"]
    run = load_run(a)
    assert (run.name, [start.info.start for start in run.starts]) == ("driver-580", [1, 2, 3])


def test_names_may_hold_what_file_names_may(tmp_path):
    for name in ("a_b", "0001_a", "a b", "a.json", "é"):
        save_run(made_up_run(name, starts=1), tmp_path / "s" / ID)
    for name in ("a_b", "0001_a", "a b", "é"):
        (files,) = runs_of_name(name, [tmp_path / "s"]).values()
        assert load_run(files).name == name


def test_a_name_that_is_not_there_says_which_are(results):
    with pytest.raises(ErtError) as caught:
        find("driver-58O", "driver-590", results)
    assert "driver-580, driver-590" in caught.value.remedy


def test_no_storage_says_how_to_make_one(tmp_path):
    with pytest.raises(ErtError) as caught:
        find("x", "y", tmp_path / "results", tmp_path / "nowhere")
    assert "nowhere" in caught.value.found
    assert "bench --save x --starts 5" in caught.value.remedy


def test_a_path_that_is_not_there_is_no_name(results):
    for text in ("no/where/driver-580", "missing.json"):
        with pytest.raises(ErtError, match="does not exist"):
            runs_of_name(text, storages(results))


def test_of_a_name_in_two_storages_the_one_that_has_both_is_taken(results):
    other = results / "amd-epyc" / "benchmarks" / ID
    save_run(made_up_run("driver-580", starts=1, seed=7), other)
    a, _ = find("driver-580", "driver-590", results)
    assert {path.parent.parent.parent.name for path in a} == {"nvidia-h200"}
    with pytest.raises(ErtError) as caught:
        find("driver-580", "driver-580", results)
    assert "amd-epyc" in caught.value.found
    assert "nvidia-h200" in caught.value.found
    a, _ = find("driver-580", "driver-580", results, other.parent)
    assert a[0].parent == other
    a, b = find(f"{other}/driver-580", "driver-590", results)
    assert (a[0].parent, len(b)) == (other, 2)


def test_a_run_on_one_device_each_is_for_the_judge_to_refuse(results):
    save_run(made_up_run("only-here"), results / "amd-epyc" / "benchmarks" / ID)
    a, b = find("driver-580", "only-here", results)
    assert (len(a), len(b)) == (3, 5)


def test_a_folder_holds_one_run_or_says_which(results, tmp_path):
    folder = results / "nvidia-h200" / "benchmarks"
    with pytest.raises(ErtError) as caught:
        run_of_folder(folder)
    assert "driver-580 (3 starts), driver-590 (2 starts)" in caught.value.found
    save_run(made_up_run("one"), tmp_path / "flat")
    ((_, name),) = run_of_folder(tmp_path / "flat")
    assert name == "one"
    with pytest.raises(ErtError, match="no benchmark file"):
        run_of_folder(results)
