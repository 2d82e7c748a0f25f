import pytest

from ert_numba.catalog.memory_levels import MEMORY_LEVELS
from ert_numba.errors import ErtError
from ert_numba.judge.threshold_names import absent_names, near_by_a_slip
from ert_numba.judge.thresholds import Thresholds

PAIRS = [("suite::test[fp64.vector.fma]", "fp64.vector.fma"), ("suite::test[DRAM.read]", "DRAM.read")]
KEYS = {row.key for row in MEMORY_LEVELS}


def told(*patterns: str) -> tuple[str, ...]:
    return absent_names(Thresholds(named=dict.fromkeys(patterns, 0.01), project="the file"), PAIRS)


@pytest.mark.parametrize("name", ["DRAM.raed", "dram.*", "suite::test[DRAM.reed]"])
def test_a_name_said_for_these_runs_is_an_error_that_names_the_near_ones(name):
    with pytest.raises(ErtError) as caught:
        absent_names(Thresholds(named={name: 0.01}), PAIRS)
    assert name in caught.value.asked
    assert "DRAM.read" in caught.value.remedy
    assert absent_names(Thresholds(named={"DRAM.*": 0.01}), PAIRS) == ()


def test_a_near_name_that_both_sides_have_is_named_once():
    with pytest.raises(ErtError) as caught:
        absent_names(Thresholds(named={"DRAM.raed": 0.01}), [*PAIRS, *PAIRS])
    near = caught.value.remedy.removeprefix("Near it: ").split(", ")
    assert len(near) == len(set(near))


def test_names_of_a_project_that_neither_run_has_are_told_in_one_note():
    assert told("L3.*", "DRAM.*", "fp64.tensor.*") == ("the file names L3.*, fp64.tensor.*, which neither run has",)
    assert told("DRAM.*", "fp64.vector.fma") == ()


def test_a_slip_in_a_project_is_told_by_itself():
    assert told("L3.*", "DRAM.raed") == (
        "the file names DRAM.raed, which neither run has. Near it: DRAM.read. Perhaps a slip",
        "the file names L3.*, which neither run has",
    )


@pytest.mark.parametrize(
    "name",
    [
        "DRAM.raed",
        "DRAM.rad",
        "DRAM.readd",
        "DRAM.reed",
        "dram.*",
        "DRM.*",
        "D*.raed",
        "suite::test[DRAM.reda]",
        "L.read",
    ],
)
def test_one_letter_is_a_slip(name):
    assert near_by_a_slip(name, ["L1.read", "DRAM.read", "suite::test[DRAM.read]"])


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("L3.read", "L2.read"),  # digits tell levels and formats apart
        ("fp32.vector.fma", "fp64.vector.fma"),
        ("fp46.*", "fp64.vector.fma"),
        ("bf16.*", "fp16.vector.fma"),
        ("fp64.vector.add", "fp64.vector.fma"),
        ("L2.read.*", "L2.read"),
        ("DRAM.write_nt", "DRAM.write"),
    ],
)
def test_a_name_of_another_device_is_no_slip(name, known):
    assert near_by_a_slip(name, [known, f"suite::test[{known}]"]) == []


@pytest.mark.parametrize("key", sorted(KEYS))
def test_no_memory_level_is_a_slip_for_another(key):
    assert near_by_a_slip(f"{key}.*", [f"{other}.read" for other in KEYS - {key}]) == []


def test_few_of_many_near_names_are_told():
    assert len(near_by_a_slip("dram.*", [f"DRAM.{letter}" for letter in "abcdefgh"])) == 5
