"""A pytest plugin that slows three GPU kernels by 3 % with real extra instructions, while they declare their old work.

    PYTHONPATH=tests/reference python -m pytest -p slower_kernels --pyargs ert_numba.benchmarks --benchmark-save=slower

What a slower library or driver would look like to the suite: same benchmark, same axes, same work, more time. A
comparison with a run without it must find these three SLOWER and nothing else.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from ert_numba.benchmarks.choice import Chosen
from ert_numba.benchmarks.plugin import suite_of
from ert_numba.kernels.spec import Program
from ert_numba.records import DeviceInfo, Point

SLOWDOWN = 0.03
SLOWED = ("fp32.vector.fma", "fp32.vector.add", "fp16.vector.fma")


def longer(point: Point) -> Point:
    """The same chains with 3 % more instructions in the body of their loop, the same number for each chain."""
    chains, body = int(point.axes["chains"]), int(point.axes["body"])
    body += chains * round(SLOWDOWN * body / chains)  # 1056 for 1024: by what is whole, 3.1 %
    return msgspec.structs.replace(point, axes={**point.axes, "body": body})


def slowed(chosen: Chosen) -> Chosen:
    """Builds the longer body; its point, and with it the declared work, stays the old one."""
    build = chosen.spec.build

    def build_longer(point: Point, device: DeviceInfo) -> Program:
        return build(longer(point), device)

    return replace(chosen, spec=replace(chosen.spec, build=build_longer))


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    benchmarks = suite_of(config).benchmarks
    for key in SLOWED:
        benchmarks[key] = slowed(benchmarks[key])
