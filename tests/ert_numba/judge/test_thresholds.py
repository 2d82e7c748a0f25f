import pytest

from ert_numba.errors import ErtError
from ert_numba.judge.judgement import Threshold
from ert_numba.judge.thresholds import Thresholds, parse_thresholds


@pytest.mark.parametrize(
    ("named", "fraction"),
    [
        ({"fp64.vector.fma": 0.02}, 0.02),
        ({"suite::test[fp64.vector.fma]": 0.02}, 0.02),  # brackets are no set of letters
        ({"fp64.*": 0.02}, 0.02),
        ({"*[fp64.vector.fm?]": 0.02}, 0.02),
        ({"fp64.*": 0.02, "*": 0.03}, 0.03),  # the later pattern
        ({"fp64.vector.fma": 0.02, "*": 0.03}, 0.02),  # a name before a pattern
        ({"fp64": 0.02}, None),
        ({"FP64.*": 0.02}, None),
        ({"DRAM.*": 0.02}, None),
        ({"suite::test[fp64]": 0.02}, None),
    ],
)
def test_names_go_before_patterns_and_later_patterns_before_earlier(named, fraction):
    found = Thresholds(named=named).stated("suite::test[fp64.vector.fma]", "fp64.vector.fma")
    assert (found and found.fraction) == fraction


def test_the_general_one_is_for_all_the_others():
    thresholds = Thresholds(general=0.04, source="somewhere", named={"DRAM.*": 0.01})
    assert thresholds.stated("n", "L1.read") == Threshold(fraction=0.04, source="somewhere")
    assert thresholds.stated("n", "DRAM.read") == Threshold(fraction=0.01, source="stated for DRAM.*")
    assert Thresholds().stated("n", "L1.read") is None


def test_percentages_become_fractions():
    found = parse_thresholds({"threshold": 2, "thresholds": {"DRAM.*": 0.5}}, "there")
    assert found == Thresholds(general=0.02, source="there", named={"DRAM.*": 0.005}, project="there")
    assert parse_thresholds({"threshold": 2}, "there").project == ""


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ({"treshold": 2}, "'treshold'"),
        ({"threshold": "2 %"}, "'2 %'"),
        ({"threshold": True}, "True"),
        ({"threshold": 0}, "0"),
        ({"threshold": -1.5}, "-1.5"),
        ({"threshold": float("nan")}, "nan"),
        ({"thresholds": 2}, "no table"),
        ({"thresholds": {"DRAM.*": []}}, "[]"),
    ],
)
def test_what_is_no_percentage_is_an_error(table, found):
    with pytest.raises(ErtError) as caught:
        parse_thresholds(table, "pyproject.toml")
    assert found in caught.value.found
    assert "pyproject.toml" in caught.value.asked
