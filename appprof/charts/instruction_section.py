"""The page's part on instructions: the picture, its figures in a table, and the command where they were not counted."""

from __future__ import annotations

from appprof.analysis import Analysis
from appprof.charts.instruction_chart import drawable, instruction_chart
from appprof.instructions import Instructions
from appprof.phrases import percent, ratio
from appprof.result import KernelRow, Result
from ert_numba.charts import theme
from ert_numba.charts.document import esc, figure, table
from ert_numba.charts.roofline import NARROW
from ert_numba.units import si

_MOST = 60
UNKNOWN = '<span class="muted">?</span>'
_HEAD = (
    "Kernel", "Time", "Warp instructions", "A second", "Of the peak", "Active lanes", "Useful lanes",
    "Per L1 transaction", "L2", "DRAM", "Sectors a request",
)  # fmt: skip
Charts = dict[str, tuple[theme.AnyChart, theme.AnyChart]]


def instructions(analysis: Analysis, result: Result, charts: Charts) -> str:
    """The section, where instructions were counted; the chart goes into ``charts``. Else nothing."""
    rows = [row for row in result.kernels if row.instructions is not None]
    if not rows:
        return ""
    parts = ["<h2>Instruction roofline</h2>"]
    if drawable(analysis):
        charts["instructions"] = (instruction_chart(analysis), instruction_chart(analysis, NARROW))
        parts.append(figure("instructions", _alternative(rows), _caption(rows)))
    else:
        parts.append('<p class="muted">Not drawn: no kernel has transactions beside its instructions.</p>')
    words = (
        "A place for kernels of integers and for kernels that only move data. A transaction is 32 bytes of a level. "
        "Lanes: the part of a warp's 32 threads that took part in its instructions, and were not predicated off."
    )
    cells = _without_unknown_columns([_cells(row) for row in rows[:_MOST]])
    more = f'<p class="muted">{len(rows) - _MOST} more.</p>' if len(rows) > _MOST else ""
    numbers = frozenset(range(1, len(_HEAD)))
    return f'{"".join(parts)}<p class="muted">{words}</p>{table("Instructions", _HEAD, cells, numbers)}{more}'


def how_to_count(result: Result) -> str:
    """The command for what the instruction roofline lacks."""
    if not result.instruction_command:
        return ""
    known = any(row.instructions is not None for row in result.kernels)
    what = (
        "For lanes and patterns of access in the instruction roofline" if known
        else "For an instruction roofline (integer kernels, idle lanes, scattered accesses)"
    )  # fmt: skip
    return f"<p>{what} profile with</p><pre>{esc(result.instruction_command)}</pre>"


def _alternative(rows: list[KernelRow]) -> str:
    named = "; ".join(f"{row.rank} {row.short}: {percent(row.shares['issue'])} of the issue peak" for row in rows[:10]
                      if "issue" in row.shares)  # fmt: skip
    return f"Instruction roofline. {named or 'The table below has the figures'}."


def _caption(rows: list[KernelRow]) -> str:
    walls = any(row.instructions is not None and row.instructions.point("global") for row in rows)
    return (
        "Each kernel has a dot for each memory level, linked, all at the height of its warp instructions a second. "
        "Flat roof: an instruction a clock from each scheduler. Slopes: transactions of 32 bytes of a level." + (
            " Crosses: loads and stores of global memory alone, against the sectors they touch; the upright lines are "
            "what one address for all threads, neighbouring words, and words far apart come to." if walls else "")
    )  # fmt: skip


def _cells(row: KernelRow) -> list[str]:
    work = row.instructions
    assert work is not None
    requests = work.point("global")
    return [
        esc(f"{row.rank}. {row.short}"),
        UNKNOWN if row.seconds is None else esc(si(row.seconds, "s")),
        esc(si(work.warp, "")),
        esc(si(work.rate, "")),
        UNKNOWN if "issue" not in row.shares else percent(row.shares["issue"]),
        UNKNOWN if work.active_lanes is None else percent(work.active_lanes),
        UNKNOWN if work.useful_lanes is None else percent(work.useful_lanes),
        *(_intensity(work, level) for level in ("L1", "L2", "DRAM")),
        UNKNOWN if requests is None else ratio(1 / requests.intensity),
    ]


def _without_unknown_columns(rows: list[list[str]]) -> list[list[str]]:
    """Columns of which no row knows anything are emptied, and so left out by the table."""
    bare = [all(row[index] == UNKNOWN for row in rows) for index in range(len(_HEAD))]
    return [["" if empty else cell for cell, empty in zip(row, bare, strict=True)] for row in rows]


def _intensity(work: Instructions, level: str) -> str:
    point = work.point(level)
    return UNKNOWN if point is None else ratio(point.intensity)
