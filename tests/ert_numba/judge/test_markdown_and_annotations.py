import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_benchmarks import USER, made_up_run

from ert_numba.judge.annotations import MOST, escape_data, escape_property, to_annotations
from ert_numba.judge.judgement import Judged, Judgement
from ert_numba.judge.markdown import code, plain, to_markdown
from ert_numba.judge.sentences import change, headline, noise_in_words, summary, values
from ert_numba.judge.suite import judge

HOSTILE = "x`|</td><script>alert(1)</script>\r\n::error::owned @someone **bold** [a](b) ![c](d) %0A | `y`"
JUDGED = judge(
    made_up_run("a"),
    made_up_run("b", seed=2, driver="590.1", times={"DRAM.read": 1.03, USER: 1.03}, without=("L1.read",)),
)


def hostile() -> Judgement:
    rows = tuple(
        msgspec.structs.replace(row, key=HOSTILE, name=HOSTILE, reason=HOSTILE, cause=HOSTILE, file=HOSTILE)
        for row in JUDGED.benchmarks
    )
    return msgspec.structs.replace(JUDGED, run_a=HOSTILE, device=HOSTILE, benchmarks=rows, notes=(HOSTILE,))


def test_words_and_figures():
    assert summary(JUDGED) == "2 slower, 1 unknown, 1 missing in B, 7 the same"
    assert headline(JUDGED) == "b against a on NVIDIA H200, driver 580.159 to 590.1"
    row = next(row for row in JUDGED.benchmarks if row.key == "DRAM.read")
    assert re.fullmatch(r"4\.\d\d to 4\.\d\d TB/s", values(row))
    assert re.fullmatch(r"\+[23]\.\d+ ±0\.\d+ %", change(row))
    assert "most: HOST.h2d_pageable" in noise_in_words(JUDGED)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"change": 0.03, "high": 0.032}, "+3.0 ±0.2 %"),
        ({"change": -0.03, "high": -0.0299}, "-3.00 ±0.01 %"),
        ({"change": 0.5, "high": 1.0}, "+50.0 ±33 %"),
        ({}, ""),
    ],
)
def test_a_change_stands_beside_half_its_interval(fields, text):
    assert change(Judged(name="n", key="k", kind="", unit="s", verdict="SAME", **fields)) == text


def test_markdown_has_every_benchmark_once_and_folds_what_is_the_same():
    text = to_markdown(JUDGED)
    above, below = text.split("<details>")
    for row in JUDGED.benchmarks:
        part, other = (below, above) if row.verdict == "SAME" else (above, below)
        name = USER.split("/")[1] if row.kind == "user" else row.key
        assert part.count(f"| `{name}` |") == 1
        assert f"| `{name}` |" not in other
    assert "- version of driver: 580.159 in A, 590.1 in B" in above


def test_a_hostile_name_stays_text_in_markdown():
    text = to_markdown(hostile())
    assert "<script" not in re.sub(r"(`+) ?.*?\1", "", text)  # outside of code spans
    assert "\n::error" not in text
    assert "@" not in re.sub(r"(`+) ?.*?\1", "", text)
    columns = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("| ")}
    assert columns == {6}


@given(text=st.text(max_size=30))
def test_nothing_ends_a_code_span_or_leaves_its_line(text):
    span = code(text)
    fence = re.match("`+", span)[0]
    assert span.endswith(fence)
    inside = span[len(fence) : -len(fence)]
    assert fence not in re.findall("`+", inside)
    assert len(span.splitlines()) == 1
    assert len(plain(text).splitlines()) <= 1


def test_annotations_stand_at_the_users_file_worst_first():
    lines = list(to_annotations(JUDGED))
    assert [line.split("::")[1].split(" ")[0] for line in lines] == ["error", "error", "warning", "warning"]
    (mine,) = [line for line in lines if "test_softmax" in line]
    assert mine.startswith("::error file=tests/bench_model.py,title=SLOWER%3A bench_model.py%3A%3Atest_softmax")
    assert "the roof moved" in mine


@pytest.mark.parametrize(
    ("text", "data", "where"),
    [
        ("50 %", "50 %25", "50 %25"),
        ("a\nb", "a%0Ab", "a%0Ab"),
        ("a::b,c", "a::b,c", "a%3A%3Ab%2Cc"),
        ("%0A", "%250A", "%250A"),
    ],
)
def test_escapes_are_those_of_githubs_toolkit(text, data, where):
    assert (escape_data(text), escape_property(text)) == (data, where)


def test_a_hostile_name_makes_no_command_of_its_own():
    lines = list(to_annotations(hostile()))
    assert len(lines) == 4
    for line in lines:
        assert len(line.splitlines()) == 1
        _, properties, message = line.split("::", 2)
        assert re.fullmatch(r"(error|warning|notice) file=[^,:]*,title=[^,:]*", properties)
        assert "%0A" in message or "?" in message


def test_githubs_number_of_annotations_is_kept_and_the_rest_counted():
    rows = tuple(
        Judged(name=f"n{i}", key=f"k{i}", kind="", unit="s", verdict="UNKNOWN", reason="r") for i in range(MOST + 5)
    )
    lines = list(to_annotations(msgspec.structs.replace(JUDGED, benchmarks=rows)))
    assert len(lines) == MOST
    assert lines[-1].endswith("and 6 more: see the table")
    assert len(list(to_annotations(msgspec.structs.replace(JUDGED, benchmarks=rows[:MOST])))) == MOST
