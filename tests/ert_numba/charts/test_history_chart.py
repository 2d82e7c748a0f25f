import msgspec
import pytest
from chromium import PROGRAM, chromium
from made_up_benchmarks import made_up_run
from vega_specs import plain

from ert_numba.charts.history_chart import history_chart
from ert_numba.charts.history_page import history_page
from ert_numba.charts.roofline import NARROW, WIDE
from ert_numba.errors import ErtError
from ert_numba.judge.history import BENCHMARKS, entry_of_run, series_of

HOSTILE = "</script><script>document.title='owned'</script>"
DRIVERS = ("580.1", "580.1", "590.2", "590.2", "580.1")
ENTRIES = tuple(
    msgspec.structs.replace(
        entry_of_run(
            made_up_run(f"night-{day}", seed=day, driver=driver, times={"DRAM.read": 1.05 if day > 1 else 1.0})
        ),
        created=f"2026-11-0{day + 1}T02:00:00Z",
    )
    for day, driver in enumerate(DRIVERS)
)
DRAWN = """new Promise(done => {
  setTimeout(() => done("nothing drawn"), 60000);
  const look = () => document.documentElement.dataset.charts
    ? done(document.documentElement.dataset.charts) : requestAnimationFrame(look);
  look();
})"""


def rows_of(spec):
    return spec["data"]["values"] if "values" in spec["data"] else spec["datasets"][spec["data"]["name"]]


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_every_run_of_every_ceiling_is_a_dot_relative_to_the_last(size):
    series = series_of(ENTRIES, BENCHMARKS)
    spec = plain(history_chart(series, size))
    rows = rows_of(spec)
    assert len(rows) == len(DRIVERS) * len(series)
    mine = [row for row in rows if row["panel"].startswith("DRAM.read")]
    assert [row["value"] for row in mine] == pytest.approx([0.05, 0.05, 0, 0, 0], abs=0.005)
    assert mine[-1]["value"] == 0
    assert all(row["low"] <= row["value"] <= row["high"] for row in rows)
    assert spec["columns"] == (1 if size is NARROW else 3)


def test_a_new_driver_is_marked_where_it_came_and_has_its_own_colour():
    rows = [row for row in rows_of(plain(history_chart(series_of(ENTRIES, BENCHMARKS)))) if "DRAM.read" in row["panel"]]
    assert [row["new_driver"] for row in rows] == [0, 0, 1, 0, 1]
    assert [row["colour"] for row in rows] == [rows[0]["colour"]] * 2 + [rows[2]["colour"]] * 2 + [rows[0]["colour"]]
    assert rows[0]["colour"] != rows[2]["colour"]


def test_ceilings_stand_as_the_catalogue_lists_them_whatever_the_order_of_a_file():
    keys = ("DRAM.read", "fp32.vector.fma", "launch.stream", "fp64.vector.fma", "L1.read@core", "L1.read")
    past = next(iter(ENTRIES[0].ceilings.values()))
    order = ["fp64.vector.fma", "fp32.vector.fma", "L1.read", "L1.read@core", "DRAM.read", "launch.stream"]
    for given in (keys, sorted(keys)):
        entry = msgspec.structs.replace(ENTRIES[0], ceilings=dict.fromkeys(given, past))
        assert list(series_of([entry], BENCHMARKS)) == order


@pytest.mark.browser
@pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed")
def test_panels_of_a_row_stand_at_one_height(tmp_path):
    steep = [
        msgspec.structs.replace(entry, ceilings={
            f"k{name}.x": msgspec.structs.replace(past, kind="compute", value=past.value * (1 + number * 0.004 * night),
                                                  low=past.low * (1 + number * 0.004 * night),
                                                  high=past.high * (1 + number * 0.004 * night))
            for number, (name, past) in enumerate(sorted(entry.ceilings.items()))})
        for night, entry in enumerate(ENTRIES)
    ]  # fmt: skip
    path = tmp_path / "page.html"
    path.write_text(history_page("device", steep), encoding="utf-8")
    with chromium(tmp_path / "profile") as page:
        page.look(1400)
        page.open(path)
        assert page.run(DRAWN) == "wide"
        tops = page.run(
            "[...document.querySelectorAll('#chart-benchmarks-compute [class$=_cell] > g > path.background')]"
            ".map(panel => Math.round(panel.getBoundingClientRect().top))"
        )
    assert len(tops) >= 6
    for row in range(0, len(tops), 3):
        assert len(set(tops[row : row + 3])) == 1


def test_without_a_run_there_is_no_chart():
    with pytest.raises(ErtError):
        history_chart({})


@pytest.mark.browser
@pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed")
def test_the_page_draws_offline_without_a_complaint_and_hostile_names_stay_text(tmp_path):
    path = tmp_path / "page.html"
    hostile = [
        msgspec.structs.replace(
            entry, run=HOSTILE, driver=f"{HOSTILE}{entry.driver}", card=HOSTILE,
            ceilings={f"{HOSTILE}{key}": past for key, past in entry.ceilings.items()})
        for entry in ENTRIES
    ]  # fmt: skip
    path.write_text(history_page(HOSTILE, hostile), encoding="utf-8")
    with chromium(tmp_path / "profile") as page:
        for width, layout in ((1280, "wide"), (390, "narrow")):
            for dark in (False, True):
                page.look(width, dark=dark)
                page.open(path)
                assert page.run(DRAWN) == layout
                assert page.run("document.documentElement.scrollWidth") <= width
        assert page.complaints == []
        assert set(page.requests) == {path.as_uri()}
        assert page.run("document.title").startswith("</script>")
        marks = "#chart-benchmarks-compute svg .mark-symbol path[aria-label*=figure]"
        dots = f"document.querySelectorAll('{marks}').length"
        assert page.run(dots) == 4 * len(DRIVERS)
