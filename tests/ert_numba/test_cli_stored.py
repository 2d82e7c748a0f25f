"""``show``, ``fit`` and ``plot``, and ``compare`` of sweeps: good and bad documents, read with no device."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from command_line import call, refused, stored_run
from example_models import cpu_device, cpu_model

from ert_numba import api
from ert_numba.records import Skipped
from ert_numba.store.documents import encode, save


@pytest.fixture
def run(tmp_path):
    return stored_run(tmp_path / "run")


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


@pytest.mark.parametrize("form", ["svg", "png", "html", "json"])
def test_plot_takes_a_form_for_a_name_without_an_ending(run, tmp_path, form):
    code, _, message = call("plot", run, "-o", tmp_path / "picture", "--format", form)
    assert code == 0, message


def test_an_import_states_no_interval(tmp_path):
    source = Path(__file__).parents[1] / "data" / "ert" / "several_precisions.json"
    code, _, message = call("import-ert", source, "-o", tmp_path / "old.json", "--name", " ")
    assert code == 0, message
    _, out, message = call("show", tmp_path / "old.json")
    assert "none stated" in out
    assert "+0.0 +0.0" not in out
    assert message.startswith("imported from ERT, run")


def test_a_folder_that_holds_runs_names_them(run, tmp_path):
    message = refused("show", tmp_path)
    assert f"{tmp_path} is a folder without a machine.json" in message
    assert f"Name the folder of a run: {run}" in message
    (run / "machine.json").unlink()
    assert f"python -m ert_numba fit {run} -o {run / 'machine.json'}" in refused("plot", run, "-o", tmp_path / "p.svg")
    (run / "sweep.json").unlink()
    assert "Name the folder of a run, or its file" in refused("fit", run)


def test_only_the_newest_of_many_runs_are_named(tmp_path):
    for day in range(1, 10):
        (tmp_path / "cpu").mkdir(exist_ok=True)
        stored_run(tmp_path / "cpu" / f"2026-01-0{day}T0000-cpu")
    message = refused("fit", tmp_path)
    assert message.index("2026-01-09") < message.index("2026-01-08") < message.index("2026-01-07")
    assert "2026-01-06" not in message
    assert "or 6 more" in message


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
    assert "without a machine.json" in refused("show", tmp_path)
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
