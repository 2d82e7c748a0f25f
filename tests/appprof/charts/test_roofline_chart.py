"""The pictures as specifications: every dot where its numbers put it, nothing at 0, nothing lost without a word."""

import json

import example_models
import pytest
import vega_specs
from example_profiles import DATA, application, cell, flop, model_of, traffic

from appprof.analysis import analyse
from appprof.charts.dots import MOST, REST, make_dots
from appprof.charts.drawn_roofs import drawn_roofs
from appprof.charts.roofline_chart import ridges, roofline_chart
from appprof.charts.shares_chart import FARTHEST, shares_chart, with_shares
from ert_numba.charts.export import write_image
from ert_numba.charts.roofline import NARROW, WIDE
from ert_numba.errors import ErtError

MACHINE = example_models.h200_model()


def gemm(machine=MACHINE):
    return analyse(model_of("h200/gemm_raw.csv"), machine)


def drawn(analysis):
    return drawn_roofs(analysis.roofs, analysis.used_roofs)


def dots_of(spec):
    return [row for unit, rows in vega_specs.layers(spec) if unit.get("name") == "dots" for row in rows]


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("machine", [MACHINE, None], ids=["measured", "theory"])
def test_valid_and_without_a_zero_on_a_log_axis(size, machine):
    spec = vega_specs.plain(roofline_chart(gemm(machine), size))
    vega_specs.check_log_axes(spec)
    assert spec == vega_specs.plain(roofline_chart(gemm(machine), size))


def test_every_dot_is_a_ratio_of_sums_of_its_kernel():
    analysis = gemm()
    found = {
        (row["id"], row["at"]): (row["x"], row["y"]) for row in dots_of(vega_specs.plain(roofline_chart(analysis)))
    }
    expected = {
        (str(rank), point.level): (point.intensity, point.rate)
        for rank, row in enumerate(analysis.kernels, 1) for point in row.summary.points
    }  # fmt: skip
    assert found == expected
    assert ("4", "L1") not in found  # passed L1 by


def test_roofs_that_no_kernel_uses_are_grey_and_the_others_strong():
    roofs = {roof.key: roof for roof in drawn(gemm())}
    assert roofs["fp16.tensor.wgmma"].strong
    assert roofs["int8.tensor.mma.sync"].strong
    assert not roofs["fp16.tensor.mma.sync"].strong
    assert not roofs["fp16.vector"].strong  # half a million FLOP of an epilogue
    assert not any(key.endswith(".sparse") for key in roofs)
    assert not any(roof.dashed for roof in roofs.values())
    assert all(roof.dashed for roof in drawn(gemm(None)))


def test_no_roof_of_another_quantity_is_drawn():
    keys = {roof.key for roof in drawn(gemm()) if not roof.flat}
    assert keys == {"L1.tag", "L2.sm", "DRAM"}


def test_a_hundred_thousand_kernels_are_the_longest_and_one_honest_rest():
    rows = [cell(f"k{index}", seconds=1e-3 / (index + 1), flop=(flop("fp32.vector", 1e9, fused=1e9),),
                 traffic=traffic(DRAM=1e8)) for index in range(500)]  # fmt: skip
    analysis = analyse(application(*rows), MACHINE)
    dots = make_dots(analysis, (0.1, 100.0))
    assert len(dots) == MOST + 1
    rest = dots[-1]
    assert rest.id == REST
    others = analysis.kernels[MOST:]
    assert rest.seconds == pytest.approx(sum(row.summary.seconds for row in others))
    assert rest.x == pytest.approx(10.0)
    assert rest.y == pytest.approx(len(others) * 1e9 / rest.seconds)
    assert f"{len(others)} other kernels" in rest.tooltip["kernel"]


def test_dots_far_beyond_every_ridge_stand_at_the_edge_marked():
    analysis = analyse(model_of("h200/micro_raw_base.csv"), MACHINE)
    low, high = ridges(drawn(analysis))
    dots = make_dots(analysis, (low, high))
    beyond = [dot for dot in dots if dot.beyond]
    assert beyond
    assert all("beyond the picture" in dot.tooltip["intensity"] for dot in beyond)
    assert max(dot.x for dot in dots) <= high * 30
    vega_specs.check_log_axes(vega_specs.plain(roofline_chart(analysis)))


def test_a_rate_above_the_roof_is_drawn_where_it_is():
    analysis = analyse(model_of("faults/F05_achieved_above_peak.csv"))
    (dot,) = make_dots(analysis, (1e-3, 1e9))
    assert dot.excess
    assert dot.y == pytest.approx(1e16)
    spec = vega_specs.plain(roofline_chart(analysis))
    assert dots_of(spec)[0]["y"] == pytest.approx(1e16)


def test_zero_flop_kernels_have_no_dot_and_a_line_of_their_own():
    analysis = analyse(application(cell("copy", traffic=traffic(DRAM=4e9)), cell("none")), MACHINE)
    assert make_dots(analysis, (0.1, 10.0)) == ()
    assert {row.short for row in with_shares(analysis.kernels)} == {"copy", "none"}
    spec = vega_specs.plain(shares_chart(analysis.kernels))
    marks = [row for row in vega_specs.marked(spec, "point") if row["kernel"] == "copy"]
    assert max(row["x"] for row in marks) == pytest.approx(4e12 / 4.63e12)


def test_shares_beyond_the_axis_are_left_to_the_table():
    analysis = analyse(model_of("faults/F05_achieved_above_peak.csv"))
    assert analysis.kernels[0].share > FARTHEST
    with pytest.raises(ErtError):
        shares_chart(analysis.kernels)


@pytest.mark.parametrize("path", sorted(DATA.glob("faults/*.csv")), ids=lambda path: path.name[:3])
def test_faulty_inputs_draw_or_say_why_not(path):
    analysis = analyse(model_of(path))
    try:
        vega_specs.plain(roofline_chart(analysis))
    except ErtError as error:
        assert error.remedy  # noqa: PT017


def test_hostile_names_stay_inside_the_data():
    name = "</script><script>alert(1)</script>\u2028\u202e\x00" + "x" * 3000
    analysis = analyse(application(cell(name, flop=(flop("fp32.vector", 1e9, fused=1e9),), traffic=traffic(DRAM=1e8))))
    text = json.dumps(roofline_chart(analysis).to_dict())
    assert "xxxx" * 30 not in text
    assert "\\u202e" not in text
    assert "\\u0000" not in text


def test_roofs_alone_are_a_picture(tmp_path):
    """A report without FLOP, with a machine model: no dots, so nothing may hang on their zoom."""
    chart = roofline_chart(analyse(model_of("faults/F03_noise_before_and_after.csv"), MACHINE))
    assert dots_of(vega_specs.plain(chart)) == []
    picture = write_image(tmp_path / "roofs.svg", chart)
    assert "FP32" in picture.read_text(encoding="utf-8")


def test_a_handful_of_flop_does_not_stretch_the_picture():
    tiny = cell("tiny", flop=(flop("fp32.vector", 8.0, fused=0.0),), traffic=traffic(DRAM=1.0))
    work = cell("work", flop=(flop("fp32.vector", 1e10, fused=1e10),), traffic=traffic(DRAM=1e9))
    spec = vega_specs.plain(roofline_chart(analyse(application(tiny, work), MACHINE)))
    found = {row["kernel"]: row for row in dots_of(spec)}
    assert found["tiny"]["y"] > 8.0 / 1e-3
    assert "beyond the picture" in found["tiny"]["performance"]
    assert found["work"]["y"] == 1e13
