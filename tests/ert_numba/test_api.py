"""The stages as functions, on a made-up machine: what is saved when, what resumes, and that nothing is lost."""

from __future__ import annotations

import errno
import json

import pytest
from fake_backend import RATES, SIZES, FakeMachine
from made_up_sweeps import device as gpu_like
from made_up_sweeps import sample as made_up_sample
from made_up_sweeps import sweep as made_up_sweep

import ert_numba
from ert_numba import api, backends, files
from ert_numba.errors import ErtError, NotComparable
from ert_numba.kernels.spec import Request
from ert_numba.records import Work


@pytest.fixture
def machine(monkeypatch):
    """A machine whose results are not drawn: pictures take longer than all the rest."""
    monkeypatch.setattr(api, "draw", lambda model, done, folder: {})
    return FakeMachine(monkeypatch)


@pytest.fixture
def drawn_machine(monkeypatch):
    return FakeMachine(monkeypatch)


def sweep(tmp_path, sizes=(), **options):
    return api.sweep(Request(sizes=sizes), backend="cpu", results=tmp_path / "results", **options)


def test_a_sweep_measures_fits_saves_and_draws(drawn_machine, tmp_path):
    machine = drawn_machine
    run = sweep(tmp_path, SIZES)
    assert set(run.files) == {"sweep", "machine", "page", "roofline", "curves"}
    assert all(path.is_file() and path.stat().st_size for path in run.files.values())
    assert run.folder.parent.parent == tmp_path / "results"
    assert run.sweep.run == run.model.run == run.folder.name
    assert machine.timer.closed
    for key, rate in RATES.items():
        row = run.model.ceiling(key)
        truth = 1 / rate if key.endswith("latency") else rate
        assert row.value == pytest.approx(truth, rel=0.01)
        assert row.low <= row.value <= row.high
    assert any(knee.level == "L1" for knee in run.model.knees)
    assert run.files["curves"].name == "curves.vl.json"
    assert [row.what for row in run.model.skipped] == ["AMX"]


def test_what_was_saved_loads_as_it_was(machine, tmp_path):
    run = sweep(tmp_path)
    assert ert_numba.load(run.folder) == run.model
    assert ert_numba.load_sweep(run.files["sweep"]) == run.sweep
    # Also after the package of that name has been imported.
    assert ert_numba.fit(run.files["sweep"]) == ert_numba.fit(run.folder) == run.model
    assert ert_numba.fit(run.sweep) == ert_numba.api.fit(run.sweep)
    assert ert_numba.chart(run.model).to_dict()["$schema"]


def test_a_second_sweep_adds_a_folder(machine, tmp_path):
    one, two = sweep(tmp_path), sweep(tmp_path)
    assert one.folder != two.folder
    assert {path.name for path in one.folder.iterdir()} == {path.name for path in two.folder.iterdir()}


def test_without_results_nothing_is_written(machine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = api.sweep(backend="cpu", results=None)
    assert run.folder is None
    assert run.files == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["Weird/Name: ÄÖÜ 100 %\t..", "模型", "../../etc", "a" * 500])
def test_no_device_name_leaves_the_results_folder(name, monkeypatch, tmp_path):
    monkeypatch.setattr(api, "draw", lambda model, done, folder: {})
    FakeMachine(monkeypatch, name=name)
    run = sweep(tmp_path)
    assert run.folder.parent.parent == tmp_path / "results"
    assert run.folder.parent.name.isascii()
    assert api.load(run.folder).device.name == name


def test_a_folder_that_cannot_be_written_is_found_out_before_measuring(machine, tmp_path):
    (tmp_path / "results").write_text("a file stands in the way")
    with pytest.raises(ErtError, match="results"):
        sweep(tmp_path)
    assert machine.opened == 0


@pytest.mark.parametrize(("moment", "sizes"), [(3, ()), (20, ()), (80, SIZES)])
def test_an_interrupted_sweep_is_saved_and_goes_on(moment, sizes, machine, tmp_path):
    machine.interrupt_at = moment
    first = sweep(tmp_path, sizes)
    assert first.sweep.partial
    kept = first.files["sweep"].read_bytes()
    machine.interrupt_at = None
    second = api.sweep(resume=first.files["sweep"], results=tmp_path / "results")
    assert not second.sweep.partial
    assert first.files["sweep"].read_bytes() == kept, "the run before stays as it was"
    assert second.folder != first.folder
    before = {row.point.key for row in first.sweep.samples}
    assert before.isdisjoint(key for key, _ in machine.timer.opened), "what is finished is not measured again"
    keys = [row.point.key for row in second.sweep.samples]
    assert len(keys) == len(set(keys))
    assert before < set(keys)
    assert second.sweep.samples[: len(before)] == first.sweep.samples
    assert {row.point.ceiling for row in second.sweep.samples} == {*RATES, *(["curve.read"] if sizes else [])}
    assert second.sweep.wall_seconds >= first.sweep.wall_seconds


def test_a_run_is_drawn_again_into_a_folder_given_as_text(machine, monkeypatch, tmp_path):
    run = sweep(tmp_path)
    monkeypatch.undo()
    for name, path in ert_numba.draw(run.model, run.sweep, str(tmp_path)).items():
        assert path.parent == tmp_path, name
        assert path.stat().st_size > 1000, name


def test_an_interrupt_before_the_first_sample_says_that_nothing_was_measured(machine, tmp_path):
    machine.interrupt_at = 1
    with pytest.raises(ErtError, match="nothing was measured"):
        sweep(tmp_path)
    assert machine.timer.closed


