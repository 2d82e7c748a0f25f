"""Gates on a comparison: ``time > +5%`` fails where B takes over 5 % longer than A. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from appprof.diff import Diff, ratio_change
from appprof.result import KernelRow
from ert_numba.errors import ErtError, GateFailed, NotComparable

_GATE = re.compile(
    r"\s*(?P<what>time|flop|launches|bytes\.[\w.]+)\s*(?:\[(?P<kernel>[^\]]+)\])?\s*(?P<side>[<>])\s*"
    r"(?P<percent>[+-]?[0-9]{1,6}(?:\.[0-9]{1,6})?)\s*%\s*"
)


class Gate(msgspec.Struct, frozen=True):
    """``what`` of the run, or of the kernels whose name holds ``kernel``, must not change beyond ``limit``."""

    text: str
    what: str
    kernel: str
    above: bool
    limit: float


def parse_gate(text: str) -> Gate:
    """Raises ErtError for what is no gate."""
    match = _GATE.fullmatch(text)
    if match is None:
        raise ErtError(
            "a gate",
            f"{text!r:.80}",
            "Write what is a failure, for example 'time > +5%', 'bytes.DRAM > 2%' or 'time[softmax] > +10%'",
        )
    return Gate(text.strip(), match["what"], match["kernel"] or "", match["side"] == ">", float(match["percent"]) / 100)


def check_gates(diff: Diff, gates: Iterable[Gate]) -> tuple[str, ...]:
    """One line a gate that holds. Raises NotComparable where one cannot be judged, GateFailed where one fails."""
    held: list[str] = []
    failed: list[str] = []
    for gate in gates:
        change = _change(diff, gate)
        fails = change > gate.limit if gate.above else change < gate.limit
        (failed if fails else held).append(f"{gate.text}: it is {change:+.1%}")
    if failed:
        raise GateFailed("the gates of the comparison to hold", "; ".join(failed), "See the table for what changed")
    return tuple(held)


def _change(diff: Diff, gate: Gate) -> float:
    pair = _of_kernels(diff, gate) if gate.kernel else diff.totals.get(gate.what)
    change = None if pair is None else ratio_change(*pair)
    if change is None:
        raise NotComparable(
            f"the gate {gate.text!r}",
            f"{gate.what} is not known of all kernels on both sides, or 0 in A",
            "Collect it in both profiles; `read` prints the command",
        )
    return change


def _of_kernels(diff: Diff, gate: Gate) -> tuple[float | None, float | None] | None:
    """Sums over the kernels that the gate names, on each side those that are there."""
    rows = [row for row in diff.kernels if any(
        side is not None and gate.kernel in side.kernel for side in (row.a, row.b))]  # fmt: skip
    if not rows:
        return None
    sides: list[float | None] = []
    for side in ([row.a for row in rows], [row.b for row in rows]):
        values = [_value(gate.what, row) for row in side if row is not None]
        sides.append(None if None in values else sum(value or 0.0 for value in values))
    return sides[0], sides[1]


def _value(what: str, row: KernelRow) -> float | None:
    if what.startswith("bytes."):
        return row.bytes.get(what.removeprefix("bytes."))
    return {"time": row.seconds, "flop": row.flop, "launches": float(row.launches)}[what]
