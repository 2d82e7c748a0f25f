"""Cells under roofs, and sums of them: shares against figures worked out by hand elsewhere."""

import example_models
import msgspec
import pytest
from example_profiles import application, cell, flop, model_of, traffic
from hypothesis import given
from hypothesis import strategies as st

from appprof.grouping import summarise, summary
from appprof.roofline import ABOVE, IMPOSSIBLE, place
from appprof.roofs import make_roofs


def summaries(model, machine=None, by="kernel"):
    return {row.name: row for row in summarise(place(model, make_roofs(model, machine)), by)}


# Share of the dense roof at the clock of the run, and of the same roof at 1.98 GHz (facts of an H200, ncu 2025.3.1).
@pytest.mark.parametrize(
    ("name", "key", "share", "at_maximum"),
    [
        ("torch.float16", "tensor", 0.905, 0.709),
        ("torch.bfloat16", "tensor", 0.906, 0.729),
        ("tf32", "tensor", 0.883, 0.749),
        ("fp8", "tensor", 0.813, 0.630),
        ("int8", "tensor", 0.678, 0.600),
        ("torch.float64", "tensor", 0.945, 0.933),
        ("torch.float32", "fp32.vector", 0.765, 0.763),
    ],
)
def test_h200_products_against_their_own_paths(name, key, share, at_maximum):
    found = summaries(model_of("h200/gemm_raw.csv"), by="range")[name].resource(key)
    assert found.share == pytest.approx(share, abs=6e-4)
    assert found.share_at_maximum == pytest.approx(at_maximum, abs=6e-4)


def test_tma_kernels_have_no_l1_point_and_classic_ones_have():
    found = summaries(model_of("h200/gemm_raw.csv"), by="range")
    assert found["torch.float16"].point("L1") is None
    assert found["torch.float32"].point("L1").intensity == pytest.approx(41.8, abs=0.01)


def test_points_of_one_kernel_stand_at_one_height():
    for row in summaries(model_of("h200/micro_raw_base.csv")).values():
        assert len({point.rate for point in row.points}) == 1


def test_f13_ratio_of_sums_not_mean_of_ratios():
    row = summaries(model_of("faults/F13_aggregate_ratio_of_sums.csv"))["k"]
    assert row.point("DRAM").intensity == 2.0
    assert row.rate == pytest.approx(200e9)
    assert row.launches == 2
    assert (row.shortest_seconds, row.longest_seconds) == pytest.approx((1e-6, 9e-6))


def test_f05_is_impossible_and_not_cut():
    row = summaries(model_of("faults/F05_achieved_above_peak.csv"))["gemm"]
    found = row.resource("fp32.vector")
    assert found.excess == IMPOSSIBLE
    assert found.share == pytest.approx(149.46, abs=0.01)


def test_f08_tensor_kernel_gets_no_flop_and_no_point():
    (row,) = summaries(model_of("faults/F08_tensor_kernel_ffma_zero.csv")).values()
    assert row.total_flop is None
    assert row.points == ()
    assert "tensor cores ran" in row.flop_reason
    asked = next(gap.ask for gap in row.absent if gap.what == "flop")
    assert any(name.startswith("sm__ops_path_tensor_") for name in asked)


def test_unfused_work_runs_at_half_the_roof_or_at_what_was_measured():
    work = application(cell(flop=(flop("fp32.vector", 1e9, fused=0.0),)))
    theory = summaries(work)["k"].resource("fp32.vector")
    assert theory.roof == pytest.approx(128 * 132 * 1.98e9)
    measured = summaries(work, example_models.h200_model())["k"].resource("fp32.vector")
    assert measured.roof == pytest.approx(32.7e12 * 1.98 / 1.975, rel=1e-3)


def test_tensor_paths_share_a_unit_and_vector_precisions_do_not():
    rows = (flop("fp16.tensor.mma.sync", 1e9), flop("fp8.tensor.wgmma", 1e9), flop("fp32.vector", 1e9, fused=1e9),
            flop("fp64.vector", 1e9, fused=1e9))  # fmt: skip
    found = summaries(application(cell(flop=rows)))["k"]
    assert {row.key for row in found.resources} == {"tensor", "fp32.vector", "fp64.vector"}
    per_cycle = 132 * 1.98e9
    assert found.resource("tensor").seconds_at_roof == pytest.approx(1e9 / per_cycle * (3 / 8192 + 1 / 8192))


