from __future__ import annotations

import msgspec
import pytest
from example_models import cpu_model, h200_model
from hypothesis import given
from hypothesis import strategies as st

from ert_numba.machine import attainable, ridge
from ert_numba.records import DeviceInfo, Limit, Point

replace = msgspec.structs.replace
rates = st.floats(1e3, 1e18)


@given(intensity=st.floats(1e-6, 1e6), peak=rates, bandwidth=rates)
def test_no_point_lies_above_a_roof(intensity, peak, bandwidth):
    roof = attainable(intensity, peak, bandwidth)
    assert roof <= peak
    assert roof <= intensity * bandwidth
    assert roof in (peak, intensity * bandwidth)


@given(peak=rates, bandwidth=rates)
def test_the_roofs_meet_at_the_ridge(peak, bandwidth):
    at = ridge(peak, bandwidth)
    assert attainable(at, peak, bandwidth) == pytest.approx(peak)
    assert attainable(at * 2, peak, bandwidth) == peak
    assert attainable(at / 2, peak, bandwidth) == pytest.approx(peak / 2)


def test_a_ceiling_is_found_by_its_key():
    model = cpu_model()
    for row in model.ceilings:
        assert model.ceiling(row.key) is row
    assert model.ceiling("no.such") is None


@pytest.mark.parametrize("model", [cpu_model(), h200_model()], ids=["cpu", "gpu"])
def test_bandwidth_roofs_come_nearest_level_first_and_peaks_highest_first(model):
    order = ["SHARED", "L1", "L2", "L3", "DRAM", "REMOTE", "HOST"]
    levels = [row.level for row in model.roofs("bandwidth")]
    assert levels
    assert levels == sorted(levels, key=order.index)
    peaks = [row.value for row in model.roofs("compute")]
    assert peaks == sorted(peaks, reverse=True)


def test_an_impossible_ceiling_is_kept_and_is_no_roof():
    model = cpu_model()
    row = replace(model.roofs("compute")[0], impossible=True)
    model = replace(model, ceilings=(row,))
    assert model.ceiling(row.key) is row
    assert model.roofs("compute") == ()


def test_a_roof_belongs_to_its_scope():
    row = replace(cpu_model().roofs("compute")[0], scope="core", key="fp64.vector.fma@core")
    model = replace(cpu_model(), ceilings=(row,))
    assert model.roofs("compute") == ()
    assert model.roofs("compute", "core") == (row,)


def test_the_share_of_a_limit():
    row = cpu_model().ceilings[0]
    assert replace(row, value=95.0, limit=100.0).share_of_limit == pytest.approx(0.95)
    assert replace(row, limit=None).share_of_limit is None


def test_a_device_knows_its_limits_and_its_folder():
    limit = Limit(key="fp64.vector.fma", per_cycle=16.0, source="isa")
    device = DeviceInfo(kind="cpu", name="A/B é", vendor="v", architecture="x86_64", units=2, limits=(limit,))
    assert device.limit("fp64.vector.fma") is limit
    assert device.limit("fp32.vector.fma") is None
    assert device.slug == "a-b-e"
    assert replace(device, name="龍芯").slug == "unnamed-cpu"


def test_the_key_of_a_point_says_its_axes_in_any_order():
    first = Point(kernel="k", ceiling="c", axes={"threads": 2, "size": 64})
    second = Point(kernel="k", ceiling="c", axes={"size": 64, "threads": 2})
    assert first.key == second.key == "k:c[size=64,threads=2]"
    assert msgspec.json.decode(msgspec.json.encode(first), type=Point).key == first.key


axes = st.dictionaries(
    st.sampled_from("abc"), st.integers(-5, 5) | st.booleans() | st.sampled_from(["x", "y"]), max_size=3
)


@given(a=axes, b=axes)
def test_points_of_other_axes_have_other_keys(a, b):
    kinds = [{name: (type(value), value) for name, value in side.items()} for side in (a, b)]
    keys = [Point(kernel="k", ceiling="c", axes=side).key for side in (a, b)]
    assert (keys[0] == keys[1]) == (kinds[0] == kinds[1])
