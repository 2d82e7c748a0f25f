"""Kernels of known intensity: their assembly on every processor, gold values on this host, declared work."""

from __future__ import annotations

import numpy as np
import pytest
from cpu_targets import BY_NAME, TARGETS, computing, host, instructions, loaded_vectors, made_up_device, stored_vectors

from ert_numba.kernels import cpu_intensity
from ert_numba.kernels.cpu_compile import compile_kernel
from ert_numba.kernels.cpu_intensity import (
    CPU_INTENSITY,
    INTENSITIES,
    QUICK_INTENSITIES,
    block_bytes,
    check_code,
    emit_intensity,
    steps_of,
    verify,
)
from ert_numba.kernels.cpu_program import host_isa, scratch
from ert_numba.kernels.spec import CompiledCodeMismatch, Request
from ert_numba.records import Cache, Limit, Point

CASES = [
    pytest.param(target, intensity, streams, id=f"{target.name}-{intensity:g}-{streams}")
    for target in TARGETS
    if not target.flags
    for intensity in INTENSITIES
    for streams in ((1, 4) if intensity in (0.0625, 0.5, 64) else (1,))
]


@pytest.mark.parametrize(("target", "intensity", "streams"), CASES)
def test_the_code_is_what_is_declared(target, intensity, streams):
    isa, steps = target.isa, steps_of(intensity)
    assembly = target.assembly(emit_intensity(isa, steps, streams))
    check_code(isa, steps, streams, assembly)
    loads, stores = loaded_vectors(assembly, isa), stored_vectors(assembly, isa, nontemporal=False)
    assert loads == stores
    assert loads % isa.chains == 0
    assert loads > 0
    fused = computing(assembly, r"vfmadd\d+pd|fmla", isa)
    multiplies, additions = computing(assembly, "v?mulpd|fmul", isa), computing(assembly, "v?addpd|fadd", isa)
    if not steps:
        assert (fused, multiplies) == (0, 0)
        assert additions == loads
    else:
        assert (fused if isa.has_fma else multiplies) % (isa.chains * min(steps, 16)) == 0
        assert (multiplies if isa.has_fma else fused) == 0
        assert additions == (0 if isa.has_fma else multiplies)
    assert not any(row.spills for row in instructions(assembly))


@pytest.mark.parametrize("streams", [1, 4])
@pytest.mark.parametrize("intensity", INTENSITIES)
def test_gold_on_this_host(intensity, streams):
    isa, steps = host_isa(host()), steps_of(intensity)
    kernel = compile_kernel(emit_intensity(isa, steps, streams))
    check_code(isa, steps, streams, kernel.assembly)
    assert verify(isa, steps, streams, kernel)
    size = 3 * block_bytes(isa, streams)
    words = scratch(size + 4096).view(np.float64)
    words[:] = np.arange(len(words)) % 7 + 1.0
    before = words.copy()
    kernel(2, int(words.ctypes.data), size)
    assert np.array_equal(words[size // 8 :], before[size // 8 :])
    value = before[: size // 8]
    for _ in range(2 * max(1, steps)):
        value = value + 0.125 if not steps else value + 0.0625 if isa.has_fma else value * 0.5 + 0.125
    assert np.allclose(words[: size // 8], value, rtol=1e-12)


@pytest.mark.parametrize("intensity", INTENSITIES)
def test_flop_per_byte_is_that_of_the_steps(intensity):
    """16 bytes an element; a multiply-add is two FLOP, the single addition one."""
    steps = steps_of(intensity)
    assert (2 * steps or 1) / 16 == intensity
    assert steps <= cpu_intensity.INNER or steps % cpu_intensity.INNER == 0


def test_work_is_that_of_all_workers():
    device = made_up_device()
    found = [row for row in CPU_INTENSITY.points(device, Request()) if isinstance(row, Point)]
    assert {row.ceiling for row in found} == {"intensity.fp64.L1", "intensity.fp64.L2", "intensity.fp64.DRAM"}
    for row in found:
        work = CPU_INTENSITY.work(row)
        elements = work.bytes_counted / 16
        assert elements == row.axes["working_set_bytes"] // 8 * row.axes["threads"]
        assert work.flop == elements * (2 * steps_of(row.axes["flop_per_byte"]) or 1)
        assert work.bytes_moved == work.bytes_counted


def test_points_follow_the_request():
    device = made_up_device()
    assert list(CPU_INTENSITY.points(device, Request(precisions=("fp32",)))) == []
    only = [row.ceiling for row in CPU_INTENSITY.points(device, Request(levels=("L2",)))]
    assert set(only) == {"intensity.fp64.L2"}
    quick = list(CPU_INTENSITY.points(device, Request(quick=True)))
    assert {row.axes["flop_per_byte"] for row in quick} == set(QUICK_INTENSITIES)


@pytest.mark.parametrize(("cache_mib", "full", "highest"), [(32, False, 64.0), (128, False, 16.0), (128, True, 64.0)])
def test_device_memory_is_taken_as_far_as_a_pass_is_affordable(cache_mib, full, highest):
    cache = Cache(level="L3", bytes=cache_mib * 2**20, shared_by=2, source="sysfs")
    limit = Limit(key="fp64.vector.fma", per_cycle=16, source="made up")
    device = made_up_device(units=2, threads=2, sockets=1, socket_units=2, caches=(cache,), limits=(limit,))
    found = CPU_INTENSITY.points(device, Request(levels=("DRAM",), full=full))
    assert max(row.axes["flop_per_byte"] for row in found if isinstance(row, Point)) == highest


@pytest.mark.parametrize("name", ["sapphirerapids", "haswell", "x86-64", "neoverse-v2"])
def test_other_intensities_are_caught(name):
    target = BY_NAME[name]
    for emitted, declared in ((1, 2), (2, 3), (0, 1), (1, 0), (7, 8)):
        assembly = target.assembly(emit_intensity(target.isa, emitted, 1))
        with pytest.raises(CompiledCodeMismatch):
            check_code(target.isa, declared, 1, assembly)


def test_other_intensities_are_caught_by_their_value():
    isa = host_isa(host())
    for emitted, declared in ((1, 2), (0, 1), (32, 16), (512, 256)):
        if not isa.has_fma and emitted > 1:
            continue  # the unfused recurrence has come to rest by then
        assert not verify(isa, declared, 1, compile_kernel(emit_intensity(isa, emitted, 1)))


def test_a_missing_store_is_caught():
    target = BY_NAME["haswell"]
    assembly = target.assembly(emit_intensity(target.isa, 1, 1))
    lines = assembly.splitlines()
    last = max(index for index, line in enumerate(lines) if "vmovapd\t%ymm" in line and line.endswith(")"))
    with pytest.raises(CompiledCodeMismatch):
        check_code(target.isa, 1, 1, "\n".join(lines[:last] + lines[last + 1 :]))
