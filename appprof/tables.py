"""The terminal's view of a profile: rich tables that fit the width that is there, made of flat rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec
from rich.table import Table
from rich.text import Text

from appprof.diff import Diff, KernelChange, ratio_change
from appprof.phrases import figures_of, percent, ratio, signed, unknown, verdict_words
from appprof.result import GroupRow, KernelRow, Result
from appprof.words import brief_path, group_name, path_words
from ert_numba.counted import HIT_SHARE, Verdict
from ert_numba.records import by_reason
from ert_numba.units import si

MARKS = {"machine": "", "report": "°", "catalogue": "*"}
MARK_WORDS = "roofs: measured; ° the vendor's peak, from the report; * theoretical, from the GPU catalogue"
VERDICT_STYLES = {
    "compute": "green", "bandwidth": "cyan", "launch": "magenta", "issue": "blue", "latency": "yellow",
    "unknown": "dim", "excess": "bold red",
}  # fmt: skip


class Column(msgspec.Struct, frozen=True):
    """One column of the kernels' table: shown where the terminal is at least ``width`` wide."""

    name: str
    width: int
    cell: Callable[[KernelRow], str | Text]
    right: bool = True


def _verdict(row: KernelRow) -> Text:
    mark = MARKS.get(row.roof_source or "", "")
    return Text(verdict_words(row) + (mark if row.verdict not in ("unknown", "launch") else ""),
                VERDICT_STYLES[row.verdict])  # fmt: skip


KERNEL_COLUMNS: tuple[Column, ...] = (
    Column("time", 0, lambda row: unknown(row.seconds, lambda value: si(value, "s"))),
    Column("share", 0, lambda row: unknown(row.time_share, percent)),
    Column("launches", 100, lambda row: str(row.launches)),
    Column("FLOP/s", 0, lambda row: unknown(row.flop_per_second, lambda value: si(value, ""))
           + {"partial": "+", "mixed": "~"}.get(row.flop_status, "")),
    Column("F/B L1", 140, lambda row: unknown(row.intensity.get("L1"), ratio)),
    Column("F/B L2", 120, lambda row: unknown(row.intensity.get("L2"), ratio)),
    Column("F/B DRAM", 100, lambda row: unknown(row.intensity.get("DRAM"), ratio)),
    Column("bound", 0, _verdict, right=False),
    Column("of roof", 0, lambda row: unknown(row.roof_share, percent)),
    Column("gives back", 80, lambda row: unknown(row.gives_back_share, percent)),
    Column("sure", 120, lambda row: row.confidence, right=False),
)  # fmt: skip


