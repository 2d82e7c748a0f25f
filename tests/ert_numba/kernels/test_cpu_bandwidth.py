"""The points of the bandwidth kernels: scopes, levels, remote memory, and the work they declare."""

from __future__ import annotations

import msgspec
import pytest
from cpu_targets import host, made_up_device

from ert_numba.catalog.vector_isas import BY_KEY as ISA
from ert_numba.kernels.cpu_bandwidth import CPU_BANDWIDTH, access_of
from ert_numba.kernels.cpu_memory import Arena
from ert_numba.kernels.cpu_program import host_isa, scopes
from ert_numba.kernels.registry import CPU_KERNELS
from ert_numba.kernels.spec import Request
from ert_numba.records import Point, Skipped

TWO_SOCKETS = made_up_device()


def points(request: Request, device=TWO_SOCKETS) -> list[Point]:
    return [row for row in CPU_BANDWIDTH.points(device, request) if isinstance(row, Point)]


def skipped(request: Request, device=TWO_SOCKETS) -> dict[str, str]:
    return {row.what: row.reason for row in CPU_BANDWIDTH.points(device, request) if isinstance(row, Skipped)}


def test_one_core_one_socket_all_cores():
    assert dict(scopes(TWO_SOCKETS, Request())) == {"@core": 1, "@socket": 8, "": 16}
    assert dict(scopes(TWO_SOCKETS, Request(threads=4))) == {"@core": 1, "": 4}
    assert dict(scopes(TWO_SOCKETS, Request(quick=True))) == {"": 16}
    assert dict(scopes(made_up_device(units=1, threads=1, sockets=1, socket_units=1), Request())) == {"": 1}
    assert dict(scopes(made_up_device(sockets=1, socket_units=16), Request())) == {"@core": 1, "": 16}


# Words of an element that STREAM counts, arrays, and bytes moved over bytes counted.
TRAFFIC = {
    "read": (1, 1, 1),
    "write": (1, 1, 2),
    "write_nt": (1, 1, 1),
    "copy": (2, 2, 3 / 2),
    "copy_nt": (2, 2, 1),
    "triad": (3, 3, 4 / 3),
    "triad_nt": (3, 3, 1),
    "update": (2, 1, 1),
}


def test_counted_bytes_are_those_of_all_workers_and_moved_ones_add_the_lines_that_stores_read_first():
    for point in points(Request()):
        words, arrays, ratio = TRAFFIC[access_of(point).key]
        work = CPU_BANDWIDTH.work(point)
        whole = point.axes["working_set_bytes"] * words / arrays * point.axes["threads"]
        assert whole * 0.9 < work.bytes_counted <= whole, point.key
        moved = 1 if point.ceiling.startswith("L1.") else ratio
        assert work.bytes_moved == pytest.approx(moved * work.bytes_counted)


def test_a_store_that_hits_the_first_cache_reads_no_line():
    (point, *_) = [row for row in points(Request(levels=("L1",))) if row.ceiling == "L1.write"]
    work = CPU_BANDWIDTH.work(point)
    assert work.bytes_moved == work.bytes_counted


def test_nontemporal_stores_are_measured_on_memory_only():
    assert {row.ceiling.split(".")[0] for row in points(Request()) if "_nt" in row.ceiling} == {"DRAM"}
    assert "L2.triad_nt" in skipped(Request())


def test_remote_memory_needs_two_nodes():
    remote = [row for row in points(Request()) if row.ceiling.startswith("REMOTE")]
    assert {row.ceiling for row in remote} == {"REMOTE.read@core"}
    assert {row.axes["threads"] for row in remote} == {1}
    here = msgspec.structs.replace(remote[0], axes={**remote[0].axes, "isa": host_isa(host()).key})
    assert CPU_BANDWIDTH.build(here, host()).remote
    assert skipped(Request(), made_up_device(numa_nodes=1))["REMOTE.read@core"] == "this machine has one memory node"
    asked = points(Request(levels=("REMOTE",)))
    assert {row.ceiling for row in asked} == {"REMOTE.read@core"}


def test_levels_and_sizes_follow_the_request():
    assert {row.ceiling.split(".")[0] for row in points(Request(levels=("L2",)))} == {"L2"}
    sizes = [row.axes["working_set_bytes"] for row in points(Request(sizes=(65536, 1 << 20))) if "curve" in row.ceiling]
    assert sizes == [65536, 1 << 20]
    both = points(Request(levels=("L1",), sizes=(65536,)))
    assert {row.ceiling.split(".")[0] for row in both} == {"L1", "curve"}, "sizes that were asked for are measured"


def test_keys_of_all_points_are_unique():
    one_level = [Request(levels=(level,), quick=quick) for level in ("L1", "DRAM") for quick in (False, True)]
    for request in (Request(), Request(quick=True), Request(levels=("L1", "DRAM")), *one_level):
        keys = [row.key for spec in CPU_KERNELS for row in spec.points(TWO_SOCKETS, request) if isinstance(row, Point)]
        assert len(keys) == len(set(keys))


def test_a_program_touches_no_more_memory_than_it_asks_for():
    device = host()
    for point in points(Request(levels=("L1",), threads=1), device):
        program = CPU_BANDWIDTH.build(point, device)
        address = program.prepare(Arena())
        access, isa = access_of(point), ISA[str(point.axes["isa"])]
        assert address % isa.bytes == 0
        assert program.memory_bytes >= access.arrays * program.size_bytes
        assert program.check(address)


def test_the_widest_instruction_set_that_is_there_in_full():
    assert host_isa(TWO_SOCKETS).key == "avx512"
    assert host_isa(made_up_device(features=("avx2", "fma", "sse2", "avx512f"))).key == "avx2"
    assert host_isa(made_up_device(features=("avx", "sse2"))).key == "sse2"
    assert host_isa(made_up_device(architecture="aarch64", features=("neon",))).key == "neon"
