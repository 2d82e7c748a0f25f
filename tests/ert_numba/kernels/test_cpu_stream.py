"""Bandwidth kernels: every access on every processor by its assembly, gold values on this host, and broken kernels."""

from __future__ import annotations

import ctypes

import msgspec
import numpy as np
import pytest
from cpu_targets import BY_NAME, TARGETS, host, instructions, loaded_vectors, stored_vectors
from hypothesis import given
from hypothesis import strategies as st

from ert_numba.catalog.vector_isas import VECTOR_ISAS
from ert_numba.kernels import cpu_stream
from ert_numba.kernels.cpu_bandwidth import OTHER_STREAMS, READ_STREAMS
from ert_numba.kernels.cpu_compile import compile_kernel
from ert_numba.kernels.cpu_program import host_isa, scratch
from ert_numba.kernels.cpu_stream import ACCESSES, BY_KEY, array_bytes, array_stride, check_code, emit_stream, unroll_of
from ert_numba.kernels.spec import CompiledCodeMismatch

# Words read and written per element, and words that cross a bus when a missed store first reads its line.
WORDS = {
    "read": (1, 0, 1),
    "write": (0, 1, 2),
    "write_nt": (0, 1, 1),
    "copy": (1, 1, 3),
    "copy_nt": (1, 1, 2),
    "triad": (2, 1, 4),
    "triad_nt": (2, 1, 3),
    "update": (1, 1, 2),
}


def streams_of(access: cpu_stream.Access) -> tuple[int, ...]:
    """Those of the sweep and of the quick sweep."""
    return tuple(dict.fromkeys((*(OTHER_STREAMS if access.writes else READ_STREAMS), 2)))


CASES = [
    pytest.param(target, access, streams, id=f"{target.name}-{access.key}-{streams}")
    for target in TARGETS
    if not target.flags
    for access in ACCESSES
    for streams in streams_of(access)
]


@pytest.mark.parametrize(("target", "access", "streams"), CASES)
def test_the_code_is_what_is_declared(target, access, streams):
    isa = target.isa
    assembly = target.assembly(emit_stream(access, isa, streams))
    check_code(access, isa, streams, assembly)
    reads, writes, _ = WORDS[access.key]
    block = streams * unroll_of(streams)
    loads, stores = loaded_vectors(assembly, isa), stored_vectors(assembly, isa, access.nontemporal)
    for found, declared in ((loads, reads * block), (stores, writes * block)):
        assert found == 0 if not declared else found >= declared and found % declared == 0
    if reads and writes:
        assert loads / reads == stores / writes
    assert stored_vectors(assembly, isa, not access.nontemporal) == 0
    assert not any(row.spills for row in instructions(assembly))
    memory = [row for row in instructions(assembly) if row.memory is not None and row.mnemonic != "lea"]
    widths = {row.vector_bytes for row in memory if row.vector_bytes}
    assert widths <= {isa.bytes, 2 * isa.bytes}, "full vectors, or pairs of them"


@pytest.mark.parametrize("access", ACCESSES, ids=lambda row: row.key)
def test_words_counted_and_moved(access):
    reads, writes, moved = WORDS[access.key]
    assert access.counted == reads + writes
    assert access.traffic_ratio == pytest.approx(moved / (reads + writes))
    assert access.arrays == (1 if access.in_place else reads + writes)


@pytest.mark.parametrize(
    ("access", "streams"),
    [pytest.param(row, streams, id=f"{row.key}-{streams}") for row in ACCESSES for streams in streams_of(row)],
)
def test_gold_on_this_host(access, streams):
    isa = host_isa(host())
    kernel = compile_kernel(emit_stream(access, isa, streams))
    check_code(access, isa, streams, kernel.assembly)
    assert cpu_stream.verify(access, isa, streams, kernel)
    # One block more than the smallest, an odd number of blocks: nothing outside the arrays changes, all inside does.
    for blocks in (1, 3, 8):
        size = blocks * isa.bytes * streams * unroll_of(streams)
        _check_words(access, kernel, size)


