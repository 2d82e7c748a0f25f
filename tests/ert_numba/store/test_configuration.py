import pytest

from ert_numba.errors import ErtError
from ert_numba.judge.thresholds import Thresholds
from ert_numba.store.configuration import project_thresholds


def test_the_nearest_project_speaks(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.ert_numba.compare]\nthreshold = 2\n[tool.ert_numba.compare.thresholds]\n"DRAM.*" = 1.0\n"x[a]" = 3\n'
    )
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    found = project_thresholds(inner)
    assert (found.general, found.named) == (0.02, {"DRAM.*": 0.01, "x[a]": 0.03})
    assert found.source == "[tool.ert_numba.compare] of pyproject.toml"
    (inner / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert project_thresholds(inner) == Thresholds(source=found.source)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[tool", "no whole TOML"),
        ("tool = 7", "tool is no table"),
        ("[tool.ert_numba]\ncompare = 1.5", "compare is no table"),
        ("[tool.ert_numba.compare]\nlimit = 1.5", "'limit'"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(tmp_path, text, found):
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ErtError, match=found):
        project_thresholds(tmp_path)
