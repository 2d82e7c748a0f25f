"""One column of cells to numbers in SI base units: exact to the last digit that the file has.

The power of ten of the unit is appended to the digits before they are read, so that each value is rounded once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from appprof import metrics
from appprof.report.csv_numbers import (
    NUMBER_BYTES,
    Reading,
    decimals_of,
    mark_of,
    number,
    plain,
    read_marks,
    shapes_of,
    without_group_spaces,
)
from appprof.report.csv_units import Unit, parse_unit
from appprof.report.plausible import HIGHEST, doubt
from ert_numba.errors import ErtError

NOT_A_NUMBER = {"nan": "nan", "-nan": "nan", "nan(ind)": "nan", "-nan(ind)": "nan", "inf": "inf", "-inf": "inf"}
NOT_AVAILABLE = frozenset(("n/a", "na", "(n/a)", "<n/a>", "null", "(null)", "no data"))
INSTANCES = re.compile(r"([^()]*)\((.*)\)", re.DOTALL)
NUMERIC_CELL = re.compile(rb"^[+-]?\d[\d.,]*$", re.MULTILINE)

LONGEST_PLAUSIBLE = 40  # digits and marks: with more, a number may be implausibly small

Instances = tuple[float | str | None, ...]


class RawColumn(msgspec.Struct, frozen=True):
    """The cells of one metric with one unit, joined by line ends, and the shapes that they have."""

    metric: str
    unit: str
    blob: bytes
    shapes: frozenset[bytes]

    @property
    def is_numeric(self) -> bool:
        """Whether every cell is made of digits, marks and signs alone."""
        return not any(shape.translate(None, NUMBER_BYTES) for shape in self.shapes)

    def reading(self) -> Reading:
        """What the column tells of the decimal mark."""
        unit = parse_unit(self.unit)
        whole = unit is not None and not unit.scaled and metrics.is_whole(self.metric, unit.name)
        if self.is_numeric and b"" not in self.shapes:
            return read_marks(self.blob, self.shapes, whole)
        blob = b"\n".join(NUMERIC_CELL.findall(without_group_spaces(self.blob)))
        return read_marks(blob, shapes_of(blob) if blob else frozenset(), whole)


def raw_column(metric: str, unit: str, cells: Sequence[bytes]) -> RawColumn:
    blob = b"\n".join(cells)
    return RawColumn(metric, unit, blob, shapes_of(blob))


class Column(msgspec.Struct, frozen=True):
    """``numbers`` has one entry a cell, None where the cell is no number; the other maps go by the cell's index.

    ``rounding`` is the largest error that the decimals allow, in the unit. ``all_numbers``: every cell is known to be
    one; False says nothing.
    """

    metric: str
    unit: str
    numbers: Sequence[float | None]
    rounding: float = 0.0
    missing: dict[int, str] = {}
    texts: dict[int, str] = {}
    instances: dict[int, Instances] = {}
    all_numbers: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether every cell is a number and nothing else."""
        return self.all_numbers or not (self.missing or self.texts or self.instances or None in self.numbers)


def convert(raw: RawColumn, decimal_mark: str, warnings: list[str]) -> Column:
    """The numbers of a column. A unit that no row knows is an error where the metric counts, else a warning."""
    unit = parse_unit(raw.unit)
    if unit is None:
        return _of_unknown_unit(raw, raw.blob.split(b"\n"), warnings)
    quick = _all_numbers(raw, unit, decimal_mark)
    return quick if quick is not None else _cell_by_cell(raw, unit, raw.blob.split(b"\n"), decimal_mark)


def _of_unknown_unit(raw: RawColumn, cells: list[bytes], warnings: list[str]) -> Column:
    filled = {index: text.decode("utf-8", "backslashreplace") for index, text in enumerate(cells) if text.strip()}
    counted = [index for index, text in filled.items() if text.lower() not in NOT_AVAILABLE]
    if counted and metrics.is_used(raw.metric):
        raise ErtError(
            f"the value of {raw.metric}",
            f"its unit {raw.unit!r} is unknown",
            "Export again with --print-units base, and report the unit",
        )
    if counted:
        warnings.append(f"{raw.metric} was left out: its unit {raw.unit!r} is unknown")
    return Column(
        raw.metric, raw.unit, [None] * len(cells), missing=dict.fromkeys(filled, f"unknown unit {raw.unit!r}")
    )


