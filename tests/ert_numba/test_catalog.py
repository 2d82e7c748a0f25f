from __future__ import annotations

import re

import pytest

from ert_numba.catalog import memory_levels, precisions
from ert_numba.catalog.memory_levels import MEMORY_LEVELS, level_order
from ert_numba.catalog.precisions import PRECISIONS


def test_no_key_stands_twice():
    # A table by key drops a double row without a word.
    assert len(precisions.BY_KEY) == len(PRECISIONS)
    assert len(memory_levels.BY_KEY) == len(MEMORY_LEVELS)
    assert len({row.label for row in PRECISIONS}) == len(PRECISIONS)


@pytest.mark.parametrize("row", PRECISIONS, ids=lambda row: row.key)
def test_a_precision(row):
    assert re.fullmatch(r"(fp|bf|tf|int)\d+(_\w+)?", row.key)
    assert row.bits == row.bytes * 8
    assert str(row.bits) in row.key or row.key == "tf32"
    assert row.operation == ("OP" if row.key.startswith("int") else "FLOP")
    # Integers are exact; a shorter significand may be further off.
    assert (row.relative_tolerance == 0) == row.key.startswith("int")
    assert 0 <= row.relative_tolerance < 1


def test_a_shorter_format_may_be_further_off():
    floats = [row for row in PRECISIONS if row.operation == "FLOP" and row.key.startswith("fp")]
    assert [r.bits for r in floats] == sorted((r.bits for r in floats), reverse=True)
    assert [r.relative_tolerance for r in floats] == sorted(r.relative_tolerance for r in floats)


@pytest.mark.parametrize("row", MEMORY_LEVELS, ids=lambda row: f"{row.device_kind}-{row.key}")
def test_a_level(row):
    assert row.device_kind in ("cpu", "gpu")
    assert row.scope in ("core", "SM", "socket", "device", "link")
    assert row.label
    assert level_order(row.device_kind, row.key) == row.order


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_levels_stand_in_order_from_the_core_outwards(kind):
    orders = [row.order for row in MEMORY_LEVELS if row.device_kind == kind]
    assert orders == sorted(set(orders))
    assert level_order(kind, "L1") < level_order(kind, "L2") < level_order(kind, "DRAM")


def test_a_level_that_no_row_names_sorts_last():
    last = max(row.order for row in MEMORY_LEVELS)
    assert level_order("cpu", "STREAM-HBM") > last
    assert level_order("cpu", "SHARED") > last
