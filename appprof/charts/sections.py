"""The tables below the kernels: what has no place in the picture, groups, roofs, evidence, provenance."""

from __future__ import annotations

from collections.abc import Sequence

from appprof.analysis import Analysis
from appprof.phrases import count_words, coverage_words, percent, ratio, work_unit
from appprof.result import GroupRow, KernelRow, Result
from appprof.roofs import SOURCE_WORDS
from appprof.words import group_name, one_line, path_words, resource_words
from ert_numba.charts.document import esc, table
from ert_numba.units import si

_TITLES = {
    "range": "By NVTX range (outermost)", "module": "By module (innermost range that names one)",
    "module-kind": "By kind of module (layers of one kind together)", "precision": "By precision",
    "stream": "By stream", "process": "By process", "rank": "By file (rank)", "device": "By device",
}  # fmt: skip
_QUANTITIES = {"flop": "FLOP"}
_MOST = 60
UNKNOWN = '<span class="muted">?</span>'


def unplaced(result: Result) -> str:
    """Kernels that the roofline cannot show: no FLOP at all, or FLOP that are not known, each with the reason."""
    none = [row for row in result.kernels if row.flop == 0 and row.flop_status == "complete"]
    lacking = [row for row in result.kernels if row not in none and not row.intensity]
    parts = []
    for title, rows, words in (
        ("Kernels that do no FLOP", none, "They have bytes and time, so a share of the bandwidth roof, and no place in "
         "a picture of FLOP."),
        ("Kernels that cannot be placed", lacking, "They keep their time; the reason says what is missing."),
    ):  # fmt: skip
        if rows:
            timed = [row.time_share for row in rows if row.time_share is not None]
            share = f", {percent(sum(timed))} of the time" if timed else ""
            head = ("Kernel", "Launches", "Time", "Share", "DRAM bytes", "DRAM rate", "Of its nearest roof", "Reason")
            cells = (_unplaced_cells(row) for row in rows[:_MOST])
            more = f'<p class="muted">{len(rows) - _MOST} more.</p>' if len(rows) > _MOST else ""
            parts.append(
                f'<h2>{title}</h2><p class="muted">{count_words(len(rows), "kernel", "kernels")}{share}. {words}</p>'
                f"{table(title, head, cells, frozenset({1, 2, 3, 4, 5, 6}))}{more}"
            )
    return "".join(parts)


def _unplaced_cells(row: KernelRow) -> list[str]:
    moved = row.bytes.get("DRAM")
    reason = "; ".join(
        f"{_QUANTITIES.get(what, what)}: {why}" for what, why in row.absent.items() if row.flop != 0 or what != "flop"
    )
    return [
        esc(row.short),
        str(row.launches),
        UNKNOWN if row.seconds is None else esc(si(row.seconds, "s")),
        UNKNOWN if row.time_share is None else percent(row.time_share),
        UNKNOWN if moved is None else esc(si(moved, "B")),
        UNKNOWN if moved is None or not row.seconds else esc(si(moved / row.seconds, "B/s")),
        UNKNOWN if row.roof_share is None or row.bound is None
        else f"{percent(row.roof_share)}<small>{esc(resource_words(row.bound))}</small>",
        f'<span class="wrap">{esc(reason)}</span>' if reason else "",
    ]  # fmt: skip


def coverage(result: Result) -> str:
    """How much is known, and the command that would tell the rest."""
    parts = [f"<h2>What is known</h2><p>{esc(coverage_words(result.coverage))}</p>"]
    if result.command:
        parts.append(f"<p>To know the rest, profile again with</p><pre>{esc(result.command)}</pre>")
    return "".join(parts)


def groups(result: Result) -> str:
    return "".join(
        f"<h2>{_TITLES[by]}</h2>{_group_table(by, rows)}" for by, rows in result.groups.items() if rows
    )  # fmt: skip


