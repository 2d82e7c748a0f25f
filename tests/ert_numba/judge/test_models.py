from __future__ import annotations

import msgspec
import pytest
from document_strategies import machine_models
from example_models import cpu_model, h200_model
from hypothesis import given

from ert_numba.errors import NotComparable
from ert_numba.judge.conditions import Difference
from ert_numba.judge.models import compare
from ert_numba.machine import Ceiling, Knee, MachineModel

replace = msgspec.structs.replace


def ceiling(key="L1.read", *, low=95.0, value=100.0, high=105.0, kind="bandwidth", unit="B/s", **more) -> Ceiling:
    return Ceiling(key=key, kind=kind, value=value, low=low, high=high, unit=unit, **more)


def knee(low=30e3, value=32e3, high=34e3, level="L1", **more) -> Knee:
    return Knee(level=level, capacity_bytes=value, low=low, high=high, shape="cliff", witness="bandwidth", **more)


def model(*ceilings: Ceiling, knees=(), **more) -> MachineModel:
    return replace(cpu_model(), ceilings=ceilings, knees=knees, **more)


def one(a: Ceiling, b: Ceiling):
    (change,) = compare(model(a), model(b)).ceilings
    return change


HIGHER, LOWER = {"low": 110.0, "value": 115.0, "high": 120.0}, {"low": 80.0, "value": 85.0, "high": 90.0}


@pytest.mark.parametrize(
    ("kind", "other", "verdict"),
    [
        ("bandwidth", HIGHER, "FASTER"),
        ("bandwidth", LOWER, "SLOWER"),
        ("compute", HIGHER, "FASTER"),
        ("latency", HIGHER, "SLOWER"),
        ("latency", LOWER, "FASTER"),
        ("overhead", LOWER, "FASTER"),
        ("bandwidth", {"low": 99.0, "value": 103.0, "high": 120.0}, "SAME"),
        ("bandwidth", {"low": 105.0, "value": 110.0, "high": 120.0}, "UNKNOWN"),  # they touch
        ("bandwidth", {"low": 105.5, "value": 110.0, "high": 120.0}, "FASTER"),
        ("bandwidth", {"low": 10.0, "value": 50.0, "high": 500.0}, "UNKNOWN"),  # such an interval overlaps with any
    ],
)
def test_a_verdict_needs_intervals_that_do_not_overlap(kind, other, verdict):
    change = one(ceiling(kind=kind), ceiling(kind=kind, **other))
    assert change.verdict == verdict
    assert change.overlap == (verdict in ("SAME", "UNKNOWN"))
    assert ("wide enough" in change.reason) == (verdict == "UNKNOWN")
    assert change.change == pytest.approx(other["value"] / 100 - 1)
    assert (change.a.low, change.b.high) == (95.0, other["high"])


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ({"noisy": True}, HIGHER, "samples of A did not agree"),
        ({"noisy": True}, HIGHER | {"noisy": True}, "samples of A and B did not agree"),
        ({}, HIGHER | {"impossible": True}, "B: it lies above the physical limit"),
        ({}, {"impossible": True}, "B: it lies above the physical limit"),
        ({"verified": False, "low": 100.0, "high": 100.0}, {}, "A: it was imported and has no interval"),
        ({}, HIGHER | {"unit": "FLOP/s"}, "A is a bandwidth in B/s, B a bandwidth in FLOP/s"),
    ],
)
def test_a_side_that_cannot_bear_a_verdict_says_why(a, b, reason):
    change = one(ceiling(**a), ceiling(**b))
    assert change.verdict == "UNKNOWN"
    assert reason in change.reason


def test_noise_does_not_hide_that_intervals_overlap():
    assert one(ceiling(noisy=True), ceiling(value=101.0)).verdict == "SAME"


def test_units_that_differ_give_no_change():
    change = one(ceiling(), ceiling(unit="FLOP/s"))
    assert (change.change, change.overlap) == (None, None)


def test_what_is_new_and_what_is_missing_is_listed():
    changes = compare(
        model(ceiling("L1.read"), ceiling("L2.read")), model(ceiling("L3.read"), ceiling("L1.read"))
    ).ceilings
    assert [(row.key, row.verdict) for row in changes] == [
        ("L1.read", "SAME"),
        ("L2.read", "MISSING"),
        ("L3.read", "NEW"),
    ]
    assert (changes[1].b, changes[2].a) == (None, None)
    assert (changes[1].a.value, changes[2].b.value) == (100.0, 100.0)


def test_a_knee_grows_or_shrinks():
    def verdicts(a, b):
        return [row.verdict for row in compare(model(knees=a), model(knees=b)).knees]

    assert verdicts((knee(),), (knee(),)) == ["SAME"]
    assert verdicts((knee(),), (knee(60e3, 64e3, 68e3),)) == ["LARGER"]
    assert verdicts((knee(),), (knee(15e3, 16e3, 17e3),)) == ["SMALLER"]
    assert verdicts((knee(),), (knee(level="L2"),)) == ["MISSING", "NEW"]
    # Two curves may see a knee of one level; each is compared with its own.
    two = (knee(ceiling="L1.read"), knee(ceiling="L1.read.private"), knee(ceiling="L1.read"))
    assert verdicts(two, two) == ["SAME", "SAME", "SAME"]


