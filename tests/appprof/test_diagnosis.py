"""Verdicts, doubts and sentences: each from numbers that a reader can check."""

import example_models
import msgspec
import pytest
from example_profiles import application, cell, flop, model_of, traffic

from appprof.analysis import analyse
from appprof.result import make_result, what_to_do_first
from ert_numba.errors import NotComparable

MACHINE = example_models.h200_model()
LEVELS = {"L1_tag": 1e6, "L2_sm": 1e6, "DRAM": 1e6}


def diagnosis(found, machine=MACHINE):
    (only,) = analyse(application(found), machine).kernels
    return only


def busy(share, **fields):
    """A kernel at ``share`` of the FP32 roof."""
    work = share * 65.2e12 * 1.98 / 1.975 * 1e-3
    return cell(flop=(flop("fp32.vector", work, fused=work),), traffic=traffic(**LEVELS), **fields)


def test_compute_bound():
    found = diagnosis(busy(0.9))
    assert (found.verdict, found.bound, found.confidence) == ("compute", "fp32.vector", "high")
    assert found.share == pytest.approx(0.9)
    assert found.headroom == pytest.approx(1 / 0.9)
    assert found.gives_back_seconds == pytest.approx(0.1e-3)


def test_bandwidth_bound_by_each_level():
    rates = {"DRAM": ("DRAM", 4.63e12), "L2_sm": ("L2", 9.5e12), "L1_tag": ("L1", 33e12)}
    for name, (level, rate) in rates.items():
        found = diagnosis(cell(traffic=traffic(**{**LEVELS, name: 0.9 * rate * 1e-3})))
        assert (found.verdict, found.bound) == ("bandwidth", level)
        assert found.share == pytest.approx(0.9)


def test_latency_needs_that_everything_was_counted():
    assert diagnosis(busy(0.3)).verdict == "latency"
    gap = cell(flop=(flop("fp32.vector", 1e6, fused=1e6),), traffic=traffic(DRAM=1e6))
    assert diagnosis(gap).verdict == "unknown"
    unsure = diagnosis(msgspec.structs.replace(busy(0.3), flop_status="partial", flop_reason="not counted: fp16"))
    assert (unsure.verdict, unsure.confidence) == ("unknown", "low")


def test_near_a_roof_a_gap_matters_less():
    sparse = cell(flop_status="unknown", traffic=traffic(DRAM=0.9 * 4.63e12 * 1e-3))
    found = diagnosis(sparse)
    assert (found.verdict, found.bound, found.confidence) == ("bandwidth", "DRAM", "medium")
    assert any("FLOP are not known" in doubt for doubt in found.doubts)


def test_launch_bound_where_launching_takes_longer_than_running():
    found = diagnosis(cell(seconds=1e-6, traffic=traffic(**LEVELS)))
    assert found.verdict == "launch"
    assert "2.20 µs" in found.sentences[0]


def test_a_rate_above_its_roof_is_not_classified():
    above = diagnosis(cell(traffic=traffic(DRAM=4.7e12 * 1e-3)))
    impossible = diagnosis(cell(traffic=traffic(DRAM=9.6e12 * 1e-3)))
    assert (above.verdict, above.excess) == ("excess", "above the roof")
    assert (impossible.verdict, impossible.excess) == ("excess", "impossible")
    for found in (above, impossible):
        assert found.gives_back_seconds is None
        assert found.share > 1
        assert found.confidence == "low"
        assert "It is not classified" in found.sentences[0]
        assert "Likely causes" in found.sentences[1]
    assert "IMPOSSIBLE" in impossible.sentences[0]
    assert "199.4% of" in impossible.sentences[0]


def test_f05_says_what_was_assumed():
    (row,) = make_result(analyse(model_of("faults/F05_achieved_above_peak.csv"))).kernels
    assert row.verdict == "excess"
    assert "149 times" in row.sentences[0]
    assert "assumed to be of H100" in row.sentences[0]


