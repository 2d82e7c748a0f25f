"""Ceilings in words and figures, the same on charts, tooltips and pages."""

from __future__ import annotations

from ert_numba.catalog.memory_levels import level_order
from ert_numba.catalog.precisions import PRECISIONS
from ert_numba.charts import theme
from ert_numba.machine import Ceiling, MachineModel
from ert_numba.units import si

_PRECISIONS = tuple(row.key for row in PRECISIONS)
_SCOPES = {"core": "one core", "socket": "one socket", "neighbours": "beside other GPUs at work"}


def ceiling_words(row: Ceiling, device_kind: str) -> str:
    """A ceiling as a person says it: ``FP16 tensor, wgmma, 2:4 sparse``; ``L2 read, shared``; ``L1 latency``."""
    if row.kind == "compute":
        words = [f"{theme.precision_label(row.precision or row.key)} {theme.path_label(row.path or '')}".strip()]
        words += ["2:4 sparse"] if row.sparse else []
    elif row.level:
        what = "latency" if row.kind == "latency" else theme.access_row(row.access).label if row.access else ""
        words = [f"{theme.level_label(device_kind, row.level)} {what}".strip(), theme.one_line(row.variant or "", 24)]
    else:
        words = [theme.one_line(row.key.split("@")[0].replace(".", " ").replace("_", " "))]
    return ", ".join(word for word in [*words, _SCOPES.get(row.scope, "")] if word)


def reading_order(row: Ceiling, device_kind: str) -> tuple[bool, str, int, int, str, float]:
    """How ceilings are listed: whole machine first, formats as catalogued, levels outwards, best first in each."""
    precision = _PRECISIONS.index(row.precision) if row.precision in _PRECISIONS else len(_PRECISIONS)
    unit = (row.path or "").split(".", maxsplit=1)[0]
    best = -row.value if row.kind in ("compute", "bandwidth") else row.value
    return row.scope != "all", row.scope, precision, level_order(device_kind, row.level or ""), unit, best


def interval(low: float, high: float, unit: str) -> str:
    """Both ends in one unit where that is legible, with as many digits as tell them apart: ``944 to 952 GOP/s``.

    Ends that are one, as of an import, are no interval.
    """
    if low == high:
        return "none stated"
    ends = si(low, unit), si(high, unit)
    for digits in (4, 5, 6):
        if ends[0] != ends[1]:
            break
        ends = si(low, unit, digits), si(high, unit, digits)
    (number, first), (_, second) = (end.split(" ", maxsplit=1) for end in ends)
    return f"{number if first == second else ends[0]} to {ends[1]}"


def origin(model: MachineModel) -> str:
    """``measured`` where anything in the model was; ``imported`` where all of it was read from elsewhere."""
    return "measured" if not model.ceilings or any(row.verified for row in model.ceilings) else "imported"


def clock(row: Ceiling) -> str | None:
    """The clock beside the samples, one figure where both ends read alike; None where it was not measured."""
    if row.clock_hz is None:
        return None
    low, high = row.clock_hz
    return si(low, "Hz") if si(low, "Hz") == si(high, "Hz") else interval(low, high, "Hz")


def when(model: MachineModel) -> str:
    """``2026-11-30 08:12:10 UTC``."""
    return model.provenance.created.replace("T", " ").replace("Z", " UTC")
