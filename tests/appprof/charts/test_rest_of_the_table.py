"""The row of all other kernels: a time that nobody knows is not 0 s."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from appprof.charts.kernel_table import _rest


def kernel(seconds: float | None) -> SimpleNamespace:
    return SimpleNamespace(seconds=seconds, time_share=None if seconds is None else 0.1, launches=2)


@pytest.mark.parametrize(
    ("times", "shown", "hidden"),
    [
        ([1e-3, 2e-3], ["3.00 ms", "20%"], ["unknown time", "–"]),
        ([1e-3, None], ["1.00 ms", "1 of unknown time"], ["–"]),
        ([None, None], ["–", "2 of unknown time"], ["0 s", "0%"]),
    ],
)
def test_unknown_times_are_counted_and_never_read_as_zero(times, shown, hidden):
    row = _rest([kernel(seconds) for seconds in times])
    assert all(text in row for text in shown)
    assert not any(text in row for text in hidden)
