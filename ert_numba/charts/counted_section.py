"""The part of a machine's page on counted work: do its kernels do what they declare?"""

from __future__ import annotations

from collections.abc import Callable

from ert_numba.charts.document import esc, reasons, table
from ert_numba.counted import HIT_SHARE, Check, Verdict
from ert_numba.machine import MachineModel
from ert_numba.units import si

_UNKNOWN = '<span class="muted">unknown</span>'


def counted_section(model: MachineModel, verdict: Verdict | None) -> str:
    """A table of every check; of a verdict on another run, that it is; nothing where there is none."""
    if verdict is None:
        return ""
    title = "<h2>Declared work and what the hardware counted</h2>"
    if verdict.run != model.run:
        words = f"The verdict beside this model is on another run, {verdict.run}: it is not shown."
        return f'{title}<p class="muted">{esc(words)}</p>'
    count, failed = len(verdict.checks), len(verdict.failed)
    result = f"All {count} checks passed" if not failed else f"{failed} of {count} checks FAIL"
    how = f"counted by {verdict.tool} on {_when(verdict)}"
    words = f"{result}, {how}: one launch of each kernel, beside what it declares."
    head = ("Ceiling", "Declared", "Counted", "Differs by", "Allowed", "", "Counted by")
    rows = sorted(verdict.checks, key=lambda row: row.passed)
    figures = table("Counted work", head, map(_cells, rows), frozenset({1, 2, 3, 4}))
    return f"{title}<p>{esc(words)}</p>{figures}{_skipped(verdict)}"


def counted_doubt(model: MachineModel, verdict: Verdict | None) -> list[str]:
    """What stands above the figures, where a kernel failed: its ceiling must not be believed."""
    if verdict is None or verdict.run != model.run or not verdict.failed:
        return []
    names = ", ".join(dict.fromkeys(row.ceiling for row in verdict.failed))
    return [f"The hardware counted other work than was declared for {names}: do not trust these ceilings."]


def _cells(row: Check) -> list[str]:
    share = row.what == HIT_SHARE
    text: Callable[[float], str] = (lambda value: f"{value:.2%}") if share else (lambda value: si(value, row.what, 5))
    return [
        esc(row.ceiling) + f"<small>{esc(row.what if share else row.kernel)}</small>",
        esc(text(row.declared)),
        _UNKNOWN if row.counted is None else esc(text(row.counted)),
        _UNKNOWN if row.error is None else f"{100 * row.error:+.3f} %",
        f"{100 * row.tolerance:.0f} %",
        "passed" if row.passed else '<span class="flag bad">fails</span>',
        f"<code>{esc(row.counter)}</code>" + (f"<small>{esc(row.note)}</small>" if row.note else ""),
    ]


def _skipped(verdict: Verdict) -> str:
    if not verdict.skipped:
        return ""
    return f"<h3>Not compared</h3>{reasons('Not compared', 'Ceilings', verdict.skipped)}"


def _when(verdict: Verdict) -> str:
    return verdict.provenance.created.replace("T", " ").replace("Z", " UTC")
