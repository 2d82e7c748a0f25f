"""The history of a device on disk, and the command that shows it."""

import json

import msgspec
import pytest
from example_models import h200_model
from made_up_benchmarks import made_up_run, save_run
from typer.testing import CliRunner

from ert_numba.cli import app
from ert_numba.errors import ErtError
from ert_numba.judge.history import HistoryEntry
from ert_numba.recording import device_folder, record
from ert_numba.store.documents import load, save

ID = "Linux-CPython-3.11-64bit"


@pytest.fixture
def device(tmp_path):
    folder = tmp_path / "results" / "nvidia-h200"
    save_run(made_up_run("night-1"), folder / "benchmarks" / ID)
    save_run(made_up_run("night-2", seed=2, driver="590.1"), folder / "benchmarks" / ID, 6)
    (folder / "2026-11-29T1737-gpu").mkdir()
    save(h200_model(), folder / "2026-11-29T1737-gpu" / "machine.json")
    return folder


def test_every_run_is_recorded_once(device):
    found = record(device)
    assert len(found.added) == len(found.entries) == 3
    assert {path.name for path in found.added} == {
        "night-1-0001-0005-linux-cpython-3-11-64bit.json",
        "night-2-0006-0010-linux-cpython-3-11-64bit.json",
        "2026-11-29t1737-gpu.json",
    }
    before = {path: path.read_bytes() for path in found.added}
    again = record(device)
    assert again.added == ()
    assert {row.run for row in again.entries} == {row.run for row in found.entries}
    assert {path: path.read_bytes() for path in found.added} == before


def test_the_history_outlives_the_raw_files(device):
    record(device)
    for path in (device / "benchmarks" / ID).glob("*.json"):
        path.unlink()
    assert {row.run for row in record(device).entries} >= {"night-1", "night-2"}


def test_more_starts_under_the_same_name_are_recorded_beside(device):
    record(device)
    save_run(made_up_run("night-2", seed=9, driver="590.1"), device / "benchmarks" / ID, 11)
    (path,) = record(device).added
    assert path.name.startswith("night-2-0006-0015-")
    assert load(path, HistoryEntry).starts == 10


def test_a_run_that_cannot_be_read_keeps_no_other_back(device):
    (device / "benchmarks" / ID / "0099_cut.json").write_text('{"machine_info":')
    (device / "history").mkdir()
    (device / "history" / "broken.json").write_text("{")
    found = record(device)
    assert len(found.added) == 3
    assert any("0099_cut.json" in text for text in found.notes)
    assert any("broken.json" in text for text in found.notes)


def test_where_nothing_can_be_written_the_history_is_shown_all_the_same(device):
    (device / "history").write_text("in the way")
    found = record(device)
    assert (len(found.entries), found.added) == (3, ())
    assert all(text.startswith("shown, and not recorded") for text in found.notes)


def test_the_only_device_is_taken_and_of_several_one_must_be_named(device, tmp_path):
    results = tmp_path / "results"
    (results / "schema").mkdir()
    assert device_folder(None, results) == device
    save_run(made_up_run("x"), results / "amd-epyc" / "benchmarks" / ID)
    with pytest.raises(ErtError, match="amd-epyc, nvidia-h200"):
        device_folder(None, results)
    assert device_folder("amd-epyc", results).name == "amd-epyc"
    with pytest.raises(ErtError, match="none of that name"):
        device_folder("amd", results)
    with pytest.raises(ErtError, match="no run lies under"):
        device_folder(None, tmp_path / "nowhere")


def history(*arguments: object):
    result = CliRunner().invoke(app, ["history", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def test_the_command_shows_runs_and_ceilings_and_writes_a_page(device, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    code, out, notes = history("-o", "page.html")
    assert code == 0
    assert all(text in out for text in ("night-1", "590.1", "DRAM.read", "Benchmarks", "Sweeps"))
    assert all(len(line) <= 80 for line in out.splitlines())
    assert notes.count("recorded") == 3
    assert "<title>NVIDIA H200: history</title>" in (tmp_path / "page.html").read_text()
    assert history("-o", "page.html")[0] == 3
    lines = history("nvidia-h200", "--json")[1]
    decoder, found = json.JSONDecoder(), []
    while lines.strip():
        document, end = decoder.raw_decode(lines.lstrip())
        lines = lines.lstrip()[end:]
        found.append(msgspec.convert(document, HistoryEntry))
    assert [entry.created for entry in found] == sorted(entry.created for entry in found)
    assert history("abacus")[0] == 3
