"""The benchmarks themselves: one a ceiling, by pytest-benchmark, on the device's own clock.

All are measured, in turns, when the first one runs: one moment's rounds would see one phase of a shared machine. Each
test then hands its rounds to pytest-benchmark.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ert_numba.benchmarks.device_clock import DEVICE_CLOCK
from ert_numba.benchmarks.measuring import as_json, group_of, in_words, record_of
from ert_numba.benchmarks.plugin import listener_of, suite_of
from ert_numba.benchmarks.suite import Suite
from ert_numba.errors import ErtError
from ert_numba.starts import KEY

NAME = "ert_numba/benchmarks/test_ceilings.py::test_ceiling"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    try:
        keys = list(suite_of(metafunc.config).benchmarks)
    except ErtError as error:
        raise pytest.Collector.CollectError(str(error)) from None
    metafunc.parametrize("ceiling", keys, ids=keys)


@pytest.fixture(scope="session")
def suite(pytestconfig: pytest.Config) -> Iterator[Suite]:
    found = suite_of(pytestconfig)
    yield found
    found.close()


@pytest.mark.benchmark(timer=DEVICE_CLOCK)
def test_ceiling(request: pytest.FixtureRequest, benchmark: Any, suite: Suite, ceiling: str) -> None:
    """One ceiling of the machine: its rounds, and beside them what they mean."""
    if benchmark.disabled:
        pytest.skip("benchmarks are off here: under xdist (leave -n away) or by --benchmark-disable")
    try:
        rows = suite.measured(_selected(request.session), listener_of(request.config))
    except ErtError as error:  # of the device itself: no benchmark can be measured
        pytest.exit(str(error), returncode=pytest.ExitCode.INTERNAL_ERROR)
    row = rows[ceiling]
    if row.refusal is not None:
        pytest.skip(row.refusal)
    if row.failure is not None:
        raise row.failure
    benchmark.fullname = f"{NAME}[{ceiling}]"  # wherever the package is installed, so that two files can be joined
    rounds = iter(row.seconds)
    benchmark.pedantic(lambda: DEVICE_CLOCK.advance(next(rounds)), setup=DEVICE_CLOCK.restart, rounds=len(row.seconds))
    record = record_of(row, suite.device, suite.backend.plan(1.0).rule)
    benchmark.stats.group = group_of(record)
    benchmark.extra_info.update(in_words(record, benchmark.stats.stats.data), **{KEY: as_json(record)})
    assert record.verified is not False, f"{record.kernel} computed a wrong result: its times are no measurement"


def _selected(session: pytest.Session) -> list[str]:
    """The ceilings whose tests will run."""
    here = [item for item in session.items if isinstance(item, pytest.Function) and item.function is test_ceiling]
    return [str(item.callspec.params["ceiling"]) for item in here]
