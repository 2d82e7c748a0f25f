"""The instruction roofline: intensities and lanes by hand, its roof against a kernel that nearly reaches it."""

import example_models
import pytest
from example_profiles import application, cell, flop, model_of, traffic

from appprof.analysis import analyse
from appprof.application import LevelBytes
from appprof.metrics_events import GLOBAL, GLOBAL_SECTORS, THREADS, THREADS_ON, WARP
from appprof.roofs import make_roofs

MACHINE = example_models.h200_model()
PEAK = 4 * 132 * 1.98e9
LEVELS = {"L1_tag": 3.2e6, "L2_sm": 1.6e6, "DRAM": 0.32e6}


def one(found, machine=MACHINE):
    (only,) = analyse(application(found), machine).kernels
    return only


def issuing(share, **events):
    """A kernel without FLOP that issues at ``share`` of the peak for a millisecond."""
    return cell(traffic=traffic(**LEVELS), events={WARP: share * PEAK * 1e-3, **events})


def test_a_point_a_level_with_sectors_as_transactions():
    work = one(cell(traffic=traffic(**LEVELS, SHARED_sass=1e9, L1_wb=1e9), events={WARP: 1e6})).summary.instructions
    assert {row.level: row.intensity for row in work.points} == {"L1": 10.0, "L2": 20.0, "DRAM": 100.0}
    assert {row.rate for row in work.points} == {1e9}


def test_sums_first_and_ratios_of_them_after():
    rows = (cell(traffic=traffic(DRAM=32.0), events={WARP: 1e6}, seconds=1e-3),
            cell(traffic=traffic(DRAM=99 * 32.0), events={WARP: 1e6}, seconds=3e-3, launches=2))  # fmt: skip
    (found,) = analyse(application(*rows)).kernels
    assert found.summary.instructions.point("DRAM").intensity == 2e6 / 100
    assert found.summary.instructions.rate == pytest.approx(2e6 / 4e-3)
    assert found.summary.instructions.launches == 3


def test_launches_whose_instructions_are_not_known_are_no_zero():
    rows = (cell(events={WARP: 1e6}, traffic=traffic(DRAM=32e3)), cell(grid=(2, 1, 1), traffic=traffic(DRAM=1e9)))
    (found,) = analyse(application(*rows)).kernels
    assert found.summary.instructions.seconds == 1e-3
    assert found.summary.instructions.point("DRAM").transactions == 1000
    assert one(cell(traffic=traffic(**LEVELS))).summary.instructions is None


def test_lanes_are_of_the_32_threads_of_a_warp():
    work = one(issuing(0.5, **{THREADS: 0.75 * 32 * 0.5 * PEAK * 1e-3, THREADS_ON: 0.5 * 32 * 0.5 * PEAK * 1e-3}))
    assert work.summary.instructions.active_lanes == pytest.approx(0.75)
    assert work.summary.instructions.useful_lanes == pytest.approx(0.5)
    assert any("24.0 take part and 16.0 are not predicated off" in line for line in work.sentences)


def test_requests_to_global_memory_are_a_point_of_their_own():
    found = one(issuing(0.2, **{GLOBAL: 1000.0, GLOBAL_SECTORS: 32_000.0}))
    assert found.summary.instructions.point("global").intensity == 1 / 32
    assert any("32.0 sectors a warp" in line for line in found.sentences)
    dense = one(issuing(0.2, **{GLOBAL: 1000.0, GLOBAL_SECTORS: 16_000.0}))
    assert not any("sectors" in line for line in dense.sentences)


def test_what_tma_moved_past_l1_has_no_point_there():
    past = LevelBytes(level="L1", definition="L1.tag", value=32.0, withheld="TMA")
    withheld = tuple(row if row.level != "L1" else past
                     for row in traffic(**LEVELS))  # fmt: skip
    work = one(cell(traffic=withheld, events={WARP: 1e6})).summary.instructions
    assert [row.level for row in work.points] == ["L2", "DRAM"]


