"""Made-up curves of time per byte against working set, from formulas of their own: nothing here imports the fitter.

A machine of k cache levels: capacities scattered log-uniformly over 16 KiB to 128 MiB, each at least a factor of
4 above the one before (never on the grid of sizes but by chance); each level slower than the one before by a factor
scattered log-uniformly over 1.5 to 4. Every access is served by the innermost level that holds its line, caches
being inclusive: the shares served are the differences of the hit rates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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


def flat(seed: int, count: int = len(SIZES), noise: float = NOISE) -> Array:
    """Times of a machine without any knee."""
    return np.asarray(1e-11 * np.exp(np.random.default_rng(seed).normal(0, noise, count)))
