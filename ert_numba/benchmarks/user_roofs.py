"""Where a user's own kernel stands under the roofs of a machine model: its work checked, its roof found. Pure."""

from __future__ import annotations

import math

import msgspec

from ert_numba.catalog.memory_levels import MEMORY_LEVELS
from ert_numba.catalog.precisions import PRECISIONS
from ert_numba.errors import ErtError, NotComparable
from ert_numba.machine import Ceiling, MachineModel, attainable
from ert_numba.records import DeviceInfo, Work
from ert_numba.starts import RoofHit

_UNLIKE = ("model", "instruction set")  # of a device's properties: a name alone tells no model of a virtual CPU
SUSTAINED, SPARSE = "sustained", "sparse"
CAUSES = (
    "no kernel can: more work is declared than the callable does, or its data stay in a nearer level, or it returns "
    "before its work is done (see stream= and on=), or the machine was measured in a worse moment"
)


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """What one call of a kernel does, as its author says. Made by :func:`declared`."""

    flop: float
    bytes: float
    precision: str | None
    level: str
    access: str | None
    scope: str

    @property
    def unit(self) -> str:
        if not self.flop:
            return "B/s"
        key = (self.precision or "").split(".", maxsplit=1)[0]
        return next((f"{row.operation}/s" for row in PRECISIONS if row.key == key), "FLOP/s")

    @property
    def work(self) -> Work:
        return Work(flop=self.flop, bytes_counted=self.bytes, bytes_moved=self.bytes)


READS_ALONE = (
    "above the roof of reads alone, beside which a kernel's writes may go for nothing: the model has no ceiling with "
    "writes at this level and scope"
)


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A roof, and ``utmost``: where it stands at the upper ends of its ceilings' intervals.

    ``reads_alone``: its bandwidth is that of reads, for want of a ceiling with writes (a sweep measures none for one
    core of a CPU), so a kernel that writes may pass it. One that updates in place on a Zen 4 core does, by 40 %.
    """

    roof: RoofHit
    utmost: float
    reads_alone: bool


def declared(
    kind: str, flop: float, bytes: float, precision: str | None, level: str, access: str | None, scope: str
) -> Declared:
    """The declaration, if it can be one on this kind of device ("cpu" or "gpu"). Raises ErtError."""
    for name, amount in (("flop", flop), ("bytes", bytes)):
        if not (isinstance(amount, int | float) and math.isfinite(amount) and amount >= 0):
            raise ErtError(f"{name} of one call", f"{amount!r:.80}", "Count them: a number of 0 or more")
    if not flop and not bytes:
        raise ErtError("a kernel's work", "0 FLOP and 0 bytes", "Pass flop=, bytes= or both, of ONE call")
    if flop and precision is None:
        raise ErtError("the roof of a kernel with FLOP", "no precision", f"Pass precision=, one of {_precisions()}")
    if precision is not None and precision.split(".", maxsplit=1)[0] not in {row.key for row in PRECISIONS}:
        remedy = f"Choose among {_precisions()}, or a ceiling's key such as fp64.vector.fma"
        raise ErtError("a precision", f"{precision!r:.80}", remedy)
    levels = [row.key for row in MEMORY_LEVELS if row.device_kind == kind]
    if level not in levels:
        raise ErtError(f"a memory level of a {kind.upper()}", f"{level!r:.80}", f"Choose among {', '.join(levels)}")
    if scope not in ("all", "core"):
        raise ErtError("a scope", f"{scope!r:.80}", "Choose all, or core for a kernel on one core")
    return Declared(
        flop=float(flop), bytes=float(bytes), precision=precision, level=level, access=access, scope=scope
    )  # fmt: skip


def _precisions() -> str:
    return ", ".join(row.key for row in PRECISIONS)


def require_same_device(model: MachineModel, device: DeviceInfo) -> None:
    """Raises NotComparable where a machine model is of another device than the one that the kernel ran on."""
    there = model.device
    pairs = [
        ("device", there.name, device.name),
        ("number of cores or SMs", there.units, device.units),
        *((name, there.properties.get(name), device.properties.get(name)) for name in _UNLIKE),
    ]
    for what, old, new in pairs:
        if old != new:
            found = f"its {what} is {old!r}, here it is {new!r}"
            raise NotComparable(f"the roofs of run {model.run}", found, "Measure this one: python -m ert_numba sweep")


def place(what: Declared, model: MachineModel) -> Placed:
    """The roof of a kernel: of its FLOP, of its bytes, or the lower one at its intensity. Raises ErtError where the
    model has none. Of several ceilings of a level or a precision the highest is the roof, so no share is flattered."""
    memory = _bandwidth(what, model) if what.bytes else None
    peak = _compute(what, model) if what.flop else None

    def roof(value: str) -> float:
        bandwidth = getattr(memory, value) if memory else math.inf
        top = getattr(peak, value) if peak else math.inf
        if not what.flop:
            return float(bandwidth)
        return attainable(what.flop / what.bytes, top, bandwidth) if what.bytes else float(top)

    hit = RoofHit(
        attainable=roof("value"),
        bandwidth_key=memory.key if memory else None,
        compute_key=peak.key if peak else None,
        model=model.run,
    )
    binding = memory is not None and (peak is None or hit.attainable < peak.value)
    return Placed(
        roof=hit, utmost=roof("high"), reads_alone=binding and what.access is None and _reads_alone(what, model)
    )


def _reads_alone(what: Declared, model: MachineModel) -> bool:
    rows = model.roofs("bandwidth", what.scope)
    return all(row.access == "read" for row in rows if row.level == what.level)


def _bandwidth(what: Declared, model: MachineModel) -> Ceiling:
    rows = [row for row in model.roofs("bandwidth", what.scope) if row.level == what.level]
    if what.access is not None:
        rows = [row for row in rows if row.access == what.access]
    wanted = f"{what.level}.{what.access or 'read'}" + ("@core" if what.scope == "core" else "")
    return _highest(rows, wanted, model)


def _compute(what: Declared, model: MachineModel) -> Ceiling:
    rows = [
        row
        for row in model.roofs("compute", what.scope)
        if what.precision in (row.key, row.key.split("@")[0])
        or (row.precision == what.precision and not row.sparse and row.variant != SUSTAINED)
    ]
    return _highest(rows, f"{what.precision} in scope {what.scope}", model)


def _highest(rows: list[Ceiling], wanted: str, model: MachineModel) -> Ceiling:
    if not rows:
        raise ErtError(f"the roof {wanted}", f"run {model.run} has none", "See `python -m ert_numba show` for its keys")
    return rows[0]  # the highest comes first
