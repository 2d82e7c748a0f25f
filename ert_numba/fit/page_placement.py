"""Knees of a CPU's caches, whose sets are picked by physical address: where a level ends, pages fall on sets at random.

A first level picks its sets by the bits within a page, so its sets fill evenly. Further out a system that maps pages of
4 KiB (or a virtual machine whose host does) gives every set a number of lines that scatters about the mean, as throwing
pages into bins does: a cache of 8 ways holds sets of 4 and of 12 lines when its mean is 8. Some overflow at half of the
capacity, some hold at twice of it, and what a set loses depends on its own load alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import msgspec
import numpy as np
from scipy.special import gammaln

from ert_numba.fit.shapes import BY_NAME, Array, Shape

Miss = Callable[[Array], Array]
FIRST_LEVEL = 160 * 1024  # bytes: the largest first levels hold 128 KiB, the smallest second ones are read at 180 KiB
SECOND_LEVEL = 4 * 1024 * 1024  # bytes: second levels of one core hold 3 MiB at most
COMMON_WAYS, MANY_WAYS = 8, 16  # third levels have 11 to 20
MANY_WAYS_PRICE = 4.0  # two steep knees may follow a wave of noise better than one
LUCK = 0.07  # a second level has 16 or 32 kinds of page only: where those of one run fell moves its knee by as much
NOTHING_FITS = 5.0  # no set of 8 ways is left with its lines at five capacities (2e-10)


def miss_marking(ratio: Array) -> Array:
    """Cyclic sweep of one set whose policy evicts at random among the lines not used lately: x (1 - ln x), x = S/C - 1.

    The marking algorithm (Fiat et al., Journal of Algorithms 12, 1991): in every phase of as many lines as there are
    ways, x of them are new, and the others were evicted with a chance of x times the harmonic sum that became -ln x.
    """
    over = np.clip(ratio - 1.0, 1e-300, 1.0)
    return np.asarray(over * (1.0 - np.log(over)), dtype=float)


def scattered(ways: int, miss: Miss) -> Miss:
    """``miss`` of each set, over sets that hold a Poisson-distributed number of lines; each line counts once."""
    lines = np.arange(1, 16 * ways)
    own = lines * miss(lines / ways)
    grid = np.linspace(0.0, NOTHING_FITS, 1001)
    mean = ways * grid[1:, None]
    chance = np.exp(lines * np.log(mean) - mean - gammaln(lines + 1.0))
    misses = np.concatenate([[0.0], (chance @ own) / mean[:, 0]])
    return lambda ratio: np.interp(ratio, grid, misses, right=1.0)


def slowest_of(streams: int, miss: Miss) -> Miss:
    """A step loads one line of each stream, and waits for the slowest: it is fast where all of them hit.

    Cores retire in order, so a miss between hits is not hidden as it is among other misses, which a prefetcher fetches.
    """
    return lambda ratio: 1.0 - (1.0 - miss(ratio)) ** streams


def _row(streams: int, ways: int, reach: tuple[float, float], price: float = 0.0, luck: float = 0.0) -> Shape:
    miss = slowest_of(streams, scattered(ways, miss_marking))
    ratio = np.linspace(0.0, NOTHING_FITS, 5001)
    onset, midpoint = (float(np.interp(share, miss(ratio), ratio)) for share in (0.05, 0.5))
    least, most = reach
    return Shape("scattered", miss, onset, midpoint, price=price, least_bytes=least, most_bytes=most, luck=luck)


@lru_cache
def scattered_shapes(streams: int) -> tuple[Shape, ...]:
    """The rows where pages are small, for sweeps of ``streams`` streams side by side; 1 is a chase.

    No row for a random order, nor for sets that fill evenly further out. A chase's lap through a third level is long
    enough for strangers to evict lines, and those of older sweeps, random over all pages, waited for translations past
    what a first-level TLB maps (64 to 96 pages): both draw a fall out as fewer ways would, so it has no row of many.
    """
    rows = (
        BY_NAME["cliff"],
        msgspec.structs.replace(BY_NAME["gradual"], price=0.0, sizes_inside=2, most_bytes=FIRST_LEVEL),
        msgspec.structs.replace(BY_NAME["smeared"], least_bytes=FIRST_LEVEL),
    )
    if streams == 1:
        return (*rows, _row(1, COMMON_WAYS, (FIRST_LEVEL, math.inf), luck=LUCK))
    second, third = (FIRST_LEVEL, SECOND_LEVEL), (SECOND_LEVEL, math.inf)
    return (
        *rows,
        _row(streams, COMMON_WAYS, second, luck=LUCK),
        _row(streams, MANY_WAYS, second, MANY_WAYS_PRICE, LUCK),
        _row(streams, MANY_WAYS, third),
    )