def test_a_sweep_that_ended_before_anything_could_be_drawn_is_saved_all_the_same(tmp_path):
    only = made_up_sample("launch.stream", [1e-5] * 6, Work(accesses=10.0))
    run = api.save(made_up_sweep(only, partial=True), tmp_path / "results")
    assert set(run.files) == {"sweep", "machine"}
    assert [row.kind for row in run.model.ceilings] == ["overhead"]
    with pytest.raises(ErtError, match="What was measured is safe in"):
        api.save(made_up_sweep(only), tmp_path / "results")


@pytest.mark.parametrize(("kind", "cores", "early"), [("gpu", 8, True), ("gpu", 2, False), ("cpu", 8, False)])
def test_the_page_is_begun_beside_the_measuring_only_where_it_disturbs_nothing(kind, cores, early, monkeypatch):
    monkeypatch.setattr(api.os, "cpu_count", lambda: cores)
    assert api._leaves_cores(gpu_like(kind=kind)) is early


def test_a_finished_sweep_may_be_resumed_too(machine, tmp_path):
    first = sweep(tmp_path)
    again = api.sweep(resume=first.folder, results=tmp_path / "results")
    assert again.sweep.samples == first.sweep.samples


def test_runs_of_unlike_conditions_are_not_merged(machine, tmp_path, monkeypatch):
    first = sweep(tmp_path)
    FakeMachine(monkeypatch, units=1)
    with pytest.raises(NotComparable, match="was 2, here it is 1"):
        api.sweep(resume=first.folder, results=tmp_path / "results")


def test_a_budget_of_zero_is_refused_when_going_on_too(machine, tmp_path):
    first = sweep(tmp_path)
    with pytest.raises(ErtError, match="budget"):
        api.sweep(resume=first.folder, results=tmp_path / "results", budget_seconds=0.0)


def full_disk(monkeypatch, *names: str) -> None:
    """No space for files of these names under a folder ``results``; for any where none is named."""
    whole = files._write_whole

    def write(path, data):
        if not names or (path.name in names and "results" in path.parts):
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(path, data)

    monkeypatch.setattr(files, "_write_whole", write)


def test_a_disk_that_fills_up_loses_no_samples(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    full_disk(monkeypatch, "sweep.json")
    with pytest.raises(ErtError, match="full") as caught:
        sweep(tmp_path)
    (kept,) = tmp_path.glob("ert_numba-*/sweep.json")
    assert str(kept) in caught.value.remedy
    assert {row.point.ceiling for row in api.load_sweep(kept).samples} == set(RATES)


@pytest.mark.parametrize("name", ["machine.json", "machine.html"])
def test_a_disk_that_fills_up_later_says_where_the_samples_are(name, drawn_machine, tmp_path, monkeypatch):
    full_disk(monkeypatch, name)
    with pytest.raises(ErtError, match="full") as caught:
        sweep(tmp_path)
    (kept,) = (tmp_path / "results").rglob("sweep.json")
    assert str(kept) in caught.value.remedy
    assert api.load_sweep(kept).samples
    assert not list((tmp_path / "results").rglob(name)), "no half file"


def test_a_disk_that_is_full_everywhere_is_still_an_error_for_the_user(machine, tmp_path, monkeypatch):
    full_disk(monkeypatch)
    with pytest.raises(ErtError, match="full"):
        sweep(tmp_path)


def test_a_fit_that_fails_loses_no_samples(machine, tmp_path, monkeypatch):
    def fail(what):
        raise NotComparable("a fit", "no", "Never mind")

    monkeypatch.setattr(api, "fit", fail)
    with pytest.raises(ErtError, match="safe in"):
        sweep(tmp_path)
    (kept,) = (tmp_path / "results").rglob("sweep.json")
    assert api.load_sweep(kept).samples


def test_a_better_back_end_that_could_not_measure_is_named_with_its_remedy(machine, monkeypatch):
    def refuse(ordinal: int) -> None:
        raise ErtError("a GPU", "no numba_cuda", "pip install it")

    monkeypatch.setitem(backends.BACKENDS, "cuda", refuse)
    reasons = {row.what: row.reason for row in ert_numba.sweep(results=None).model.skipped}
    assert reasons["cuda"] == "no numba_cuda. pip install it"
    assert "cuda" not in {row.what for row in ert_numba.sweep(backend="cpu", results=None).model.skipped}


def test_the_budget_is_that_of_the_back_end_where_none_is_given(machine, tmp_path):
    assert sweep(tmp_path).sweep.settings["budget_seconds"] == 100.0
    quick = api.sweep(Request(quick=True), backend="cpu", results=tmp_path / "results")
    assert quick.sweep.settings["budget_seconds"] == 50.0
    assert quick.folder.name.endswith("-quick") or "-quick-" in quick.folder.name


def test_provenance_is_private_unless_asked(machine, tmp_path):
    assert sweep(tmp_path).sweep.provenance.host_name is None
    assert sweep(tmp_path, full_provenance=True).sweep.provenance.host_name


def test_a_wrong_result_is_no_ceiling(machine, tmp_path):
    opening = machine.backend.open_timer

    def open_timer(request):
        timer = opening(request)
        timer.verified["L1.read"] = False
        return timer

    object.__setattr__(machine.backend, "open_timer", open_timer)
    run = sweep(tmp_path)
    assert run.model.ceiling("L1.read") is None
    assert any(row.what == "L1.read" and "wrong result" in row.reason for row in run.model.skipped)


def test_the_stored_sweep_is_json_in_si_units(machine, tmp_path):
    document = json.loads(sweep(tmp_path).files["sweep"].read_text())
    assert document["schema"] == "ert_numba.sweep"
    row = next(row for row in document["samples"] if row["point"]["ceiling"] == "DRAM.read")
    assert min(row["seconds"]) == pytest.approx(9e6 / 30e9, rel=0.01)
    assert row["work"]["bytes_counted"] == 9e6