def _table(title: str, columns: Sequence[tuple[str, bool]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False)
    for name, right in columns:
        table.add_column(name, justify="right" if right else "left", no_wrap=True, overflow="ellipsis")
    return table


def _fitted(table: Table, width: int) -> Table:
    """Figures are never cut: what gives way in a narrow terminal is the first column alone."""
    taken = 0
    for column in table.columns[1:]:
        column.min_width = max(len(str(cell)) for cell in (column.header, *column.cells))
        taken += column.min_width + 2
    table.columns[0].max_width = max(width - taken, 12)
    return table


def kernels_table(result: Result, width: int, most: int = 20) -> Table:
    """The kernels that take the most time, and one line for all others."""
    columns = [column for column in KERNEL_COLUMNS if column.width <= width]
    table = _table("Kernels", [("kernel", False), *((column.name, column.right) for column in columns)])
    for row in result.kernels[:most]:
        table.add_row(Text(row.short), *(column.cell(row) for column in columns))
    rest = result.kernels[most:]
    if rest:
        seconds = sum(row.seconds or 0.0 for row in rest)
        share = percent(seconds / result.kernel_seconds) if result.kernel_seconds else "?"
        table.add_row(Text(f"{len(rest)} more", "dim"), si(seconds, "s"), share)
    marks = {MARKS.get(row.roof_source or "", "") for row in result.kernels[:most]} - {""}
    words = ["+ at least: some FLOP were not counted"] * any(row.flop_status == "partial" for row in result.kernels)
    words += ["~ of the launches whose FLOP are known"] * any(row.flop_status == "mixed" for row in result.kernels)
    table.caption = "; ".join([MARK_WORDS] * bool(marks) + words)
    table.caption_justify = "left"
    return _fitted(table, width)


def groups_table(by: str, rows: Sequence[GroupRow], width: int, most: int = 15) -> Table:
    """Ranges, streams, ranks ...: sums over their launches."""
    columns = ("time", "share", "launches", "kernels", "FLOP/s", "DRAM", "gives back")
    table = _table(f"By {by}", [(by, False), *((name, True) for name in columns)])
    for row in rows[:most]:
        table.add_row(
            Text(group_name(by, row.name)),
            unknown(row.seconds, lambda value: si(value, "s")),
            unknown(row.time_share, percent),
            str(row.launches),
            str(row.kernels),
            unknown(row.flop_per_second, lambda value: si(value, "")),
            unknown(row.bytes.get("DRAM"), lambda value: si(value, "B")),
            unknown(row.gives_back_seconds, lambda value: si(value, "s")),
        )
    if len(rows) > most:
        table.add_row(Text(f"{len(rows) - most} more", "dim"))
    return _fitted(table, width)


def work_table(result: Result, width: int, most: int = 30) -> Table:
    """What was counted, without roofs: FLOP by path and bytes by level and definition."""
    definitions = [name for name in ("L1.tag", "L1.wb", "L2.sm", "L2.out", "L2.all", "DRAM")
                   if any(name in row.bytes for row in result.kernels)]  # fmt: skip
    if width < 120:
        definitions = [name for name in definitions if name in ("L2.sm", "DRAM")]
    wide = width >= 100
    head = [("kernel", False), *([("launches", True)] if wide else []), ("time", True), ("FLOP", True), ("path", False)]
    table = _table("Counted", [*head, *((name, True) for name in definitions)])
    for row in result.kernels[:most]:
        path, flop = next(iter(row.flop_by_path.items()), ("", 0.0))
        more = f" +{len(row.flop_by_path) - 1}" if len(row.flop_by_path) > 1 else ""
        table.add_row(
            Text(row.short),
            *([str(row.launches)] if wide else []),
            unknown(row.seconds, lambda value: si(value, "s")),
            unknown(row.flop, lambda value: si(value, "", 4)),
            Text((path_words if wide else brief_path)(path) + more if flop and row.flop is not None else ""),
            *(_bytes(row, name) for name in definitions),
        )
    if len(result.kernels) > most:
        table.add_row(Text(f"{len(result.kernels) - most} more", "dim"))
    if any(row.withheld.keys() & set(definitions) for row in result.kernels[:most]):
        table.caption, table.caption_justify = "(in brackets): only a part passed this counter", "left"
    return _fitted(table, width)


def _bytes(row: KernelRow, definition: str) -> Text:
    value = row.bytes.get(definition)
    if value is None:
        return Text("?")
    return Text(f"({si(value, 'B')})" if definition in row.withheld else si(value, "B"))


def first_steps(rows: Iterable[KernelRow], most: int = 3) -> Iterable[str]:
    """The sentences of the kernels that would give back the most."""
    for number, row in enumerate(list(rows)[:most], 1):
        yield f"{number}. " + " ".join(row.sentences)


def diff_tables(diff: Diff, width: int, most: int = 20) -> Iterable[Table]:
    """Totals, then the kernels that changed the time of the run most, then ranges."""
    totals = _table("Totals", [("", False), ("A", True), ("B", True), ("change", True)])
    for name, (a, b) in diff.totals.items():
        totals.add_row(name, figures_of(name, a), figures_of(name, b), signed(ratio_change(a, b)))
    yield _fitted(totals, width)
    wide = width >= 110
    names = ["A", "B", "change", *(["a launch", "FLOP", "DRAM"] if wide else []), "bound"]
    table = _table("Kernels", [("kernel", False), *((name, name != "bound") for name in names)])
    for row in diff.kernels[:most]:
        figures = [_seconds(row.a), _seconds(row.b), row.state if row.state != "both" else signed(row.time_change)]
        if wide:
            changes = (row.launch_change, row.flop_change, row.bytes_change.get("DRAM"))
            figures += [signed(change) if row.state == "both" else "" for change in changes]
        table.add_row(Text(row.short), *figures, _bounds(row))
    if len(diff.kernels) > most:
        table.add_row(Text(f"{len(diff.kernels) - most} more", "dim"))
    yield _fitted(table, width)
    ranges = diff.groups.get("range", ())
    if ranges:
        groups = _table("By range", [("range", False), ("A", True), ("B", True), ("change", True)])
        for group in ranges[:most]:
            sides = [side.seconds if side else None for side in (group.a, group.b)]
            cells = [unknown(side, lambda value: si(value, "s")) for side in sides]
            groups.add_row(Text(group_name("range", group.name)), *cells, signed(group.time_change))
        yield _fitted(groups, width)


def _seconds(row: KernelRow | None) -> str:
    return "" if row is None else unknown(row.seconds, lambda value: si(value, "s"))


def _bounds(row: KernelChange) -> Text:
    sides = [verdict_words(side) for side in (row.a, row.b) if side is not None]
    return Text(" → ".join(dict.fromkeys(sides)))


def verdict_tables(verdict: Verdict, width: int) -> Iterable[Table]:
    """Declared against counted, what counted it, and what could not be compared."""
    columns = [("declared", True), ("counted", True), ("differs by", True), ("may", True), ("", False)]
    table = _table(f"Declared and counted work, {verdict.device}", [("ceiling", False), *columns])
    for row in verdict.checks:
        share = row.what == HIT_SHARE
        declared, counted = (
            unknown(value, percent if share else _exact(row.what)) for value in (row.declared, row.counted)
        )
        table.add_row(
            Text(f"{row.ceiling}, L1 hits" if share else row.ceiling),
            declared,
            counted,
            unknown(row.error, lambda error: f"{100 * error:+.3f} %"),
            f"{100 * row.tolerance:.0f} %",
            Text("ok", "green") if row.passed else Text("FAILS", "bold red"),
        )
    yield _fitted(table, width)
    yield _words(
        "Counted by", [(row.ceiling, row.counter + f" ({row.note})" * bool(row.note)) for row in verdict.checks]
    )
    if verdict.skipped:
        yield _words("Not compared", by_reason(verdict.skipped))


def _exact(unit: str) -> Callable[[float], str]:
    return lambda value: si(value, unit, 5)


def _words(title: str, pairs: Iterable[tuple[str, str]]) -> Table:
    """Names and what is said of them: both wrap."""
    table = _table(title, [("", False), ("", False)])
    table.show_header = False
    for column in table.columns:
        column.no_wrap, column.overflow = False, "fold"
    for name, what in pairs:
        table.add_row(Text(name), Text(what))
    return table
