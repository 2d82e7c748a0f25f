"""The counts of many launches at once, a column a quantity, by the plans that ``resolve.apply`` takes for one. Pure.

Launches of one plan and one rounding are counted in a pass over arrays, with the arithmetic of one launch to the bit.
A column has a place for each launch, and 0 where the launch has no such quantity; its :class:`Form` says which it has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from appprof.counts.evidence import VOLTA_ORIGIN, VOLTA_PATH, Evidence, tensor_use, volta_flop, volta_flop_of_all
from appprof.counts.plan import Plan, make_plan
from appprof.counts.record import Counts, Origin
from appprof.counts.resolve import apply
from appprof.counts.traffic import blind_l1
from appprof.metrics import Capability
from appprof.report.profile import KernelProfile

if TYPE_CHECKING:
    from appprof.metric_terms import Array

BOUNDS = ("", "exact", "lower", "upper")
EXACT = BOUNDS.index("exact")
VECTOR = "vector"
FlopKey = tuple[str, str, bool]  # precision, path, sparse
CASES = 5  # yes-or-no questions that a plan leaves open


class Form(msgspec.Struct, frozen=True):
    """What is known of a launch, whatever the numbers: launches of unlike forms must not be added up.

    ``traffic`` is (definition, bound, whether it may be drawn) in order; ``absent`` are names of what is lacking.
    """

    timed: bool
    flop_status: str
    traffic: tuple[tuple[str, str, bool], ...]
    absent: tuple[str, ...]
    clocks: frozenset[str]
    events: tuple[str, ...]


class FlopLayer:
    """The FLOP that one counter of a path gives. ``bound`` is an index of ``BOUNDS``, 0 where a launch did none."""

    __slots__ = ("bound", "fused", "rounding", "value")

    def __init__(self, launches: int) -> None:
        self.value, self.fused, self.rounding = (np.zeros(launches) for _ in range(3))
        self.bound = np.zeros(launches, np.int8)


class Columns:
    """Everything that a roofline needs of ``kernels``, in their order.

    ``form`` has each launch's index in ``forms``; ``seconds`` are 0 where no time is known. A path has several layers
    in ``flop`` where several counters of one launch count for it. ``traffic`` is bytes and their rounding by
    definition, ``facts`` a value and whether it is known (1 or 0). ``evidence`` is (quantity, origin, launches);
    ``warnings`` has the first launch of each line.
    """

    def __init__(self, kernels: Sequence[KernelProfile], facts: Collection[str] = ()) -> None:
        self.kernels, self._wanted = kernels, frozenset(facts)
        self.forms: list[Form] = []
        self.form = np.zeros(len(kernels), np.intp)
        self.seconds, self.seconds_rounding = self._zeros(), self._zeros()
        self.flop: dict[FlopKey, list[FlopLayer]] = {}
        self.traffic: dict[str, tuple[Array, Array]] = {}
        self.events: dict[str, Array] = {}
        self.clocks: dict[str, Array] = {}
        self.facts: dict[str, tuple[Array, Array]] = {}
        self.evidence: list[tuple[str, Origin, int]] = []
        self.warnings: dict[str, int] = {}
        self._plans: list[Plan] = []
        self._plan = np.zeros(len(kernels), np.intp)
        with np.errstate(all="ignore"):  # as with Python's own floats, what overflows is infinite
            for plan, rounding, at in self._batches():
                self._plan[at] = len(self._plans)
                self._plans.append(plan)
                for line in plan.warnings:
                    self.warn(line, int(at[0]))
                _Batch(self, plan, rounding, at).count()

    def one(self, launch: int) -> Counts:
        """The counts of one launch, with its reasons in words."""
        return apply(self._plans[self._plan[launch]], self.kernels[launch])

    def rank(self, launch: int, key: FlopKey) -> int:
        """The place of a path, which the launch has, among those of the launch."""
        plan = self._plans[self._plan[launch]]
        paths = [(row.precision, VECTOR, False) for row in plan.vector]
        paths += [(leaf.precision, leaf.path, leaf.sparse) for leaf in plan.tensor.leaves] or [VOLTA_PATH]
        places = [place for place, path in enumerate(paths) if path == key]
        return next(place for place, layer in zip(places, self.flop[key], strict=False) if layer.bound[launch])

    def _batches(self) -> Iterator[tuple[Plan, Mapping[str, float], Array]]:
        """Launches that are counted alike, by their places."""
        plans: dict[tuple[Capability | None, tuple[str, ...]], Plan] = {}
        batches: dict[tuple[int, int], tuple[Plan, Mapping[str, float], list[int]]] = {}
        for index, kernel in enumerate(self.kernels):
            key = (kernel.device.compute_capability, tuple(kernel.values))
            plan = plans.get(key)
            if plan is None:
                plan = plans[key] = make_plan(*key)
            rounding = plan.rounding_that_matters(kernel.rounding)
            batch = (id(plan), id(rounding) if rounding else 0)
            if batch not in batches:
                batches[batch] = (plan, rounding, [])
            batches[batch][2].append(index)
        for plan, rounding, at in batches.values():
            yield plan, rounding, np.array(at)

    def _zeros(self) -> Array:
        return np.zeros(len(self.kernels))

    def layer(self, key: FlopKey, number: int) -> FlopLayer:
        layers = self.flop.setdefault(key, [])
        while len(layers) <= number:
            layers.append(FlopLayer(len(self.kernels)))
        return layers[number]

    def column(self, columns: dict[str, Array], name: str) -> Array:
        if name not in columns:
            columns[name] = self._zeros()
        return columns[name]

    def pair(self, columns: dict[str, tuple[Array, Array]], name: str) -> tuple[Array, Array]:
        if name not in columns:
            columns[name] = self._zeros(), self._zeros()
        return columns[name]

    def wants(self, fact: str) -> bool:
        return fact in self._wanted

    def warn(self, line: str, launch: int) -> None:
        self.warnings[line] = min(launch, self.warnings.get(line, launch))

    def saw(self, what: str, origin: Origin, launches: int) -> None:
        if launches:
            self.evidence.append((what, origin, launches))


class _Batch:
    """Launches of one plan and one rounding, and their places in the columns."""

    def __init__(self, columns: Columns, plan: Plan, rounding: Mapping[str, float], at: Array) -> None:
        self.columns, self.plan, self.rounding, self.at = columns, plan, rounding, at
        self.kernels = [columns.kernels[index] for index in at.tolist()]
        names = tuple(self.kernels[0].values)
        cells = chain.from_iterable([kernel.values.values() for kernel in self.kernels])
        table = np.fromiter(cells, float, len(names) * len(at)).reshape(len(at), len(names))
        self.values: Mapping[str, Array] = dict(zip(names, np.ascontiguousarray(table.T), strict=True))
        self.seconds, self.none = np.zeros(len(at)), np.zeros(len(at), bool)

    def count(self) -> None:
        names = [kernel.kernel for kernel in self.kernels]
        timed = self._time()
        half_flop = self._vector()
        volta = None if self.plan.tensor.leaves else volta_flop_of_all(names, self.plan.chip, self.values)
        tensor = self._tensor() if volta is None else self._volta(*volta)
        blind = self._traffic()
        self._rest()
        ran, idle = tensor_use(names, self.plan.chip, self.values, half_flop)
        cases = sum(answer.astype(np.intp) << bit for bit, answer in enumerate((timed, tensor, blind, ran, idle)))
        forms = np.zeros(1 << CASES, np.intp)
        for case in np.unique(cases).tolist():
            forms[case] = self._form(*(bool(case >> bit & 1) for bit in range(CASES)), by_volta=volta is not None)
        self.columns.form[self.at] = forms[cases]

    def _time(self) -> Array:
        """Which launches have a time."""
        if self.plan.time is None:
            return self.none
        timed, self.seconds, rounding = self.plan.time.columns(self.values, self.rounding)
        self.columns.seconds[self.at], self.columns.seconds_rounding[self.at] = self.seconds, rounding
        self.columns.saw("time", self.plan.time.origin, int(timed.sum()))
        return timed

    def _vector(self) -> Array:
        """The FLOP of the ordinary pipes; those of packed halves are given back."""
        half = np.zeros(len(self.at))
        for part in self.plan.vector:
            value = part.work.total(self.values, self.seconds)
            rounding = part.work.error(self.rounding, self.values, self.seconds) if self.rounding else 0.0
            fused = part.fused.total(self.values, self.seconds)
            self._flop(
                (part.precision, "vector", False), 0, value != 0, part.bound, value, rounding, fused, part.origin
            )
            if part.precision == "fp16":
                half = value
        return half

    def _tensor(self) -> Array:
        """The operations of the tensor cores; which launches have any."""
        layers: dict[FlopKey, int] = {}
        some = self.none
        for leaf in self.plan.tensor.leaves:
            key = (leaf.precision, leaf.path, leaf.sparse)
            value, present = leaf.columns(self.values, self.seconds)
            rounding = leaf.plus.error(self.rounding, self.values, self.seconds) if self.rounding else 0.0
            self._flop(key, layers.get(key, 0), present, "exact", value, rounding, 0.0, leaf.origin)
            layers[key] = layers.get(key, 0) + 1
            some = some | present
        return some

    def _volta(self, value: Array, tells: list[bool]) -> Array:
        """Volta's tensor FLOP, of which the instructions' count and the kernel's name tell; which launches have any."""
        present: Array = value != 0
        certain = np.array(tells)
        for bound, those in (("exact", present & certain), ("lower", present & ~certain)):
            self._flop(VOLTA_PATH, 0, those, bound, value, 0.0, 0.0, VOLTA_ORIGIN)
        for index in np.flatnonzero(present & ~certain).tolist():
            kernel = self.kernels[index]
            found = volta_flop(kernel.kernel, self.plan.chip, kernel.values)
            if found is not None:
                self.columns.warn(found[1], int(self.at[index]))
        return present

    def _flop(
        self, key: FlopKey, number: int, present: Array, bound: str, value: Array, rounding: Array | float,
        fused: Array | float, origin: Origin,
    ) -> None:  # fmt: skip
        if present.any():
            layer = self.columns.layer(key, number)
            for column, amount in ((layer.value, value), (layer.rounding, rounding), (layer.fused, fused)):
                column[self.at[present]] = np.broadcast_to(amount, present.shape)[present]
            layer.bound[self.at[present]] = BOUNDS.index(bound)
            self.columns.saw(".".join(key[:2]), origin, int(present.sum()))

    def _traffic(self) -> Array:
        """The bytes by definition; of which launches L1 saw too little."""
        seen: dict[str, Array] = {}
        for part in self.plan.traffic:
            value, rounding = self.columns.pair(self.columns.traffic, part.definition)
            seen[part.definition] = part.sum.total(self.values, self.seconds)
            value[self.at] = seen[part.definition]
            rounding[self.at] = part.sum.error(self.rounding, self.values, self.seconds) if self.rounding else 0.0
            self.columns.saw(part.definition, part.origin, len(self.at))
        return blind_l1(self.values, seen, self.none) if self.plan.l1_may_be_blind else self.none

    def _rest(self) -> None:
        for part in self.plan.events:
            self.columns.column(self.columns.events, part.key)[self.at] = part.sum.total(self.values, self.seconds)
            self.columns.saw(part.key.replace("_", " "), part.origin, len(self.at))
        for unit, name in self.plan.clocks:
            self.columns.column(self.columns.clocks, unit)[self.at] = self.values[name]
        for key, name in self.plan.facts:
            if self.columns.wants(key):
                value, known = self.columns.pair(self.columns.facts, key)
                value[self.at], known[self.at] = self.values[name], 1.0

    def _form(self, timed: bool, tensor: bool, blind: bool, ran: bool, idle: bool, *, by_volta: bool) -> int:
        plan, forms = self.plan, self.columns.forms
        status, reason = plan.status(Evidence(ran=ran, idle=idle), tensor, by_volta)
        form = Form(
            timed=timed,
            flop_status=status,
            traffic=tuple((row.definition, row.bound, not (blind and row.level == "L1")) for row in plan.traffic),
            absent=tuple(row.what for row in plan.absent(not timed, status, reason)),
            clocks=frozenset(unit for unit, _ in plan.clocks),
            events=tuple(row.key for row in plan.events),
        )
        if form not in forms:
            forms.append(form)
        return forms.index(form)
