"""Processors, cores, sockets, nodes, quotas and memory limits of machines made up as sysfs trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_sysfs import allow, cpu, nodes, server, write

from ert_numba.device import topology
from ert_numba.device.topology import Processor, Topology, memory_limit_bytes, parse_cpu_list, probe


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """(sysfs, cgroup), with this process in the group ``/a/b``."""
    monkeypatch.setattr(topology, "_own_cgroups", lambda cgroup: [cgroup / "a/b", cgroup / "a", cgroup])
    (tmp_path / "sys").mkdir()
    (tmp_path / "cgroup/a/b").mkdir(parents=True)
    return tmp_path / "sys", tmp_path / "cgroup"


def test_two_sockets_with_siblings(tree, monkeypatch):
    allow(monkeypatch, server(tree[0], sockets=2, cores=4, threads=2))
    found = probe(*tree)
    assert (found.cores, found.sockets, found.socket_cores, found.nodes) == (8, 2, 4, 2)
    order = [row.cpu for row in found.placement]
    assert order == [*range(8), *range(8, 16)], "one thread a core, socket by socket; then the siblings"
    assert [row.socket for row in found.placement[:8]] == [0] * 4 + [1] * 4
    assert found.on_another_node(0) in range(4, 8)
    assert found.on_another_node(7) in range(4)


def test_siblings_beside_each_other(tree, monkeypatch):
    """Another common numbering: 0 and 1 are one core."""
    for number in range(8):
        first = number // 2 * 2
        cpu(tree[0], number, core=number // 2, siblings=f"{first}-{first + 1}")
    allow(monkeypatch, range(8))
    found = probe(*tree)
    assert found.cores == 4
    assert [row.cpu for row in found.placement] == [0, 2, 4, 6, 1, 3, 5, 7]


def test_core_numbers_that_repeat_from_cluster_to_cluster(tree, monkeypatch):
    """Arm boards count cores anew in each cluster of one package: sibling lists alone tell six cores from four."""
    for number, (core, khz) in enumerate([(0, 1_400_000)] * 4 + [(0, 1_800_000)] * 2):
        cpu(tree[0], number, core=core, siblings=str(number), maximum_khz=khz)
    allow(monkeypatch, range(6))
    found = probe(*tree)
    assert found.cores == 6
    assert found.hybrid
    assert [row.cpu for row in found.placement] == [4, 5, 0, 1, 2, 3], "the fast ones first"


def test_a_favoured_core_makes_no_hybrid(tree, monkeypatch):
    for number in range(4):
        cpu(tree[0], number, core=number, siblings=str(number), maximum_khz=5_500_000 + 50_000 * number)
    allow(monkeypatch, range(4))
    assert not probe(*tree).hybrid


def test_performance_cores_with_siblings_and_efficient_ones_without(tree, monkeypatch):
    for number in range(4):
        cpu(
            tree[0],
            number,
            core=number // 2,
            siblings=f"{number // 2 * 2}-{number // 2 * 2 + 1}",
            maximum_khz=5_000_000,
        )
    for number in range(4, 8):
        cpu(tree[0], number, core=number, siblings=str(number), maximum_khz=3_900_000)
    allow(monkeypatch, range(8))
    found = probe(*tree)
    assert found.hybrid
    assert found.cores == 6
    assert [row.cpu for row in found.placement] == [0, 2, 4, 5, 6, 7, 1, 3]


def test_without_sysfs_every_processor_is_a_core_of_one_socket(tree, monkeypatch):
    allow(monkeypatch, [2, 5, 9])
    found = probe(*tree)
    assert (found.cores, found.sockets, found.nodes, found.quota) == (3, 1, 1, None)
    assert not found.hybrid
    assert found.on_another_node(5) is None
    assert [row.cpu for row in found.placement] == [2, 5, 9]


def test_one_processor_alone(tree, monkeypatch):
    server(tree[0])
    allow(monkeypatch, [3])
    found = probe(*tree)
    assert (found.cores, found.sockets, found.socket_cores, found.nodes) == (1, 1, 1, 1)


def test_a_cpuset_that_cuts_the_sockets_unevenly(tree, monkeypatch):
    server(tree[0], sockets=2, cores=4, threads=2)
    allow(monkeypatch, [1, 2, 3, 4, 9])
    found = probe(*tree)
    assert (found.cores, found.sockets, found.socket_cores) == (4, 2, 3), "9 is the sibling of 1"
    assert [row.cpu for row in found.placement] == [1, 2, 3, 4, 9]


def test_only_the_siblings_of_cores_that_are_not_allowed(tree, monkeypatch):
    server(tree[0], sockets=1, cores=4, threads=2)
    allow(monkeypatch, [5, 6])
    assert probe(*tree).cores == 2


@pytest.mark.parametrize(
    ("text", "quota", "cores"),
    [
        ("max 100000", None, 8),
        ("50000 100000", 0.5, 1),
        ("100000 100000", 1.0, 1),
        ("250000 100000", 2.5, 2),
        ("9900000 100000", 99.0, 8),
        ("nonsense", None, 8),
        ("", None, 8),
        ("100000 0", None, 8),
    ],
)
def test_quotas_of_version_2(tree, monkeypatch, text, quota, cores):
    allow(monkeypatch, server(tree[0], sockets=2, cores=4, threads=2))
    write(tree[1] / "a/b/cpu.max", text)
    found = probe(*tree)
    assert found.quota == quota
    assert found.cores == cores


def test_the_tightest_quota_above_the_process_counts(tree, monkeypatch):
    allow(monkeypatch, server(tree[0]))
    write(tree[1] / "a/b/cpu.max", "600000 100000")
    write(tree[1] / "a/cpu.max", "200000 100000")
    write(tree[1] / "cpu.max", "max 100000")
    assert probe(*tree).quota == 2.0


def test_a_quota_that_reaches_into_the_second_socket(tree, monkeypatch):
    allow(monkeypatch, server(tree[0], sockets=2, cores=4, threads=2))
    write(tree[1] / "a/cpu.max", "600000 100000")
    found = probe(*tree)
    assert (found.cores, found.sockets, found.socket_cores) == (6, 2, 4)


@pytest.mark.parametrize(("quota", "period", "expected"), [(50000, 100000, 0.5), (-1, 100000, None), (300000, 0, None)])
def test_quotas_of_version_1(tree, monkeypatch, quota, period, expected):
    allow(monkeypatch, server(tree[0]))
    write(tree[1] / "cpu/cpu.cfs_quota_us", quota)
    write(tree[1] / "cpu/cpu.cfs_period_us", period)
    assert probe(*tree).quota == expected


def test_memory_is_the_least_of_what_is_there_and_what_is_granted(tree):
    without = memory_limit_bytes(tree[1])
    assert without > 0
    write(tree[1] / "a/b/memory.max", "max")
    assert memory_limit_bytes(tree[1]) == pytest.approx(without, rel=0.2)
    write(tree[1] / "a/memory.max", 256 << 20)
    assert memory_limit_bytes(tree[1]) == 256 << 20
    write(tree[1] / "memory/memory.limit_in_bytes", 128 << 20)
    assert memory_limit_bytes(tree[1]) == 128 << 20
    write(tree[1] / "memory/memory.limit_in_bytes", 9223372036854771712)
    assert memory_limit_bytes(tree[1]) == 256 << 20


def test_the_process_looks_up_its_own_group(tmp_path):
    found = topology._own_cgroups(tmp_path)
    assert found[-1] == tmp_path
    assert all(folder.is_relative_to(tmp_path) for folder in found)


def test_lists_of_processors():
    assert parse_cpu_list("0-3,8\n") == (0, 1, 2, 3, 8)
    assert parse_cpu_list("") == ()
    assert parse_cpu_list("7") == (7,)


def test_nodes_without_processors_are_none_of_ours(tree, monkeypatch):
    allow(monkeypatch, server(tree[0], sockets=1, cores=2, threads=1))
    nodes(tree[0], {1: ""})
    found = probe(*tree)
    assert found.nodes == 1


processors = st.lists(
    st.builds(
        Processor,
        cpu=st.integers(0, 500),
        core=st.integers(0, 60),
        socket=st.integers(0, 3),
        node=st.integers(0, 7),
        kind=st.sampled_from([0, 3_900_000, 5_000_000]),
    ),
    min_size=1,
    max_size=80,
    unique_by=lambda row: row.cpu,
)


@given(processors, st.none() | st.floats(0.01, 200))
def test_placement_takes_each_core_once_before_any_sibling(rows, quota):
    # A core lies on one socket, in one node, and is of one kind.
    rows = [Processor(cpu=r.cpu, core=r.core, socket=r.core % 3, node=r.core % 2, kind=r.core % 5) for r in rows]
    found = Topology(processors=tuple(sorted(rows, key=lambda row: row.cpu)), quota=quota)
    order = found.placement
    assert sorted(row.cpu for row in order) == sorted(row.cpu for row in rows)
    physical = len({row.core for row in rows})
    assert len({row.core for row in order[:physical]}) == physical
    assert 1 <= found.cores <= physical
    assert quota is None or found.cores <= max(1, quota)
    assert 1 <= found.sockets <= found.cores
    assert 1 <= found.socket_cores <= found.cores
    assert (found.socket_cores == found.cores) == (found.sockets == 1)
