import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ert_numba.charts.labels import spread, text_width


@given(st.lists(st.floats(-50, 550), min_size=1, max_size=30), st.floats(1, 15))
def test_places_keep_apart_in_order_and_inside(wished, pitch):
    places = spread(sorted(wished), pitch, 500)
    assert all(later - earlier >= pitch - 1e-6 for earlier, later in itertools.pairwise(places))
    assert places[0] >= -1e-6
    assert places[-1] <= 500 + 1e-6


def test_wishes_that_can_be_met_are_met():
    assert spread([10.0, 30.0, 90.0], 12, 100) == [10.0, 30.0, 90.0]


def test_a_crowd_is_centred_on_its_wishes():
    assert spread([50.0, 50.0, 50.0], 10, 100) == pytest.approx([40.0, 50.0, 60.0])


def test_crowds_that_grow_together_are_centred_together():
    assert spread([50.0, 52.0, 58.0, 61.0], 10, 200) == pytest.approx([40.25, 50.25, 60.25, 70.25])


def test_wide_letters_take_more_room():
    assert text_width("漢字", 10) > text_width("ab", 10)
