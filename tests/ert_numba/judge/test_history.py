import msgspec
import pytest
from example_models import h200_model
from made_up_benchmarks import USER, foreign, made_up_run

from ert_numba.judge.history import BENCHMARKS, SWEEP, changed, entry_of_model, entry_of_run, series_of

replace = msgspec.structs.replace


def entry(run: str, created: str, starts: int = 5, driver: str = "580", **more):
    return replace(entry_of_run(made_up_run(run, driver=driver, **more)), created=created, starts=starts)


def test_a_run_of_benchmarks_keeps_its_figures_and_the_range_of_its_starts():
    run = made_up_run("nightly", driver="590.1")
    found = entry_of_run(run)
    assert (found.run, found.source, found.starts, found.driver) == ("nightly", BENCHMARKS, 5, "590.1")
    past = found.ceilings["DRAM.read"]
    assert (past.kind, past.unit) == ("bandwidth", "B/s")
    assert past.low < past.value < past.high
    assert past.value == pytest.approx(1.6e10 / 3.5e-3, rel=0.01)
    assert found.ceilings[USER].kind == "user"
    assert found.ceilings["DRAM.latency"].value == pytest.approx(1.5e-2 / 2.8e4, rel=0.01)


def test_a_sweep_keeps_its_ceilings_without_the_impossible():
    model = h200_model()
    rows = (replace(model.ceilings[0], impossible=True), *model.ceilings[1:])
    found = entry_of_model(replace(model, ceilings=rows))
    assert found.source == SWEEP
    assert set(found.ceilings) == {row.key for row in rows[1:]}
    assert found.ceilings[rows[1].key].value == rows[1].value


def test_a_series_runs_in_the_order_of_time_and_of_one_source():
    entries = [entry("b", "2026-02-01"), entry("a", "2026-01-01"), entry_of_model(h200_model())]
    (one, two) = series_of(entries, BENCHMARKS)["DRAM.read"]
    assert (one.entry.run, two.entry.run) == ("a", "b")
    assert len(series_of(entries, SWEEP)["DRAM.read"]) == 1


def test_of_a_run_that_was_recorded_again_the_fullest_record_counts():
    entries = [entry("a", "2026-01-01", starts=5), entry("a", "2026-01-01", starts=10), entry("a", "2026-01-02")]
    assert [dot.entry.starts for dot in series_of(entries, BENCHMARKS)["DRAM.read"]] == [10, 5]


def test_a_ceiling_that_changed_its_unit_begins_anew():
    old = entry("a", "2026-01-01")
    old = replace(old, ceilings={"DRAM.read": replace(old.ceilings["DRAM.read"], unit="s")})
    dots = series_of([old, entry("b", "2026-02-01")], BENCHMARKS)["DRAM.read"]
    assert [dot.entry.run for dot in dots] == ["b"]


def test_a_change_is_that_of_the_value():
    one, two = entry("a", "1").ceilings["DRAM.read"], entry("a", "2", times={"DRAM.read": 1.25}).ceilings["DRAM.read"]
    assert changed(one, two) == pytest.approx(-0.2)


def test_somebody_elses_benchmarks_have_no_ceilings():
    assert entry_of_run(foreign(made_up_run("x"))).ceilings == {}
