"""Numbers that no counter can show: those of a damaged file must not become infinite rates further on."""

from __future__ import annotations

import math

from appprof import metrics

# An exascale machine does 1e21 operations in a quarter of an hour; the smallest real numbers are events per cycle.
HIGHEST, LOWEST = 1e21, 1e-21


def doubt(metric: str, value: float) -> str:
    """Why the number is none of this metric; empty where it may be."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf"
    if abs(value) > HIGHEST or 0.0 < abs(value) < LOWEST:
        return f"{value:g}, which no counter can show"
    return f"{value:g}, and it cannot be negative" if value < 0.0 and metrics.is_used(metric) else ""
