import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ert_numba.judge.evidence import Evidence, Reading
from ert_numba.judge.judgement import Threshold
from ert_numba.judge.noise import Shift
from ert_numba.judge.thresholds import threshold_of
from ert_numba.judge.verdicts import decide, decide_in_cycles, too_few

DEFAULT = Threshold(fraction=0.015, source="default")


def shift(value=0.0, own=0.002, corrected=0.006, apart=True, noise=0.002) -> Shift:
    return Shift(value=value, own=own, corrected=corrected, noise=noise, apart=apart)


@pytest.mark.parametrize(
    ("found", "verdict", "reason"),
    [
        (shift(0.03), "SLOWER", ""),
        (shift(-0.03), "FASTER", ""),
        (shift(0.03, apart=False), "UNKNOWN", "overlap"),
        (shift(0.03, corrected=0.031), "UNKNOWN", "57 comparisons"),
        (shift(0.0145), "UNKNOWN", "it may have changed by +1.7 %, beyond its threshold"),
        (shift(0.0125), "SAME", ""),
        (shift(-0.0125), "SAME", ""),
        (shift(0.014, own=0.0001, corrected=0.0003), "SAME", ""),  # sure, and too small to count
        (shift(0.0152, own=0.0001, corrected=0.0003), "SLOWER", ""),
        (shift(0.0, own=0.02, corrected=0.06), "UNKNOWN", "it may have changed by +2.0 %"),
    ],
)
def test_a_verdict_by_the_default_threshold(found, verdict, reason):
    decided = decide(found, DEFAULT, 57)
    assert decided.text == verdict
    assert reason in decided.reason
    assert bool(decided.reason) == (verdict == "UNKNOWN")


def test_a_noisy_benchmark_is_judged_by_what_its_noise_lets_one_tell_apart():
    noisy = shift(0.03, own=0.02, corrected=0.06)
    threshold = threshold_of(None, noisy)
    assert threshold == Threshold(fraction=math.expm1(0.06), source="its own noise")
    assert decide(noisy, threshold, 57).text == "SAME"
    assert decide(shift(0.07, own=0.02, corrected=0.06), threshold, 57).text == "SLOWER"
    assert decide(shift(0.05, own=0.02, corrected=0.06), threshold, 57).text == "UNKNOWN"


def test_noise_above_a_fifth_says_nothing_at_all():
    hopeless = shift(0.0, own=0.06, corrected=0.19)
    assert decide(hopeless, threshold_of(None, hopeless), 57).reason == (
        "too noisy: only changes above 21 % could be told from noise"
    )


def test_a_stated_threshold_is_never_raised():
    stated = Threshold(fraction=0.02, source="stated for fp64.*")
    noisy = shift(0.0, own=0.03, corrected=0.09)
    assert threshold_of(stated, noisy) is stated
    assert decide(noisy, stated, 57).text == "UNKNOWN"


@given(value=st.floats(-0.5, 0.5), own=st.floats(0, 0.3), ratio=st.floats(1, 5), apart=st.booleans())
def test_swapped_sides_swap_the_verdict(value, own, ratio, apart):
    mirror = {"SLOWER": "FASTER", "FASTER": "SLOWER", "SAME": "SAME", "UNKNOWN": "UNKNOWN"}
    there, back = (shift(sign * value, own=own, corrected=own * ratio, apart=apart) for sign in (1, -1))
    assert decide(back, threshold_of(None, back), 9).text == mirror[decide(there, threshold_of(None, there), 9).text]


def evidence(sound: int, doubted: int = 0) -> Evidence:
    readings = [Reading(label=str(index), seconds=1.0) for index in range(sound)]
    readings += [Reading(label="x", seconds=1.0, doubts=("throttled (power brake)",))] * doubted
    return Evidence(name="n", readings=tuple(readings))


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        (evidence(5), evidence(7), ""),
        (evidence(5, doubted=2), evidence(5), ""),
        (evidence(1), evidence(5), "A has 1 process start, 5 are needed: bench --starts 5"),
        (evidence(5), evidence(4), "B has 4 process starts, 5 are needed: bench --starts 5"),
        (evidence(4, doubted=1), evidence(5), "A has 4 sound starts of 5, 5 are needed (throttled (power brake))"),
    ],
)
def test_five_sound_starts_a_side_are_needed(a, b, reason):
    assert too_few(a, b) == reason


TIME = {"own": 0.012, "corrected": 0.035}  # its threshold: 3.6 %
STEADY = {"own": 0.001, "corrected": 0.003}


@pytest.mark.parametrize(
    ("time", "cycles", "verdict", "in_cycles"),
    [
        (0.03, 0.031, "SLOWER", True),
        (-0.03, -0.031, "FASTER", True),
        (0.05, 0.001, "SLOWER", False),  # the clock fell: time decides, whatever the cycles
        (0.05, -0.03, "SLOWER", False),
        (0.02, 0.001, "SAME", False),
        (-0.01, 0.031, "SAME", False),  # more cycles at a higher clock: no more time
        (0.01, 0.06, "SAME", False),  # farther off than its noise explains: the clock made up for it
        (0.028, 0.012, "UNKNOWN", False),
    ],
)
def test_steady_cycles_decide_where_a_wandering_clock_hides_the_time(time, cycles, verdict, in_cycles):
    found = decide_in_cycles(shift(time, **TIME), shift(cycles, **STEADY), None, 90)
    assert (found.verdict.text, found.in_cycles) == (verdict, in_cycles)
    assert found.threshold.source == ("default" if in_cycles else "its own noise")


def test_without_cycles_the_time_decides():
    assert decide_in_cycles(shift(0.03, **TIME), None, None, 90).verdict.text == "UNKNOWN"
    assert decide_in_cycles(shift(0.05, **TIME), None, None, 90).verdict.text == "SLOWER"