def _all_numbers(raw: RawColumn, unit: Unit, decimal_mark: str) -> Column | None:
    """The quick way: every cell a plain number; None where one is not."""
    mark = mark_of(raw.shapes, decimal_mark) if raw.is_numeric else None
    if mark is None or not all(number(shape.decode(), mark) for shape in raw.shapes):
        return None
    digits = plain(raw.blob, mark)
    exponent = b"e%d" % unit.power if unit.power else b""
    numbers = list(map(float, (digits.replace(b"\n", exponent + b"\n") + exponent).split(b"\n")))
    if not 0.0 <= min(numbers) <= max(numbers) <= HIGHEST or max(map(len, raw.shapes)) > LONGEST_PLAUSIBLE:
        return None
    rounding = _rounding(decimals_of(raw.shapes, mark), unit, raw.metric)
    missing: dict[int, str] = {}
    values: list[float | None] = list(numbers) if rounding and unit.scaled and 0.0 in numbers else []
    if values:
        for index, cell in enumerate(digits.split(b"\n")):
            if numbers[index] == 0.0 and b"." in cell:
                values[index], missing[index] = None, _below(rounding, unit)
    return Column(raw.metric, unit.name, values or numbers, rounding, missing, all_numbers=not missing)


def _cell_by_cell(raw: RawColumn, unit: Unit, cells: list[bytes], decimal_mark: str) -> Column:
    numbers: list[float | None] = [None] * len(cells)
    missing: dict[int, str] = {}
    texts: dict[int, str] = {}
    instances: dict[int, Instances] = {}
    decimals = 0
    for index, cell in enumerate(cells):
        text = cell.decode("utf-8", "backslashreplace").strip()
        text, parts = _instances(text, unit, decimal_mark) or (text, ())
        digits = number(text, decimal_mark)
        if digits is not None:
            decimals = min(decimals or 99, _decimals_of_one(digits) or 99) % 99
            numbers[index] = value = _scaled(digits, unit)
            rounding = _rounding(_decimals_of_one(digits), unit, raw.metric)
            if why := doubt(raw.metric, value):
                numbers[index], missing[index] = None, why
            elif value == 0.0 and rounding and unit.scaled and "." in digits:
                numbers[index], missing[index] = None, _below(rounding, unit)
        elif text.lower() in NOT_AVAILABLE:
            missing[index] = "n/a"
        elif text.lower() in NOT_A_NUMBER:
            missing[index] = NOT_A_NUMBER[text.lower()]
        elif text:
            texts[index] = text
        if parts and parts != (numbers[index],):  # one instance that repeats the value says nothing more
            instances[index] = parts
    return Column(raw.metric, unit.name, numbers, _rounding(decimals, unit, raw.metric), missing, texts, instances)


def _scaled(digits: str, unit: Unit) -> float:
    mantissa, _, exponent = digits.lower().partition("e")
    return float(f"{mantissa}e{int(exponent or 0) + unit.power}")


def _instances(text: str, unit: Unit, decimal_mark: str) -> tuple[str, Instances] | None:
    """``10 (2; 3; 5)`` or ``10 (0: 2; 1: 3; 2: 5)``: the value and its instances; None for any other cell.

    Words have instances too: ``1 (0: NVIDIA H200)``, ``all (all)``.
    """
    match = INSTANCES.fullmatch(text)
    if match is None:
        return None
    value = match[1].strip()
    no_value = NOT_AVAILABLE | NOT_A_NUMBER.keys() | {""}
    is_word = value.lower() not in no_value and number(value, decimal_mark) is None
    found: list[float | str | None] = []
    for item in map(str.strip, match[2].split(";")):
        bare = item.rpartition(": ")[2].strip()
        digits = number(bare, decimal_mark)
        if is_word and bare != value:
            return None
        if digits is not None:
            found.append(_scaled(digits, unit))
        else:
            found.append(None if bare.lower() in no_value else bare)
    return value, () if is_word else tuple(found)


def _decimals_of_one(digits: str) -> int:
    return decimals_of((digits.encode(),), ".")


def _rounding(decimals: int, unit: Unit, metric: str) -> float:
    """Half of the last place. Where that is less than one event of a counter of whole events, the number is exact."""
    if not decimals and not unit.scaled:
        return 0.0
    error = float(f"0.5e{unit.power - decimals}")
    one = 1e-9 if unit.name == "s" else 1.0
    return 0.0 if metrics.is_whole(metric, unit.name) and error <= one / 2 else error


def _below(rounding: float, unit: Unit) -> str:
    return f"below {rounding:g} {unit.name}: the file's unit leaves no digit of it"
