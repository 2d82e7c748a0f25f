"""From gathered text to :class:`KernelProfile` records, column by column, so that a million rows take a second."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from appprof.report.csv_columns import Column, Instances, RawColumn, convert
from appprof.report.csv_identity import Identity
from appprof.report.csv_numbers import decide
from appprof.report.csv_tables import Group, Launch
from appprof.report.devices import PREFIX, make_device
from appprof.report.profile import Device, KernelProfile, Source

NO_ATTRIBUTES: dict[str, float | str] = {}


class Row(msgspec.Struct, frozen=True, gc=False):
    """What one group says of one launch."""

    values: dict[str, float]
    missing: dict[str, str] = {}
    texts: dict[str, str] = {}
    instances: dict[str, Instances] = {}


class Converted(msgspec.Struct, frozen=True):
    """A group whose cells are numbers now. ``attributes``: the device columns, one dictionary a row, or none at all."""

    rows: list[Row]
    units: dict[str, str]
    rounding: dict[str, float]
    attributes: list[dict[str, float | str]]


class Assembly(msgspec.Struct, frozen=True):
    kernels: list[KernelProfile]
    warnings: list[str]


def assemble(launches: Sequence[Launch], groups: Sequence[Group], source: Source, decimal_mark: str | None) -> Assembly:
    """All launches of a file as records, in the order of the file."""
    warnings: list[str] = []
    columns = [group.columns() for group in groups]
    decision = decide(
        (column.reading() for group in columns for column in group), _example(itertools.chain(*columns)), decimal_mark
    )
    if decision.warning:
        warnings.append(decision.warning)
    converted = {
        id(group): _convert_group(group, raw, decision.decimal_mark, warnings)
        for group, raw in zip(groups, columns, strict=True)
    }
    builder = _Builder(source, converted, warnings)
    kernels = [builder.kernel(launch) for launch in launches]
    return Assembly(kernels, list(dict.fromkeys(warnings)))


def _example(columns: Iterator[RawColumn]) -> str:
    """A cell that shows the doubt about the decimal mark, one of a fraction other than 000 first."""
    found = ""
    for column in columns:
        for cell in column.blob.split(b"\n"):
            if (b"," in cell or b"." in cell) and not cell.strip(b"0123456789.,+-"):
                text = cell.decode()
                if not text.endswith("000"):
                    return text
                found = found or text
    return found


def _convert_group(group: Group, raw: list[RawColumn], decimal_mark: str, warnings: list[str]) -> Converted:
    columns: dict[str, Column] = {}
    for column in (convert(one, decimal_mark, warnings) for one in raw):
        known = columns.setdefault(column.metric, column)
        if known is not column and known.numbers != column.numbers:
            warnings.append(f"{column.metric} stands twice in one launch with two values: the first was taken")
    measured = [column for name, column in columns.items() if not name.startswith(PREFIX)]
    attributes = [column for name, column in columns.items() if name.startswith(PREFIX)]
    return Converted(
        rows=_rows(measured, group.count),
        units={column.metric: column.unit for column in measured},
        rounding={column.metric: column.rounding for column in measured if column.rounding},
        attributes=_attributes(attributes, group.count) if attributes else [],
    )


def _rows(columns: list[Column], count: int) -> list[Row]:
    names = [column.metric for column in columns]
    if not columns:
        return [Row({}) for _ in range(count)]
    numbers: Iterator[tuple[Any, ...]] = zip(*(column.numbers for column in columns), strict=True)
    if all(column.is_plain for column in columns):
        return [Row(dict(zip(names, row, strict=True))) for row in numbers]
    rows = [Row({n: v for n, v in zip(names, row, strict=True) if v is not None}, {}, {}, {}) for row in numbers]
    for column in columns:
        for index, reason in column.missing.items():
            rows[index].missing[column.metric] = reason
        for index, text in column.texts.items():
            rows[index].texts[column.metric] = text
        for index, instances in column.instances.items():
            rows[index].instances[column.metric] = instances
    return rows


def _attributes(columns: list[Column], count: int) -> list[dict[str, float | str]]:
    """One dictionary a row, the same object for rows that say the same of the device."""
    known: dict[tuple[float | str | None, ...], dict[str, float | str]] = {}
    names = [column.metric for column in columns]
    found = []
    for index in range(count):
        cells = tuple(
            column.numbers[index] if column.numbers[index] is not None else column.texts.get(index)
            for column in columns
        )
        if cells not in known:
            known[cells] = {name: cell for name, cell in zip(names, cells, strict=True) if cell is not None}
        found.append(known[cells])
    return found


class _Who:
    """What all launches of one identity have in common, and how many there were of its name and process."""

    __slots__ = ("counted", "devices", "identity")

    def __init__(self, identity: Identity, counted: list[int]) -> None:
        self.identity, self.counted = identity, counted
        self.devices: dict[int, Device] = {}


class _Builder:
    """Makes the records; shares every dictionary and device that launches have in common."""

    def __init__(self, source: Source, converted: dict[int, Converted], warnings: list[str]) -> None:
        self.source, self.converted, self.warnings = source, converted, warnings
        self._occurrences: dict[tuple[int | None, str], list[int]] = {}
        self._known: dict[int, _Who] = {}  # by the identity as an object, which launches share
        self._devices: dict[tuple[int, int | None, tuple[int, int] | None], Device] = {}
        self._shared: dict[tuple[int, ...], tuple[dict[str, str], dict[str, float]]] = {}

    def kernel(self, launch: Launch) -> KernelProfile:
        identity = launch.identity
        who = self._known.get(id(identity))
        if who is None:
            counted = self._occurrences.setdefault((identity.process_id, identity.kernel), [0])
            who = self._known[id(identity)] = _Who(identity, counted)
        if len(launch.parts) == 1:
            group, row = launch.parts[0]
            converted = self.converted[id(group)]
            one, units, rounding = converted.rows[row], converted.units, converted.rounding
            attributes = converted.attributes[row] if converted.attributes else NO_ATTRIBUTES
        else:
            parts = [(self.converted[id(group)], row) for group, row in launch.parts]
            one = self._merged(parts, launch)
            units, rounding = self._units(parts)
            attributes = next((group.attributes[row] for group, row in parts if group.attributes), NO_ATTRIBUTES)
        occurrence = who.counted[0]
        who.counted[0] += 1
        return KernelProfile(
            kernel=identity.kernel,
            kind=identity.kind,
            id=launch.id,
            occurrence=occurrence,
            process_id=identity.process_id,
            device=who.devices.get(id(attributes)) or self._device(who, attributes),
            context=identity.context,
            stream=identity.stream,
            grid=identity.grid,
            block=identity.block,
            nvtx=identity.nvtx,
            values=one.values,
            units=units,
            rounding=rounding,
            missing=one.missing,
            instances=one.instances,
            texts=one.texts,
            advice=tuple(launch.advice),
            source=self.source,
        )

    def _units(self, parts: list[tuple[Converted, int]]) -> tuple[dict[str, str], dict[str, float]]:
        key = tuple(id(group) for group, _ in parts)
        if key not in self._shared:
            units: dict[str, str] = {}
            rounding: dict[str, float] = {}
            for group, _ in reversed(parts):
                units |= group.units
                rounding = {name: error for name, error in rounding.items() if name not in group.units} | group.rounding
            self._shared[key] = units, rounding
        return self._shared[key]

    def _merged(self, parts: list[tuple[Converted, int]], launch: Launch) -> Row:
        whole = Row({}, {}, {}, {})
        for group, index in parts:
            row = group.rows[index]
            for name, value in row.values.items():
                if whole.values.setdefault(name, value) != value:
                    self.warnings.append(
                        f"launch {launch.id}: {name} stands twice with two values: the first was taken"
                    )
            for mine, theirs in ((whole.missing, row.missing), (whole.texts, row.texts)):
                for name, text in theirs.items():
                    mine.setdefault(name, text)
            for name, instances in row.instances.items():
                whole.instances.setdefault(name, instances)
        for name in whole.values.keys() & whole.missing.keys():
            del whole.missing[name]
        return whole

    def _device(self, who: _Who, attributes: dict[str, float | str]) -> Device:
        index, capability = who.identity.device_index, who.identity.compute_capability
        key = (id(attributes), index, capability)
        if key not in self._devices:
            self._devices[key] = make_device(attributes, index, capability)
        device = who.devices[id(attributes)] = self._devices[key]
        return device
