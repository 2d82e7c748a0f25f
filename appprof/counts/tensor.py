"""Operations of the tensor cores: each counted once, at the finest depth of the counters' tree that the file has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import msgspec

from appprof.counts.record import Flop, Origin
from appprof.metric_terms import Term, added, find_term, forms_of
from appprof.metrics_tensor import TENSOR_COUNTERS, Capability, TensorCounter

if TYPE_CHECKING:
    from appprof.metric_terms import Array

# A remainder below this share of its aggregate is what passes that saw different launches leave, no third instruction.
REMAINDER_SHARE = 1e-6


class Leaf(msgspec.Struct, frozen=True):
    """One amount: ``plus`` less all of ``minus``, so that what finer counters hold is not counted again."""

    precision: str
    path: str
    sparse: bool
    plus: Term
    minus: tuple[Term, ...]
    origin: Origin

    def flop(self, values: Mapping[str, float], rounding: Mapping[str, float], seconds: float) -> Flop | None:
        whole = self.plus.count(values, seconds)
        if not whole:
            return None
        value = whole - added(term.count(values, seconds) for term in self.minus)
        if value <= whole * REMAINDER_SHARE:
            return None
        error = self.plus.error(rounding, values, seconds) if rounding else 0.0
        return Flop(
            precision=self.precision,
            path=self.path,
            sparse=self.sparse,
            value=value,
            rounding=error,
            origin=self.origin,
        )

    def columns(self, values: Mapping[str, Array], seconds: Array) -> tuple[Array, Array]:
        """:meth:`flop` of many launches: values, and which launches have one."""
        whole = self.plus.count(values, seconds)
        value = whole - added(term.count(values, seconds) for term in self.minus)
        return value, (whole != 0) & ~(value <= whole * REMAINDER_SHARE)


class TensorPlan(msgspec.Struct, frozen=True):
    """``lacking``: precisions of this chip of which nothing, or not all, is counted."""

    leaves: tuple[Leaf, ...] = ()
    lacking: tuple[str, ...] = ()

    @property
    def counted(self) -> bool:
        return bool(self.leaves)

    def flop(self, values: Mapping[str, float], rounding: Mapping[str, float], seconds: float) -> list[Flop]:
        found = (leaf.flop(values, rounding, seconds) for leaf in self.leaves)
        return [flop for flop in found if flop is not None]


class _Node(msgspec.Struct, frozen=True):
    """A counter with those that lie within it."""

    name: str
    precision: str
    path: str
    sparse: bool
    children: tuple[_Node, ...]


def plan_tensor(names: Collection[str], chip: Capability | None, has_time: bool) -> TensorPlan:
    """How to count the tensor operations of a chip; of an unknown one, by the chip whose counters the file names."""
    counters = TENSOR_COUNTERS.get(chip) if chip is not None else _guess(names)
    if counters is None:
        return TensorPlan()
    leaves: list[Leaf] = []
    lacking: list[str] = []
    for root in _roots(counters):
        terms, complete = _take(root, names, has_time, leaves)
        if not terms or not complete:
            lacking.append(root.precision)
    return TensorPlan(tuple(leaves), tuple(dict.fromkeys(lacking)))


def _take(node: _Node, names: Collection[str], has_time: bool, leaves: list[Leaf]) -> tuple[list[Term], bool]:
    """Add the leaves below a node; the terms that make up its amount, and whether they make up all of it."""
    own = find_term(node.name, names, has_time)
    below: list[Term] = []
    incomplete: list[_Node] = []
    for child in node.children:
        terms, whole = _take(child, names, has_time, leaves)
        below += terms
        if not whole:
            incomplete.append(child)
    if own is None:
        return below, bool(below) and not incomplete
    # Children that hold everything leave a remainder of 0, which gives no Flop; what one lacking child leaves is its.
    rest = incomplete[0] if below and len(incomplete) == 1 else node
    origin = Origin(metrics=tuple(term.metric for term in (own, *below)), form=forms_of((own, *below)))
    leaves.append(Leaf(rest.precision, rest.path, rest.sparse, own, tuple(below), origin))
    return [own], True


def _roots(counters: tuple[TensorCounter, ...]) -> list[_Node]:
    return [_node(row, counters) for row in counters if not row.within]


def _node(row: TensorCounter, counters: tuple[TensorCounter, ...]) -> _Node:
    halves = tuple(
        _Node(row.half(sparse), row.precision, row.path, sparse, ()) for sparse in (False, True) if row.split
    )
    inside = tuple(_node(child, counters) for child in counters if child.within == row.name)
    return _Node(row.name, row.precision, row.path, False, (*inside, *halves))


def _guess(names: Collection[str]) -> tuple[TensorCounter, ...] | None:
    """The counters of the newest chip that has every tensor counter the file names."""
    present = {name.split(".", 1)[0] for name in names if name.startswith("sm__ops_path_tensor_")}
    for counters in reversed(TENSOR_COUNTERS.values()) if present else ():
        known = {name for row in counters for name in (row.name, row.half(False), row.half(True))}
        if present <= known:
            return counters
    return None
