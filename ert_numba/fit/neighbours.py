"""What others leave of a shared machine: seen where work in registers alone stays far below its limit. Pure."""

from __future__ import annotations

import msgspec

from ert_numba.machine import Ceiling

UNDISTURBED = 0.9  # share of the FMA limit that cores of one's own exceed
WITNESS = "fp64.vector.fma"


def with_neighbours(ceilings: dict[str, Ceiling]) -> tuple[dict[str, Ceiling], tuple[str, ...]]:
    """The ceilings, and a note for each scope whose cores someone else was using all the while.

    Nothing but the arithmetic units takes part in the witness, so what it lacks was taken from every other figure of
    the scope too, by as much or less. The interval then reaches to what the cores alone might do: repeats that agree
    with each other say nothing of a neighbour who never rests.
    """
    rows = dict(ceilings)
    notes = []
    for scope in dict.fromkeys(row.scope for row in ceilings.values()):
        witness = next(
            (row for row in ceilings.values() if row.key.split("@")[0] == WITNESS and row.scope == scope), None
        )
        share = witness.share_of_limit if witness is not None else None
        if witness is None or share is None or share >= UNDISTURBED:
            continue
        notes.append(
            f"{witness.key} reaches {100 * share:.0f} % of its limit with all its work in registers: someone else uses "
            "these cores too, every figure is what they left, and the intervals reach to what they may have taken"
        )
        rows |= {key: _widened(row, share) for key, row in rows.items() if row.scope == scope}
    return rows, tuple(notes)


def _widened(row: Ceiling, share: float) -> Ceiling:
    if row.kind in ("latency", "overhead"):
        return msgspec.structs.replace(row, low=min(row.low, row.value * share), noisy=True)
    utmost = row.value / share if row.limit is None else min(row.value / share, max(row.limit, row.high))
    return msgspec.structs.replace(row, high=max(row.high, utmost), noisy=True)
