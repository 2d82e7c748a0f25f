"""Warp instructions, threads and sectors: from whatever form a report has them in, whole or not at all."""

import pytest

from appprof.counts.events import ask_for_events
from appprof.counts.resolve import count
from appprof.metrics_events import GLOBAL, GLOBAL_SECTORS, THREADS, THREADS_ON, WARP
from appprof.report.read import read_report

REQUESTS, SECTORS = (f"l1tex__t_{what}_pipe_lsu_mem_global_op_" for what in ("requests", "sectors"))


def events(kernel):
    return {row.key: row.value for row in count(kernel).events}


def test_sums_are_taken_as_they_are(make_kernel):
    found = events(make_kernel({
        "smsp__inst_executed.sum": 1000.0, "sm__inst_executed.sum": 9.0, "smsp__thread_inst_executed.sum": 24_000.0,
        f"{REQUESTS}ld.sum": 100.0, f"{REQUESTS}st.sum": 50.0, f"{SECTORS}ld.sum": 400.0, f"{SECTORS}st.sum": 1600.0,
    }))  # fmt: skip
    assert found == {WARP: 1000.0, THREADS: 24_000.0, GLOBAL: 150.0, GLOBAL_SECTORS: 2000.0}


def test_an_average_per_instruction_is_brought_back_to_a_count(make_kernel):
    kernel = make_kernel({
        "smsp__inst_executed.sum": 1000.0, "smsp__thread_inst_executed_per_inst_executed.ratio": 24.0,
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio": 22.5,
    })  # fmt: skip
    assert events(kernel) == {WARP: 1000.0, THREADS: 24_000.0, THREADS_ON: 22_500.0}
    origins = {row.key: row.origin for row in count(kernel).events}
    assert origins[THREADS].form == "ratio x instructions"
    assert "smsp__inst_executed.sum" in origins[THREADS].metrics


def test_an_average_without_what_it_is_of_is_nothing(make_kernel):
    assert events(make_kernel({"smsp__thread_inst_executed_per_inst_executed.ratio": 24.0})) == {}


def test_one_direction_alone_is_no_pattern_of_access(make_kernel):
    assert events(make_kernel({f"{REQUESTS}ld.sum": 100.0, f"{SECTORS}ld.sum": 400.0})) == {}


def test_rates_and_per_cycle_values_serve_too(make_kernel):
    rate = make_kernel({"smsp__inst_executed.sum.per_second": 1e9, "gpu__time_duration.sum": 1e-3})
    assert events(rate) == {WARP: 1e6}
    cycles = make_kernel({"sm__inst_executed.sum.per_cycle_elapsed": 2.5, "sm__cycles_elapsed.avg": 4000.0})
    assert events(cycles) == {WARP: 10_000.0}


def test_what_is_asked_for_is_what_is_understood(h200, make_kernel):
    """The names of the preferred counters, each one that the chip of the test data lists."""
    names = set((h200 / "metric_names_gh100.txt").read_text(encoding="utf-8").split())
    asked = ask_for_events()
    assert {name.removesuffix(".sum") for name in asked} <= names
    assert set(events(make_kernel(dict.fromkeys(asked, 1.0)))) == {WARP, THREADS, THREADS_ON, GLOBAL, GLOBAL_SECTORS}


def test_the_count_of_a_real_report(h200):
    kernels = read_report([h200 / "micro.ncu-rep"]).kernels
    assert events(kernels[0])[WARP] == 294_201_600
    assert events(kernels[4])[WARP] == pytest.approx(90_177_536)
