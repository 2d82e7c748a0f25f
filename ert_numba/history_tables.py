"""The terminal's view of a device's history: its runs, then each ceiling's last figure against the one before."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from ert_numba.errors import showable
from ert_numba.judge.history import BENCHMARKS, SWEEP, Dot, HistoryEntry, changed, series_of
from ert_numba.recording import History
from ert_numba.tables import plain_table
from ert_numba.units import si

_SOURCES = ((BENCHMARKS, "Benchmarks"), (SWEEP, "Sweeps"))


def history_tables(history: History) -> Iterable[Table]:
    """The runs, and a table of ceilings for each kind of run that there is."""
    yield _runs(history.entries)
    for source, title in _SOURCES:
        series = series_of(history.entries, source)
        if series:
            columns = [("", "left"), ("last", "right"), ("before", "right"), ("first", "right"), ("runs", "right")]
            table = plain_table(f"{title}: the last run, and by how much it differs from the one before and the first",
                                columns)  # fmt: skip
            for key, dots in series.items():
                last = dots[-1]
                differs = [_against(dots, index) for index in (-2, 0)]
                table.add_row(showable(key), si(last.past.value, last.past.unit), *differs, str(len(dots)))
            yield table


def _runs(entries: Iterable[HistoryEntry]) -> Table:
    entries = tuple(entries)
    several = len({entry.card for entry in entries}) > 1
    columns = [("run", "wrap"), ("made", "right"), ("driver", "right"), ("starts", "right")]
    table = plain_table("Runs", [*columns, *([("card", "right")] if several else [])])
    for entry in entries:
        made = entry.created[:16].replace("T", " ")
        starts = str(entry.starts) if entry.source == BENCHMARKS else "sweep"
        cells = [showable(entry.run), showable(made), showable(entry.driver or ""), starts]
        table.add_row(*cells, *([showable(entry.card or "")[:6]] if several else []))
    return table


def _against(dots: tuple[Dot, ...], index: int) -> str:
    return "" if len(dots) < 2 else f"{100 * changed(dots[index].past, dots[-1].past):+.1f} %"
