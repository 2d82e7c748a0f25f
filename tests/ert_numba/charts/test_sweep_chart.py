import json
from functools import cache

import example_models
import msgspec
import pytest
from vega_specs import check_log_axes, layers, marked, plain

from ert_numba.charts.roofline import NARROW, WIDE
from ert_numba.charts.sweep_chart import sweep_chart
from ert_numba.errors import ErtError
from ert_numba.records import Point, Sample, Work

SWEEP, MODEL = example_models.cpu_sweep(), example_models.cpu_model()
HOSTILE = "</script><img src=x onerror=alert(1)>"


@cache
def spec_of_cpu():
    return plain(sweep_chart(SWEEP, MODEL))


def domains(part, channel):
    spec = {"layer": part["layer"], "data": {"values": []}}
    return {
        tuple(unit["encoding"][channel]["scale"]["domain"])
        for unit, _ in layers(spec, _Any())
        if "scale" in unit["encoding"].get(channel, {})
    }


class _Any(dict):
    def __missing__(self, key):
        return []


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("knees", [MODEL.knees, MODEL.knees[:1], ()])
def test_the_specification_is_valid_and_its_axes_are_safe(size, knees):
    check_log_axes(plain(sweep_chart(SWEEP, msgspec.structs.replace(MODEL, knees=knees), size)))


def test_every_sample_is_drawn_at_its_best():
    spec = spec_of_cpu()
    drawn = sorted((row["x"], row["y"]) for row in marked(spec, "point"))
    expected = []
    for sample in SWEEP.samples:
        best, work = min(sample.seconds), sample.work
        value = best / work.accesses if work.accesses else work.bytes_counted / best
        expected.append((float(sample.point.axes["working_set_bytes"]), value))
    assert drawn == sorted(expected)


def test_both_panels_stand_over_the_same_sizes():
    spec = spec_of_cpu()
    bandwidth, latency = spec["vconcat"]
    assert (bandwidth["name"], latency["name"]) == ("bandwidth", "latency")
    assert domains(bandwidth, "x") == domains(latency, "x")
    assert len(domains(bandwidth, "x")) == len(domains(bandwidth, "y")) == 1
    assert domains(bandwidth, "y") != domains(latency, "y")


def test_every_dot_and_every_plateau_lies_in_its_frame():
    spec = spec_of_cpu()
    for part in spec["vconcat"]:
        ((left, right),), ((bottom, top),) = domains(part, "x"), domains(part, "y")
        for unit, rows in layers(part, spec["datasets"]):
            if unit["mark"]["type"] == "point":
                assert all(left < row["x"] < right and bottom < row["y"] < top for row in rows)


def test_plateaus_carry_the_models_intervals():
    rows = {row["ceiling"]: row for row in marked(spec_of_cpu(), "rect", fillOpacity=0.2)}
    read = MODEL.ceiling("L2.read")
    assert (rows["L2 read"]["low"], rows["L2 read"]["y"], rows["L2 read"]["high"]) == (read.low, read.value, read.high)
    assert "L1 latency" in rows


def test_knees_say_measured_against_nominal():
    texts = {row["knee"]: row["claim"] for row in marked(spec_of_cpu(), "text") if "knee" in row}
    assert texts["L1 32.6 KiB"] == "nominal 32 KiB"
    assert texts["L3 21.5 MiB / 2 cores"] == "nominal 32 MiB"


def test_a_knee_outside_the_measured_sizes_is_not_drawn():
    far = msgspec.structs.replace(MODEL.knees[0], capacity_bytes=1e15, low=9e14, high=1.1e15, nominal_bytes=None)
    spec = plain(sweep_chart(SWEEP, msgspec.structs.replace(MODEL, knees=(far,))))
    assert not [row for row in marked(spec, "text") if "knee" in row]


def test_the_line_of_a_curve_joins_the_best_of_each_size():
    size = {"working_set_bytes": 4096}
    for key, fields, best in (("read", {"bytes_counted": 1e6}, 1e9), ("latency", {"accesses": 1e6}, 1e-9)):
        point = Point(kernel="k", ceiling=f"curve.{key}", axes=size)
        samples = [Sample(point=point, work=Work(**fields), seconds=(time,)) for time in (2e-3, 1e-3, 3e-3)]
        spec = plain(sweep_chart(msgspec.structs.replace(SWEEP, samples=tuple(samples)), MODEL))
        assert [row["y"] for row in marked(spec, "line")] == [pytest.approx(best)]


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_a_gpu_keeps_private_and_shared_sets_apart(size):
    model = example_models.h200_model()
    spec = plain(sweep_chart(example_models.h200_sweep(), model, size))
    check_log_axes(spec)
    assert [part["name"] for part in spec["vconcat"]] == ["bandwidth", "bandwidth_shared", "latency"]
    unit = [unit for unit, _ in layers(spec) if unit["mark"]["type"] == "point"][1]
    assert unit["encoding"]["color"]["scale"]["domain"] == ["read, ca", "read, shared"]
    assert len(set(unit["encoding"]["color"]["scale"]["range"])) == 2


def test_access_kinds_keep_colour_and_shape_together():
    spec = spec_of_cpu()
    unit = next(unit for unit, _ in layers(spec) if unit["mark"]["type"] == "point")
    colour, shape = (unit["encoding"][channel]["scale"] for channel in ("color", "shape"))
    assert colour["domain"] == shape["domain"] == ["read", "write"]
    assert len(set(colour["range"])) == len(set(shape["range"])) == 2


@pytest.mark.parametrize("samples", [(), (msgspec.structs.replace(SWEEP.samples[0], work=Work(flop=1.0)),)])
def test_a_sweep_without_working_sets_is_a_clear_error(samples):
    with pytest.raises(ErtError, match="working set"):
        sweep_chart(msgspec.structs.replace(SWEEP, samples=samples), MODEL)


def test_hostile_names_are_only_text():
    device = msgspec.structs.replace(MODEL.device, name=HOSTILE + "\n" + HOSTILE)
    point = msgspec.structs.replace(SWEEP.samples[0].point, ceiling=f"curve.{HOSTILE}", axes={
        "working_set_bytes": 4096, HOSTILE: HOSTILE})  # fmt: skip
    odd = msgspec.structs.replace(SWEEP.samples[0], point=point)
    sweep = msgspec.structs.replace(SWEEP, device=device, samples=(*SWEEP.samples, odd))
    check_log_axes(plain(sweep_chart(sweep, msgspec.structs.replace(MODEL, device=device))))


def test_the_same_sweep_gives_the_same_bytes():
    first, second = (json.dumps(sweep_chart(example_models.cpu_sweep(), MODEL).to_dict(), sort_keys=True) for _ in "ab")
    assert first == second
