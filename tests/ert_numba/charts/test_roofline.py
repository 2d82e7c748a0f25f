import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ert_numba.charts.roofline import NARROW, WIDE, Roof, at, flat_labels, frame, segment

RATES = st.lists(st.floats(1e9, 1e14), min_size=1, max_size=6)
PEAKS = st.lists(st.floats(1e9, 1e16), min_size=1, max_size=30)


def roof(key, value, flat, strong=True):
    return Roof(key=key, label=f"{key} label", short=key, value=value, colour="#000000", flat=flat, strong=strong)


def machine(rates, peaks):
    return [roof(f"L{i}", v, False) for i, v in enumerate(rates)] + [
        roof(f"f{i}", v, True) for i, v in enumerate(peaks)
    ]


@given(RATES, PEAKS, st.sampled_from([WIDE, NARROW]))
def test_every_ridge_lies_in_the_frame(rates, peaks, size):
    plane = frame(machine(rates, peaks), [], size, frozenset())
    for rate in rates:
        for peak in peaks:
            assert 0 <= plane.right(peak / rate) <= size.width
            assert 0 <= plane.down(peak) <= size.height


@given(RATES, PEAKS)
def test_a_roof_is_drawn_where_it_bounds_and_nowhere_else(rates, peaks):
    roofs = machine(rates, peaks)
    plane = frame(roofs, [], WIDE, frozenset())
    for row in roofs:
        start, end = segment(row, roofs, plane)
        assert 0 < plane.x[0] <= start < end <= plane.x[1] * (1 + 1e-12)
        if row.flat:
            assert start == max(plane.x[0], row.value / max(rates))
        else:
            assert end * row.value <= max(peaks) * (1 + 1e-12)
            assert start * row.value >= plane.y[0] * (1 - 1e-12)


def test_a_slope_starts_where_it_enters_the_frame():
    roofs = machine([1e12, 1e11], [1e13])
    plane = frame(roofs, [], WIDE, frozenset({"L1"}))
    start, _ = segment(roofs[1], roofs, plane)
    assert start == plane.y[0] / 1e11 > plane.x[0]
    assert at(roofs[1], start) == pytest.approx(plane.y[0])


def test_a_roof_below_the_frame_is_not_drawn():
    roofs = machine([1e12, 1.0], [1e13])
    assert segment(roofs[1], roofs, frame(roofs, [], WIDE, frozenset({"L1"}))) is None


def test_heights():
    assert at(roof("f", 5e9, True), 100.0) == 5e9
    assert at(roof("L", 5e9, False), 0.5) == 2.5e9
    assert at(roof("L", 5e9, False), 0.5, value=6e9) == 3e9


@given(RATES, PEAKS, st.sampled_from([WIDE, NARROW]))
def test_pixels_and_data_are_inverse(rates, peaks, size):
    plane = frame(machine(rates, peaks), [], size, frozenset())
    for pixel in (0.0, 17.0, 300.0):
        assert plane.right(plane.x_at(pixel)) == pytest.approx(pixel, abs=1e-6)
        assert plane.down(plane.y_at(pixel)) == pytest.approx(pixel, abs=1e-6)
    x, y = plane.x[0], plane.y[0]
    rise = plane.down(y) - plane.down(2 * y)
    assert math.tan(plane.slope) == pytest.approx(rise / (plane.right(2 * x) - plane.right(x)))


@pytest.mark.parametrize(("rates", "peaks"), [([], [1e12, 2e12]), ([1e11, 4e10], [])])
def test_a_frame_needs_only_one_kind_of_roof(rates, peaks):
    roofs = machine(rates, peaks)
    plane = frame(roofs, [], WIDE, frozenset())
    assert all(segment(row, roofs, plane) for row in roofs)
    assert plane.y[1] / plane.y[0] < 1e8


def test_points_widen_the_frame():
    roofs = machine([1e11], [1e12])
    plane = frame(roofs, [(1e-4, 3e6), (5000.0, 1e12), (0.0, 1.0), (1.0, math.nan)], WIDE, frozenset())
    assert plane.x[0] < 1e-4
    assert plane.x[1] > 5000
    assert plane.y[0] < 3e6


@given(PEAKS)
def test_labels_in_the_margin_keep_apart_and_in_order(peaks):
    roofs = machine([1e12], peaks)
    plane = frame(roofs, [], WIDE, frozenset())
    labels = flat_labels(roofs, plane)
    downs = [plane.down(label.y) for label in labels]
    assert len(labels) == len(peaks)
    assert all(low - high >= WIDE.font for high, low in itertools.pairwise(downs))
    assert all(-1 <= down <= WIDE.height + 1 for down in downs)
    assert [label.leader_y for label in labels] == sorted(peaks, reverse=True)


def test_only_strong_roofs_are_labelled_where_there_are_many():
    roofs = [roof(f"f{i}", 1e12 * 1.3**i, True, strong=i % 3 == 0) for i in range(24)]
    labels = flat_labels(roofs, frame(roofs, [], WIDE, frozenset()))
    assert {label.key for label in labels} == {row.key for row in roofs if row.strong}


def test_neighbours_share_a_label_in_a_narrow_frame():
    roofs = [
        roof("FP16", 957e12, True),
        roof("BF16", 951e12, True),
        roof("FP64", 33e12, True),
        roof("L1", 33e12, False),
    ]
    labels = flat_labels(roofs, frame(roofs, [], NARROW, frozenset()))
    assert [label.text for label in labels] == ["FP16, BF16 951–957 T", "FP64 33.0 T"]