@pytest.mark.parametrize(
    ("name", "seconds", "dram"),
    [
        ("F01_locale_dot_grouping", 100e-6, 200e6),
        ("F02_old_12_columns", 10e-6, 1e6),
        ("F03_noise_before_and_after", None, 1e6),
        ("F04_raw_unit_row_empty_cells", 10e-6, 1.75e6),
        ("F19_blackwell_renamed_dram", 1e-6, 600.0),
        ("F21_ragged_details", 6.75e-6, None),
    ],
)
def test_what_lacks_flop_is_kept_with_the_reason_and_the_command(name, seconds, dram):
    result = make_result(analyse(model_of(f"faults/{name}.csv")))
    (row,) = result.kernels
    assert row.seconds == (None if seconds is None else pytest.approx(seconds))
    assert row.bytes.get("DRAM") == dram
    assert row.flop is None
    assert row.flop_per_second is None
    assert row.verdict == "unknown"
    assert row.absent["flop"]
    assert result.command.startswith("ncu ")
    assert "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum" in result.command


def test_f08_asks_for_the_tensor_counters():
    result = make_result(analyse(model_of("faults/F08_tensor_kernel_ffma_zero.csv")))
    assert result.kernels[0].flop is None
    assert "sm__ops_path_tensor_src_fp16_dst_fp32" in result.command
    assert "tensor cores ran" in result.kernels[0].absent["flop"]


def test_nothing_is_asked_of_a_whole_report():
    result = make_result(analyse(model_of("h200/micro_roofline_set.ncu-rep")))
    assert result.command is None
    assert result.coverage.flop == 1.0


def test_sentences_of_the_instruction_mix_and_of_the_instruction():
    half = cell(flop=(flop("fp32.vector", 40e9, fused=20e9),), traffic=traffic(**LEVELS))
    assert any("50% of its FP32 FLOP are fused" in line for line in diagnosis(half).sentences)
    mma = cell(flop=(flop("fp16.tensor.mma.sync", 600e9),), traffic=traffic(**LEVELS))
    assert any("roof of wgmma is 1.50 times" in line for line in diagnosis(mma).sentences)


def test_fewer_bytes_is_the_ratio_of_the_two_needs():
    work = 0.5 * 65.2e12 * 1.98 / 1.975 * 1e-3
    found = cell(flop=(flop("fp32.vector", work, fused=work),),
                 traffic=traffic(**{**LEVELS, "L2_sm": 0.9 * 9.5e12 * 1e-3}))  # fmt: skip
    assert any(line.startswith("1.8 times fewer bytes from L2") for line in diagnosis(found).sentences)


def test_waves_and_tail():
    few = diagnosis(busy(0.3, facts={"waves_per_sm": 0.25}))
    tail = diagnosis(busy(0.3, facts={"waves_per_sm": 1.5}))
    assert any("fills 25%" in line for line in few.sentences)
    assert any("up to 25% of its time" in line for line in tail.sentences)


def test_a_tail_cannot_cost_more_than_the_roof_leaves():
    """On an H200 a kernel of 1.60 waves reached 97% of its roof: no tail cost it 20%."""
    near = diagnosis(busy(0.9, facts={"waves_per_sm": 1.5}))
    assert not any("waves" in line for line in near.sentences)
    assert not any("more blocks" in line for line in diagnosis(busy(0.95, facts={"waves_per_sm": 0.25})).sentences)


def test_half_way_to_a_roof_is_not_bound_by_it_alone():
    assert "is bound by FP32 arithmetic" in diagnosis(busy(0.85)).sentences[0]
    some = diagnosis(busy(0.65)).sentences[0]
    assert "is limited first by FP32 arithmetic" in some
    assert "something else takes the rest" in some


