"""What stood beside the samples of a GPU and may have cost them something: other processes, a clock held back. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ert_numba.machine import Ceiling

MOST_NAMES = 4
POWER_CAP = "power cap"  # alone it is how a GPU meets heavy work: the clock beside each ceiling says what it cost


def surroundings(ceilings: Iterable[Ceiling]) -> Iterator[str]:
    """A note for each such condition, with the ceilings that it stood beside."""
    others: list[str] = []
    reasons: dict[str, list[str]] = {}
    for row in ceilings:
        if row.conditions.get("other_processes"):
            others.append(row.key)
        reason = str(row.conditions.get("throttle", ""))
        if reason not in ("", POWER_CAP):
            reasons.setdefault(reason, []).append(row.key)
    if others:
        yield f"another process held this GPU beside {_named(others)}: the figures may be lower for it"
    for reason, keys in reasons.items():
        yield f"the driver held the clock back ({reason}) beside {_named(keys)}"


def _named(keys: list[str]) -> str:
    shown = ", ".join(keys[:MOST_NAMES])
    return shown if len(keys) <= MOST_NAMES else f"{shown} and {len(keys) - MOST_NAMES} more ceilings"
