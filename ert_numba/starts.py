"""What one process start of the benchmark suite adds to a pytest-benchmark file: the contract of writer and judge.

pytest-benchmark keeps the times (``stats.data``: seconds of one call of a user's kernel, of one repetition of the
suite's in each round); these records lie beside them, as ``machine_info["ert_numba"]`` and as
``extra_info["ert_numba"]`` of every benchmark.
"""

from __future__ import annotations

import msgspec

from ert_numba.records import AxisValue, DeviceInfo, Provenance, Work

KEY = "ert_numba"  # under which both lie
SUITE_VERSION = 1  # raised when a benchmark's work or its way of timing changes: runs across it are not comparable


class SuiteInfo(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of one process start. ``start`` counts the starts of one ``bench`` from 1; 1 where pytest was called by hand."""

    suite_version: int
    device: DeviceInfo
    provenance: Provenance
    start: int = 1


class RoofHit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The roof above a kernel of known FLOP and bytes: ``attainable`` in ``unit`` of the benchmark.

    ``model`` is the run that the ceilings ``bandwidth_key`` and ``compute_key`` come from (None where the kernel has
    no such work).
    """

    attainable: float
    bandwidth_key: str | None = None
    compute_key: str | None = None
    model: str


class Benchmarked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of one benchmark in one start: what its times mean.

    ``key`` is the ceiling's key (``machine.Ceiling``), or the test's node id for a user's own kernel (``kind``
    "user"). ``work`` is that of ONE time; ``unit`` says what is read from it: FLOP/s or OP/s (work.flop), B/s
    (work.bytes_counted), s (seconds / work.accesses: lower is better). ``clock_hz`` has one value a call where there
    is a probe. ``limit`` is the physical limit in ``unit`` at the median clock; None where no source states it.
    """

    key: str
    kernel: str
    kind: str  # "compute" | "bandwidth" | "latency" | "overhead" | "user"
    unit: str
    work: Work
    axes: dict[str, AxisValue] = {}
    clock_hz: tuple[float, ...] = ()
    limit: float | None = None
    roof: RoofHit | None = None
    noisy: bool = False
    verified: bool | None = None
    code: str = ""
    conditions: dict[str, AxisValue] = {}  # power, temperature, throttle reasons, other_processes ...
