"""Which points of which memory kernel bear witness to which level of a GPU: sizes follow from the caches it reports.

Launch shapes are the best of a sweep on an H200 (results/nvidia-h200): few blocks with many loads
in flight for L2, small tiles for device memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ert_numba.kernels import cuda_knee, cuda_latency, cuda_load, cuda_read, cuda_store, cuda_words
from ert_numba.kernels.cuda_program import blocks
from ert_numba.kernels.cuda_tiles import Tile
from ert_numba.kernels.spec import KernelSpec, Program, Request
from ert_numba.records import AxisValue, DeviceInfo, Point, Skipped, Work

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
_STREAM_BYTES = 16 * 10**9  # a figure over less may hold some per cent of cache hits, far more than 8 x any L2
_QUICK_STREAM_BYTES = 4 * 10**9
READ_TILES = (
    Tile(threads=512, loads=2, groups=2), Tile(threads=1024, loads=2, groups=2), Tile(threads=256, loads=4, groups=1),
)  # fmt: skip
STORE_TILES = (
    Tile(threads=128, loads=2, groups=1), Tile(threads=1024, loads=2, groups=1), Tile(threads=1024, loads=4, groups=1),
)  # fmt: skip


def cache_bytes(device: DeviceInfo, level: str) -> int | None:
    return next((row.bytes for row in device.caches if row.level == level), None)


def stream_bytes(device: DeviceInfo, request: Request) -> int:
    """Memory for the device's own ceilings: at most a quarter of it."""
    wanted = _QUICK_STREAM_BYTES if request.quick else _STREAM_BYTES
    return min(wanted, device.memory_bytes // 4) if device.memory_bytes else wanted


def ladder(low: float, high: float, per_octave: int) -> list[int]:
    """Sizes in equal ratios from ``low`` to at most ``high``, in whole KiB."""
    sizes, size = [], low
    while size <= high * 1.001:
        sizes.append(max(1, round(size / KIB)) * KIB)
        size *= 2 ** (1 / per_octave)
    return list(dict.fromkeys(sizes))


def _load_points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    for level, made in (("L1", _l1_points), ("L2", _l2_points)):
        size = cache_bytes(device, level)
        if not request.wants_level(level):
            continue
        if size is None:
            yield Skipped(what=f"{level}.read", reason=f"neither driver nor catalogue tells the size of {level}")
            continue
        yield from made(device, request, size)
    if not request.levels:
        reason = "no kernel yet: texture reads share L1's path, constant reads are words broadcast to a warp"
        yield from (Skipped(what=what, reason=reason) for what in ("CONSTANT.read", "TEXTURE.read"))


def _l1_points(device: DeviceInfo, request: Request, size: int) -> Iterator[Point]:
    own: dict[str, AxisValue] = {"pattern": "private", "operator": "ca", "block_threads": 512, "loads": 4}
    for share in (0.5, 0.75):
        yield _load("L1.read", own | {"blocks": 2 * device.units}, int(size * share), device)


def _l2_points(device: DeviceInfo, request: Request, size: int) -> Iterator[Point]:
    private: dict[str, AxisValue] = {
        "pattern": "private",
        "operator": "cg",
        "block_threads": 1024,
        "loads": 4,
        "blocks": device.units,
    }
    shared = private | {
        "pattern": "shared",
        "shared": True,
        "block_threads": 256,
        "loads": 8,
        "blocks": 4 * device.units,
    }
    # Between L1 and L2 an H200 merges and keeps requests, some 1.7 MB in all: counters give it 3 % of 48 MB and 8 % of
    # 24 MB of private lines, 6 % of 25 MB and 10 % of 12 MB of shared ones. So the sets are large.
    yield _load("L2.read.private", private, int(size * 0.75 / device.units), device)
    yield _load("L2.read.shared", shared, int(size * 0.4), device)


def _load(ceiling: str, axes: dict[str, AxisValue], size: int, device: DeviceInfo) -> Point:
    return Point(kernel="cuda_load", ceiling=ceiling, axes=axes | {"working_set_bytes": size, "units": device.units})


def _build_load(point: Point, device: DeviceInfo) -> Program:
    return cuda_load.ReadProgram(point, device)


LOAD = KernelSpec(
    name="cuda_load", device_kind="gpu", kind="bandwidth", points=_load_points, work=cuda_load.work, build=_build_load
)


def _knee_points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    """``ceilings`` False: the end of a level is all that these curves show, few reads in flight reach no ceiling."""
    per_octave = 2 if request.quick else 4
    l1, l2 = cache_bytes(device, "L1"), cache_bytes(device, "L2")
    axes: dict[str, AxisValue] = {"blocks": device.units, "seed": request.seed, "ceilings": False}
    if l1 and request.wants_level("L1"):  # one buffer for all SMs: past L1 it lies in a little of L2
        for size in request.sizes or ladder(l1 / 4, l1 * 4, per_octave):
            yield _knee("curve.read.ca", axes | {"operator": "ca", "shared": True}, size)
    if l2 and request.wants_level("L2"):
        for size in ladder(l2 / 8, l2 * 3, per_octave):
            yield _knee("curve.read.shared", axes | {"operator": "cg", "shared": True}, size)
        for size in request.sizes or [total // device.units for total in ladder(l2 / 8, l2 * 3, per_octave)]:
            yield _knee("curve.read.private", axes | {"operator": "cg"}, size)


def _knee(ceiling: str, axes: dict[str, AxisValue], size: int) -> Point:
    return Point(kernel="cuda_knee", ceiling=ceiling, axes=axes | {"working_set_bytes": size})


def _build_knee(point: Point, device: DeviceInfo) -> Program:
    return cuda_knee.KneeProgram(point, device)


KNEES = KernelSpec(
    name="cuda_knee", device_kind="gpu", kind="bandwidth", points=_knee_points, work=cuda_knee.work, build=_build_knee
)


def _read_points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    if request.wants_level("DRAM"):
        for tile in READ_TILES:
            yield _sized("cuda_read", "DRAM.read", tile.axes(), stream_bytes(device, request))


def _build_read(point: Point, device: DeviceInfo) -> Program:
    return cuda_read.TileReadProgram(point, device)


READ = KernelSpec(
    name="cuda_read", device_kind="gpu", kind="bandwidth", points=_read_points, work=cuda_read.work, build=_build_read
)


def _store_points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    if request.wants_level("DRAM"):
        for access in cuda_store.ACCESSES:
            for tile in STORE_TILES:
                axes = tile.axes() | {"access": access}
                yield _sized("cuda_store", f"DRAM.{access}", axes, stream_bytes(device, request))


def _sized(kernel: str, ceiling: str, axes: dict[str, AxisValue], size: int) -> Point:
    return Point(kernel=kernel, ceiling=ceiling, axes=axes | {"working_set_bytes": size})


def _build_store(point: Point, device: DeviceInfo) -> Program:
    return cuda_store.StoreProgram(point, device)


STORE = KernelSpec(
    name="cuda_store",
    device_kind="gpu",
    kind="bandwidth",
    points=_store_points,
    work=cuda_store.work,
    build=_build_store,
)


def _word_points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    if request.wants_level("DRAM"):
        for access in ("strided", "random"):
            axes: dict[str, AxisValue] = {"access": access, "block_threads": 1024, "blocks": blocks(device, 1024)}
            yield _sized("cuda_words", f"DRAM.{access}", axes, stream_bytes(device, request) // 4)


def _build_words(point: Point, device: DeviceInfo) -> Program:
    return cuda_words.WordProgram(point, device)


WORDS = KernelSpec(
    name="cuda_words",
    device_kind="gpu",
    kind="bandwidth",
    points=_word_points,
    work=cuda_words.work,
    build=_build_words,
)


def _latency_points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    l1, l2 = cache_bytes(device, "L1") or 64 * KIB, cache_bytes(device, "L2") or 4 * MIB
    rows = (
        ("SHARED", "shared", 8 * KIB),
        ("L1", "global.ca", l1 // 4),
        ("L2", "global.cg", l2 // 4),  # inside the half of L2 that is near
        ("DRAM", "global.cg", max(512 * MIB, 8 * l2)),
    )
    for level, space, size in rows:
        if request.wants_level(level):
            yield _chase(f"{level}.latency", space, size, request)
    # Not in a quick sweep: with a size an octave the curve would put the end of L2 where that of its near half is. The
    # far half is served between the two ends alone, less than an octave, so there are more sizes there.
    if request.wants_level("L2") and not request.quick:
        for size in sorted({*ladder(l1 / 8, 4.01 * l2, 2), *ladder(0.45 * l2, 1.2 * l2, 6)}):
            yield _chase("curve.latency", "global.ca", size, request)


def _chase(ceiling: str, space: str, size: int, request: Request) -> Point:
    axes: dict[str, AxisValue] = {"space": space, "working_set_bytes": size, "seed": request.seed}
    return Point(kernel="cuda_latency", ceiling=ceiling, axes=axes)


def _build_chase(point: Point, device: DeviceInfo) -> Program:
    return cuda_latency.ChaseProgram(point, device)


def _latency_work(point: Point) -> Work:
    return cuda_latency.work(point)


LATENCY = KernelSpec(
    name="cuda_latency",
    device_kind="gpu",
    kind="latency",
    points=_latency_points,
    work=_latency_work,
    build=_build_chase,
)
