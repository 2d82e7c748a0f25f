"""The points of the bandwidth kernels: every access at every level, and the curve of reads against working set."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ert_numba.catalog.vector_isas import BY_KEY as ISA
from ert_numba.kernels.cpu_compile import CompiledKernel, compile_kernel
from ert_numba.kernels.cpu_levels import curve_sizes, level_sizes, unseen_levels
from ert_numba.kernels.cpu_program import CpuProgram, host_isa, scopes
from ert_numba.kernels.cpu_stream import (
    ACCESSES,
    BY_KEY,
    Access,
    array_bytes,
    check_code,
    emit_stream,
    memory_bytes,
    verify,
)
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import AxisValue, DeviceInfo, Point, Skipped, Work

CURVE_STREAMS = 4
# Streams a thread and page size: together they move the device-memory roof by up to 1.9 on one machine.
READ_STREAMS = (1, 2, 4, 8)
OTHER_STREAMS = (1, 4)
QUICK_DRAM = ("read", "write_nt", "triad_nt", "update")  # each pass takes long; the others follow from these


def _variants(access: Access, level: str, scope: str, quick: bool) -> Iterator[tuple[int, str]]:
    """(streams, page size) worth trying for an access at a level, the likely best first."""
    if quick:
        yield (2 if level != "DRAM" else 4), "huge"
        return
    for streams in READ_STREAMS if not access.writes else OTHER_STREAMS:
        yield streams, "huge"
    if level == "DRAM" and not scope and access.key in ("read", "triad_nt"):
        yield 4, "small"


def _points(device: DeviceInfo, request: Request) -> Iterator[Point | Skipped]:
    isa = host_isa(device).key
    for scope, threads in scopes(device, request):
        for level, size in level_sizes(device, threads).items():
            if not request.wants_level(level):
                continue
            for access in ACCESSES:
                if scope and access.key != "read":
                    continue
                if request.quick and level == "DRAM" and access.key not in QUICK_DRAM:
                    continue
                if access.nontemporal and level != "DRAM":
                    yield Skipped(
                        what=f"{level}.{access.key}",
                        reason="non-temporal stores leave the caches: their rate is DRAM's",
                    )
                    continue
                for streams, page in _variants(access, level, scope, request.quick):
                    axes: dict[str, AxisValue] = {"streams": streams, "page": page, "threads": threads, "isa": isa}
                    yield Point(
                        kernel="cpu_bandwidth",
                        ceiling=f"{level}.{access.key}{scope}",
                        axes={**axes, "working_set_bytes": size},
                    )
        if scope == "@core" and request.wants_level("REMOTE"):
            yield from _remote(device, isa, threads)
        if not scope:
            yield from unseen_levels(device, threads, request.levels)
            yield from _curve(device, request, isa, threads)


def _curve(device: DeviceInfo, request: Request, isa: str, threads: int) -> Iterator[Point]:
    """Reads against working set: where nobody asked for single levels, or for these very sizes."""
    if request.levels and not request.sizes:
        return
    axes: dict[str, AxisValue] = {"streams": CURVE_STREAMS, "page": "huge", "threads": threads, "isa": isa}
    for size in request.sizes or curve_sizes(device, threads, 1 if request.quick else 2):
        yield Point(kernel="cpu_bandwidth", ceiling="curve.read", axes={**axes, "working_set_bytes": size})


def _remote(device: DeviceInfo, isa: str, threads: int) -> Iterator[Point | Skipped]:
    """Reads of memory that a core of another node touched first."""
    if device.numa_nodes < 2:
        yield Skipped(what="REMOTE.read@core", reason="this machine has one memory node")
        return
    size = level_sizes(device, threads).get("DRAM")
    if size is None:
        yield from (Skipped(what="REMOTE.read@core", reason=row.reason) for row in unseen_levels(device, threads, ()))
        return
    for streams in OTHER_STREAMS:
        yield Point(
            kernel="cpu_bandwidth",
            ceiling="REMOTE.read@core",
            axes={"streams": streams, "page": "huge", "threads": threads, "isa": isa, "working_set_bytes": size},
        )


def access_of(point: Point) -> Access:
    """The row of the access table that the point's ceiling names."""
    return BY_KEY[point.ceiling.split("@")[0].split(".")[1]]


def _size(point: Point) -> int:
    isa, streams = ISA[str(point.axes["isa"])], int(point.axes["streams"])
    return array_bytes(access_of(point), isa, streams, int(point.axes["working_set_bytes"]))


def _work(point: Point) -> Work:
    access = access_of(point)
    counted = float(_size(point) * access.counted * int(point.axes["threads"]))
    # A line that is in the first cache already is not fetched again to be overwritten.
    ratio = 1.0 if point.ceiling.startswith("L1.") else access.traffic_ratio
    return Work(bytes_counted=counted, bytes_moved=counted * ratio)


@cache
def _compiled(access_key: str, isa_key: str, streams: int) -> tuple[CompiledKernel, str, bool]:
    access, isa = BY_KEY[access_key], ISA[isa_key]
    kernel = compile_kernel(emit_stream(access, isa, streams))
    return kernel, check_code(access, isa, streams, kernel.assembly), verify(access, isa, streams, kernel)


def _build(point: Point, device: DeviceInfo) -> CpuProgram:
    access, size = access_of(point), _size(point)
    kernel, code, right = _compiled(access.key, str(point.axes["isa"]), int(point.axes["streams"]))
    return CpuProgram(
        kernel=kernel,
        code=code,
        gold=lambda: right,
        size_bytes=size,
        memory_bytes=memory_bytes(access, size),
        page=str(point.axes["page"]),
        remote=point.ceiling.startswith("REMOTE"),
    )


CPU_BANDWIDTH = KernelSpec(
    name="cpu_bandwidth", device_kind="cpu", kind="bandwidth", points=_points, work=_work, build=_build
)
