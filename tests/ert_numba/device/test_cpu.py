"""The CPU as a device: caches by sysfs and CPUID, limits of known and unknown cores, what is noted and refused."""

from __future__ import annotations

import platform

import pytest
from cpu_targets import on_x86
from made_up_sysfs import allow, cache, cpu, server

from ert_numba.catalog.cpus import CORES, core_of
from ert_numba.catalog.vector_isas import BY_KEY, VECTOR_ISAS
from ert_numba.device import cpu as module
from ert_numba.device import cpuid, topology
from ert_numba.device.cpu import caches_from_sysfs, limits_of, probe_cpu, unmeasured
from ert_numba.device.topology import Processor, Topology
from ert_numba.errors import ErtError
from ert_numba.fit.keys import parse_ceiling
from ert_numba.kernels.cpu_fma import OPERATIONS
from ert_numba.records import Cache


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(topology, "_own_cgroups", lambda cgroup: [cgroup])
    for name in ("sys", "cgroup"):
        (tmp_path / name).mkdir()
    return tmp_path / "sys", tmp_path / "cgroup"


def device(tree, **changes):
    return probe_cpu(changes.pop("topology", None), *tree)


def test_a_server_of_two_sockets(tree, monkeypatch):
    allow(monkeypatch, server(tree[0], sockets=2, cores=4, threads=2))
    found = device(tree)
    assert (found.units, found.threads, found.sockets, found.socket_units, found.numa_nodes) == (8, 16, 2, 4, 2)
    assert found.caches == (
        Cache(level="L1", bytes=32 << 10, shared_by=1, instances=8, source="sysfs"),
        Cache(level="L2", bytes=1 << 20, shared_by=1, instances=8, source="sysfs"),
        Cache(level="L3", bytes=32 << 20, shared_by=4, instances=2, source="sysfs"),
    )
    assert found.slug


def test_sharers_are_counted_among_the_cores_that_may_be_used(tree, monkeypatch):
    server(tree[0], sockets=1, cores=4, threads=2)
    allow(monkeypatch, [0, 1, 4])
    rows = {row.level: row for row in device(tree).caches}
    assert rows["L3"].shared_by == 2, "4 is the sibling of 0"
    assert rows["L1"].shared_by == 1
    assert rows["L1"].instances == 2


def test_broken_cache_folders_are_passed_over(tree):
    cpu(tree[0], 0, core=0, siblings="0")
    cache(tree[0], 0, 0, 1, "48K", "0", "Data")
    cache(tree[0], 0, 1, 2, "lots", "0")
    (tree[0] / "cpu/cpu0/cache/index2").mkdir()
    cache(tree[0], 0, 3, 3, "1024K", "nonsense")
    (only,) = caches_from_sysfs(tree[0], Topology(processors=(Processor(cpu=0, core=0, socket=0, node=0),)))
    assert (only.level, only.bytes) == ("L1", 48 << 10)


def test_without_sysfs_cpuid_tells(tree, monkeypatch):
    told = (
        Cache(level="L1", bytes=32 << 10, shared_by=1, source="cpuid"),
        Cache(level="L3", bytes=32 << 20, shared_by=16, source="cpuid"),
    )
    monkeypatch.setattr(cpuid, "caches", lambda: told)
    allow(monkeypatch, range(40))
    rows = {row.level: row for row in device(tree).caches}
    assert (rows["L1"].instances, rows["L1"].shared_by) == (40, 1)
    assert (rows["L3"].instances, rows["L3"].shared_by) == (3, 16), "40 cores, 16 to an instance"
    assert rows["L1"].source == "cpuid"


def test_with_neither_the_device_says_so(tree, monkeypatch):
    monkeypatch.setattr(cpuid, "caches", lambda: ())
    allow(monkeypatch, [0])
    found = device(tree)
    assert found.caches == ()
    assert any("neither sysfs nor CPUID" in note for note in found.notes)
    assert found.units == 1