def test_conditions_of_a_ceiling_that_differ_are_named():
    a = ceiling(conditions={"threads": 2, "page_bytes": 4096}, clock_hz=(3.6e9, 3.7e9), kernel="cpu_load")
    b = ceiling(conditions={"threads": 1, "page_bytes": 4096, "streams": 4}, clock_hz=(2.0e9, 2.1e9), kernel="cpu_load")
    assert one(a, b).differences == (
        Difference(name="threads", a="2", b="1"),
        Difference(name="streams", a=None, b="4"),
        Difference(name="clock", a="3.600 GHz to 3.700 GHz", b="2.000 GHz to 2.100 GHz"),
    )


@pytest.mark.parametrize("other", [(3.65e9, 3.9e9), None])
def test_clocks_that_overlap_or_were_not_seen_are_no_difference(other):
    assert one(ceiling(clock_hz=(3.6e9, 3.7e9)), ceiling(clock_hz=other)).differences == ()


def test_conditions_of_the_run_that_differ_are_named():
    a = cpu_model()
    device = replace(a.device, units=1, properties={"huge pages": "never"}, maximum_clock_hz=3e9)
    provenance = replace(a.provenance, versions=a.provenance.versions | {"numba": "0.70.0"})
    b = replace(a, device=device, settings=a.settings | {"seed": 99, "levels": "L1,L2"}, provenance=provenance)
    a = replace(a, settings=a.settings | {"levels": "", "threads": 2})
    names = {row.name: (row.a, row.b) for row in compare(a, b).differences}
    assert names["device units"] == (str(a.device.units), "1")
    assert names["setting seed"][1] == "seed 99"
    assert names["setting levels"] == ("all memory levels", "memory levels L1, L2")
    assert names["version of numba"] == (a.provenance.versions["numba"], "0.70.0")
    assert names["device huge pages"][1] == "never"
    assert names["device maximum clock"][1] == "3.00 GHz"


@pytest.mark.parametrize(
    ("name", "left", "chosen", "words"),
    [("quick", False, True, "quick"), ("threads", 0, 1, "1 thread"), ("sizes", "", "4096", "working sets 4 KiB")],
)
def test_what_was_left_to_a_sweep_is_said_so_beside_what_was_chosen(name, left, chosen, words):
    a, b = (replace(cpu_model(), settings={name: value}) for value in (left, chosen))
    (row,) = compare(a, b).differences
    assert (row.name, row.a, row.b) == (f"setting {name}", "not chosen", words)


def test_a_model_is_the_same_as_itself():
    for example in (cpu_model(), h200_model()):
        comparison = compare(example, example)
        assert {row.verdict for row in comparison.ceilings if not row.reason} <= {"SAME"}
        assert comparison.differences == ()


def test_a_partial_run_is_named():
    notes = compare(model(), model(partial=True)).notes
    assert len(notes) == 1
    assert notes[0].startswith("B is partial")


def test_a_cpu_and_a_gpu_are_not_comparable_whatever_is_forced():
    for force in (False, True):
        with pytest.raises(NotComparable, match="GPU") as caught:
            compare(cpu_model(), h200_model(), force=force)
        assert caught.value.exit_code == 4


def test_devices_of_other_names_need_force():
    a = cpu_model()
    b = replace(a, device=replace(a.device, name="Another CPU"))
    with pytest.raises(NotComparable, match="Another CPU") as caught:
        compare(a, b)
    assert a.device.name in str(caught.value)
    assert "--force" in caught.value.remedy
    forced = compare(a, b, force=True)
    assert (forced.device_a, forced.device_b) == (a.device.name, "Another CPU")
    assert Difference(name="device name", a=a.device.name, b="Another CPU") in forced.differences


@given(a=machine_models, b=machine_models)
def test_both_ways_round_the_verdicts_mirror(a, b):
    b = replace(b, device=replace(b.device, kind=a.device.kind))
    mirror = {"FASTER": "SLOWER", "LARGER": "SMALLER", "NEW": "MISSING", "SAME": "SAME", "UNKNOWN": "UNKNOWN"}
    mirror |= {value: key for key, value in mirror.items()}
    there, back = compare(a, b, force=True), compare(b, a, force=True)
    for part in ("ceilings", "knees"):
        forward = {row.key: row.verdict for row in getattr(there, part)}
        assert {row.key: mirror[row.verdict] for row in getattr(back, part)} == forward
    assert {row.key for row in there.ceilings} == {row.key for row in (*a.ceilings, *b.ceilings)}
