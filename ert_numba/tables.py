"""The terminal's view of a machine, a comparison and a device: rich tables, made of records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from ert_numba.catalog.memory_levels import BY_KEY as LEVELS
from ert_numba.catalog.memory_levels import HOST_ACCESSES
from ert_numba.catalog.precisions import BY_KEY as PRECISIONS
from ert_numba.errors import showable
from ert_numba.judge.models import Change, Comparison, Figure
from ert_numba.machine import Ceiling, Knee, MachineModel
from ert_numba.records import DeviceInfo, Point, Skipped, by_reason
from ert_numba.units import capacity, si

KINDS = (
    ("compute", "Peak arithmetic"),
    ("bandwidth", "Bandwidth (STREAM's count)"),
    ("latency", "Latency"),
    ("overhead", "Overhead"),
)
VERDICT_STYLES = {"FASTER": "green", "SLOWER": "red", "LARGER": "cyan", "SMALLER": "cyan", "UNKNOWN": "yellow"}


def plain_table(title: str, columns: Sequence[tuple[str, str]]) -> Table:
    """Columns as (heading, side): a figure keeps its width, so that no unit is cut; ``left`` and ``wrap`` give way."""
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False)
    for name, side in columns:
        table.add_column(name, justify="right" if side == "right" else "left", no_wrap=side == "right", overflow="fold")
    return table


def interval(low: float, value: float, high: float) -> str:
    """``'-0.4 +1.2 %'``: an interval around its value. Ends that are one, as of an import, are none."""
    if low == high:
        return "none stated"
    return f"{100 * (low / value - 1):+.1f} {100 * (high / value - 1):+.1f} %"


def machine_tables(model: MachineModel) -> Iterable[Table]:
    """Ceilings by kind, then knees, then what was not measured."""
    for kind, title in KINDS:
        rows = [row for row in model.ceilings if row.kind == kind]
        if rows:
            yield _ceilings(title, kind, rows, model.device)
    if model.knees:
        yield _knees(model.knees, model.device)
    if model.skipped:
        yield skipped_table("Not measured", model.skipped)


def _ceilings(title: str, kind: str, rows: Sequence[Ceiling], device: DeviceInfo) -> Table:
    limited = any(row.limit for row in rows)
    moved = any(row.traffic_ratio != 1 for row in rows)
    clocked = not moved and any(row.clock_hz for row in rows)
    columns = [("", "left"), ("value", "right"), ("95 % interval", "right")]
    columns += [("of limit", "right")] * limited + [("on the bus", "right")] * moved + [("clock", "right")] * clocked
    table = plain_table(title, [*columns, ("", "right")])
    for row in rows:
        cells: list[str | Text] = [f"{ceiling_name(row, device)}{scope_name(row.scope)}"]
        cells += [si(row.value, row.unit), interval(row.low, row.value, row.high)]
        if limited:
            cells.append(f"{100 * row.share_of_limit:.1f} %" if row.share_of_limit else "")
        if moved:
            cells.append(si(row.value * row.traffic_ratio, row.unit) if row.traffic_ratio != 1 else "")
        if clocked:
            cells.append(si(row.clock_hz[1], "Hz") if row.clock_hz else "")
        table.add_row(*cells, _flags(row))
    return table


def ceiling_name(row: Ceiling, device: DeviceInfo) -> str:
    """A ceiling in words: ``FP64 vector FMA``, ``L2 triad, non-temporal``."""
    if row.kind == "compute":
        label = PRECISIONS[row.precision].label if row.precision in PRECISIONS else row.precision or "?"
        path = {"vector.fma": "vector FMA", "vector.add": "vector, no FMA", "vector.dot": "vector dot product"}
        name = f"{label} {path.get(row.path or '', (row.path or '').replace('tensor.', 'tensor, '))}"
    elif row.level:
        level = LEVELS.get((device.kind, row.level))
        access = row.access or row.kind
        access = HOST_ACCESSES.get(access, access.replace("_nt", ", non-temporal"))
        name = f"{level.label if level else row.level} {access}"
    else:
        name = row.key
    return showable(", ".join(filter(None, (name, row.variant, "2:4 sparse" if row.sparse else ""))))


def scope_name(scope: str) -> str:
    """What a name gains where the figure is not that of the whole device."""
    known = {"all": "", "core": ", one core", "socket": ", one socket", "neighbours": ", beside others"}
    return known.get(scope, f", {showable(scope)}")


def _flags(row: Ceiling) -> Text:
    text = Text()
    for present, word, style in (
        (row.impossible, "IMPOSSIBLE ", "bold red"),
        (row.noisy, "noisy ", "yellow"),
        (not row.verified, "unverified ", "yellow"),
    ):
        if present:
            text.append(word, style)
    return text


def _knees(knees: Sequence[Knee], device: DeviceInfo) -> Table:
    table = plain_table(
        "Where a level ends (per core)" if device.kind == "cpu" else "Where a level ends",
        [("level", "left"), ("measured", "right"), ("95 % interval", "right"), ("nominal", "right"), ("", "left"),
         ("transition", "left"), ("seen in", "left")],
    )  # fmt: skip
    for row in knees:
        verdict = {None: Text(""), True: Text("agrees", "green"), False: Text("differs", "yellow")}[row.agrees]
        table.add_row(
            showable(row.level),
            capacity(row.capacity_bytes),
            f"{capacity(row.low)} to {capacity(row.high)}",
            capacity(row.nominal_bytes) if row.nominal_bytes else "",
            verdict,
            showable(row.shape),
            showable(row.witness),
        )
    return table


def skipped_table(title: str, rows: Iterable[Skipped]) -> Table:
    """What was not measured, by reason."""
    table = plain_table(title, [("what", "wrap"), ("why", "wrap")])
    for names, reason in by_reason(rows):
        table.add_row(showable(names), showable(reason))
    return table


def comparison_tables(comparison: Comparison) -> Iterable[Table]:
    """Ceilings and knees of two models side by side, why some bear no verdict, and the conditions that differ."""
    for title, rows in (("Ceilings", comparison.ceilings), ("Knees", comparison.knees)):
        if rows:
            yield _changes(title, rows)
    changes = comparison.ceilings + comparison.knees
    doubtful = [Skipped(what=row.key, reason=row.reason) for row in changes if row.reason]
    if doubtful:
        yield skipped_table("No verdict", doubtful)
    if comparison.differences:
        table = plain_table("Conditions that differ", [("what", "left"), ("A", "wrap"), ("B", "wrap")])
        for row in comparison.differences:
            table.add_row(row.name, showable(row.a or "not stated"), showable(row.b or "not stated"))
        yield table


def _changes(title: str, rows: Sequence[Change]) -> Table:
    columns = [("", "left"), ("A", "right"), ("B", "right"), ("change", "right"), ("intervals", "left"), ("", "left")]
    table = plain_table(title, columns)
    for row in rows:
        overlap = {None: "", True: "overlap", False: "disjoint"}[row.overlap]
        table.add_row(
            showable(row.key),
            _figure(row.a, row),
            _figure(row.b, row),
            f"{100 * row.change:+.1f} %" if row.change is not None else "",
            overlap,
            Text(row.verdict, VERDICT_STYLES.get(row.verdict, "")),
        )
    return table


def _figure(figure: Figure | None, row: Change) -> str:
    if figure is None:
        return ""
    return capacity(figure.value) if row.kind == "knee" else si(figure.value, row.unit)


def device_tables(device: DeviceInfo, offered: Sequence[Point | Skipped]) -> Iterable[Table]:
    """What the device is, its limits per cycle, what would be measured and what not."""
    facts = plain_table(device.name, [("", "left"), ("", "wrap")])
    unit = "physical cores that may be used" if device.kind == "cpu" else "SMs"
    for name, text in (
        ("architecture", device.architecture),
        (unit, str(device.units)),
        ("sockets, memory nodes", f"{device.sockets}, {device.numa_nodes}" if device.kind == "cpu" else ""),
        ("memory that may be used", capacity(device.memory_bytes) if device.memory_bytes else "unknown"),
        ("maximum clock", si(device.maximum_clock_hz, "Hz") if device.maximum_clock_hz else "not told: measured"),
        *((row.level, _cache(row.bytes, row.shared_by, row.instances, row.source)) for row in device.caches),
        *device.properties.items(),
        *(("note", note) for note in device.notes),
    ):
        if text:
            facts.add_row(showable(name), showable(text))
    yield facts
    if device.limits:
        limits = plain_table("Physical limits", [("", "left"), ("", "right"), ("", "left")])
        for row in device.limits:
            per = "a cycle and " + ("core" if device.kind == "cpu" else "SM")
            figure = f"{row.per_cycle:g}" if row.per_cycle is not None else si(row.per_second or 0.0, "")
            limits.add_row(row.key, figure, per if row.per_cycle is not None else "a second")
        limits.caption = "Sources: " + "; ".join(dict.fromkeys(row.source for row in device.limits))
        limits.caption_justify = "left"
        yield limits
    keys = dict.fromkeys(row.ceiling for row in offered if isinstance(row, Point))
    measurable = plain_table("Can be measured", [("", "wrap")])
    measurable.add_row(", ".join(keys) or "nothing")
    yield measurable
    missing = [row for row in offered if isinstance(row, Skipped)]
    if missing:
        yield skipped_table("Cannot be measured, and why", missing)


def _cache(size: int, shared_by: int, instances: int, source: str) -> str:
    shared = f", shared by {shared_by}" if shared_by > 1 else ""
    return f"{capacity(size)}{shared}, {instances} of them ({source})"
