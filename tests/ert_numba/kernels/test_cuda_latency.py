"""The chain of a pointer chase: one cycle through every line."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ert_numba.kernels.cuda_latency import _SHARED_STRIDE, _SHARED_WORDS, LINE, chain


@given(st.integers(2, 300), st.integers(0, 2**32 - 1))
def test_the_chain_visits_every_line_once_before_it_returns(lines: int, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(lines)
    base = 1 << 40
    table = chain(order, base)
    address = base + LINE * int(order[0])
    seen = []
    for _ in range(lines):
        seen.append((address - base) // LINE)
        assert (address - base) % LINE == 0
        address = int(table[seen[-1], 0])
    assert sorted(seen) == list(range(lines))
    assert seen == order.tolist()
    assert address == base + LINE * int(order[0])


def test_the_chain_in_shared_memory_visits_every_word() -> None:
    assert np.gcd(_SHARED_STRIDE, _SHARED_WORDS) == 1