def _check_words(access, kernel, size):
    guard, stride = 4096, array_stride(size)
    memory = scratch(access.arrays * stride + 2 * guard)
    words = memory.view(np.float64)
    words[:] = np.arange(len(words)) % 31 + 2.0
    before = words.copy()
    result = kernel(3, int(memory.ctypes.data) + guard, size)
    places = [(guard + k * stride) // 8 for k in range(access.arrays)]
    arrays = [before[place : place + size // 8] for place in places]
    expected = before.copy()
    if access.writes:
        values = {
            "write": np.full(size // 8, 0.5),
            "copy": arrays[0],
            "update": arrays[0],
            "triad": arrays[0] + 0.5 * arrays[1] if access.reads == 2 else arrays[0],
        }[access.key.removesuffix("_nt")]
        expected[places[-1] : places[-1] + size // 8] = values
    else:
        assert result == 3 * arrays[0].sum()
    assert np.array_equal(words, expected)


@given(
    st.sampled_from(ACCESSES),
    st.sampled_from(VECTOR_ISAS),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(1, 1 << 34),
)
def test_arrays_fill_the_working_set_and_keep_apart(access, isa, streams, working_set):
    size = array_bytes(access, isa, streams, working_set)
    block = isa.bytes * streams * unroll_of(streams)
    assert size % block == 0
    assert size >= block
    assert size == block or working_set - access.arrays * block < size * access.arrays <= working_set
    stride = array_stride(size)
    assert stride >= size
    assert stride % 64 == 0
    assert stride % 4096, "two arrays never start at the same place of a page"
    assert cpu_stream.memory_bytes(access, size) >= (access.arrays - 1) * stride + size


def skipping(monkeypatch, every: int, what: str) -> None:
    """Every n-th vector is not loaded or not stored."""
    whole, calls = cpu_stream._element, iter(range(1 << 30))

    def element(builder, access, vector, bases, offset, operands, sums):
        if next(calls) % every:
            whole(builder, access, vector, bases, offset, operands, sums)
        elif what == "store":
            builder.load(builder.inttoptr(builder.add(bases[0], offset), vector.as_pointer()), align=vector.count * 8)

    monkeypatch.setattr(cpu_stream, "_element", element)


@pytest.mark.parametrize("name", ["sapphirerapids", "haswell", "x86-64", "neoverse-v2"])
@pytest.mark.parametrize(
    ("key", "what"), [("read", "load"), ("triad", "load"), ("copy", "store"), ("write_nt", "store")]
)
def test_one_too_few_is_caught(name, key, what, monkeypatch):
    target, access = BY_NAME[name], BY_KEY[key]
    skipping(monkeypatch, 8, what)
    assembly = target.assembly(emit_stream(access, target.isa, 2))
    with pytest.raises(CompiledCodeMismatch):
        check_code(access, target.isa, 2, assembly)


@pytest.mark.parametrize("key", ["read", "copy", "triad", "write"])
def test_one_too_few_is_caught_by_its_value(key, monkeypatch):
    skipping(monkeypatch, 8, "load")
    isa, access = host_isa(host()), BY_KEY[key]
    assert not cpu_stream.verify(access, isa, 2, compile_kernel(emit_stream(access, isa, 2)))


@pytest.mark.parametrize("name", ["sapphirerapids", "haswell", "x86-64", "neoverse-v2"])
@pytest.mark.parametrize("key", ["write", "copy", "triad"])
def test_the_wrong_kind_of_store_is_caught(name, key):
    target = BY_NAME[name]
    ordinary, nontemporal = BY_KEY[key], BY_KEY[key + "_nt"]
    with pytest.raises(CompiledCodeMismatch):
        check_code(nontemporal, target.isa, 1, target.assembly(emit_stream(ordinary, target.isa, 1)))
    with pytest.raises(CompiledCodeMismatch):
        check_code(ordinary, target.isa, 1, target.assembly(emit_stream(nontemporal, target.isa, 1)))


@pytest.mark.parametrize("name", ["sapphirerapids", "haswell", "x86-64", "neoverse-v2"])
def test_a_missing_array_is_caught(name):
    target = BY_NAME[name]
    read, copy, triad = (target.assembly(emit_stream(BY_KEY[key], target.isa, 1)) for key in ("read", "copy", "triad"))
    for declared, assembly in (
        ("copy", read),
        ("triad", copy),
        ("read", copy),
        ("write", copy),
        ("copy", triad),
        ("update", triad),
    ):
        with pytest.raises(CompiledCodeMismatch):
            check_code(BY_KEY[declared], target.isa, 1, assembly)


@pytest.mark.parametrize("name", ["sapphirerapids", "haswell", "x86-64", "neoverse-v2"])
@pytest.mark.parametrize("key", ["read", "copy", "triad_nt"])
def test_narrow_code_is_caught(name, key):
    """Half the width in twice as many instructions, or one number at a time."""
    target, access = BY_NAME[name], BY_KEY[key]
    for bits in {64, target.isa.bits // 2}:
        narrow = msgspec.structs.replace(target.isa, bits=bits)
        assembly = target.assembly(emit_stream(access, narrow, 1))
        with pytest.raises(CompiledCodeMismatch):
            check_code(access, target.isa, 1, assembly)


def test_a_spill_is_caught():
    isa = BY_NAME["haswell"].isa
    assembly = BY_NAME["haswell"].assembly(emit_stream(BY_KEY["read"], isa, 1))
    with pytest.raises(CompiledCodeMismatch, match="spill"):
        check_code(BY_KEY["read"], isa, 1, assembly + "\n\tvmovaps\t%ymm3, 32(%rsp)\n")


def test_a_kernel_that_writes_beside_its_array_is_caught():
    isa, access = host_isa(host()), BY_KEY["copy"]
    kernel = compile_kernel(emit_stream(access, isa, 1))
    assert cpu_stream.verify(access, isa, 1, kernel)

    def beyond(repetitions, address, size):
        ctypes.c_double.from_address(address + size).value = -1.0  # the first word behind the first array
        return kernel(repetitions, address, size)

    assert not cpu_stream.verify(access, isa, 1, beyond)
