"""The command line from outside: exit codes, streams, formats, and what it must not import."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import example_models
import msgspec
import pytest
from example_profiles import DATA
from typer.testing import CliRunner

from appprof.cli import app
from ert_numba.store.documents import save

GEMM = str(DATA / "h200" / "gemm_raw.csv")
F08 = str(DATA / "faults" / "F08_tensor_kernel_ffma_zero.csv")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs in an empty folder; notes and tables apart."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def call(*words):
        return CliRunner().invoke(app, [str(word) for word in words])

    return call


@pytest.fixture
def machine(tmp_path):
    return save(example_models.h200_model(), tmp_path / "machine.json")


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_help_and_analysis_import_neither_numba_nor_what_draws():
    code = (
        "import sys, appprof.cli, appprof; {}; "
        "print([name for name in ('numba', 'altair', 'scipy', 'rich', 'vl_convert', 'numpy') if name in sys.modules])"
    )
    assert python(code.format("0")).strip() == "[]"
    analysed = python(code.format(f"appprof.make_result(appprof.analyse(appprof.read_one({GEMM!r})))"))
    assert "numba" not in analysed
    assert "altair" not in analysed


def test_a_page_imports_no_numba():
    code = f"import sys, appprof; appprof.chart(appprof.analyse({GEMM!r})); print('numba' in sys.modules)"
    assert python(code).strip() == "False"


def test_roofline_writes_a_page_and_a_table(run, machine, tmp_path):
    result = run("roofline", GEMM, "--machine", machine, "-o", "page.html")
    assert result.exit_code == 0
    assert "nvjet_sm90" in result.stdout
    assert "FP16 wgmma" in result.stdout
    assert "would give back the most" in result.stderr
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_page_without_a_name_never_overwrites(run, tmp_path):
    assert run("roofline", F08).exit_code == 0
    assert run("roofline", F08).exit_code == 0
    assert len(list(tmp_path.glob("*-roofline*.html"))) == 2
    page = next(tmp_path.glob("*.html"))
    assert run("roofline", F08, "-o", page).exit_code == 3


@pytest.mark.parametrize("form", ["json", "svg", "png", "csv", "md"])
def test_every_format_is_written(run, tmp_path, form):
    assert run("roofline", GEMM, "-o", f"out.{form}").exit_code == 0
    data = (tmp_path / f"out.{form}").read_bytes()
    starts = {"json": b"{", "svg": b"<svg", "png": b"\x89PNG", "csv": b"rank,", "md": b"**NVIDIA H200**"}
    assert data.startswith(starts[form])


@pytest.mark.parametrize("form", ["json", "svg", "png"])
def test_the_instruction_roofline_is_a_picture_too(run, machine, tmp_path, form):
    words = ("roofline", GEMM, "--machine", machine, "--format", form)
    assert run(*words).exit_code == run(*words, "--instructions").exit_code == 0
    (flop,) = set(tmp_path.glob(f"*-roofline.{form}")) - set(tmp_path.glob("*-instruction-*"))
    (instructions,) = tmp_path.glob(f"*-instruction-roofline.{form}")
    assert flop.read_bytes() != instructions.read_bytes()
    if form != "png":
        assert "Warp instructions a second" in instructions.read_text(encoding="utf-8")
        assert "Warp instructions a second" not in flop.read_text(encoding="utf-8")


def test_an_instruction_roofline_of_what_was_not_counted_is_refused_with_the_command(run, tmp_path):
    result = run("roofline", F08, "--instructions", "-o", "out.svg")
    assert result.exit_code == 3
    assert "Found:     no kernel has warp instructions" in result.stderr
    assert not (tmp_path / "out.svg").exists()
    assert run("roofline", F08, "--instructions", "-o", "page.html").exit_code == 0


def test_csv_and_json_hold_the_same_numbers(run):
    rows = list(csv.DictReader(io.StringIO(run("roofline", GEMM, "--format", "csv").stdout)))
    data = json.loads(run("roofline", GEMM, "--json").stdout)
    assert [float(row["seconds"]) for row in rows] == [row["seconds"] for row in data["kernels"]]
    assert [float(row["flop"]) for row in rows] == [row["flop"] for row in data["kernels"]]
    assert [float(row["roof_share"]) for row in rows] == [row["roof_share"] for row in data["kernels"]]
    assert data["schema"] == "appprof.roofline"


def test_read_saves_a_document_that_the_other_commands_take(run, tmp_path):
    assert run("read", GEMM, "-o", "application.json").exit_code == 0
    one = json.loads(run("roofline", "application.json", "--json").stdout)
    other = json.loads(run("roofline", GEMM, "--json").stdout)
    assert one["kernels"] == other["kernels"]
    assert run("diff", "application.json", GEMM, "--fail-if", "time > 0.1%").exit_code == 0


def test_what_is_lacking_comes_with_the_command(run):
    result = run("read", F08)
    assert result.exit_code == 0
    assert "?" in result.stdout
    assert "sm__ops_path_tensor_" in result.stderr


def test_the_impossible_is_named_with_its_likely_causes(run):
    result = run("roofline", DATA / "faults" / "F05_achieved_above_peak.csv", "-o", "x.csv")
    assert result.exit_code == 0
    assert "IMPOSSIBLE: 10.0 PFLOP/s is 149 times" in result.stderr
    assert "Likely causes" in result.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["roofline", "absent.csv"], 3),
        (["roofline"], 2),
        (["roofline", GEMM, "--by", "colour"], 2),
        (["roofline", GEMM, "-o", "page.pdf"], 3),
        (["read", "."], 3),
        (["diff", GEMM, F08], 4),
        (["diff", GEMM, GEMM, "--fail-if", "time > -1%"], 1),
        (["diff", GEMM, GEMM, "--fail-if", "nonsense"], 3),
        (["roofline", F08, "--machine", "machine.json"], 4),
    ],
)
def test_exit_codes(run, machine, words, code):
    result = run(*words)
    assert result.exit_code == code
    assert "Traceback" not in result.output


def test_force_takes_another_gpus_roofs_and_says_so(run, machine):
    result = run("roofline", F08, "--machine", "machine.json", "--force", "-o", "page.html")
    assert result.exit_code == 0
    assert "FORCED" in result.stderr
    assert "FORCED" in Path("page.html").read_text(encoding="utf-8")


def test_groups_on_demand(run):
    result = run("roofline", GEMM, "--by", "range,precision", "-o", "x.csv")
    assert "torch.float16" in result.stdout
    assert "TF32 tensor (wgmma)" in result.stdout


def test_a_terminal_too_narrow_for_any_table_cuts_no_figure(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    wide = run("roofline", GEMM, "-o", "wide.csv").stdout
    monkeypatch.setenv("COLUMNS", "20")
    assert run("roofline", GEMM, "-o", "narrow.csv").stdout == wide


@pytest.mark.parametrize("width", [80, 100, 160])
def test_tables_fit_the_terminal_and_cut_no_figure(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    out = run("roofline", GEMM, "-o", f"{width}.csv").stdout
    assert max(map(len, out.splitlines())) <= width
    assert "2.69 ms" in out
    assert out.count("%") >= 14


def test_private_things_only_on_request(run, tmp_path):
    minimal = run("read", GEMM, "--json").stdout
    full = run("read", GEMM, "--json", "--provenance", "full").stdout
    host = msgspec.json.decode(full.encode())["provenance"]["host_name"]
    assert host
    assert '"host_name": null' in minimal
    assert str(tmp_path) not in minimal


def test_of_two_kinds_of_gpu_one_must_be_chosen(run, tmp_path):
    text = (DATA / "faults" / "F13_aggregate_ratio_of_sums.csv").read_text(encoding="utf-8")
    lines = text.splitlines()
    mixed = [line.replace('"9.0"', '"8.0"') if line.startswith('"1"') else line for line in lines]
    (tmp_path / "mixed.csv").write_text("\n".join(mixed) + "\n", encoding="utf-8")
    refused = run("read", "mixed.csv")
    assert refused.exit_code == 3
    assert "--gpu" in refused.stderr
    for number, launches in (("1", 1), ("2", 1)):
        data = json.loads(run("roofline", "mixed.csv", "--gpu", number, "--json").stdout)
        assert data["launches"] == launches
    assert run("read", "mixed.csv", "--gpu", "3").exit_code == 3
