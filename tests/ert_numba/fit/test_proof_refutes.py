"""A kernel of known intensity above its roof: the roof is what is wrong, and the model must say so."""

from __future__ import annotations

import pytest

from ert_numba.fit.proof import refuted
from ert_numba.machine import Ceiling, ProofPoint

ROOFS = {
    "L1.update": Ceiling(key="L1.update", kind="bandwidth", value=100e9, low=99e9, high=105e9, unit="B/s"),
    "fp64.vector.fma": Ceiling(key="fp64.vector.fma", kind="compute", value=50e9, low=49e9, high=52e9, unit="FLOP/s"),
}


def point(intensity: float, low: float) -> ProofPoint:
    return ProofPoint(
        precision="fp64", level="L1", intensity=intensity, value=1.01 * low, low=low, high=1.02 * low,
        attainable=min(50e9, intensity * 100e9), bandwidth_key="L1.update", compute_key="fp64.vector.fma",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("points", "named"),
    [
        ([point(0.1, 10.4e9), point(4.0, 51e9)], []),  # within the roofs' own intervals
        ([point(0.1, 13e9)], ["L1.update stands too low: 1 kernel of"]),
        ([point(0.1, 13e9), point(0.2, 26e9)], ["L1.update stands too low: 2 kernels of"]),
        ([point(4.0, 60e9)], ["fp64.vector.fma stands too low: 1 kernel of"]),
    ],
)
def test_only_a_roof_that_was_passed_is_named(points, named):
    notes = refuted(points, ROOFS)
    assert len(notes) == len(named)
    assert all(note.startswith(start) for note, start in zip(notes, named, strict=True))
