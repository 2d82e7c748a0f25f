"""Made-up curves of time per byte against working set, from formulas of their own: nothing here imports the fitter.

A machine of k cache levels: capacities scattered log-uniformly over 16 KiB to 128 MiB, each at least a factor of
4 above the one before (never on the grid of sizes but by chance); each level slower than the one before by a factor
scattered log-uniformly over 1.5 to 4. Every access is served by the innermost level that holds its line, caches
being inclusive: the shares served are the differences of the hit rates.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

KIB, MIB = 1024, 1024**2
SIZES = np.geomspace(4 * KIB, 512 * MIB, 40)
TRANSITIONS = ("cliff", "smeared", "cyclic", "random")
SMEAR = 0.15  # capacities of a smeared cliff's slices lie evenly within this of their middle
NOISE = 0.05
LEAST_GAP, LEAST_STEP, MOST_STEP = 4.0, 1.5, 4.0


@dataclass(frozen=True)
class MadeUp:
    sizes: Array
    times: Array  # with noise
    clean: Array
    capacities: Array
    plateaus: Array


def hits(transition: str, sizes: Array, capacity: float) -> Array:
    """The share of accesses that a cache of the capacity serves, by size of the working set."""
    if transition == "cliff":
        return np.where(sizes <= capacity, 1.0, 0.0)
    if transition == "smeared":
        return np.interp(sizes, [capacity * (1 - SMEAR), capacity * (1 + SMEAR)], [1.0, 0.0])
    if transition == "random":
        return np.minimum(1.0, capacity / sizes)
    return np.array([_cyclic_hits(size / capacity) for size in sizes])


def _cyclic_hits(ratio: float) -> float:
    """The root below 1 of h = exp(-(1 - h) ratio), by bisection; 1 where there is none."""
    if ratio <= 1.0:
        return 1.0
    low, high = 0.0, 1.0 - 1e-12
    if math.exp(-(1 - high) * ratio) > high:
        return high
    # g(h) = exp(-(1 - h) r) - h is positive below the root and negative between it and 1
    for _ in range(60):
        middle = 0.5 * (low + high)
        if math.exp(-(1 - middle) * ratio) > middle:
            low = middle
        else:
            high = middle
    return low


def mixture(transitions: list[str], sizes: Array, capacities: Array, plateaus: Array) -> Array:
    """Mean time of an access: each served by the innermost level that has its line."""
    time, inner = np.zeros_like(sizes), np.zeros_like(sizes)
    for transition, capacity, plateau in zip(transitions, capacities, plateaus[:-1], strict=True):
        outer = np.maximum(inner, hits(transition, sizes, float(capacity)))
        time, inner = time + (outer - inner) * plateau, outer
    return time + (1 - inner) * plateaus[-1]


def made_up(seed: int, knees: int, transition: str, sizes: Array = SIZES, noise: float = NOISE) -> MadeUp:
    """One random machine seen at ``sizes``."""
    rng = np.random.default_rng([seed, knees, len(transition)])
    span = math.log(128 * MIB / (16 * KIB)) - (knees - 1) * math.log(LEAST_GAP)
    places = np.sort(rng.random(knees)) * span + np.arange(knees) * math.log(LEAST_GAP)
    capacities = 16 * KIB * np.exp(places)
    steps = np.exp(rng.uniform(math.log(LEAST_STEP), math.log(MOST_STEP), knees))
    plateaus = 1e-11 * np.cumprod(np.concatenate([[1.0], steps]))
    clean = mixture([transition] * knees, sizes, capacities, plateaus)
    return MadeUp(sizes, clean * np.exp(rng.normal(0, noise, len(sizes))), clean, capacities, plateaus)


WAYS, PAGE = 8, 4 * KIB
PAGED_SIZES = (2.0 ** np.arange(12, 22.1, 0.5)).astype(int) // KIB * KIB


@lru_cache
def set_misses(lines: int, laps: int = 400) -> float:
    """Share of misses in one set of WAYS ways that ``lines`` lines are swept through, in turn: played, line by line.

    The policy marks what is used; when all ways are marked it clears the other marks; it evicts an unmarked way at
    random.
    """
    if lines <= WAYS:
        return 0.0
    rng = random.Random(lines)
    held, marked, missed = list(range(WAYS)), [False] * WAYS, 0
    for lap in range(2 * laps):
        for line in range(lines):
            if line in held:
                way = held.index(line)
            else:
                way = rng.choice([free for free in range(WAYS) if not marked[free]])
                held[way] = line
                missed += lap >= laps
            marked[way] = True
            if all(marked):
                marked = [other == way for other in range(WAYS)]
    return missed / (laps * lines)


def paged(seed: int, capacity: int, streams: int = 1, noise: float = 0.03) -> MadeUp:
    """A first level of 32 KiB that ends at once, and a second of ``capacity`` on whose sets small pages lie at random.

    All sizes lie in one block of memory, so a larger set only adds pages. ``streams`` lines are read at once, each
    from its own part of the set, and wait for the slowest; 1 is a chase.
    """
    rng = np.random.default_rng([seed, capacity, streams])
    colour = rng.integers(capacity // (WAYS * PAGE), size=4 * MIB // PAGE)
    plateaus = np.array([1.0, 3.0, 3.0 * rng.uniform(1.6, 4.0)])
    sizes = np.unique(np.concatenate([PAGED_SIZES, np.geomspace(0.4 * capacity, 2 * capacity, 9) // KIB * KIB]))
    clean = np.full(len(sizes), plateaus[0])
    for row, size in enumerate(sizes):
        if size > 32 * KIB:
            pages = colour[: max(streams, round(size / PAGE))]
            hit = np.array([1.0 - set_misses(int(load)) for load in np.bincount(pages)])
            part = len(pages) // streams
            missed = 1.0 - np.prod(hit[pages[: part * streams].reshape(streams, part)], axis=0).mean()
            clean[row] = plateaus[1] + (plateaus[2] - plateaus[1]) * missed
    return MadeUp(
        sizes, clean * np.exp(rng.normal(0, noise, len(sizes))), clean, np.array([32.0 * KIB, capacity]), plateaus
    )


def flat(seed: int, count: int = len(SIZES), noise: float = NOISE) -> Array:
    """Times of a machine without any knee."""
    return np.asarray(1e-11 * np.exp(np.random.default_rng(seed).normal(0, noise, count)))
