"""Numbers that no arithmetic bears, typed by hand into any field of any document that is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from example_models import cpu_model, cpu_sweep, h200_model
from example_profiles import application, cell, flop, traffic
from made_up_benchmarks import as_file, made_up_run

from appprof.application import ApplicationModel
from ert_numba.counted import Check, Verdict
from ert_numba.errors import ErtError
from ert_numba.judge.history import entry_of_model
from ert_numba.judge.suite import judge
from ert_numba.store.benchmark_files import read_start
from ert_numba.store.documents import encode, load_any, registered
from ert_numba.store.import_ert import import_ert
from ert_numba.store.magnitudes import LEAST, MOST, faults_of_numbers, is_usable

SETTINGS = {"budget_seconds": 3.0, "threads": 2, "cache_bytes": 4096}
CHECK = Check(ceiling="k", kernel="k", what="FLOP", counter="c", declared=1.0, counted=1.0, error=0.0, tolerance=0.01,
              passed=True)  # fmt: skip
SWEEP = msgspec.structs.replace(cpu_sweep(), settings=SETTINGS, samples=cpu_sweep().samples[:2])
DOCUMENTS = (
    SWEEP,
    msgspec.structs.replace(cpu_model(), settings=SETTINGS),
    judge(made_up_run("a"), made_up_run("b", seed=2)),
    entry_of_model(cpu_model()),
    Verdict(run="r", device="d", architecture="sm_90", tool="t", settings=SETTINGS, checks=(CHECK,),
            provenance=h200_model().provenance),
    application(cell(flop=(flop("fp64.vector", 1e9),), traffic=traffic(DRAM=1e9), facts={"waves": 1.5},
                     flop_status="complete", stream=7, process=8, device=0)),
)  # fmt: skip
BEYOND = ("1" + "0" * 400, "-1" + "0" * 400, "1" + "0" * 80, "1e308", "5e-324", "-5e-324")
NO_JSON = ("1e400", "-1e400", "NaN", "Infinity", "9" * 5000)


def numbers(value: Any, steps: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to one number of each kind of field."""
    seen: set[tuple[str | int, ...]] = set()
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield steps
    for step, inner in inside:
        for way in numbers(inner, (*steps, step)):
            kind = tuple("#" if isinstance(part, int) else part for part in way)
            if kind not in seen:
                seen.add(kind)
                yield way


def edited(plain: Any, way: tuple[str | int, ...], literal: str) -> bytes:
    copy = json.loads(json.dumps(plain))
    inner = copy
    for step in way[:-1]:
        inner = inner[step]
    inner[way[-1]] = "@"
    return json.dumps(copy).replace('"@"', literal, 1).encode()


def places() -> Iterator[Any]:
    for document in DOCUMENTS:
        plain = json.loads(encode(document))
        for way in numbers(plain):
            if way != ("version",):
                yield pytest.param(plain, way, id=f"{type(document).__name__}:{'/'.join(map(str, way))}")


PLACES = list(places())
FREE = {"settings", "conditions", "axes"}  # where a truth value may stand
TYPED = [place for place in PLACES if not FREE.intersection(place.values[1])]


def test_every_document_that_is_read_is_here():
    assert {type(document) for document in DOCUMENTS} == {row.type for row in registered()}
    assert ApplicationModel in {row.type for row in registered()}


@pytest.mark.parametrize(("plain", "way"), PLACES)
def test_no_field_of_any_document_takes_a_number_beyond_all_others(plain, way, tmp_path):
    path = tmp_path / "document.json"
    for literal in BEYOND:
        path.write_bytes(edited(plain, way, literal))
        with pytest.raises(ErtError) as caught:
            load_any(path)
        error = caught.value
        named = [step for step in way if isinstance(step, str)]
        assert str(path) in error.found
        assert named[-1] in error.found or f"{named[-2]}[...]" in error.found  # msgspec says no key of a mapping
        assert len(error.found) < 400
        assert "edit" in error.remedy


@pytest.mark.parametrize(("plain", "way"), PLACES)
def test_what_is_no_number_is_no_document(plain, way, tmp_path):
    path = tmp_path / "document.json"
    for literal in NO_JSON:
        path.write_bytes(edited(plain, way, literal))
        with pytest.raises(ErtError, match=re.escape(str(path))):
            load_any(path)


@pytest.mark.parametrize(("plain", "way"), TYPED)
def test_a_truth_value_is_no_number(plain, way, tmp_path):
    path = tmp_path / "document.json"
    path.write_bytes(edited(plain, way, "true"))
    with pytest.raises(ErtError, match="got `bool`"):
        load_any(path)


def test_the_field_is_named_by_its_whole_path():
    sample = msgspec.structs.replace(SWEEP.samples[0], conditions={"load": float("nan"), "on": True, "sign": -0.0})
    model = msgspec.structs.replace(SWEEP, samples=(SWEEP.samples[1], sample), settings={"seed": 10**400})
    texts = list(faults_of_numbers(model))
    assert texts == [
        "settings.seed is 100000000000000000000000..., where 0 or a number from 1e-70 to 1e+70 must stand",
        "samples[1].conditions.load is nan, where 0 or a number from 1e-70 to 1e+70 must stand",
    ]


def test_the_edges_are_usable():
    assert all(map(is_usable, (0, -0.0, LEAST, MOST, -LEAST, -MOST, 1, 2**64)))
    assert not any(map(is_usable, (LEAST / 2, MOST * 2, float("nan"), float("inf"), 10**400, -(10**400))))


@pytest.mark.parametrize("place", ["machine_info/ert_numba/device/units", "benchmarks/0/stats/data/0",
                                   "benchmarks/0/extra_info/ert_numba/conditions/power_w",
                                   "benchmarks/0/extra_info/ert_numba/axes/threads"])  # fmt: skip
@pytest.mark.parametrize("literal", BEYOND)
def test_a_file_of_benchmarks_neither(place, literal, tmp_path):
    plain = as_file(made_up_run("a").starts[0])
    said = plain["benchmarks"][0]["extra_info"]["ert_numba"]
    said["conditions"], said["axes"] = {"power_w": 1}, {"threads": 1}
    way = tuple(int(step) if step.isdecimal() else step for step in place.split("/"))
    path = tmp_path / "0001_a.json"
    path.write_bytes(edited(plain, way, literal))
    with pytest.raises(ErtError) as caught:
        read_start(path)
    assert caught.value.exit_code == 3
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("literal", [*BEYOND, *NO_JSON])
def test_a_result_of_ert_neither(literal, tmp_path):
    source = Path(__file__).parents[2] / "data" / "ert" / "several_precisions.json"
    plain = json.loads(source.read_bytes())
    path = tmp_path / "roofline.json"
    path.write_bytes(edited(plain, ("empirical", "gflops", "data", 0, 1), literal))
    with pytest.raises(ErtError, match=re.escape(str(path))):
        import_ert(path)
