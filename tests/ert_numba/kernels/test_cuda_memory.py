"""Which sizes bear witness to which level, on made-up devices."""

from __future__ import annotations

import pytest

from ert_numba.kernels import cuda_load, cuda_memory, cuda_read, cuda_store, cuda_words, registry_cuda
from ert_numba.kernels.cuda_fill import index_sum
from ert_numba.kernels.cuda_tiles import Tile
from ert_numba.kernels.spec import Request
from ert_numba.records import Cache, DeviceInfo, Point, Skipped


def gpu(l1: int | None = 256 << 10, l2: int = 60 << 20, memory: int = 141 << 30, units: int = 132) -> DeviceInfo:
    caches = [Cache(level="L2", bytes=l2, shared_by=units, source="driver")]
    if l1:
        caches.append(Cache(level="L1", bytes=l1, instances=units, source="catalogue"))
    return DeviceInfo(
        kind="gpu", name="x", vendor="NVIDIA", architecture="sm_90", units=units, threads=units * 2048,
        memory_bytes=memory, caches=tuple(caches),
    )  # fmt: skip


def points(device: DeviceInfo, request: Request | None = None) -> list[Point]:
    offered = (row for spec in registry_cuda.CUDA_KERNELS for row in spec.points(device, request or Request()))
    return [row for row in offered if isinstance(row, Point)]


def test_every_point_is_offered_once() -> None:
    keys = [point.key for point in points(gpu(), Request(full=True))]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("memory", [4 << 30, 16 << 30, 141 << 30])
def test_no_point_takes_more_than_a_quarter_of_the_memory_or_half_a_gigabyte(memory: int) -> None:
    for point in points(gpu(memory=memory)):
        if point.ceiling.startswith("DRAM.") and point.kernel != "cuda_latency":
            assert int(point.axes["working_set_bytes"]) <= memory // 4


def test_device_memory_is_read_over_more_than_eight_times_l2() -> None:
    read = next(point for point in points(gpu()) if point.ceiling == "DRAM.read")
    assert cuda_read.array_bytes(read) > 8 * (60 << 20)


def test_l2_sets_fit_into_l2_and_pass_l1_by() -> None:
    for point in points(gpu()):
        if point.ceiling.startswith("L2.read"):
            assert point.axes["operator"] == "cg"
            assert cuda_load.total_bytes(point) < 60 << 20


def test_knee_curves_reach_well_past_the_cache_they_end() -> None:
    offered = points(gpu())
    for name, size, units in (("ca", 256 << 10, 1), ("private", 60 << 20, 132), ("shared", 60 << 20, 1)):
        sizes = [int(p.axes["working_set_bytes"]) * units for p in offered if p.ceiling == f"curve.read.{name}"]
        assert min(sizes) < size / 3
        assert max(sizes) > 2 * size
        assert all(p.axes["ceilings"] is False for p in offered if p.ceiling == f"curve.read.{name}")


def test_an_unknown_l1_is_skipped_with_a_reason() -> None:
    offered = list(cuda_memory.LOAD.points(gpu(l1=None), Request()))
    assert [row.what for row in offered if isinstance(row, Skipped)] == ["L1.read", "CONSTANT.read", "TEXTURE.read"]


def test_levels_that_were_not_asked_for_are_not_offered() -> None:
    request = Request(levels=("L2",))
    kernels = (cuda_memory.LOAD, cuda_memory.READ, cuda_memory.STORE, cuda_memory.WORDS, cuda_memory.KNEES)
    offered = [row for spec in kernels for row in spec.points(gpu(), request)]
    assert {row.ceiling for row in offered if isinstance(row, Point)} == {
        "L2.read.private", "L2.read.shared", "curve.read.private", "curve.read.shared",
    }  # fmt: skip


@pytest.mark.parametrize("size", [1, 10**6, 25 * 10**6, 999_999_999])
def test_sets_are_rounded_down_to_what_the_blocks_share(size: int) -> None:
    axes = {"blocks": 6, "block_threads": 64, "loads": 4, "units": 6}
    for pattern in ("private", "shared"):
        point = Point(kernel="cuda_load", ceiling="x", axes=axes | {"pattern": pattern, "working_set_bytes": size})
        total = cuda_load.total_bytes(point)
        assert total % 128 == 0
        assert total <= max(size * (6 if pattern == "private" else 1), 6 * 64 * 4 * 16)
    word = Point(kernel="w", ceiling="x", axes=axes | {"access": "random", "working_set_bytes": size})
    assert cuda_words.word_count(word) % (4 * 6 * 64) == 0


@pytest.mark.parametrize("size", [1, 8192, 10**6, 999_999_999])
@pytest.mark.parametrize("tile", [*cuda_memory.READ_TILES, *cuda_memory.STORE_TILES])
def test_arrays_are_whole_tiles_and_one_at_least(size: int, tile: Tile) -> None:
    axes = tile.axes() | {"access": "triad", "working_set_bytes": size}
    for found, wanted in (
        (cuda_read.array_bytes(Point(kernel="r", ceiling="x", axes=axes)), size),
        (cuda_store.array_bytes(Point(kernel="s", ceiling="x", axes=axes)), size // 3),
    ):
        assert found % tile.bytes == 0
        assert max(1, wanted // tile.bytes) == found // tile.bytes


def test_the_far_half_of_l2_has_sizes_of_its_own() -> None:
    """Between the ends of the two halves, less than an octave apart, a plateau needs several sizes to be read."""
    sizes = [int(p.axes["working_set_bytes"]) for p in points(gpu()) if p.ceiling == "curve.latency"]
    assert len({size for size in sizes if 0.55 * (60 << 20) < size < 0.85 * (60 << 20)}) >= 4


@pytest.mark.parametrize("words", [0, 1, 2, 1000, 2**20 + 7])
def test_index_sum(words: int) -> None:
    assert index_sum(words) == sum(range(words)) % 2**32


def test_index_sum_past_the_wrap() -> None:
    assert index_sum(2**32 + 3) == (index_sum(2**32) + 0 + 1 + 2) % 2**32


def test_words_count_sectors_as_moved() -> None:
    axes = {"blocks": 1, "block_threads": 32, "access": "strided", "working_set_bytes": 32 * 128}
    done = cuda_words.work(Point(kernel="w", ceiling="x", axes=axes))
    assert (done.bytes_counted, done.bytes_moved) == (8 * 128, 32 * 128)


def test_every_kernel_that_compiles_names_its_recipe() -> None:
    device = gpu()
    for point in points(device, Request(full=True)):
        if point.kernel not in ("cublas_gemm", "cuda_host_link"):
            assert registry_cuda.POINT_RECIPES[point.kernel](point, device).types
