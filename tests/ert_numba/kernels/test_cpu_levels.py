"""Working sets of the levels: inside the cache that they stand for, beyond the one before, on every machine."""

from __future__ import annotations

import msgspec
from cpu_targets import made_up_device
from hypothesis import given
from hypothesis import strategies as st

from ert_numba.kernels.cpu_bandwidth import CPU_BANDWIDTH
from ert_numba.kernels.cpu_latency import CPU_LATENCY
from ert_numba.kernels.cpu_levels import curve_sizes, dram_bytes, last_level_bytes, level_sizes, unseen_levels
from ert_numba.kernels.spec import Request
from ert_numba.records import Cache, Point, Skipped

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@st.composite
def machines(draw):
    cores = draw(st.sampled_from([1, 2, 4, 6, 8, 64, 128]))
    shared = draw(st.sampled_from([1, cores, max(1, cores // 2)]))
    first = draw(st.sampled_from([16, 32, 48, 64])) * KIB
    second = first * draw(st.sampled_from([4, 8, 32]))
    third = second * draw(st.sampled_from([1, 2, 16])) * shared
    rows = (("L1", first, 1), ("L2", second, 1), ("L3", third, shared))
    return made_up_device(
        units=cores,
        threads=2 * cores,
        memory_bytes=draw(st.sampled_from([0, 256 * MIB, 2 * GIB, 512 * GIB])),
        caches=tuple(
            Cache(level=level, bytes=size, shared_by=users, instances=-(-cores // users), source="sysfs")
            for level, size, users in rows[: draw(st.integers(0, 3))]
        ),
    )


@given(machines(), st.data())
def test_every_set_lies_in_its_own_level(device, data):
    threads = data.draw(st.integers(1, device.threads))
    sizes = level_sizes(device, threads)
    siblings = -(-threads // device.units)
    before = 0
    for cache in device.caches:
        if cache.level in sizes:
            size = sizes[cache.level]
            together = size * min(threads, siblings * cache.shared_by)
            assert together <= cache.bytes // 2 + threads, "all who share the cache leave half of it free"
            assert size > before, "no inner cache could hold it all"
        before = max(before, cache.bytes // max(1, min(threads, siblings * cache.shared_by)))
    if "DRAM" in sizes:
        assert sizes["DRAM"] * threads >= 2 * last_level_bytes(device) - 2 * threads
        assert not device.memory_bytes or sizes["DRAM"] * threads <= device.memory_bytes // 8


@given(machines(), st.data())
def test_curves_begin_inside_the_first_cache_and_end_in_memory(device, data):
    threads = data.draw(st.integers(1, device.units))
    sizes = curve_sizes(device, threads, data.draw(st.sampled_from([1, 2, 4])))
    assert list(sizes) == sorted(sizes)
    assert len(set(sizes)) >= len(sizes) - 1
    assert sizes[-1] == dram_bytes(device, threads) // KIB * KIB


def test_two_hardware_threads_of_a_core_share_its_caches():
    device = made_up_device()
    assert level_sizes(device, 16)["L1"] == 16 * KIB
    assert level_sizes(device, 32)["L1"] == 8 * KIB
    assert level_sizes(device, 32)["L2"] == level_sizes(device, 16)["L2"] // 2


def test_device_memory_is_four_times_all_last_level_caches():
    device = made_up_device()
    assert last_level_bytes(device) == 64 * MIB
    assert level_sizes(device, 16)["DRAM"] * 16 == 256 * MIB
    assert level_sizes(device, 1)["DRAM"] == 256 * MIB


def test_a_memory_that_holds_no_set_beyond_the_caches_gives_no_device_memory_figure():
    """A container of 512 MiB beside a last-level cache of 300 MiB would read that cache and call it DRAM."""
    device = made_up_device(memory_bytes=512 * MIB)
    request = Request(levels=("L1", "DRAM"))
    assert "DRAM" not in level_sizes(device, 16)
    (skipped,) = unseen_levels(device, 16, ())
    assert skipped.what == "DRAM"
    assert "64 MiB" in skipped.reason
    assert "512 MiB" in skipped.reason
    for spec in (CPU_BANDWIDTH, CPU_LATENCY):
        found = list(spec.points(device, request))
        assert not any(row.ceiling.startswith("DRAM") for row in found if isinstance(row, Point))
    bandwidth = [row for row in CPU_BANDWIDTH.points(device, request) if isinstance(row, Skipped)]
    assert "DRAM" in {row.what for row in bandwidth}


def test_a_level_that_is_not_there_is_named_with_its_reason():
    device = made_up_device()
    flat = msgspec.structs.replace(device, caches=device.caches[:2])
    assert [row.what for row in unseen_levels(flat, 16, ("L3", "L1"))] == ["L3"]
    assert list(unseen_levels(device, 16, ())) == []
    assert list(unseen_levels(device, 16, ("REMOTE",))) == [], "a matter of memory nodes"


def test_with_no_cache_known_a_large_set_stands_for_memory():
    device = made_up_device(caches=())
    assert set(level_sizes(device, 4)) == {"DRAM"}
    assert level_sizes(device, 4)["DRAM"] * 4 == 256 * MIB
