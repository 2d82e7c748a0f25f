"""The machine model: ceilings and knees, each with its interval and its conditions. Pure."""

from __future__ import annotations

import msgspec

from ert_numba.catalog.memory_levels import level_order
from ert_numba.records import AxisValue, DeviceInfo, Provenance, Skipped


class Ceiling(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One roof of the machine: the best rate (or latency) with its interval.

    ``value``, ``low`` and ``high`` are in ``unit``: ``FLOP/s`` or ``OP/s`` (kind compute), ``B/s`` by STREAM's count
    (bandwidth), ``s`` (latency, overhead). ``low``..``high`` is a 95 % interval. ``traffic_ratio`` is bytes truly
    moved over bytes counted: multiply a bandwidth by it to get bus traffic. ``limit`` is the physical limit
    at the upper end of the clock beside the samples. ``impossible``: ``low`` lies above ``limit``: kept for the
    record, never a roof. ``verified`` is False for a value that this project did not measure (an import).

    Compute keys read ``fp64.vector.fma`` (precision.unit.path); bandwidth keys ``L1.read``, ``DRAM.triad_nt``
    (level.access), then an optional variant; latency keys ``L1.latency``; overheads ``launch.stream``. A scope may
    follow: ``@core``, ``@socket`` (all cores where nothing is said), ``@neighbours`` (every GPU of the host is at it).

    A GPU's paths: ``vector.fma``, ``vector.add``, ``tensor.mma.sync``, ``tensor.wgmma`` (with ``.acc16``: FP16
    accumulators), ``tensor.cublas``, ``vector.cublas``; then ``.sparse`` for 2:4 sparsity, ``.sustained`` for random
    data under load for long. Its levels: ``SHARED``, ``L1``, ``L2`` (``L2.read.private``: every line read by one SM;
    ``L2.read.shared``: by all), ``DRAM`` (also ``strided`` and ``random``: 8 bytes of each sector), ``HOST`` (accesses
    in ``catalog.memory_levels``). Its overheads: ``launch.stream`` (the next launch), ``launch.round_trip`` (launch and
    wait), ``launch.graph`` (a node of a CUDA graph).
    """

    key: str
    kind: str  # "compute" | "bandwidth" | "latency" | "overhead"
    value: float
    low: float
    high: float
    unit: str
    precision: str | None = None
    path: str | None = None  # "vector.fma", "vector.add", "tensor.mma.sync", "tensor.wgmma", "tensor.cublas"
    sparse: bool = False
    level: str | None = None
    access: str | None = None  # "read", "write", "write_nt", "copy", "triad", "triad_nt", "update", "strided", "random"
    variant: str | None = None  # "private", "shared" (who reads a line), "sustained" ...
    scope: str = "all"  # "core" | "socket" | "all" | "neighbours"
    traffic_ratio: float = 1.0
    clock_hz: tuple[float, float] | None = None  # lowest and highest clock beside the samples used
    limit: float | None = None
    impossible: bool = False
    noisy: bool = False
    verified: bool = True
    samples: int = 0
    kernel: str = ""
    conditions: dict[str, AxisValue] = {}
    note: str = ""

    @property
    def share_of_limit(self) -> float | None:
        return self.value / self.limit if self.limit else None


class Knee(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a level ends: ``capacity_bytes`` with its 95 % interval, per instance of the cache.

    ``shape`` names the transition that the information criterion chose; ``witness`` the curve that it was
    read from. ``nominal_bytes`` is what the system claims; ``agrees`` whether the two are within 15 % or the
    interval covers the claim (None where nothing is claimed).
    """

    level: str
    capacity_bytes: float
    low: float
    high: float
    shape: str  # "cliff" | "cyclic" | "random" | "gradual" | "smeared" | "scattered"
    witness: str  # "bandwidth" | "latency"
    ceiling: str = ""  # key of the curve's ceiling, for example "L2.read.private"
    sharers: int = 1  # workers that filled one instance together: each saw the knee at capacity_bytes / sharers
    nominal_bytes: int | None = None
    agrees: bool | None = None
    note: str = ""


class ProofPoint(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One measured kernel of known intensity against its own roof: the empirical proof of the model.

    ``intensity`` is in FLOP/byte; ``value``, ``low``, ``high`` and ``attainable`` in FLOP/s. ``bandwidth_key`` and
    ``compute_key`` name the two ceilings whose minimum ``attainable`` is, measured with the same mix of reads and
    writes.
    """

    precision: str
    level: str
    intensity: float
    value: float
    low: float
    high: float
    attainable: float
    bandwidth_key: str
    compute_key: str
    noisy: bool = False


class MachineModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a machine can do: the second of the three documents."""

    schema: str = "ert_numba.machine"
    version: int = 1
    run: str
    device: DeviceInfo
    ceilings: tuple[Ceiling, ...] = ()
    knees: tuple[Knee, ...] = ()
    proof: tuple[ProofPoint, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    partial: bool = False
    notes: tuple[str, ...] = ()  # doubts a reader must know: disagreements, noise, neighbours
    settings: dict[str, AxisValue] = {}
    provenance: Provenance

    def ceiling(self, key: str) -> Ceiling | None:
        return next((row for row in self.ceilings if row.key == key), None)

    def roofs(self, kind: str, scope: str = "all") -> tuple[Ceiling, ...]:
        """The possible ceilings of a kind, nearest level or highest rate first."""
        rows = [row for row in self.ceilings if row.kind == kind and row.scope == scope and not row.impossible]
        rows.sort(key=lambda row: (level_order(self.device.kind, row.level or ""), -row.value))
        return tuple(rows)


def attainable(intensity: float, peak: float, bandwidth: float) -> float:
    """The roofline: FLOP/s at ``intensity`` FLOP/byte under ``peak`` FLOP/s and ``bandwidth`` B/s."""
    return min(peak, intensity * bandwidth)


def ridge(peak: float, bandwidth: float) -> float:
    """Intensity in FLOP/byte at which the two roofs meet."""
    return peak / bandwidth
