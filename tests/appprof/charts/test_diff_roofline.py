"""The roofline of two profiles: hollow before, filled after, an arrow where a kernel is on both sides."""

import math

import example_models
import msgspec
import pytest
import vega_specs
from example_profiles import application, cell, flop, model_of, traffic

from appprof.analysis import analyse
from appprof.charts.diff_page import diff_page
from appprof.charts.diff_roofline import diff_roofline, levels_of, roofs_moved, spots
from appprof.diff import diff
from ert_numba.charts.roofline import NARROW, WIDE
from ert_numba.charts.theme import LIGHT
from ert_numba.errors import ErtError

MACHINE = example_models.h200_model()


def kernel(name, seconds, moved, clock=1.98e9):
    work = (flop("fp32.vector", 1e9, fused=1e9),)
    return cell(name, seconds=seconds, flop=work, traffic=traffic(DRAM=moved, L2_sm=2 * moved), clocks_hz={"sm": clock})


def sides(machine=MACHINE, clock=1.98e9, **after):
    before = application(kernel("a", 1e-3, 1e8), kernel("b", 2e-3, 1e9), kernel("old", 3e-3, 1e9))
    later = application(*(kernel(name, *how, clock) for name, how in after.items()))
    return diff(analyse(before, machine), analyse(later, machine))


def compared(**options):
    return sides(**options, a=(2e-3, 1e7), b=(1e-3, 1e9), new=(9e-3, 1e9))


def points(spec):
    """Dots, and then heads of arrows: rows by whether they have a time."""
    rows = vega_specs.marked(spec, "point")
    return [row for row in rows if "seconds" in row], [row for row in rows if "angle" in row]


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_valid_and_without_a_zero_on_a_log_axis(size):
    spec = vega_specs.plain(diff_roofline(compared(), size))
    vega_specs.check_log_axes(spec)
    assert spec == vega_specs.plain(diff_roofline(compared(), size))


def test_the_label_of_a_slope_leaves_the_dots_free():
    analysis = analyse(model_of("h200/micro_raw_base.csv"), MACHINE)
    spec = vega_specs.plain(diff_roofline(diff(analysis, analysis), NARROW))
    dots, _ = points(spec)
    triad = min(dot["x"] for dot in dots if dot["at"] == "DRAM")
    (label, *_) = [row for _, rows in vega_specs.layers(spec) for row in rows if row.get("text", "").startswith("DRAM")]
    assert not label["x"] < triad < 5 * label["x"]


def test_every_dot_stands_where_its_side_has_it():
    found, _ = points(vega_specs.plain(diff_roofline(compared())))
    places = {(row["kernel"][2:], row["fill"] == LIGHT["paper"], row["at"]): (row["x"], row["y"]) for row in found}
    assert places["a", True, "DRAM"] == (10, 1e12)
    assert places["a", False, "DRAM"] == (100, 5e11)
    assert places["b", True, "L2"] == (0.5, 5e11)
    assert ("old", False, "DRAM") not in places
    assert ("new", True, "DRAM") not in places
    assert len(places) == 2 * (2 + 2 + 1 + 1)


def test_colours_tell_what_takes_longer():
    found, _ = points(vega_specs.plain(diff_roofline(compared())))
    colours = {row["kernel"][2:]: row["colour"] for row in found}
    assert colours == {"a": LIGHT["vermillion"], "b": LIGHT["blue"], "old": LIGHT["blue"], "new": LIGHT["vermillion"]}


def test_an_arrow_points_from_before_to_after():
    spec = vega_specs.plain(diff_roofline(compared()))
    _, heads = points(spec)
    head = next(row for row in heads if row["at"] == "DRAM" and row["colour"] == LIGHT["vermillion"])
    assert head["x"] == pytest.approx(math.sqrt(10 * 100))
    assert head["y"] == pytest.approx(math.sqrt(1e12 * 5e11))
    assert 90 < head["angle"] < 180  # to the right and down: Vega counts from upright, clockwise
    up = next(row for row in heads if row["at"] == "DRAM" and row["colour"] == LIGHT["blue"])
    assert up["angle"] == pytest.approx(0)


def test_no_arrow_between_bytes_that_were_counted_in_two_ways():
    one = cell("a", flop=(flop("fp32.vector", 1e9, fused=1e9),), traffic=traffic(L2_sm=1e8))
    other = cell("a", flop=(flop("fp32.vector", 1e9, fused=1e9),), traffic=traffic(L2_out=1e6))
    found = diff(analyse(application(one), MACHINE), analyse(application(other), MACHINE))
    dots, heads = points(vega_specs.plain(diff_roofline(found)))
    assert len(dots) == 2
    assert heads == []


def test_one_level_is_shown_and_a_page_may_choose():
    assert levels_of(spots(compared())) == ["DRAM", "L2"]
    spec = vega_specs.plain(diff_roofline(compared()))
    assert next(row["value"] for row in spec["params"] if row["name"] == "levels") == ["DRAM"]
    page = diff_page(compared())
    assert page.count('type="radio"') == 2
    assert 'id="chart-moves"' in page


def test_roofs_of_another_clock_are_told():
    assert not roofs_moved(compared())
    slower = compared(clock=1.2e9)
    assert roofs_moved(slower)
    assert "where roofs stood at the clocks of A" in diff_page(slower)


def test_two_kinds_of_gpu_have_a_picture_each():
    found = msgspec.structs.replace(compared(), gpu_b="NVIDIA L4")
    page = diff_page(found)
    assert 'id="chart-movesa"' in page
    assert 'id="chart-movesb"' in page
    before, _ = points(vega_specs.plain(diff_roofline(found, side="A")))
    assert {row["fill"] for row in before} == {LIGHT["paper"]}


def test_nothing_to_draw_is_no_picture():
    bare = analyse(application(cell("a", traffic=traffic(DRAM=1e6))), MACHINE)
    with pytest.raises(ErtError):
        diff_roofline(diff(bare, bare))
    assert "Where the kernels moved" not in diff_page(diff(bare, bare))


def test_a_side_without_dots_takes_nothing_from_the_other():
    """Profiles of which one names no GPU and has no FLOP: a page all the same, with the picture of the other side."""
    bare = analyse(model_of("faults/F01_locale_dot_grouping.csv"))
    whole = analyse(model_of("h200/micro.ncu-rep"))
    for found, drawn in ((diff(bare, whole), "movesb"), (diff(whole, bare), "movesa")):
        page = diff_page(found)
        assert f'id="chart-{drawn}"' in page
        assert page.count('id="chart-moves') == 1
    assert "Where the kernels moved" not in diff_page(diff(bare, bare))