def test_a_kernel_of_integers_is_bound_by_the_issue_of_instructions():
    found = one(issuing(0.9))
    assert (found.verdict, found.bound, found.confidence) == ("issue", "issue", "high")
    assert found.share == pytest.approx(0.9)
    assert found.gives_back_seconds == pytest.approx(0.1e-3)
    assert "90% of their cycles" in found.sentences[0]


def test_few_instructions_are_no_bound():
    found = one(issuing(0.3))
    assert found.verdict == "latency"
    assert any("an instruction in 30% of their cycles" in line for line in found.sentences)
    assert "integer" not in found.sentences[0]  # they were counted


def test_without_a_count_of_instructions_waiting_is_not_sure():
    assert "integer" in one(cell(traffic=traffic(**LEVELS))).sentences[0]


def test_a_roof_of_work_that_is_near_stays_the_bound():
    """Instructions are a means: a kernel at its FP32 roof is bound by FP32, however busy its schedulers are."""
    work = 0.9 * 65.2e12 * 1.98 / 1.975 * 1e-3
    found = one(cell(flop=(flop("fp32.vector", work, fused=work),), traffic=traffic(**LEVELS),
                     events={WARP: 0.97 * PEAK * 1e-3}))  # fmt: skip
    assert (found.verdict, found.bound) == ("compute", "fp32.vector")
    assert found.gives_back_seconds == pytest.approx(0.1e-3)
    assert any("an instruction in 97% of their cycles: other instructions fill" in line for line in found.sentences)


def test_more_than_one_instruction_a_clock_is_impossible():
    found = one(issuing(1.2))
    assert (found.verdict, found.excess, found.bound) == ("excess", "impossible", "issue")


def test_the_peak_is_what_a_kernel_nearly_reached_on_an_h200():
    analysis = analyse(model_of("h200/micro.ncu-rep"))
    shares = {row.short: row.summary.resource("issue").share for row in analysis.kernels}
    # ncu's own sm__inst_executed.avg.pct_of_peak_sustained_elapsed of this kernel, in another run: 98.78 %.
    assert shares["k[v1]"] == pytest.approx(0.9878, abs=0.002)


def test_no_peak_without_a_known_chip():
    model = application(cell(events={WARP: 1e6}, traffic=traffic(DRAM=32.0)))
    nameless = type(model.chip)(sm_count=132, maximum_sm_clock_hz=1.98e9)
    assert make_roofs(model).issue({"sm": 1e9}).value == 528e9
    assert make_roofs(application(*model.cells, chip=nameless)).issue({"sm": 1e9}) is None


def test_from_a_csv_as_ncu_prints_it(long_csv):
    """An integer kernel of 1,000 warps: 24 of 32 threads active, 8 sectors a request."""
    global_loads, global_stores = (f"pipe_lsu_mem_global_op_{way}.sum" for way in ("ld", "st"))
    path = long_csv(
        *(("0", "histogram(int *)", metric, unit, value) for metric, unit, value in (
            ("gpu__time_duration.sum", "us", "10.000000"),
            ("sm__cycles_elapsed.avg.per_second", "Ghz", "1.500000"),
            ("smsp__inst_executed.sum", "inst", "1,000,000"),
            ("smsp__thread_inst_executed_per_inst_executed.ratio", "", "24.00"),
            (f"l1tex__t_requests_{global_loads}", "", "30,000"), (f"l1tex__t_requests_{global_stores}", "", "10,000"),
            (f"l1tex__t_sectors_{global_loads}", "sector", "300,000"),
            (f"l1tex__t_sectors_{global_stores}", "sector", "20,000"),
            ("dram__bytes.sum", "Mbyte", "3.200000"),
        ))
    )  # fmt: skip
    analysis = analyse(model_of(path), MACHINE)
    work = analysis.kernels[0].summary.instructions
    assert (work.warp, work.active_lanes, work.rate) == (1e6, 0.75, pytest.approx(1e11))
    assert work.point("DRAM").intensity == 10.0
    assert work.point("global").transactions / work.point("global").instructions == 8.0
    issue = analysis.kernels[0].summary.resource("issue")
    assert issue.share == pytest.approx(1e11 / (4 * 132 * 1.5e9))
    origins = {row.what: row for row in analysis.model.evidence}
    assert origins["thread instructions"].form == "ratio x instructions"
