"""Ceilings in words and figures, the same on charts, tooltips and pages."""

from __future__ import annotations

from ert_numba.charts import theme
from ert_numba.machine import Ceiling
from ert_numba.units import si

_SCOPES = {"core": "one core", "socket": "one socket"}


def ceiling_words(row: Ceiling, device_kind: str) -> str:
    """A ceiling as a person says it: ``FP16 tensor, wgmma, 2:4 sparse``; ``L2 read, shared``; ``L1 latency``."""
    if row.kind == "compute":
        words = [f"{theme.precision_label(row.precision or row.key)} {theme.path_label(row.path or '')}".strip()]
        words += ["2:4 sparse"] if row.sparse else []
    elif row.level:
        what = "latency" if row.kind == "latency" else theme.access_row(row.access).label if row.access else ""
        words = [f"{theme.level_label(device_kind, row.level)} {what}".strip(), row.variant or ""]
    else:
        words = [row.key.split("@")[0].replace(".", " ").replace("_", " ")]
    return ", ".join(word for word in [*words, _SCOPES.get(row.scope, "")] if word)


def interval(low: float, high: float, unit: str) -> str:
    return f"{si(low, unit)} to {si(high, unit)}"


def clock(row: Ceiling) -> str | None:
    """The clock beside the samples, one figure where both ends read alike; None where it was not measured."""
    if row.clock_hz is None:
        return None
    low, high = (si(hertz, "Hz") for hertz in row.clock_hz)
    return low if low == high else f"{low} to {high}"
