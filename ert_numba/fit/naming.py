"""Which memory level a knee ends: by capacity against the known caches, and by order."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from ert_numba.catalog.memory_levels import BY_KEY, MEMORY_LEVELS, MemoryLevel, level_order
from ert_numba.records import Cache, DeviceInfo

STRANGER = 1.4  # cost of a knee that no cache explains, in log size: past a factor of 4 it is another thing
NEIGHBOURS = 0.4  # weight of a shortfall where neighbours may hold the rest of a shared cache
AGREEMENT = 0.15
NEAR = "L2 near"  # of a GPU: the half of L2 on the SM's side of the chip; a line in the other half takes longer
HALF = (0.35, 0.65)  # shares of L2 within which a knee is called the end of a half


class LevelName(msgspec.Struct, frozen=True, kw_only=True):
    """The level that ends at a knee. ``sharers``: how many workers fill one instance of its cache together."""

    level: str
    sharers: int = 1
    nominal_bytes: int | None = None
    guess: bool = False


def sharers(device: DeviceInfo, level: str, workers: int) -> int:
    """Workers in one instance of a level's cache, one worker a core or SM."""
    cache = next((row for row in device.caches if row.level == level), None)
    if cache is not None:
        return max(1, min(workers, cache.shared_by))
    row = BY_KEY.get((device.kind, level))
    return 1 if row is None or row.scope in ("core", "SM") else workers


def name_knees(capacities: Sequence[float], device: DeviceInfo, workers: int, one_sm: bool = False) -> list[LevelName]:
    """A name for each of the rising ``capacities`` (bytes a worker; ``workers`` is 1 where all share their lines).

    ``one_sm``: a single SM of a GPU saw them, so a knee at half of L2 is the end of its near half, never that of L2.
    """
    caches = sorted(device.caches, key=lambda row: level_order(device.kind, row.level))
    if not caches:
        inner = [row.key for row in _inner_levels(device.kind)]
        names = [inner[rank] if rank < len(inner) else f"L{rank + 1}" for rank in range(len(capacities))]
        return [LevelName(level=name, sharers=sharers(device, name, workers), guess=True) for name in names]
    rows = [(row, max(1, min(workers, row.shared_by))) for row in caches]
    match = _assign(capacities, rows)
    return [
        LevelName(level=rows[at][0].level, sharers=rows[at][1], nominal_bytes=rows[at][0].bytes)
        if at is not None and not (one_sm and rows[at][0].level == "L2" and is_half(capacity, rows[at][0].bytes))
        else _stranger(capacity, device)
        for capacity, at in zip(capacities, match, strict=True)
    ]


def _stranger(capacity: float, device: DeviceInfo) -> LevelName:
    """A knee that ends no cache: half of a GPU's L2, or unknown."""
    l2 = next((row.bytes for row in device.caches if row.level == "L2"), 0)
    if device.kind == "gpu" and is_half(capacity, l2):
        return LevelName(level=NEAR, nominal_bytes=l2 // 2)
    return LevelName(level="unknown", guess=True)


def is_half(capacity: float, whole: float) -> bool:
    return HALF[0] * whole <= capacity <= HALF[1] * whole


def _inner_levels(kind: str) -> list[MemoryLevel]:
    rows = [row for row in MEMORY_LEVELS if row.device_kind == kind and row.key.startswith("L")]
    return sorted(rows, key=lambda row: row.order)


def _assign(capacities: Sequence[float], rows: list[tuple[Cache, int]]) -> list[int | None]:
    """The cheapest match that keeps the order of both: dynamic programming over (knees named, caches used)."""
    best: dict[int, tuple[float, list[int | None]]] = {0: (0.0, [])}
    for capacity in capacities:
        following: dict[int, tuple[float, list[int | None]]] = {}
        for used, (cost, names) in best.items():
            choices: list[tuple[int, float, int | None]] = [(used, STRANGER, None)]
            choices += [(at + 1, _distance(capacity, *rows[at]), at) for at in range(used, len(rows))]
            for state, extra, at in choices:
                if state not in following or cost + extra < following[state][0]:
                    following[state] = (cost + extra, [*names, at])
        best = following
    return min(best.values(), key=lambda item: item[0])[1]


def _distance(capacity: float, cache: Cache, users: int) -> float:
    ratio = math.log(capacity * users / cache.bytes)
    return -NEIGHBOURS * ratio if ratio < 0 and cache.shared_by > 1 else abs(ratio)


def agrees(nominal: float, value: float, low: float, high: float) -> bool:
    """Within 15 % of what is claimed, or an interval that covers it."""
    return abs(value / nominal - 1) <= AGREEMENT or low <= nominal <= high
