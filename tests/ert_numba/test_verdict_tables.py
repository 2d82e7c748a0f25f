"""A judgement in a terminal of 80 columns: nothing wider, nothing missing, figures whole."""

import io

import msgspec
import pytest
from made_up_benchmarks import USER, made_up_run
from resampling import pairs, slowed, stored
from rich.console import Console

from ert_numba.judge.judgement import SAME
from ert_numba.judge.suite import judge
from ert_numba.verdict_tables import judgement_tables

JUDGED = judge(
    made_up_run("a", without=("L1.read",)),
    made_up_run("b", seed=2, driver="590.1", times={"DRAM.read": 1.03, USER: 1.03}, without=("launch.graph",)),
)


def printed(judgement, every=False) -> str:
    text = io.StringIO()
    console = Console(file=text, width=80)
    for table in judgement_tables(judgement, every):
        console.print(table)
    return text.getvalue()


def test_what_is_the_same_is_left_out_unless_asked_for():
    text, every = printed(JUDGED), printed(JUDGED, every=True)
    for row in JUDGED.benchmarks:
        if row.kind != "user":
            assert (row.key in text) == (row.verdict != SAME)
            assert row.key in every


def test_new_and_missing_ones_are_listed():
    lines = printed(JUDGED).split("In one run alone")[1].splitlines()
    assert any("launch.graph" in line and "A alone" in line for line in lines)
    assert any("L1.read" in line and "B alone" in line for line in lines)


def test_causes_reasons_and_conditions_have_their_tables():
    text = " ".join(printed(JUDGED).split())
    assert "the roof moved" in text
    assert "too noisy" in text
    assert "version of driver 580.159 590.1" in text


@pytest.mark.parametrize("kind", ["h200", "cpu"])
def test_real_names_and_figures_fit_into_80_columns(kind):
    a, b = next(pairs(stored(kind), 1))
    text = printed(judge(a, slowed(b)), every=True)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "…" not in text
    flat = "".join(text.split())
    assert all(row.key in flat or row.key[:20] in text for row in judge(a, b).benchmarks)


def test_hostile_names_command_no_terminal():
    rows = tuple(msgspec.structs.replace(row, key="\x1b[31mred\x07", cause="\x1b]0;x\x07") for row in JUDGED.benchmarks)
    text = printed(msgspec.structs.replace(JUDGED, benchmarks=rows, device="\x1b[2J"), every=True)
    assert "\x1b" not in text
    assert "\x07" not in text
