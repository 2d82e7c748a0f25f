"""Units as Nsight Compute writes them, over its versions, and the SI base unit that each stands for."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

SECONDS = re.compile(r"(|m|u|n)(?:s|sec|secs|second|seconds)")
SECOND_POWERS = {"": 0, "m": -3, "u": -6, "n": -9}
PREFIXES = {"": 0, "K": 3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
SI_NAMES = {"byte": "B", "bytes": "B", "b": "B", "hz": "Hz", "bit": "bit", "%": "%", "sm": "SM"}
# What is counted keeps its own word as its unit.
COUNTED = frozenset((
    "inst", "instruction", "instr", "cycle", "sector", "warp", "thread", "register", "block", "cluster", "pass",
    "request", "op", "tag", "bank", "node", "item", "operation", "access", "line", "wavefront", "transaction", "packet",
    "fault", "sample", "event", "launch", "query", "tile", "quad", "attribute", "vertex", "primitive", "pixel",
    "kernel", "range", "stage", "slot", "entry", "cta", "grid", "device", "flop", "conflict", "count", "branch",
    "branches",
))  # fmt: skip


class Unit(msgspec.Struct, frozen=True):
    """``power``: the power of ten from the unit as written to ``name``.

    ``scaled``: whether the tool chose the prefix to fit the value, so that the decimals are those of the prefix.
    """

    name: str
    power: int
    scaled: bool


@lru_cache(maxsize=4096)
def parse_unit(text: str) -> Unit | None:
    """``parse_unit("Gbyte/s")`` is ``Unit("B/s", 9, True)``; None for a unit that no row names."""
    stripped = text.strip()
    if not stripped:
        return Unit("", 0, False)
    over, slash, under = stripped.partition("/")
    top = _simple(over)
    bottom = _simple(under) if slash else None
    if top is None or not slash or bottom is None:
        return None if slash else top
    scaled = top.scaled or bottom.power != 0
    # Of "%/Kbyte" the value was scaled, as if the prefix stood before it: 2614 %/byte are "2.614 %/Kbyte" (2025.3.1).
    power = top.power - bottom.power if bottom.name == "s" else top.power + bottom.power
    name = "Hz" if (top.name, bottom.name) == ("cycle", "s") else f"{top.name}/{bottom.name}"
    return Unit(name, power, scaled)


def _simple(text: str) -> Unit | None:
    word = text.strip()
    second = SECONDS.fullmatch(word.lower())
    if second is not None:
        return Unit("s", SECOND_POWERS[second[1]], second[1] != "n")
    for prefix in ("", word[:1]):
        rest = word[len(prefix) :].lower()
        name = SI_NAMES.get(rest) or next((one for one in (rest, rest.removesuffix("s")) if one in COUNTED), None)
        if name is not None and prefix in PREFIXES:
            return Unit(name, PREFIXES[prefix], prefix != "")
    return None
