"""Figures as text: nothing that is almost all is called all, and nothing unknown is called 0."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appprof.phrases import part, percent, ratio, signed, unknown


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0%"), (1e-9, "under 1%"), (0.5, "50%"), (0.999, "over 99%"), (1.0, "100%")],
)
def test_parts_of_a_whole(value, text):
    assert part(value) == text


@given(st.floats(min_value=0.0, max_value=1.0))
def test_only_all_is_all_and_only_nothing_nothing(value):
    assert (part(value) == "0%") == (value == 0.0)
    assert (part(value) == "100%") == (value > 1.0 - 1e-12)


def test_other_figures():
    assert (percent(0.0312), percent(0.46), percent(1.4946)) == ("3.1%", "46%", "149%")
    assert (ratio(0.16667), ratio(41.8063), ratio(1733.5)) == ("0.167", "41.8", "1,734")
    assert (signed(None), signed(0.05), signed(-0.2)) == ("?", "+5.0%", "-20.0%")
    assert unknown(None, str) == "?"
    assert unknown(0.0, str) == "0.0"
