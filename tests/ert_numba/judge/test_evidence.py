import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_benchmarks import made_up_run, name_of

from ert_numba.judge.evidence import Observed, amount, deciding_round, evidence_of
from ert_numba.records import Work
from ert_numba.starts import Benchmarked


def said(unit="B/s", **more) -> Benchmarked:
    work = Work(flop=3.0, bytes_counted=5.0, bytes_moved=7.0, accesses=11.0)
    return Benchmarked(key="k", kernel="x", kind="bandwidth", unit=unit, work=work, **more)


@pytest.mark.parametrize(
    ("seconds", "index"),
    [
        ([5.0], 0),
        ([5.0, 4.0], 0),
        ([3.0, 1.0, 2.0], 2),
        ([4.0, 3.0, 2.0, 1.0], 2),  # the second fastest of four
        ([8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 5),  # the third of eight
    ],
)
def test_the_round_that_speaks_for_a_start(seconds, index):
    assert deciding_round(seconds) == index


@given(seconds=st.lists(st.floats(1, 2), min_size=2, max_size=40), luck=st.floats(0.01, 0.9), at=st.integers(0, 39))
def test_no_lucky_round_moves_it_below_the_others(seconds, luck, at):
    lucky = [*seconds]
    lucky[at % len(seconds)] *= luck
    assert lucky[deciding_round(lucky)] >= min(seconds)


@pytest.mark.parametrize(("unit", "found"), [("FLOP/s", 3), ("OP/s", 3), ("B/s", 5), ("s", 11)])
def test_times_are_for_one_unit_of_work(unit, found):
    assert amount(said(unit)) == found
    assert amount(None) == 1


def one_start(**fields):
    run = made_up_run("a", starts=1)
    start = run.starts[0]
    row = Observed(name="n", seconds=tuple(float(value) for value in range(8, 0, -1)), said=said(**fields))
    return evidence_of(msgspec.structs.replace(run, starts=(msgspec.structs.replace(start, observed=(row,)),)))[
        "n"
    ].readings[0]


def test_the_clock_is_that_of_the_round():
    assert one_start(clock_hz=tuple(range(1, 9))).clock_hz == 6
    assert one_start(clock_hz=(1.0, 3.0, 9.0)).clock_hz == 3  # a probe failed: whose is whose is not known
    assert one_start().clock_hz is None


def test_the_share_is_that_of_the_median_round_at_the_median_clock():
    assert one_start(limit=2.0).share == pytest.approx(5.0 / 4.5 / 2.0)
    assert one_start().share is None
    assert one_start(unit="s", limit=2.0).share is None


def test_a_benchmark_that_some_starts_lack_has_fewer_readings():
    run = made_up_run("a", starts=3)
    less = msgspec.structs.replace(run.starts[1], observed=run.starts[1].observed[1:])
    found = evidence_of(msgspec.structs.replace(run, starts=(run.starts[0], less, run.starts[2])))
    assert len(found[run.starts[0].observed[0].name].readings) == 2
    assert len(found[name_of("DRAM.read")].readings) == 3


@pytest.mark.parametrize(("glitched", "sound"), [(3, True), (5, False)])
def test_rounds_at_another_clock_do_not_speak_while_half_are_at_the_usual_one(glitched, sound):
    """The timer was set right during the first rounds of one start: time and clock of these are off alike."""
    run, name = made_up_run("a"), name_of("DRAM.read")
    start = run.starts[1]
    row = next(one for one in start.observed if one.name == name)
    seconds = tuple(value * (0.987 if at < glitched else 1.0) for at, value in enumerate(row.seconds))
    clocks = tuple(value * (1.045 if at < glitched else 1.0) for at, value in enumerate(row.said.clock_hz))
    odd = msgspec.structs.replace(row, seconds=seconds, said=msgspec.structs.replace(row.said, clock_hz=clocks))
    others = tuple(one for one in start.observed if one.name != name)
    changed = msgspec.structs.replace(start, observed=(odd, *others))
    reading = evidence_of(msgspec.structs.replace(run, starts=(run.starts[0], changed, *run.starts[2:])))[
        name
    ].readings[1]
    assert (not reading.doubts) == sound
    if sound:
        per_byte = sorted(value / row.said.work.bytes_counted for value in row.seconds[glitched:])
        assert reading.seconds == pytest.approx(per_byte[1], rel=1e-9)  # of five rounds the second fastest