def test_a_rate_within_the_interval_of_its_roof_is_no_excess():
    machine = example_models.h200_model()
    inside, above, impossible = 4.64e12, 4.7e12, 4.9e12
    for rate, excess in ((inside, ""), (above, ABOVE), (impossible, IMPOSSIBLE)):
        model = application(cell(traffic=traffic(DRAM=rate * 1e-3)))
        assert summaries(model, machine)["k"].resource("DRAM").excess == excess


def test_rounding_of_the_file_is_allowed_for():
    rounded = cell(seconds=1e-6, seconds_rounding=0.5e-6, traffic=traffic(DRAM=4.9e12 * 1e-6))
    assert summaries(application(rounded))["k"].resource("DRAM").excess == ""


def test_rounding_of_an_amount_is_allowed_for():
    moved = msgspec.structs.replace(traffic(DRAM=4.9e12 * 1e-3)[0], rounding=0.5e12 * 1e-3)
    assert summaries(application(cell(traffic=(moved,))))["k"].resource("DRAM").excess == ""


def test_flop_that_are_not_the_work_ask_nothing_of_the_pipes():
    found = cell(flop=(flop("fp32.vector", 1e9, fused=1e9),), flop_status="unknown", traffic=traffic(DRAM=1e6))
    assert [row.key for row in summaries(application(found))["k"].resources] == ["DRAM"]


def test_zero_bytes_are_a_value_and_draw_no_point():
    row = summaries(application(cell(flop=(flop("fp32.vector", 1e9, fused=1e9),), traffic=traffic(DRAM=0.0))))["k"]
    assert row.point("DRAM") is None
    assert row.resource("DRAM").share == 0.0


def test_l2_all_is_never_set_against_the_crossbar_or_a_measured_roof():
    model = application(cell(traffic=traffic(L2_all=1e9)))
    for machine in (None, example_models.h200_model()):
        row = summaries(model, machine)["k"]
        assert row.resource("L2") is None
        assert any("L2.all" in line for line in row.unpaired)


def test_launches_without_a_time_are_counted_and_not_timed():
    row = summaries(application(cell(), cell(seconds=None, shortest_seconds=None, longest_seconds=None)))["k"]
    assert (row.launches, row.timed_launches, row.seconds) == (2, 1, 1e-3)
    alone = summaries(application(cell(seconds=None)))["k"]
    assert alone.seconds is None
    assert alone.resources == ()


def test_flop_of_some_launches_give_the_rate_of_those_alone():
    known = cell(flop=(flop("fp32.vector", 1e9, fused=1e9),), traffic=traffic(DRAM=1e6))
    unknown = cell(seconds=9e-3, flop_status="unknown", flop_reason="no FLOP counter is in the file",
                   traffic=traffic(DRAM=1e6))  # fmt: skip
    row = summaries(application(known, unknown))["k"]
    assert row.rate == pytest.approx(1e12)
    assert row.point("DRAM").intensity == pytest.approx(1000.0)
    assert (row.flop_status, row.flop_launches) == ("mixed", 1)


AMOUNT = st.floats(min_value=1.0, max_value=1e12)


@given(st.lists(st.tuples(AMOUNT, AMOUNT, st.floats(min_value=1e-6, max_value=1.0)), min_size=1, max_size=6))
def test_sums_over_cells_equal_the_sum_of_their_parts(rows):
    cells = [cell(seconds=seconds, grid=(index, 1, 1), flop=(flop("fp32.vector", work, fused=work),),
                  traffic=traffic(DRAM=moved)) for index, (work, moved, seconds) in enumerate(rows)]  # fmt: skip
    model = application(*cells)
    row = summary("all", place(model, make_roofs(model)))
    point = row.point("DRAM")
    assert point.intensity == pytest.approx(sum(r[0] for r in rows) / sum(r[1] for r in rows))
    assert point.rate == pytest.approx(sum(r[0] for r in rows) / sum(r[2] for r in rows))
    least = max(row.resource(key).seconds_at_roof for key in ("DRAM", "fp32.vector"))
    assert least <= row.floor_seconds * (1 + 1e-9)
    assert row.shapes == len(rows)
