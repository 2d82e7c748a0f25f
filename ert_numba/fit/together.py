"""What neighbours cost a GPU: its ceilings beside other GPUs at work, held against those it reaches alone. Pure."""

from __future__ import annotations

import msgspec

from ert_numba.machine import Ceiling
from ert_numba.units import si

SCOPE = "neighbours"
SAME = 0.02  # of the figure alone: less than two runs of one GPU may differ


def beside_alone(ceilings: dict[str, Ceiling]) -> tuple[dict[str, Ceiling], tuple[str, ...]]:
    """The ceilings, each of scope ``neighbours`` with its share of the figure alone as note; and one note on them all.

    A share is uncertain by both intervals: it is called a cost where even its upper end is below the figure alone.
    """
    found = dict(ceilings)
    costs: list[tuple[float, str]] = []
    same: list[tuple[float, str]] = []
    gpus: object = None
    for key, row in ceilings.items():
        alone = ceilings.get(key.partition("@")[0])
        if row.scope != SCOPE or alone is None:
            continue
        share = row.value / alone.value
        found[key] = msgspec.structs.replace(row, note=f"{share:.1%} of {si(alone.value, alone.unit)} alone")
        gpus = row.conditions.get("gpus_at_work")
        costly = row.high < alone.low and share < 1 - SAME
        (costs if costly else same).append((share, alone.key))
    if not costs and not same:
        return found, ()
    cost = "; ".join(f"{key} keeps {share:.0%}" for share, key in sorted(costs))
    rest = f"{', '.join(key for _, key in same)} {'keep' if len(same) > 1 else 'keeps'} all" if same else ""
    return found, (f"with {gpus} GPUs at work: {'; '.join(filter(None, (cost, rest)))} of what this one does alone",)
