"""The instruction roofline as a picture and as a part of the page: only where it was counted."""

import math

import example_models
import pytest
import vega_specs
from example_profiles import application, cell, model_of, traffic

from appprof.analysis import analyse
from appprof.charts.instruction_chart import WALLS, instruction_chart
from appprof.charts.page import profile_page
from appprof.metrics_events import GLOBAL, GLOBAL_SECTORS, THREADS, THREADS_ON, WARP
from appprof.result import make_result
from ert_numba.charts.labels import text_width
from ert_numba.charts.roofline import NARROW, WIDE
from ert_numba.errors import ErtError

MACHINE = example_models.h200_model()
LEVELS = {"L1_tag": 3.2e9, "L2_sm": 1.6e9, "DRAM": 0.8e9}
WHOLE = {WARP: 8e8, THREADS: 8e8 * 24, THREADS_ON: 8e8 * 20, GLOBAL: 1e7, GLOBAL_SECTORS: 3.2e8}


def integers(events, **fields):
    return analyse(application(cell("histogram", traffic=traffic(**LEVELS), events=events, **fields)), MACHINE)


def dots_of(analysis):
    spec = vega_specs.plain(instruction_chart(analysis))
    return {row["at"]: row for unit, rows in vega_specs.layers(spec) if unit.get("name") == "dots" for row in rows}


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_valid_and_without_a_zero_on_a_log_axis(size):
    for analysis in (integers(WHOLE), analyse(model_of("h200/gemm_raw.csv"), MACHINE)):
        vega_specs.check_log_axes(vega_specs.plain(instruction_chart(analysis, size)))


def test_ranks_that_share_a_place_at_the_right_edge_are_not_cut_there():
    rows = [cell(name, traffic=traffic(DRAM=1e3), events={WARP: 8e8}, seconds=1e-3) for name in "abc"]
    analysis = analyse(application(*rows, cell("d", traffic=traffic(DRAM=1e9), events={WARP: 8e8})), MACHINE)
    spec = vega_specs.plain(instruction_chart(analysis, NARROW))
    (shared,) = [row for _, rows in vega_specs.layers(spec) for row in rows if row.get("rank", "").count(",") == 2][:1]
    (low, high) = next(
        unit["encoding"]["x"]["scale"]["domain"] for unit, rows in vega_specs.layers(spec) if shared in rows
    )
    place = NARROW.width * math.log(shared["x"] / low) / math.log(high / low)
    assert place + text_width(shared["rank"], NARROW.font) <= NARROW.width - 4 + 1e-6


def test_dots_stand_at_their_intensity_and_rate():
    found = {level: (row["x"], row["y"]) for level, row in dots_of(integers(WHOLE)).items()}
    assert found == {"L1": (8.0, 8e11), "L2": (16.0, 8e11), "DRAM": (32.0, 8e11), "global": (1 / 32, 1e10)}


def test_roofs_are_the_peak_and_bandwidths_by_32_bytes():
    spec = vega_specs.plain(instruction_chart(integers(WHOLE)))
    rows = [row for unit, rows in vega_specs.layers(spec) if unit["mark"]["type"] == "line" for row in rows]
    peak = next(row["y"] for row in rows if row.get("key") == "issue")
    slope = next(row["y"] / row["x"] for row in rows if row.get("key") == "DRAM")
    assert peak == 4 * 132 * 1.98e9
    assert slope == pytest.approx(MACHINE.ceiling("DRAM.read").value / 32)


def test_walls_stand_where_requests_were_counted():
    def walls(events):
        spec = vega_specs.plain(instruction_chart(integers(events)))
        return [row["x"] for unit, rows in vega_specs.layers(spec) if unit["mark"]["type"] == "rule" for row in rows]

    assert walls(WHOLE) == [1 / sectors for sectors, _ in WALLS]
    assert walls({WARP: 8e8}) == []


def test_nothing_to_draw_is_said():
    with pytest.raises(ErtError):
        instruction_chart(integers({}))
    with pytest.raises(ErtError):
        instruction_chart(analyse(application(cell(events={WARP: 1e6}))))


def test_the_page_has_the_part_where_instructions_were_counted_and_the_command_where_not():
    counted, bare = profile_page(integers(WHOLE)), profile_page(integers({}))
    assert "Instruction roofline</h2>" in counted
    assert 'id="chart-instructions"' in counted
    assert "smsp__inst_executed.sum" not in counted.split("<h2>Evidence")[0]
    assert "Instruction roofline</h2>" not in bare
    assert "For an instruction roofline" in bare
    assert "smsp__inst_executed.sum,smsp__thread_inst_executed.sum" in bare
    lanes = profile_page(integers({WARP: 8e8}))
    assert "For lanes and patterns of access" in lanes


def test_the_result_carries_it():
    result = make_result(integers(WHOLE))
    assert result.kernels[0].instructions.active_lanes == 0.75
    assert result.kernels[0].shares["issue"] == pytest.approx(8e11 / (4 * 132 * 1.98e9))
    assert [roof.key for roof in result.instruction_roofs] == ["issue", "L1.tag", "L2.sm", "DRAM"]
    assert result.instruction_command is None
    assert "dram__bytes.sum" in make_result(integers({})).instruction_command


def test_an_impossible_number_of_instructions_is_marked():
    analysis = integers({WARP: 2e9})
    assert analysis.kernels[0].excess == "impossible"
    assert "IMPOSSIBLE" in profile_page(analysis)


def test_a_column_of_which_nothing_is_known_is_left_out():
    bare, whole = profile_page(integers({WARP: 8e8})), profile_page(integers(WHOLE))
    assert "Active lanes" in whole
    assert "Active lanes" not in bare
    assert "Per L1 transaction" in bare


@pytest.mark.parametrize(
    "fields",
    [
        {"events": {WARP: 1e6}},
        {"events": {WARP: 1e6}, "seconds": None, "shortest_seconds": None, "longest_seconds": None},
        {"events": {WARP: 0.0}, "traffic": traffic(DRAM=1e6)},
        {"events": {WARP: 1e6, GLOBAL: 0.0, GLOBAL_SECTORS: 0.0}, "traffic": traffic(DRAM=0.0, L1_tag=0.0)},
    ],
    ids=["no bytes", "no time", "no instructions", "nothing moved"],
)
def test_odd_counts_make_a_page_all_the_same(fields):
    for machine in (MACHINE, None):
        analysis = analyse(application(cell(**fields)), machine)
        assert "What is known" in profile_page(analysis)
        assert "What bounds" in analysis.kernels[0].sentences[0] or "no time" in analysis.kernels[0].sentences[0]
