"""The chain of a pointer chase: one cycle through every word; that of the lines is laid in the simulator's tests."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from ert_numba.kernels.cuda_latency import _SHARED_STRIDE, _SHARED_WORDS


def test_the_chain_in_shared_memory_visits_every_word() -> None:
    assert np.gcd(_SHARED_STRIDE, _SHARED_WORDS) == 1