def test_reuse_is_told_where_the_bytes_matter():
    bytes_alone = {"L1_tag": 9e9, "L2_sm": 6e9, "DRAM": 3e9}
    found = diagnosis(cell(traffic=traffic(**bytes_alone), flop=(flop("fp32.vector", 1e9, fused=1e9),)))
    assert any(
        "L1 moved 1.5 times the bytes of L2, L2 moved 2 times the bytes of device" in line for line in found.sentences
    )
    assert not any("Reuse" in line for line in diagnosis(busy(0.9)).sentences)


def test_what_was_not_counted_is_named():
    gap = cell(flop=(flop("fp32.vector", 1e6, fused=1e6),), traffic=traffic(DRAM=1e6), flop_status="partial")
    assert "some of its FLOP and its bytes at L1 and L2 were not counted" in diagnosis(gap).sentences[0]


def test_packed_halves_are_told_both_ways():
    work = (flop("fp16.vector", 100e9, fused=100e9, bound="upper"),)
    found = diagnosis(cell(flop=work, traffic=traffic(**LEVELS)))
    assert any("100.0 GFLOP" in line and "50.00 GFLOP" in line for line in found.sentences)
    assert found.confidence == "medium"


def test_what_to_do_first_is_ranked_by_what_it_gives_back():
    model = application(busy(0.7, kernel="small", seconds=1e-3), cell("large", seconds=10e-3,
                        traffic=traffic(**{**LEVELS, "DRAM": 0.7 * 4.63e12 * 10e-3})),
                        cell("unknown", seconds=50e-3, flop_status="unknown"))  # fmt: skip
    result = make_result(analyse(model, MACHINE))
    assert [row.kernel for row in what_to_do_first(result.kernels)] == ["large"]
    assert [row.kernel for row in result.kernels] == ["unknown", "large", "small"]


def test_coverage_is_of_the_time():
    model = application(busy(0.5, seconds=1e-3), cell("b", seconds=3e-3, flop_status="unknown"))
    coverage = analyse(model, MACHINE).coverage
    assert coverage.flop == pytest.approx(0.25)
    assert coverage.bytes == pytest.approx({"L1": 0.25, "L2": 0.25, "DRAM": 0.25})


def test_a_forced_machine_is_named_first():
    other = msgspec.structs.replace(MACHINE, device=msgspec.structs.replace(MACHINE.device, name="NVIDIA H100"))
    with pytest.raises(NotComparable):
        analyse(application(busy(0.5)), other)
    assert analyse(application(busy(0.5)), other, force=True).notes[0].startswith("FORCED")


def with_ceilings(**values):
    """The machine with some ceilings at other values, or others of their kind beside them."""
    changed = {name.replace("_", "."): value for name, value in values.items()}
    rows = {row.key: row for row in MACHINE.ceilings}
    for key, value in changed.items():
        like = rows.get(key) or rows["launch"]
        rows[key] = msgspec.structs.replace(like, key=key, value=value, low=value, high=value)
    return msgspec.structs.replace(MACHINE, ceilings=tuple(rows.values()))


def test_a_roof_of_reads_is_told_beside_what_mixes_reached():
    machine = with_ceilings(DRAM_triad=4.17e12, DRAM_copy=4.62e12)
    triad = cell(traffic=traffic(**{**LEVELS, "DRAM": 0.8 * 4.63e12 * 1e-3}))
    (line,) = [line for line in diagnosis(triad, machine).sentences if "reads alone" in line]
    assert "two reads for each write 4.17 TB/s" in line
    assert "one read" not in line  # as fast as reads, to 2 %
    assert not any("reads alone" in line for line in diagnosis(triad, None).sentences)


