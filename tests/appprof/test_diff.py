"""Two profiles side by side, and the gates on them."""

import example_models
import msgspec
import pytest
from example_profiles import H200, application, cell, flop, model_of, traffic

from appprof.analysis import analyse
from appprof.diff import diff
from appprof.gates import check_gates, parse_gate
from appprof.report.profile import Source
from ert_numba.errors import ErtError, GateFailed, NotComparable

MACHINE = example_models.h200_model()


def profile(*cells, **fields):
    return analyse(application(*cells, **fields), MACHINE)


def busy(kernel="k", seconds=1e-3, work=1e9, moved=1e6, **fields):
    return cell(kernel, seconds=seconds, flop=(flop("fp32.vector", work, fused=work),),
                traffic=traffic(L1_tag=moved, L2_sm=moved, DRAM=moved), **fields)  # fmt: skip


def test_a_profile_beside_itself_has_not_changed():
    side = analyse(model_of("h200/micro.ncu-rep"))
    found = diff(side, side)
    assert {row.state for row in found.kernels} == {"both"}
    assert {row.time_change for row in found.kernels} == {0.0}
    assert {change for row in found.kernels for change in row.bytes_change.values()} == {0.0}
    assert not any(row.bound_moved for row in found.kernels)


def test_two_spellings_of_one_run_are_matched():
    found = diff(analyse(model_of("h200/micro.ncu-rep")), analyse(model_of("h200/micro_raw_base.csv")))
    assert {(row.state, row.match) for row in found.kernels} == {("both", "spelling")}
    assert {row.flop_change for row in found.kernels} == {0.0}


def test_changes_of_time_flop_bytes_and_bound():
    before = busy(seconds=1e-3, work=1e9, moved=0.9 * 4.63e12 * 1e-3)
    after = busy(seconds=2e-3, work=3e9, moved=0.3 * 4.63e12 * 1e-3)
    (row,) = diff(profile(before), profile(after)).kernels
    assert row.time_change == pytest.approx(1.0)
    assert row.seconds_change == pytest.approx(1e-3)
    assert row.flop_change == pytest.approx(2.0)
    assert row.bytes_change["DRAM"] == pytest.approx(-2 / 3)
    assert row.intensity_change["DRAM"] == pytest.approx(8.0)
    assert row.bound_moved
    assert row.apart is None


def test_new_and_gone_kernels_are_listed_by_their_time():
    found = diff(profile(busy("a"), busy("old", 5e-3)), profile(busy("a"), busy("new", 7e-3)))
    assert [(row.short, row.state) for row in found.kernels] == [("new", "new"), ("old", "gone"), ("a", "both")]
    assert found.totals["time"] == pytest.approx((6e-3, 8e-3))


def test_a_name_that_fits_several_is_not_guessed():
    found = diff(profile(busy("void k<int>(int)"), busy("void k<float>(int)")), profile(busy("k<char>")))
    assert sorted(row.state for row in found.kernels) == ["gone", "gone", "new"]


@pytest.mark.parametrize(("longest", "apart"), [(1.4e-3, True), (2.5e-3, False)])
def test_apart_only_where_no_launches_overlap(longest, apart):
    before = busy(launches=2, seconds=2e-3, shortest_seconds=0.8e-3, longest_seconds=longest)
    after = busy(launches=2, seconds=4e-3, shortest_seconds=1.6e-3, longest_seconds=2.4e-3)
    assert diff(profile(before), profile(after)).kernels[0].apart is apart


def test_unlike_gpus_and_clocks_are_refused_unless_forced():
    other = msgspec.structs.replace(H200, name="NVIDIA H100")
    with pytest.raises(NotComparable, match="H100"):
        diff(profile(busy()), analyse(application(busy(), chip=other)))
    sources = [(Source(label="a", format="ncu-rep", clock_control=mode),) for mode in ("none", "base")]
    sides = [profile(busy(), sources=source) for source in sources]
    with pytest.raises(NotComparable, match="clock control"):
        diff(*sides)
    assert "clock control" in diff(*sides, force=True).differences[0]


def test_phases_are_compared():
    before = profile(busy(ranges=("forward",)), busy(ranges=("backward",), seconds=2e-3))
    after = profile(busy(ranges=("forward",)), busy(ranges=("backward",), seconds=3e-3))
    changes = {row.name: row.time_change for row in diff(before, after).groups["range"]}
    assert changes == pytest.approx({"forward": 0.0, "backward": 0.5})


@pytest.mark.parametrize(
    ("gate", "fails"),
    [
        ("time > +5%", True), ("time > 12%", False), ("time>10.0%", False), ("time < -5%", False),
        ("time[a] > 19%", True), ("time[b] > 5%", False), ("launches > 0%", False), ("bytes.DRAM > 2%", False),
        ("flop < -1%", False),
    ],
)  # fmt: skip
def test_gates(gate, fails):
    found = diff(profile(busy("a"), busy("b")), profile(busy("a", 1.2e-3), busy("b")))
    if fails:
        with pytest.raises(GateFailed):
            check_gates(found, [parse_gate(gate)])
    else:
        assert check_gates(found, [parse_gate(gate)])


@pytest.mark.parametrize("text", ["", "time", "time > 5", "speed > 5%", "time > five%", "time >= 5%", "time > 1e9%"])
def test_what_is_no_gate_is_refused(text):
    with pytest.raises(ErtError):
        parse_gate(text)


def test_a_gate_on_what_is_not_known_is_no_pass():
    unknown = cell("k", flop_status="unknown")
    found = diff(profile(unknown), profile(unknown))
    for gate in ("flop > 1%", "bytes.DRAM > 1%", "time[nothing] > 1%"):
        with pytest.raises(NotComparable):
            check_gates(found, [parse_gate(gate)])
