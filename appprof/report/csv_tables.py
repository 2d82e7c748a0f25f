"""The rows of a long or a wide CSV, gathered by launch and kept as text until the decimal mark is known."""

from __future__ import annotations

import re

from appprof.report.csv_columns import RawColumn, raw_column
from appprof.report.csv_identity import Identity, identify
from appprof.report.csv_layout import BODY_ITEM, METRIC, NOT_METRICS, RULES, SECTION, Layout, split_cells
from appprof.report.details_labels import metric_of

ID_DIGITS = 18
GroupKey = tuple[str, str, tuple[bytes, ...], tuple[bytes, ...]]  # section, body item, names, units
WHOLE_CELLS = re.compile(rb'(?:"[^"]*(?:""[^"]*)*",)*')


class Group:
    """Rows that hold the same metrics in the same units, one a launch: ``cells`` are their values, row after row."""

    __slots__ = ("cells", "count", "names", "units")

    def __init__(self, names: tuple[str, ...], units: tuple[str, ...]) -> None:
        self.names, self.units = names, units
        self.cells: list[bytes] = []
        self.count = 0

    def add(self, row: list[bytes]) -> int:
        """Take a row; its number."""
        self.cells += row
        self.count += 1
        return self.count - 1

    def columns(self) -> list[RawColumn]:
        width = len(self.names)
        return [
            raw_column(name, unit, self.cells[at::width])
            for at, (name, unit) in enumerate(zip(self.names, self.units, strict=True))
        ]


class Launch:
    """One launch: who it is and which rows of which groups are its own."""

    __slots__ = ("advice", "id", "identity", "parts")

    def __init__(self, number: int, identity: Identity) -> None:
        self.id, self.identity = number, identity
        self.parts: list[tuple[Group, int]] = []
        self.advice: list[str] = []


class Spelled:
    """The cells of a group's names and units as the file spells them."""

    __slots__ = ("group", "names", "units")

    def __init__(self, names: list[bytes], units: list[bytes], group: Group) -> None:
        self.names, self.units, self.group = names, units, group


class Place:
    """What the cells before a metric say, but for the launch's ID. ``last`` is the group that last stood there."""

    __slots__ = ("body", "identity", "last", "number", "section")

    def __init__(self, identity: Identity, number: int, section: str, body: str) -> None:
        self.identity, self.number, self.section, self.body = identity, number, section, body
        self.last: Spelled | None = None


