"""The page of a device's history: each ceiling over time, by kind, with a table of every figure beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from altair.utils.schemapi import debug_mode

from ert_numba.charts.document import document, esc, figure, table
from ert_numba.charts.history_chart import history_chart
from ert_numba.charts.page import Charts
from ert_numba.charts.roofline import NARROW
from ert_numba.judge.history import BENCHMARKS, SWEEP, HistoryEntry, Series, changed, series_of
from ert_numba.units import si

_SOURCES = ((BENCHMARKS, "Benchmarks"), (SWEEP, "Sweeps"))
_KINDS = (("compute", "arithmetic"), ("bandwidth", "bandwidth"), ("latency", "latency"), ("overhead", "overheads"),
          ("user", "your kernels"))  # fmt: skip


def history_page(device: str, entries: Iterable[HistoryEntry]) -> str:
    """One offline HTML page."""
    entries = tuple(entries)
    charts: Charts = {}
    parts = [f'<header><h1>{esc(device)}</h1><p class="muted">{esc(_span(entries))}</p></header>']
    with debug_mode(False):  # validated by the tests
        for source, title in _SOURCES:
            series = series_of(entries, source)
            for kind, words in _KINDS:
                name, part = f"{source}-{kind}", _of_kind(series, kind)
                if part:
                    charts[name] = (history_chart(part, name=name), history_chart(part, NARROW, name))
                    parts += _section(name, f"{title}: {words}", part)
    parts.append(_runs(entries))
    return document(f"{device}: history", f"<main>{''.join(parts)}</main>", charts)


def _of_kind(series: Series, kind: str) -> Series:
    return {key: dots for key, dots in series.items() if dots[-1].past.kind == kind}


def _section(name: str, title: str, series: Series) -> Iterator[str]:
    caption = (
        "Against the last run, whose figure stands above each panel. Bars: ranges over the process starts, or a "
        "sweep's 95 % intervals. Colours are drivers; dashed lines: a new driver."
    )
    alternative = f"{title}: {len(series)} panels over time; the table has the figures."
    yield f"<h2>{esc(title)}</h2>{figure(name, alternative, caption)}"
    head = ("Ceiling", "Last", "Before", "First", "Runs")
    rows = []
    for key, dots in series.items():
        last = dots[-1].past
        differs = [f"{100 * changed(dots[at].past, last):+.1f} %" if len(dots) > 1 else "" for at in (-2, 0)]
        rows.append([esc(key), esc(si(last.value, last.unit)), *differs, str(len(dots))])
    yield table(title, head, rows, frozenset({1, 2, 3, 4}))


def _span(entries: tuple[HistoryEntry, ...]) -> str:
    drivers = list(dict.fromkeys(entry.driver for entry in entries if entry.driver))
    runs = f"{len(entries)} run{'' if len(entries) == 1 else 's'}"
    days = entries[0].created[:10], entries[-1].created[:10]
    when = f"on {days[0]}" if days[0] == days[1] else f"from {days[0]} to {days[1]}"
    told = f"; driver{'' if len(drivers) == 1 else 's'} {', '.join(drivers)}" if drivers else ""
    return f"{runs} {when}{told}."


def _runs(entries: tuple[HistoryEntry, ...]) -> str:
    rows = (
        [esc(entry.run), esc(entry.created.replace("T", " ").replace("Z", " UTC")), esc(entry.driver or ""),
         esc(entry.source), str(entry.starts) if entry.source == BENCHMARKS else "", esc((entry.card or "")[:6])]
        for entry in entries
    )  # fmt: skip
    head = ("Run", "Made", "Driver", "From", "Starts", "Card")
    return f"<h2>Runs</h2>{table('Runs', head, rows, frozenset({4}))}"