def test_a_quota_of_half_a_core_is_noted(tree, monkeypatch):
    allow(monkeypatch, server(tree[0]))
    (tree[1] / "cpu.max").write_text("50000 100000\n")
    found = device(tree)
    assert found.units == 1
    assert any("0.5 processors" in note for note in found.notes)


def test_a_hybrid_processor_is_noted(tree, monkeypatch):
    for number in range(4):
        cpu(tree[0], number, core=number, siblings=str(number), maximum_khz=(5_000_000, 3_800_000)[number // 2])
    allow(monkeypatch, range(4))
    assert any("hybrid" in note for note in device(tree).notes)
    assert device(tree).maximum_clock_hz == 5e9


@pytest.mark.parametrize(
    ("features", "isa", "told"),
    [
        (("sse2",), "sse2", None),
        (("avx", "sse2"), "sse2", "avx without"),
        (("avx", "avx2", "fma", "sse2"), "avx2", None),
        (("avx", "avx2", "avx512f", "fma", "sse2"), "avx2", "avx512f without"),
        (("avx", "avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "fma", "sse2"), "avx512", None),
        (("neon", "sve"), "neon", None),
    ],
)
def test_wider_vectors_that_are_not_used_are_named(features, isa, told):
    notes = module._narrow(BY_KEY[isa], features)
    assert len(notes) == (told is not None)
    assert all(note.startswith(told) for note in notes)


def test_an_architecture_without_kernels_is_refused(tree, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(ErtError, match="riscv64"):
        device(tree)


def test_an_arm_machine_has_neon(tree, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    monkeypatch.setattr(module, "_cpuinfo", lambda: {"CPU implementer": "0x41", "Features": "fp asimd sve sme"})
    found = device(tree)
    assert "neon" in found.features
    assert found.properties["instruction set"] == "NEON"
    assert found.name == "0x41 aarch64 processor"
    assert {row.what for row in module.matrix_units()} == {"SVE (vectors wider than 128 bits)", "SME"}


def test_a_machine_that_tells_nothing_has_a_name_all_the_same(tree, monkeypatch):
    monkeypatch.setattr(module, "_cpuinfo", dict)
    found = device(tree)
    assert found.name
    assert "unknown" in found.name
    assert all("in no table" in row.source for row in found.limits)


def test_matrix_units_are_named_as_not_measured():
    assert [row.what for row in unmeasured("fpu sse2 amx_tile amx_bf16 amx_int8")] == ["AMX"]
    assert unmeasured("fpu sse2 avx2") == ()


# Registers of CPUID (leaf 4; 0x8000001D) in their documented layout, filled with the caches of two processors.
EMERALD_RAPIDS = [
    ((0x7C004121, 0x02C0003F, 0x0000003F), Cache(level="L1", bytes=48 << 10, shared_by=1, source="cpuid")),
    ((0x7C004122, 0x01C0003F, 0x0000003F), Cache(level="L1", bytes=0, shared_by=1, source="cpuid")),
    ((0x7C004143, 0x03C0003F, 0x000007FF), Cache(level="L2", bytes=2 << 20, shared_by=1, source="cpuid")),
    ((0x7C0FC163, 0x04C0003F, 0x0003BFFF), Cache(level="L3", bytes=300 << 20, shared_by=64, source="cpuid")),
]
ZEN_4 = [
    ((0x00004121, 0x01C0003F, 0x0000003F), Cache(level="L1", bytes=32 << 10, shared_by=1, source="cpuid")),
    ((0x00004143, 0x01C0003F, 0x000007FF), Cache(level="L2", bytes=1 << 20, shared_by=1, source="cpuid")),
    ((0x0003C163, 0x03C0003F, 0x00007FFF), Cache(level="L3", bytes=32 << 20, shared_by=16, source="cpuid")),
]


@pytest.mark.parametrize(("registers", "cache"), [*EMERALD_RAPIDS, *ZEN_4])
def test_registers_are_decoded(registers, cache):
    assert cpuid.decode(*registers) == cache


def test_the_end_of_the_list():
    assert cpuid.decode(0, 0x01C0003F, 0x3F) is None


@pytest.mark.parametrize(("leaf", "rows"), [(4, EMERALD_RAPIDS), (0x8000001D, ZEN_4)])
def test_each_maker_has_its_leaf(leaf, rows, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")

    def registers(asked, index):
        return (*rows[index][0], 0) if asked == leaf and index < len(rows) else (0, 0, 0, 0)

    monkeypatch.setattr(cpuid, "_cpuid", registers)
    assert cpuid.caches() == tuple(cache for _, cache in rows if cache.bytes)


def test_no_cpuid_elsewhere(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert cpuid.caches() == ()


@pytest.mark.skipif(not on_x86(), reason="CPUID is of x86")
def test_this_processor_answers():
    for row in cpuid.caches():
        assert 4 << 10 <= row.bytes <= 4 << 30
        assert row.bytes % 1024 == 0


@pytest.mark.parametrize("core", CORES, ids=lambda row: row.name)
def test_every_known_core_is_found_by_each_of_its_models(core):
    for model in core.models:
        assert core_of(core.vendor, core.family, model) is core
    assert core.fma_bits % 128 == core.load_bits % 128 == core.store_bits % 128 == 0
    assert core.plain_bits >= core.fma_bits
    assert core.source


def test_an_unknown_processor_is_in_no_row():
    assert core_of("GenuineIntel", 6, 0xFFFF) is None
    assert core_of("AuthenticAMD", 6, CORES[0].models[0]) is None


# FLOP a cycle and core as the makers and measurements state them.
@pytest.mark.parametrize(
    ("vendor", "family", "model", "isa", "expected"),
    [
        ("GenuineIntel", 6, 0xCF, "avx512", {"fp64.vector.fma": 32, "fp32.vector.fma": 64, "int8.vector.dot": 256,
            "bf16.vector.dot": None, "fp64.vector.add": 16, "L1.read": 128, "L1.write": 64}),
        ("AuthenticAMD", 25, 0x11, "avx512", {"fp64.vector.fma": 16, "fp32.vector.fma": 32, "int8.vector.dot": 128,
            "bf16.vector.dot": 64, "fp64.vector.add": 16, "L1.read": 64, "L1.write": 32}),
        ("GenuineIntel", 6, 0x3F, "avx2", {"fp64.vector.fma": 16, "L1.read": 64, "L1.write": 32, "L1.copy": 64,
            "L1.triad": 96}),
        ("nobody", 1, 1, "avx2", {"fp64.vector.fma": 16}),
        ("0x41", -1, -1, "neon", {"fp64.vector.fma": 16, "fp16.vector.fma": 64}),
    ],
)  # fmt: skip
def test_limits_a_cycle_and_core(vendor, family, model, isa, expected):
    rows = {row.key: row.per_cycle for row in limits_of(vendor, family, model, BY_KEY[isa])}
    assert {key: rows.get(key) for key in expected} == expected


@pytest.mark.parametrize("isa", VECTOR_ISAS, ids=lambda row: row.key)
@pytest.mark.parametrize("core", [*CORES, None], ids=lambda row: row.name if row else "unknown")
def test_every_arithmetic_ceiling_of_the_kernels_has_a_limit(isa, core):
    vendor, family, model = (core.vendor, core.family, core.models[0]) if core else ("nobody", 0, 0)
    rows = {row.key: row for row in limits_of(vendor, family, model, isa)}
    for operation in OPERATIONS:
        unstated = core and operation.precision == "bf16" and core.bf16_bits is None
        if isa.key in operation.features and not unstated:
            limit = rows[operation.ceiling].per_cycle
            assert limit >= 2 * isa.bits // operation.operand_bits or core, "at least one instruction a cycle"
    assert {parse_ceiling(key).limit_key for key in rows} == set(rows)
    assert rows["L1.copy"].per_cycle <= rows["L1.read"].per_cycle + rows["L1.write"].per_cycle


def test_a_processor_without_fused_operations_has_no_limit_for_them():
    rows = {row.key for row in limits_of("nobody", 0, 0, BY_KEY["sse2"])}
    assert not any(key.endswith((".fma", ".dot")) for key in rows)