class LongTable:
    """One metric a row: rows of one ID, process and shape make a launch, wherever they stand."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.launches: list[Launch] = []
        behind = {"ID", *METRIC, *RULES}
        self._name_at = layout.columns[METRIC[0]]
        self._reach = max(layout.columns[name] for name in METRIC)
        self._identity_at = [at for name, at in layout.columns.items() if name not in behind]
        self.keyed: dict[GroupKey, Group] = {}
        self._places: dict[bytes | tuple[str, ...], Place | None] = {}
        self._numbers: dict[Identity, int] = {}
        self._open: dict[tuple[int, int], Launch] = {}
        self._last: tuple[int, int] | None = None

    @property
    def groups(self) -> list[Group]:
        return list(self.keyed.values())

    def add_block(self, prefix: bytes, names: list[bytes], units: list[bytes], values: list[bytes]) -> bool:
        cut = prefix.find(b'","')
        number, rest = prefix[1:cut], prefix[cut:]
        try:
            place = self._places[rest]
        except KeyError:
            place = self._places[rest] = self._place_of_prefix(prefix)
        if place is None or not prefix.startswith(b'"') or not number.isdigit() or len(number) > ID_DIGITS:
            return False
        last = place.last
        if last is None or last.names != names or last.units != units:
            if not all(map(bytes.strip, names)):  # a rule's row
                return False
            group = self.group((place.section, place.body, tuple(names), tuple(units)))
            last = place.last = Spelled(names, units, group)
        self.launch(int(number), place).parts.append((last.group, last.group.add(values)))
        return True

    def add_cells(self, cells: list[str]) -> bool:
        number = self._cell(cells, "ID")
        value_at = self.layout.columns[METRIC[2]]
        if not _is_number(number) or len(cells) <= self._reach:
            return False
        key = tuple([cells[at] for at in self._identity_at if at < len(cells)])
        if key not in self._places:
            self._places[key] = self._place_of(cells)
        place = self._places[key]
        if place is None:
            return False
        launch = self.launch(int(number), place)
        name, unit = cells[self._name_at].strip(), cells[self.layout.columns[METRIC[1]]].strip()
        if not name:
            words = (self._cell(cells, "Rule Name"), self._cell(cells, "Rule Description"))
            launch.advice.append(" ".join(filter(None, words)))
            return True
        group = self.group((place.section, place.body, (name.encode(),), (unit.encode(),)))
        launch.parts.append((group, group.add([" ".join(cells[value_at].split("\n")).encode()])))
        return True

    def group(self, key: GroupKey) -> Group:
        """The group of these cells, a new one where there is none yet."""
        group = self.keyed.get(key)
        if group is None:
            section, body, names, units = key
            spelled = tuple(metric_of(section, _text(name).strip(), body) for name in names)
            group = self.keyed[key] = Group(spelled, tuple(_text(unit).strip() for unit in units))
        return group

    def launch(self, number: int, place: Place) -> Launch:
        """The launch of this ID and identity, a new one where there is none yet."""
        key = (number, place.number)
        if key == self._last:
            return self.launches[-1]
        launch = self._open.get(key)
        if launch is None:
            launch = self._open[key] = Launch(number, place.identity)
            self.launches.append(launch)
            self._last = key
        return launch

    def _place_of_prefix(self, prefix: bytes) -> Place | None:
        """What the cells before the metric's name say; None where the beginning is no row of whole, quoted cells."""
        text = _text(prefix[:-2])
        if WHOLE_CELLS.fullmatch(prefix, 0, len(prefix) - 1) is not None:
            cells = split_cells(text)
        elif b'",","' in prefix:  # cut from the left and from the right, it falls into other cells
            return None
        else:  # quotes that were not doubled: see row_cells
            cells = [cell.replace('""', '"') for cell in text[1:-1].split('","')]
        return self._place_of(cells) if len(cells) == self._name_at else None

    def _place_of(self, cells: list[str]) -> Place | None:
        identity = identify(self.layout, cells)
        return (
            self.place(identity, self._cell(cells, SECTION), self._cell(cells, BODY_ITEM)) if identity.kernel else None
        )

    def place(self, identity: Identity, section: str = "", body: str = "") -> Place:
        return Place(identity, self._numbers.setdefault(identity, len(self._numbers)), section, body)

    def _cell(self, cells: list[str], name: str) -> str:
        at = self.layout.columns.get(name)
        return cells[at].strip() if at is not None and at < len(cells) else ""


class WideTable:
    """One launch a row, one metric a column, the units in the first row below the header."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.launches: list[Launch] = []
        self._metrics = {name: at for name, at in layout.columns.items() if name and name not in NOT_METRICS}
        self._group = Group(tuple(self._metrics), ("",) * len(self._metrics))
        self._identities: dict[tuple[str, ...], Identity] = {}
        self._identity_at = [at for name, at in layout.columns.items() if name in NOT_METRICS and name != "ID"]

    @property
    def groups(self) -> list[Group]:
        return [self._group] if self._group.count else []

    def add_block(self, prefix: bytes, names: list[bytes], units: list[bytes], values: list[bytes]) -> bool:
        return False

    def add_cells(self, cells: list[str]) -> bool:
        if 2 * len(cells) < self.layout.width:  # spreadsheets drop empty cells at the end, nothing drops most of a row
            return False
        cells = cells + [""] * (self.layout.width - len(cells))
        number = cells[self.layout.columns["ID"]].strip()
        key = tuple(cells[at] for at in self._identity_at)
        if not number and not any(text.strip() for text in key):
            return self._take_units(cells)
        if not _is_number(number):
            return False
        if key not in self._identities:
            self._identities[key] = identify(self.layout, cells)
        launch = Launch(int(number), self._identities[key])
        row = [" ".join(cells[at].split("\n")).encode() for at in self._metrics.values()]
        launch.parts.append((self._group, self._group.add(row)))
        self.launches.append(launch)
        return True

    def _take_units(self, cells: list[str]) -> bool:
        if self._group.count or not self._metrics:
            return False
        self._group.units = tuple(cells[at].strip() for at in self._metrics.values())
        return True


def make_table(layout: Layout) -> LongTable | WideTable:
    return LongTable(layout) if layout.is_long else WideTable(layout)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= ID_DIGITS


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")
