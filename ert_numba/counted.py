"""Declared work against work that the hardware counted: the verdict on a machine model's kernels, a document.

Who counts is not this package's business: it keeps the verdict and shows it beside the ceilings that it is about.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from ert_numba.records import AxisValue, Provenance, Skipped

HIT_SHARE = "L1 hit share"


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One amount, declared and counted. ``counter`` names what counted it; ``counted`` is None where it has no value.

    ``error`` is counted over declared less 1; of a hit share, which must be 0, the share itself.
    """

    ceiling: str
    kernel: str
    what: str  # "FLOP", "OP", "B", "L1 hit share"
    counter: str
    declared: float
    counted: float | None
    error: float | None
    tolerance: float
    passed: bool
    note: str = ""


class Verdict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether the kernels of a machine model do the work that they declare. ``skipped``: no counter, and why."""

    schema: str = "appprof.verdict"
    version: int = 1
    run: str  # that of the machine model
    device: str
    architecture: str
    tool: str  # "Nsight Compute 2025.3.1.0"
    settings: dict[str, AxisValue] = {}
    checks: tuple[Check, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    provenance: Provenance

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(row for row in self.checks if not row.passed)


def faults_of_verdict(verdict: Verdict) -> Iterator[str]:
    """One sentence for each broken rule, naming its field."""
    if not verdict.checks:
        yield "checks is empty: nothing was compared, so there is no verdict"
    for index, row in enumerate(verdict.checks):
        where = f"checks[{index}] ({row.ceiling})"
        if not 0 <= row.declared < math.inf:
            yield f"{where}: declared is {row.declared!r}, where 0 or a positive number must stand"
        if row.passed != (row.error is not None and abs(row.error) <= row.tolerance):
            yield f"{where}: passed is {row.passed}, with an error of {row.error!r} where {row.tolerance!r} may be"
