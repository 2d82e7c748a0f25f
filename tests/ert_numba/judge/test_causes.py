import math

import pytest

from ert_numba.judge.causes import Moved, cause_of
from ert_numba.judge.judgement import Level
from ert_numba.starts import RoofHit


def side(value=100.0, clock=None, top=None) -> Level:
    share = value / top if top else None
    return Level(value=value, low=value, high=value, starts=5, of_starts=5, clock_hz=clock, share=share)


def roof(attainable=200.0) -> RoofHit:
    return RoofHit(attainable=attainable, bandwidth_key="DRAM.read", compute_key="fp64.vector.fma", model="m")


def moved(factor: float, a: Level, b: Level, roofs=(None, None)) -> Moved:
    return Moved(shift=math.log(factor), limit=math.log(1.015), unit="B/s", a=a, b=b, roof_a=roofs[0], roof_b=roofs[1])


@pytest.mark.parametrize(
    ("row", "ceilings", "user", "what", "words"),
    [
        (moved(1.05, side(clock=2e9), side(clock=2e9 / 1.05)), {}, False, "clock", "(-4.8 %)"),
        (moved(1 / 1.05, side(clock=2e9), side(clock=2.1e9)), {}, True, "clock", "2.000 GHz to 2.100 GHz"),
        # The clock fell by less than the time grew: not the clock alone.
        (moved(1.10, side(clock=2e9), side(clock=1.95e9)), {}, False, "ceiling", "the clock too"),
        # Time and clock grew together: the clock is no excuse.
        (moved(1.03, side(clock=2e9), side(clock=2.06e9)), {}, True, "kernel", "the clock too"),
        (moved(1.03, side(top=110.0), side(97, top=110.0)), {}, False, "ceiling", "90.9 to 88.2 %"),
        (moved(1.03, side(clock=2e9), side(clock=2e9)), {}, False, "ceiling", "at the same clock (2.00 GHz)"),
        (moved(1.03, side(top=200.0), side(97, top=200.0), (roof(), roof())), {}, True, "kernel", "50.0 to 48.5 %"),
        (
            moved(1.03, side(top=200.0), side(97, top=194.0), (roof(), roof(194.0))),
            {},
            True,
            "roof",
            "200 B/s to 194",
        ),
        (
            moved(1.03, side(), side(), (roof(), roof())),
            {"DRAM.read": 0.03},
            True,
            "roof",
            "DRAM.read changed by +3.0 %",
        ),
        # Its ceiling became faster: no reason to be slower.
        (moved(1.03, side(), side(), (roof(), roof())), {"DRAM.read": -0.03}, True, "kernel", "the kernel moved"),
        (moved(1.03, side(), side(), (roof(), roof())), {"L2.read": 0.03}, True, "kernel", "the kernel moved"),
        # The roof fell, and the kernel fell by far more.
        (moved(1.30, side(top=200.0), side(77, top=194.0), (roof(), roof(194.0))), {}, True, "kernel", "against its"),
    ],
)
def test_what_moved(row, ceilings, user, what, words):
    cause = cause_of(row, ceilings, user)
    assert cause.moved == what
    assert words in cause.sentence
