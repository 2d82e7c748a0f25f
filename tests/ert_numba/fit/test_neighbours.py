"""A neighbour who never rests: repeats agree, and the intervals must not say that this is all the machine can do."""

from __future__ import annotations

import pytest
from made_up_sweeps import CLOCK_HZ, bandwidth, compute, sweep

from ert_numba.fit.ceilings import fit_sweep
from ert_numba.machine import MachineModel

LIMIT = 2 * 16 * CLOCK_HZ  # of both cores


def fitted(share: float) -> MachineModel:
    return fit_sweep(sweep(compute("fp64.vector.fma", share * LIMIT), bandwidth("L2.read", share * 200e9)))


@pytest.mark.parametrize(("share", "noted"), [(0.5, True), (0.7, True), (0.97, False)])
def test_cores_that_someone_else_uses_too_are_noted(share, noted):
    assert any("someone else uses these cores" in note for note in fitted(share).notes) is noted


@pytest.mark.parametrize("share", [0.5, 0.7])
def test_intervals_reach_to_what_the_cores_alone_can_do(share):
    model = fitted(share)
    assert model.ceiling("fp64.vector.fma").high == pytest.approx(LIMIT, rel=0.02)
    assert model.ceiling("L2.read").high >= 0.98 * 200e9
    assert all(row.noisy for row in model.ceilings)


def test_undisturbed_intervals_stay_as_the_repeats_make_them():
    assert all(row.high < 1.1 * row.value for row in fitted(0.97).ceilings)
