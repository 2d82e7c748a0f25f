"""Every spelling of a unit over the versions of the tool, and none that it does not know."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from appprof.report.csv_units import Unit, parse_unit


@pytest.mark.parametrize(
    ("text", "name", "power"),
    [
        ("nsecond", "s", -9),
        ("ns", "s", -9),
        ("usecond", "s", -6),
        ("us", "s", -6),
        ("msecond", "s", -3),
        ("ms", "s", -3),
        ("second", "s", 0),
        ("s", "s", 0),
        ("byte", "B", 0),
        ("Kbyte", "B", 3),
        ("Mbyte", "B", 6),
        ("Gbyte", "B", 9),
        ("Tbyte", "B", 12),
        ("hz", "Hz", 0),
        ("Ghz", "Hz", 9),
        ("cycle/second", "Hz", 0),
        ("cycle/nsecond", "Hz", 9),
        ("cycle/usecond", "Hz", 6),
        ("byte/second", "B/s", 0),
        ("byte/s", "B/s", 0),
        ("Gbyte/s", "B/s", 9),
        ("Kbyte/block", "B/block", 3),
        ("byte/block", "B/block", 0),
        ("register/thread", "register/thread", 0),
        ("inst/cycle", "inst/cycle", 0),
        ("byte/cycle", "B/cycle", 0),
        ("inst", "inst", 0),
        ("sector", "sector", 0),
        ("%", "%", 0),
        ("SM", "SM", 0),
        ("", "", 0),
    ],
)
def test_spelling(text: str, name: str, power: int) -> None:
    unit = parse_unit(text)
    assert unit is not None
    assert (unit.name, unit.power) == (name, power)


@pytest.mark.parametrize("text", ["nsecond", "ns", "byte", "inst", "hz", "byte/block", ""])
def test_base_units_are_not_scaled(text: str) -> None:
    unit = parse_unit(text)
    assert unit is not None
    assert not unit.scaled


@pytest.mark.parametrize("text", ["Kbyte", "Mbyte", "us", "ms", "Ghz", "Gbyte/s"])
def test_prefixed_units_are_scaled(text: str) -> None:
    unit = parse_unit(text)
    assert unit is not None
    assert unit.scaled


@pytest.mark.parametrize("text", ["furlong", "Xbyte", "mbyte", "byte/furlong", "byte/s/s", "/", "KK", "kg"])
def test_unknown_units_are_unknown(text: str) -> None:
    assert parse_unit(text) is None


def test_every_unit_of_the_h200_files_is_known(h200: Path) -> None:
    for name in ("micro_raw.csv", "micro_raw_base.csv", "gemm_raw.csv"):
        rows = list(csv.reader((h200 / name).open()))
        assert all(isinstance(parse_unit(unit), Unit) for unit in rows[1])
