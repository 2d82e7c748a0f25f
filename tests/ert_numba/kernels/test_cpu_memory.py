"""A worker's memory: alignment, first touch, and nothing left in it that slows another kernel down."""

from __future__ import annotations

import mmap

import numpy as np
import pytest
from cpu_targets import host
from hypothesis import given, settings
from hypothesis import strategies as st

from ert_numba.errors import ErtError
from ert_numba.kernels import cpu_memory
from ert_numba.kernels.cpu_latency import CPU_LATENCY
from ert_numba.kernels.cpu_memory import HUGE_PAGE, Arena
from ert_numba.kernels.cpu_program import CpuProgram
from ert_numba.records import Point

TINY = np.finfo(np.float64).tiny


@pytest.mark.parametrize("page", ["huge", "small"])
def test_blocks_are_aligned_touched_and_reused(page):
    arena = Arena()
    view = arena.take(3 * HUGE_PAGE + 5, page)
    assert len(view) >= 3 * HUGE_PAGE + 5
    assert view.ctypes.data % HUGE_PAGE == 0
    assert np.all(view.view(np.float64) == 1.0)
    assert arena.take(100, page) is view
    assert arena.take(5 * HUGE_PAGE, page) is not view
    assert arena.take(100, "small" if page == "huge" else "huge").ctypes.data != view.ctypes.data


def test_a_remote_block_is_touched_through_the_wrapper_and_kept_apart():
    arena, calls = Arena(), []

    def touch(fill):
        calls.append("away")
        fill()
        calls.append("home")

    away = arena.take(100, "huge", touch)
    assert calls == ["away", "home"]
    assert arena.take(100, "huge", touch) is away
    assert calls == ["away", "home"]
    assert arena.take(100, "huge") is not away


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 3000)), min_size=1, max_size=12))
@settings(max_examples=60)
def test_numbers_are_numbers_whatever_was_written_before(visits):
    arena = Arena()
    for numbers, size in visits:
        view = arena.take(size, "small", None, numbers)
        if numbers:
            words = view[: size // 8 * 8].view(np.float64)
            assert np.all(np.abs(words) >= TINY)
            assert np.all(np.isfinite(words))
        else:
            view[:size] = 1  # as an integer address: a denormal where it is read as a number


def chase(size: int) -> CpuProgram:
    point = Point(
        kernel="cpu_latency",
        ceiling="L1.latency",
        axes={"working_set_bytes": size, "threads": 1, "page": "huge", "seed": 1},
    )
    return CPU_LATENCY.build(point, host())


def test_a_pointer_chase_leaves_no_denormals_to_the_next_kernel():
    """An address read as FP64 is a denormal: a multiplication by it takes a hundred times as long."""
    arena, ring = Arena(), chase(1 << 20)
    ring.prepare(arena)
    stream = CpuProgram(kernel=ring.kernel, code="", gold=lambda: True, memory_bytes=1 << 19)
    address = stream.prepare(arena)
    view = arena.take(1, "huge", None, False)
    assert address == view.ctypes.data
    assert np.all(view[: 1 << 19].view(np.float64) >= 1.0)
    assert np.any(np.abs(view[1 << 19 : 1 << 20].view(np.float64)) < TINY), "the rest is cleaned when it is needed"


def test_memory_that_is_not_to_be_had_is_an_error_for_the_user(monkeypatch):
    def refuse(*arguments, **options):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(cpu_memory.mmap, "mmap", refuse)
    with pytest.raises(ErtError, match="Cannot allocate memory"):
        Arena().take(1 << 20, "huge")


def test_a_size_beyond_the_address_space_is_an_error_for_the_user():
    with pytest.raises(ErtError, match="--sizes"):
        Arena().take(1 << 62, "huge")


def test_a_kernel_without_huge_pages_is_no_error(monkeypatch):
    class Stubborn(mmap.mmap):
        def madvise(self, *arguments):
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(cpu_memory.mmap, "mmap", Stubborn)
    assert len(Arena().take(100, "huge")) >= 100
