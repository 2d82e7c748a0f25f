"""Every transition shape: physical bounds, and the hit rates that the literature's formulas give."""

from __future__ import annotations

import numpy as np
import pytest
from made_up_curves import hits

from ert_numba.fit.page_placement import scattered_shapes
from ert_numba.fit.shapes import SHAPES, miss_cyclic, miss_random

RATIOS = np.geomspace(0.01, 1000, 400)
ROWS = (*SHAPES, *scattered_shapes(1), *scattered_shapes(4))


@pytest.mark.parametrize("shape", ROWS, ids=lambda row: row.name)
def test_misses_rise_from_none_to_all(shape):
    miss = shape.miss(RATIOS)
    assert np.all(np.diff(miss) >= -1e-12)
    assert miss[0] < 1e-6
    assert miss[-1] > 0.99
    assert np.all((miss >= 0) & (miss <= 1))


@pytest.mark.parametrize("shape", [row for row in ROWS if not row.sharp], ids=lambda row: row.name)
def test_onset_and_midpoint_are_where_a_twentieth_and_half_of_the_accesses_miss(shape):
    assert shape.miss(np.array([shape.onset, shape.midpoint])) == pytest.approx([0.05, 0.5], abs=0.003)


@pytest.mark.parametrize(("ratio", "hit"), [(1.1, 0.82), (1.32, 0.56), (1.5, 0.42), (2.0, 0.20)])
def test_cyclic_sweep_under_random_replacement(ratio, hit):
    assert 1 - miss_cyclic(np.array([ratio]))[0] == pytest.approx(hit, abs=0.006)


def test_the_two_derivations_of_cyclic_hits_agree():
    assert 1 - miss_cyclic(RATIOS) == pytest.approx(hits("cyclic", RATIOS, 1.0), abs=1e-6)


def test_random_order_hits_as_the_part_that_fits():
    assert 1 - miss_random(np.array([0.5, 1.0, 2.0, 10.0])) == pytest.approx([1, 1, 0.5, 0.1])
