"""A finished run of the suite as rows: value, spread between its starts, share of the limit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from ert_numba.judge.evidence import Evidence, evidence_of
from ert_numba.judge.verdicts import ENOUGH
from ert_numba.store.benchmark_runs import load_run
from ert_numba.terminal import note, show_tables
from ert_numba.units import si

if TYPE_CHECKING:
    from rich.table import Table

    from ert_numba.benchmarks.repeated import Repeated


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark over all starts: ``value`` in ``unit`` is the median start's, ``spread`` how far the starts lie
    apart relative to it (None of a single one), ``share`` of the physical limit at each start's own clock (its median,
    None where no limit is known), ``doubts`` what speaks against some of the starts."""

    key: str
    value: float
    unit: str
    spread: float | None
    share: float | None
    clock_hz: float | None
    starts: int
    doubts: tuple[str, ...] = ()


def rows_of(files: Sequence[Path]) -> list[Row]:
    """Of every start of a run, in the suite's order. Raises ErtError."""
    run = load_run(list(files))
    limits: dict[str, list[float]] = {}
    for start in run.starts:
        for row in start.observed:
            if row.said is not None and row.said.limit:
                limits.setdefault(row.name, []).append(row.said.limit)
    return [_row(evidence, limits.get(name, [])) for name, evidence in evidence_of(run).items()]


def _row(evidence: Evidence, limits: Sequence[float]) -> Row:
    seconds = [reading.seconds for reading in evidence.readings]
    typical, said = median(seconds), evidence.said
    clocks = [reading.clock_hz for reading in evidence.readings if reading.clock_hz]
    known = len(limits) == len(seconds)
    return Row(
        key=said.key if said else evidence.name,
        value=typical if evidence.unit == "s" else 1 / typical,
        unit=evidence.unit,
        spread=(max(seconds) - min(seconds)) / typical if len(seconds) > 1 else None,
        share=median(1 / second / limit for second, limit in zip(seconds, limits, strict=True)) if known else None,
        clock_hz=median(clocks) if clocks else None,
        starts=len(seconds),
        doubts=tuple(dict.fromkeys(doubt for reading in evidence.readings for doubt in reading.doubts)),
    )


def bench_table(rows: Sequence[Row], title: str) -> Table:
    """For the terminal: 80 columns hold it."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for heading in ("benchmark", "value", "spread", "of limit"):
        table.add_column(heading, justify="left" if heading == "benchmark" else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.key,
            si(row.value, row.unit),
            "" if row.spread is None else f"{100 * row.spread:.2f} %",
            "" if row.share is None else f"{100 * row.share:.1f} %",
        )
    return table


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What ``bench --json`` prints: the rows over all starts of the name, the files, what brought no figure and why
    (``skipped``: also what no kernel offers on this device)."""

    name: str
    device: str
    rows: tuple[Row, ...]
    files: tuple[str, ...]
    skipped: dict[str, str] = {}
    failed: dict[str, str] = {}
    interrupted: bool = False


def report_of(done: Repeated) -> Report:
    """Raises ErtError where the files of its starts are no one run."""
    return Report(
        name=done.name,
        device=done.device.name,
        rows=tuple(rows_of(done.all_files)) if done.all_files else (),
        files=tuple(str(path) for path in done.all_files),
        skipped={row.what: row.reason for row in done.skipped}
        | {row.key: row.reason for row in done.left.values() if not row.failed},
        failed={row.key: row.reason for row in done.failed},
        interrupted=done.interrupted,
    )


def show_repeated(done: Repeated, as_json: bool) -> None:
    """The table, or the report as JSON; then where the files are, what is missing from them and how to go on."""
    report = report_of(done)
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(report)).decode())
    elif report.rows:
        starts = f"{len(report.files)} start{'' if len(report.files) == 1 else 's'}"
        show_tables(iter([bench_table(report.rows, f"{report.name}: {report.device}, {starts}")]))
    for row in report.rows:
        missing = [f"in {row.starts} of {len(report.files)} starts"] if row.starts < len(report.files) else []
        if row.doubts or missing:
            note(f"Note: {row.key}: {'; '.join([*missing, *row.doubts])}")
    for refusal in done.refusals:
        note(f"{refusal.backend}: not measured, {refusal.reason}")
    for left in done.left.values():
        if not left.failed:
            note(f"Not measured: {left.key}: {left.reason}")
    for key, reason in report.failed.items():
        note(f"Failed: {key}: {reason}")
    if done.interrupted:
        note(f"Interrupted: {len(done.files)} whole start{'' if len(done.files) == 1 else 's'} kept")
    if done.interrupted or len(report.files) < ENOUGH:
        note(f"Add starts: python -m ert_numba bench --save {done.name}")
    for path in done.files:
        note(f"start     {path}")
    if report.files:
        note(f"Then:     python -m ert_numba compare {done.name} OTHER")
