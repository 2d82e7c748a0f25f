"""What ``compare`` accepts, from Python."""

from pathlib import Path

import pytest
from example_models import cpu_model
from made_up_benchmarks import made_up_run, save_run

import ert_numba
from ert_numba.comparing import FORMS, form_of, thresholds_for, write
from ert_numba.errors import ErtError
from ert_numba.judge.judgement import Judgement
from ert_numba.judge.models import Comparison
from ert_numba.judge.thresholds import Thresholds
from ert_numba.store.documents import save


@pytest.fixture
def forms(tmp_path, monkeypatch) -> dict[str, str]:
    """One example of each form by its label."""
    monkeypatch.chdir(tmp_path)
    (path, *_) = save_run(made_up_run("named"), tmp_path / ".benchmarks" / "id")
    (tmp_path / "run").mkdir()
    model = save(cpu_model(), tmp_path / "run" / "machine.json")
    return dict(zip((form.label for form in FORMS),
                    (str(path), str(model), "run", str(tmp_path / ".benchmarks"), "named"), strict=True))  # fmt: skip


def test_each_form_is_known_by_its_first_sight(forms):
    assert {label: form_of(text).label for label, text in forms.items()} == {label: label for label in forms}


def test_every_form_goes_with_every_other_of_its_kind_and_no_other(forms):
    for one, a in forms.items():
        for two, b in forms.items():
            models = ["model" in label or label == "a run's folder" for label in (one, two)]
            if models[0] != models[1]:
                with pytest.raises(ErtError, match="Compare benchmarks with benchmarks"):
                    ert_numba.compare(a, b)
            else:
                assert isinstance(ert_numba.compare(a, b), Comparison if all(models) else Judgement)


def test_the_command_lines_threshold_replaces_the_general_one_alone(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.ert_numba.compare]\nthreshold = 3\n[tool.ert_numba.compare.thresholds]\n"DRAM.*" = 1\n'
    )
    assert thresholds_for(None, tmp_path).general == 0.03
    assert thresholds_for(2.0, tmp_path) == Thresholds(
        general=0.02, source="--threshold", named={"DRAM.*": 0.01}, project="[tool.ert_numba.compare] of pyproject.toml"
    )
    with pytest.raises(ErtError, match="--threshold"):
        thresholds_for(-1.0, tmp_path)


def test_a_name_that_neither_run_has_is_an_error_from_the_caller_and_a_note_from_the_project(forms, tmp_path):
    with pytest.raises(ErtError, match=r"'L9\.\*'"):
        ert_numba.compare("named", "named", thresholds=Thresholds(named={"L9.*": 0.01}))
    (tmp_path / "pyproject.toml").write_text('[tool.ert_numba.compare.thresholds]\n"L9.*" = 1\n')
    found = ert_numba.compare("named", "named", thresholds=thresholds_for(None, tmp_path))
    assert "[tool.ert_numba.compare] of pyproject.toml names L9.*, which neither run has" in found.notes


def test_an_ending_that_no_writer_has_is_refused_before_anything_is_written(forms, tmp_path):
    found = ert_numba.compare("named", "named")
    with pytest.raises(ErtError, match=r"\.pdf"):
        write(found, Path("x.pdf"))
    assert not (tmp_path / "x.pdf").exists()
