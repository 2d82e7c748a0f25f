"""How hits fail once a working set outgrows a cache: the transition shapes, one row each.

Every shape gives the share of accesses that miss, at a working set of ``ratio`` times the capacity.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.special import lambertw, ndtr

Array = NDArray[np.float64]

GRADUAL_WIDTH = 0.21
NO_HITS_PAST = 40.0  # a cyclic sweep of so many capacities hits less than 1e-17 of the time


def miss_random(ratio: Array) -> Array:
    """Random order of access, or a policy that keeps a fixed part of a cyclic set: hits are C/S."""
    return 1.0 - 1.0 / np.maximum(ratio, 1.0)


def miss_cyclic(ratio: Array) -> Array:
    """Cyclic sweep under random replacement: h = exp(-(1 - h) S/C), the root below 1, by Lambert's W."""
    missed = (ratio > 1.0).astype(float)
    partly = (ratio > 1.0) & (ratio < NO_HITS_PAST)
    past = ratio[partly]
    missed[partly] = 1.0 + np.real(lambertw(-past * np.exp(-past), k=0)) / past
    return missed


def miss_cliff(ratio: Array) -> Array:
    """Cyclic sweep under LRU: everything hits up to the capacity, nothing past it."""
    return (ratio > 1.0).astype(float)


def _smeared(width: float) -> Callable[[Array], Array]:
    def miss(ratio: Array) -> Array:
        return np.asarray(ndtr(np.log(np.maximum(ratio, 1e-300)) / width), dtype=float)

    return miss


def miss_gradual(ratio: Array) -> Array:
    """Sets that overflow one after the other under a policy near LRU, which still keeps some of what overflows.

    Nothing misses up to the capacity, then a half-normal in log(S/C), as read in L1 caches of eight ways (33 % at 1.09
    capacities, 69 % at 1.25, 91 % at 1.41, 94 % at 1.66, 99 % at 2). True LRU would make it a cliff.
    """
    past = np.log(np.maximum(ratio, 1.0)) / GRADUAL_WIDTH
    return np.asarray(2.0 * ndtr(past) - 1.0, dtype=float)


class Shape(msgspec.Struct, frozen=True):
    """``name`` as a knee reports it; ``onset`` and ``midpoint``: S/C where 5 % and half of the accesses miss.

    ``sharp``: between two neighbouring sizes every capacity explains the data equally well. ``price``: what the
    criterion asks more for a shape that no mechanism predicts: it only stands where those with a mechanism fail.
    ``sizes_inside``: how many sizes between 5 % and 95 % of misses the shape needs to be told from its likes.
    ``least_bytes``, ``most_bytes``: the capacities to which its mechanism applies. ``luck``: one standard deviation of
    the log capacity from one run to the next that no repeat within a run shows.
    """

    name: str
    miss: Callable[[Array], Array]
    onset: float
    midpoint: float
    sharp: bool = False
    price: float = 0.0
    sizes_inside: int = 0
    least_bytes: float = 0.0
    most_bytes: float = math.inf
    luck: float = 0.0


# For any machine. A cliff is smeared by slices of unequal load, log-normal about the median; what the pages of a CPU do
# is in page_placement.
SHAPES: tuple[Shape, ...] = (
    Shape("cliff", miss_cliff, 1.0, 1.0, sharp=True),
    Shape("cyclic", miss_cyclic, 1.026, 1.386),
    Shape("random", miss_random, 1.053, 2.0),
    Shape("gradual", miss_gradual, 1.013, 1.152, price=4.0, sizes_inside=3),
    Shape("smeared", _smeared(0.10), 0.848, 1.0),
)
BY_NAME = {row.name: row for row in SHAPES}
