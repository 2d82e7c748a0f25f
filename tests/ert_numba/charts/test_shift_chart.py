import msgspec
import pytest
from made_up_benchmarks import USER, made_up_run
from vega_specs import marked, plain

from ert_numba.charts.roofline import NARROW, WIDE
from ert_numba.charts.shift_chart import shift_chart
from ert_numba.errors import ErtError
from ert_numba.judge.suite import judge

JUDGED = judge(
    made_up_run("a"),
    made_up_run("b", seed=2, times={"DRAM.read": 1.03, USER: 1.03, "L1.read": 0.97}, without=("launch.graph",)),
)


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_every_judged_benchmark_is_a_row_at_its_change(size):
    rows = marked(plain(shift_chart(JUDGED, size)), "point")
    dots = {row["name"]: row["change"] for row in rows if "change" in row}
    reach = plain(shift_chart(JUDGED, size))["layer"][0]["encoding"]["x"]["scale"]["domain"][1]
    expected = {row.name: row.change for row in JUDGED.benchmarks if row.change is not None}
    assert dots == pytest.approx({name: max(-reach, min(reach, value)) for name, value in expected.items()})
    assert len(dots) == 10


def test_the_axis_holds_what_was_decided_and_cuts_hopeless_noise():
    spec = plain(shift_chart(JUDGED))
    low, high = spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert low == -high
    decided = [row for row in JUDGED.benchmarks if row.change is not None and row.verdict != "UNKNOWN"]
    assert max(row.high for row in decided) < high < 0.06
    rows = marked(spec, "bar")
    assert all(low <= row[name] <= high for row in rows for name in ("from", "to", "low", "high", "a_low", "a_high"))


def test_the_range_of_a_contains_no_change():
    for row in marked(plain(shift_chart(JUDGED)), "bar"):
        assert row["a_low"] <= 0 <= row["a_high"]
        assert row["from"] < 0 < row["to"]


def test_verdicts_differ_in_colour_and_shape():
    rows = {row["verdict"]: (row["colour"], row["shape"]) for row in marked(plain(shift_chart(JUDGED)), "bar")}
    assert set(rows) == {"SLOWER", "FASTER", "SAME", "UNKNOWN"}
    assert len({colour for colour, _ in rows.values()}) == len({shape for _, shape in rows.values()}) == 4


def test_two_tests_of_one_short_name_keep_two_rows():
    twins = [msgspec.structs.replace(JUDGED.benchmarks[0], name=f"{folder}/t.py::test", key=f"{folder}/t.py::test")
             for folder in "ab"]  # fmt: skip
    rows = marked(plain(shift_chart(msgspec.structs.replace(JUDGED, benchmarks=tuple(twins)))), "bar")
    assert len({row["row"] for row in rows}) == 2


def test_without_a_judged_benchmark_there_is_no_chart():
    with pytest.raises(ErtError, match="no benchmark was judged"):
        shift_chart(judge(made_up_run("a", starts=1), made_up_run("b", starts=1)))
