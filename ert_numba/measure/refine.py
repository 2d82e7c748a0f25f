"""Where more measuring pays: the rivals that may still win a ceiling, and the sizes between which a curve falls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

# A rival this far behind after one visit is out, unless it is one of the first two: noise alone explains 1.8x at worst,
# but hardly for all visits of one and none of another.
MARGIN, ALWAYS = 0.15, 2
COSTLY_MARGIN, COSTLY_ALWAYS = 0.05, 1  # where a call takes long, its bursts average out, and repeats are dear
FINEST = 2 ** (1 / 8)  # no two sizes of a curve closer than this ratio
FALL = 0.08  # change of ln(rate) between neighbours that is more than noise


def contenders(rates: Sequence[float], costly: bool = False) -> list[int]:
    """Indices of the rates that may still be the best, best first."""
    margin, always = (COSTLY_MARGIN, COSTLY_ALWAYS) if costly else (MARGIN, ALWAYS)
    order = sorted(range(len(rates)), key=lambda index: -rates[index])
    best = rates[order[0]]
    return [index for rank, index in enumerate(order) if rank < always or rates[index] >= best * (1 - margin)]


def finer_sizes(sizes: Sequence[int], rates: Sequence[float], at_most: int) -> list[int]:
    """Up to ``at_most`` new sizes in whole KiB, where the rate changes most between neighbours, and beside there.

    The neighbouring gaps are halved too: where a fall begins says as much of a capacity as where it is steepest.
    """
    order = sorted(range(len(sizes)), key=lambda index: sizes[index])
    gaps = [(sizes[a], sizes[b], abs(math.log(rates[b] / rates[a]))) for a, b in pairwise(order)]
    steep = sorted((index for index, gap in enumerate(gaps) if gap[2] > FALL), key=lambda index: -gaps[index][2])
    chosen: list[int] = []
    for index in steep:
        low, high, change = gaps[index]
        parts = 4 if change > 4 * FALL else 2
        chosen += _between(low, high, parts)
        for neighbour in (index - 1, index + 1):
            if 0 <= neighbour < len(gaps):
                chosen += _between(*gaps[neighbour][:2], 2)
        if len(set(chosen)) >= at_most:
            break
    return sorted(dict.fromkeys(size for size in chosen if size not in set(sizes)))[:at_most]


def _between(low: int, high: int, parts: int) -> list[int]:
    """Sizes that divide a gap into equal ratios, none closer than FINEST."""
    parts = min(parts, int(math.log(high / low) / math.log(FINEST) + 1e-9))
    return [int(low * (high / low) ** (step / parts)) // 1024 * 1024 for step in range(1, parts)]