def test_short_launches_may_wait_for_the_host():
    machine = with_ceilings(launch_stream=5e-6, launch_graph=5e-7)
    short = cell(seconds=4e-6, traffic=traffic(**{**LEVELS, "DRAM": 0.8 * 4.63e12 * 4e-6}))
    found = diagnosis(short, machine)
    assert found.verdict == "bandwidth"
    assert any("may wait for the host" in line for line in found.sentences)
    longer = cell(seconds=40e-6, traffic=traffic(**{**LEVELS, "DRAM": 0.8 * 4.63e12 * 40e-6}))
    assert not any("wait for the host" in line for line in diagnosis(longer, machine).sentences)
    tiny = diagnosis(cell(seconds=4e-7, traffic=traffic(DRAM=1e3)), machine)
    assert "in a CUDA graph) takes 500 ns" in tiny.sentences[0]


def test_a_low_clock_is_told_apart_from_the_code():
    work = 0.9 * 65.2e12 * 1.2 / 1.975 * 1e-3
    slow = cell(flop=(flop("fp32.vector", work, fused=work),), traffic=traffic(**LEVELS), clocks_hz={"sm": 1.2e9})
    (line,) = [line for line in diagnosis(slow).sentences if "difference of clocks" in line]
    assert "1.20 GHz; at the clock of its measurement it is 65.2 TFLOP/s, and this is 55% of it" in line
    assert not any("clocks" in line for line in diagnosis(busy(0.9)).sentences)


def test_what_bounds_is_not_known_gives_nothing_back():
    gap = cell(flop=(flop("fp32.vector", 1e6, fused=1e6),), traffic=traffic(DRAM=1e6))
    (row,) = make_result(analyse(application(gap), MACHINE)).kernels
    assert (row.verdict, row.gives_back_seconds, row.headroom) == ("unknown", None, None)
    assert row.roof_share is not None
    groups = make_result(analyse(application(gap), MACHINE)).groups["precision"]
    assert groups[0].gives_back_seconds is None


def test_a_level_without_a_roof_may_be_what_it_waits_for():
    """The file names no product, so device memory has no roof: 3.4 TB/s of it are no latency."""
    rows = make_result(analyse(model_of("h200/micro_stdout.csv"))).kernels
    triad = next(row for row in rows if row.short == "triad[v5]")
    assert triad.verdict == "unknown"
    assert "no roof of DRAM" in triad.sentences[0]
    assert triad.confidence == "low"


def test_slightly_above_a_measured_roof_is_first_of_all_another_card():
    near = diagnosis(cell(traffic=traffic(DRAM=4.7e12 * 1e-3)))
    assert "cards of one product differ" in near.sentences[1]
    assert "decimal mark" not in near.sentences[1]
    far = make_result(analyse(model_of("faults/F05_achieved_above_peak.csv"))).kernels[0]
    assert "decimal mark" in far.sentences[1]
    assert "cards of one product" not in far.sentences[1]


def test_hardly_anything_is_not_nothing():
    chase = diagnosis(cell(traffic=traffic(DRAM=1e3), flop=(), facts={"waves_per_sm": 0.001}))
    text = " ".join(chase.sentences)
    assert " 0% " not in text
    full = diagnosis(busy(0.3, facts={"theoretical_occupancy_percent": 100.0}))
    assert not any("warps that an SM can hold" in line for line in full.sentences)


def test_latency_is_sure_where_nothing_else_could_be():
    levels = {**LEVELS, "SHARED_sass": 1e3}
    seen = diagnosis(cell(traffic=traffic(**levels), events={"warp_instructions": 1e6}))
    assert (seen.verdict, seen.confidence) == ("latency", "high")
    assert "not counted" not in " ".join((*seen.sentences, *seen.doubts))
    blind = diagnosis(cell(traffic=traffic(**LEVELS)))
    assert (blind.verdict, blind.confidence) == ("latency", "low")
    assert blind.doubts == ("integer and other instructions not counted", "shared memory not counted")
    assert "integer and other instructions, or shared memory" in blind.sentences[0]
    assert diagnosis(cell(traffic=traffic(**LEVELS), facts={"waves_per_sm": 0.01})).confidence == "medium"