def _group_table(by: str, rows: Sequence[GroupRow]) -> str:
    head = (
        by.replace("-", " ").capitalize(), "Time", "Share", "Launches", "Kernels", "FLOP", "FLOP/s", "DRAM bytes",
        "FLOP/B DRAM", "Largest need", "Gives back",
    )  # fmt: skip
    cells = (_group_cells(by, row) for row in rows[:_MOST])
    more = f'<p class="muted">{len(rows) - _MOST} more.</p>' if len(rows) > _MOST else ""
    return table(_TITLES[by], head, cells, frozenset({1, 2, 3, 4, 5, 6, 7, 8, 10})) + more


def _group_cells(by: str, row: GroupRow) -> list[str]:
    moved, intensity = row.bytes.get("DRAM"), row.intensity.get("DRAM")
    unit = work_unit([row.name] if by == "precision" else [])
    return [
        esc(group_name(by, row.name, 80)),
        UNKNOWN if row.seconds is None else esc(si(row.seconds, "s")),
        UNKNOWN if row.time_share is None else percent(row.time_share),
        str(row.launches),
        str(row.kernels),
        UNKNOWN if row.flop is None else esc(si(row.flop, unit)),
        UNKNOWN if row.flop_per_second is None else esc(si(row.flop_per_second, f"{unit}/s")),
        UNKNOWN if moved is None else esc(si(moved, "B")),
        UNKNOWN if intensity is None else ratio(intensity),
        esc(resource_words(row.bound)) if row.bound else UNKNOWN,
        UNKNOWN if row.gives_back_seconds is None else esc(si(row.gives_back_seconds, "s")),
    ]


def roofs(result: Result) -> str:
    """Every roof with its source and its clock: what a share is a share of."""
    if not result.roofs:
        return ""
    head = ("Roof", "Value at the profile's clock", "At its own clock", "Limit", "Source", "Remark")
    cells = (
        [
            f"{esc(path_words(roof.key) if roof.unit != 'B/s' else roof.key)}<small>{esc(roof.name)}</small>",
            esc(si(roof.value, roof.unit)),
            esc(si(roof.at_maximum, roof.unit)) if roof.at_maximum else "the same",
            esc(si(roof.limit, roof.unit)) if roof.limit else UNKNOWN,
            esc(SOURCE_WORDS[roof.source]),
            esc(roof.note),
        ]
        for roof in result.roofs
    )
    return f"<h2>Roofs</h2>{table('Roofs', head, cells, frozenset({1, 2, 3}))}"


def evidence(result: Result) -> str:
    """Which metrics each quantity was made of."""
    if not result.evidence:
        return ""
    rows = ([esc(row.what), esc(row.form), str(row.launches), esc(", ".join(row.metrics))] for row in result.evidence)
    head = ("Quantity", "Form", "Launches", "Metrics")
    return f"<h2>Evidence</h2>{table('Evidence', head, rows, frozenset({2}))}"


def provenance(analysis: Analysis) -> str:
    model = analysis.model
    pairs = [
        ("Run", model.run),
        ("Made", f"{model.provenance.created} by {model.provenance.tool}"),
        ("GPU", _chip(analysis)),
        *(("File", _source(source)) for source in model.sources[:20]),
        ("Host", model.provenance.host_name or ""),
        ("User", model.provenance.user or ""),
        ("Command line", model.provenance.command_line or ""),
        *(("Profiled by", source.private.command_line or "") for source in model.sources[:20]),
    ]
    rows = "".join(f"<dt>{esc(name)}</dt><dd>{esc(one_line(text))}</dd>" for name, text in pairs if text)
    return f'<h2>Provenance</h2><dl class="pairs">{rows}</dl>'


def _chip(analysis: Analysis) -> str:
    chip = analysis.model.chip
    words = [chip.label]
    words += [f"{chip.sm_count} SMs"] if chip.sm_count else []
    words += [f"up to {si(chip.maximum_sm_clock_hz, 'Hz', 4)}"] if chip.maximum_sm_clock_hz else []
    return ", ".join(words)


def _source(source: object) -> str:
    fields = {
        name: getattr(source, name)
        for name in ("label", "format", "tool", "tool_version", "created", "clock_control", "cache_control")
    }
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in fields.items() if value)
