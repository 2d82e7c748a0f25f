"""The tables of a machine's page: every ceiling, a table a kind, and every knee."""

from __future__ import annotations

from ert_numba.charts import theme
from ert_numba.charts.document import esc, table
from ert_numba.charts.words import ceiling_words, clock, interval, reading_order
from ert_numba.machine import Ceiling, Knee, MachineModel
from ert_numba.stated import pairs
from ert_numba.units import capacity, si

_KINDS = (
    ("compute", "Compute"),
    ("bandwidth", "Bandwidth, by STREAM's count of bytes"),
    ("latency", "Latency of one dependent load"),
    ("overhead", "Overheads"),
)
_UNKNOWN = '<span class="muted">unknown</span>'


def ceilings_section(model: MachineModel) -> str:
    """How high each ceiling is, how sure that is, how it was measured; what no picture shows comes last."""
    head = ("Ceiling", "Value", "95 % interval", "Limit", "Share", "Clock", "How it was measured", "Flags")
    tables = []
    for kind, name in _KINDS:
        rows = [row for row in model.ceilings if row.kind == kind]
        rows.sort(key=lambda row: (row.impossible, reading_order(row, model.device.kind)))
        if rows:
            cells = (_ceiling_cells(row, model) for row in rows)
            tables.append(f"<h3>{esc(name)}</h3>{table(name, head, cells, frozenset({1, 2, 3, 4, 5}))}")
    return f"<h2>Ceilings</h2>{''.join(tables)}"


def _ceiling_cells(row: Ceiling, model: MachineModel) -> list[str]:
    share = row.share_of_limit
    how = [f"{row.samples} samples" if row.samples else "", pairs(row.conditions)]
    if row.traffic_ratio != 1.0:
        how.append(
            f"moves {row.traffic_ratio:.3g} times the bytes counted: {si(row.value * row.traffic_ratio, row.unit)}"
        )
    small = f"<small>{esc(row.key)}</small>"
    return [
        f"{esc(ceiling_words(row, model.device.kind))}{small}",
        esc(si(row.value, row.unit)),
        esc(interval(row.low, row.high, row.unit)),
        esc(si(row.limit, row.unit)) if row.limit else "",
        f"{share:.1%}" if share else "",
        esc(clock(row) or "not measured"),
        esc("; ".join(part for part in how if part)) + (f"<small>{esc(row.note)}</small>" if row.note else ""),
        _flags(row),
    ]


def _flags(row: Ceiling) -> str:
    flags = (
        (row.impossible, "bad", "impossible"),
        (row.noisy, "doubt", "noisy"),
        (not row.verified, "doubt", "unverified"),
        (row.sparse, "muted", "sparse"),
    )
    return "".join(f'<span class="flag {look}">{text}</span>' for present, look, text in flags if present)


def knees_section(model: MachineModel) -> str:
    """Where each level of memory ends, measured and nominal; or that nothing is known."""
    if not model.knees:
        return '<h2>Knees</h2><p class="muted">No knee was found or none was looked for.</p>'
    head = ("Level", "Measured", "95 % interval", "Nominal", "Agreement", "Transition", "Seen in", "Note")
    rows = (_knee_cells(knee, model) for knee in model.knees)
    return f"<h2>Knees: where a level ends</h2>{table('Knees', head, rows, frozenset({1, 2, 3}))}"


def _knee_cells(knee: Knee, model: MachineModel) -> list[str]:
    agreement = {
        None: '<span class="muted">nothing claimed</span>',
        True: "agrees",
        False: '<span class="flag doubt">differs</span>',
    }[knee.agrees]
    return [
        esc(theme.level_label(model.device.kind, knee.level)),
        esc(capacity(knee.capacity_bytes)),
        esc(f"{capacity(knee.low)} to {capacity(knee.high)}"),
        esc(capacity(knee.nominal_bytes)) if knee.nominal_bytes else _UNKNOWN,
        agreement,
        esc(knee.shape),
        esc(knee.witness),
        esc(knee.note),
    ]
