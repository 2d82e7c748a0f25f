"""The kernels as CSV: numbers of the result, and columns of what occurs in it alone."""

import csv
import io

import example_models
from example_profiles import application, cell, traffic

from appprof.analysis import analyse
from appprof.exports import as_csv
from appprof.metrics_events import GLOBAL, GLOBAL_SECTORS, WARP
from appprof.result import make_result

MACHINE = example_models.h200_model()


def rows_of(*cells):
    return list(csv.DictReader(io.StringIO(as_csv(make_result(analyse(application(*cells), MACHINE))))))


def test_instructions_have_columns_where_they_were_counted():
    counted = cell("a", events={WARP: 1e6, GLOBAL: 10.0, GLOBAL_SECTORS: 40.0}, traffic=traffic(DRAM=32e3))
    first, second = sorted(rows_of(counted, cell("b", traffic=traffic(DRAM=1e6))), key=lambda row: row["kernel"])
    assert float(first["warp_instructions"]) == 1e6
    assert float(first["instructions_per_transaction_DRAM"]) == 1000
    assert float(first["instructions_per_transaction_global"]) == 0.25
    assert second["warp_instructions"] == second["issue_share"] == ""
    assert "active_lanes" not in first


def test_no_columns_of_instructions_without_a_count():
    (row,) = rows_of(cell("b", traffic=traffic(DRAM=1e6)))
    assert not any("instruction" in name for name in row)


def test_a_name_is_no_formula():
    (row,) = rows_of(cell("=1+1", traffic=traffic(DRAM=1e6)))
    assert row["kernel"] == "'=1+1"
