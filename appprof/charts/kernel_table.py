"""The page's table of kernels: sortable, readable without the picture and with the keyboard, full names on demand.

AI is the arithmetic intensity in FLOP/byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import msgspec

from appprof.phrases import percent, rate_words, ratio, verdict_words
from appprof.result import KernelRow
from appprof.words import one_line
from ert_numba.charts.document import esc
from ert_numba.units import si

MOST = 200
LONGEST = 2000
_CONFIDENCE = {"high": 3, "medium": 2, "low": 1}
UNKNOWN = '<span class="muted" title="not known">?</span>'


class Column(msgspec.Struct, frozen=True):
    """``value`` is what is sorted by, None where it is not known; ``text`` what is read."""

    name: str
    value: Callable[[KernelRow], float | str | None]
    text: Callable[[KernelRow], str]
    number: bool = True


def _known(value: float | None, text: Callable[[float], str]) -> str:
    return UNKNOWN if value is None else esc(text(value))


def _intensity(level: str) -> Column:
    return Column(
        f"AI {level}",
        lambda row: row.intensity.get(level),
        lambda row: _level_text(row, level),
    )


def _level_text(row: KernelRow, level: str) -> str:
    value = row.intensity.get(level)
    if value is not None:
        return f"{ratio(value)}<small>{esc(row.drawn[level])}</small>"
    reason = next((why for name, why in row.withheld.items() if name.startswith(level)), row.absent.get(level, ""))
    return f'<span class="muted" title="{esc(reason or "no FLOP, or no bytes")}">–</span>'


def _head(column: Column) -> str:
    """Words sort upwards first, figures downwards; the rows come sorted by time."""
    look = ' class="n"' if column.number else ' data-first="ascending"'
    order = ' aria-sort="descending"' if column.name == "Time" else ""
    return f'<th scope="col"{look}{order}><button type="button">{esc(column.name)}</button></th>'


def _right(column: Column) -> str:
    return ' class="n"' if column.number else ""


def _time(row: KernelRow) -> str:
    spread = f"<small>{_spread(row)}</small>" if row.launches > 1 and row.seconds else ""
    return _known(row.seconds, lambda value: si(value, "s")) + spread


def _launches(row: KernelRow) -> str:
    return str(row.launches) + (f"<small>{row.shapes} shapes</small>" if row.shapes > 1 else "")


def _gain(row: KernelRow) -> str:
    part = f"<small>{percent(row.gives_back_share)}</small>" if row.gives_back_share is not None else ""
    return _known(row.gives_back_seconds, lambda value: si(value, "s")) + part


def _spread(row: KernelRow) -> str:
    low, high = row.shortest_seconds or 0.0, row.longest_seconds or 0.0
    if si(low, "s") == si(high, "s"):
        return f"{si(low, 's')} each"
    return f"{si(low, 's')} to {si(high, 's')} each"


def _rate(row: KernelRow) -> str:
    note = {"partial": "at least", "mixed": "of those known"}.get(row.flop_status, "")
    if row.flop == 0:
        return "0<small>no FLOP</small>"
    if row.flop_per_second is None:
        return UNKNOWN
    return esc(rate_words(row)) + (f"<small>{note}</small>" if note else "")


def _bound(row: KernelRow) -> str:
    words = esc(verdict_words(row))
    if row.verdict == "excess":
        return f'<span class="flag bad">{words}</span>'
    return f'<span class="muted">{words}</span>' if row.verdict == "unknown" else words


def _share(row: KernelRow) -> str:
    words = {"machine": "measured", "report": "vendor's peak", "catalogue": "theoretical"}
    source = words.get(row.roof_source or "", "")
    return _known(row.roof_share, percent) + (f"<small>{source}</small>" if source else "")


COLUMNS: tuple[Column, ...] = (
    Column("Time", lambda row: row.seconds, _time),
    Column("Share", lambda row: row.time_share, lambda row: _known(row.time_share, percent)),
    Column("Launches", lambda row: row.launches, _launches),
    Column("FLOP/s", lambda row: row.flop_per_second, _rate),
    _intensity("L1"),
    _intensity("L2"),
    _intensity("DRAM"),
    Column("Bound by", verdict_words, _bound, number=False),
    Column("Of roof", lambda row: row.roof_share, _share),
    Column("Gives back", lambda row: row.gives_back_seconds, _gain),
    Column("Sure", lambda row: _CONFIDENCE[row.confidence], lambda row: esc(row.confidence)),
)


def kernel_table(rows: Sequence[KernelRow]) -> str:
    """The kernels that take the most time; all others as one line that does not sort."""
    heads = "".join(map(_head, COLUMNS))
    body = "".join(map(_row, rows[:MOST])) + _rest(rows[MOST:])
    return (
        '<div class="wide scroll" role="region" tabindex="0" aria-label="Kernels"><table id="kernels"><thead><tr>'
        '<th scope="col" data-first="ascending"><button type="button">Kernel</button></th>'
        f"{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: KernelRow) -> str:
    full = one_line(row.kernel)
    full = full if len(full) <= LONGEST else full[:LONGEST] + " …"
    said = "".join(f"<p>{esc(line)}</p>" for line in row.sentences)
    doubts = f'<p class="muted">In doubt: {esc("; ".join(row.doubts))}.</p>' if row.doubts else ""
    flop = ", ".join(f"{key} {si(value, 'FLOP', 5)}" for key, value in row.flop_by_path.items())
    moved = ", ".join(f"{key} {si(value, 'B', 5)}" for key, value in row.bytes.items())
    counted = f'<p class="muted">Counted: {esc("; ".join(filter(None, (flop, moved))) or "nothing")}.</p>'
    path = max(row.flop_by_path, key=row.flop_by_path.__getitem__, default="")
    name = (
        f'<details><summary>{row.rank}. {esc(row.short)}</summary><div class="more"><div>'
        f"<code>{esc(full)}</code>{said}{counted}{doubts}</div></div></details>"
    )
    cells = "".join(
        f'<td{_right(column)} data-v="{_sort_key(column.value(row))}">{column.text(row)}</td>' for column in COLUMNS
    )
    ranges = json.dumps([one_line(name) for name in row.ranges[:50]], ensure_ascii=False)
    return (
        f'<tr data-id="{row.rank}" data-find="{esc(full[:400])}" data-ranges="{esc(ranges)}" data-path="{esc(path)}">'
        f'<th scope="row" data-v="{esc(row.short)}">{name}</th>{cells}</tr>'
    )


def _sort_key(value: float | str | None) -> str:
    return "" if value is None else esc(value if isinstance(value, str) else f"{value:.9g}")


def _rest(rows: Sequence[KernelRow]) -> str:
    if not rows:
        return ""
    timed = [row for row in rows if row.seconds is not None]
    seconds, share = sum(row.seconds or 0.0 for row in timed), sum(row.time_share or 0.0 for row in timed)
    untimed = f"<small>{len(rows) - len(timed)} of unknown time</small>" if len(timed) < len(rows) else ""
    launches = sum(row.launches for row in rows)
    return (
        f'<tr class="rest"><th scope="row">{len(rows)} other kernels, added up</th>'
        f'<td class="n">{si(seconds, "s") if timed else "–"}{untimed}</td>'
        f'<td class="n">{percent(share) if timed else "–"}</td><td class="n">{launches}</td>'
        f'<td colspan="{len(COLUMNS) - 3}"></td></tr>'
    )
