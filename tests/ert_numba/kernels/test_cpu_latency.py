"""The pointer chase: one cycle through every line, whatever the size; the code of its loads; its points."""

from __future__ import annotations

import numpy as np
import pytest
from cpu_targets import TARGETS, host, instructions, made_up_device
from hypothesis import given, settings
from hypothesis import strategies as st

from ert_numba.kernels import cpu_ir as vir
from ert_numba.kernels import cpu_latency
from ert_numba.kernels.cpu_compile import check_count, compile_kernel
from ert_numba.kernels.cpu_latency import (
    BLOCK_LINES,
    CPU_LATENCY,
    LINE_BYTES,
    LOAD_PATTERN,
    STEPS,
    emit_chase,
    lay_ring,
    random_order,
    verify,
)
from ert_numba.kernels.cpu_program import scratch
from ert_numba.kernels.spec import CompiledCodeMismatch, Request
from ert_numba.records import Point


def lap(memory, lines: int) -> list[int]:
    """The lines met from the start on, until ``lines`` of them or the first one met twice."""
    words, address = memory.view(np.int64), int(memory.ctypes.data)
    here, met = int(words[0]) - address, {}
    while here not in met and len(met) <= lines:
        met[here] = None
        here = int(words[here // 8]) - address
    assert here == next(iter(met)), "the walk comes back to where it began"
    return list(met)


@given(st.integers(1, 40_000), st.integers(0, 2**32))
@settings(max_examples=40)
def test_the_ring_is_one_cycle_over_every_line(size, seed):
    lines = max(2, size // LINE_BYTES)
    memory = scratch((lines + 1) * LINE_BYTES + 256)
    memory[(lines + 1) * LINE_BYTES :] = 7
    assert lay_ring(memory, size, seed) == memory.ctypes.data
    assert sorted(lap(memory, lines)) == [LINE_BYTES * (line + 1) for line in range(lines)]
    assert np.all(memory[(lines + 1) * LINE_BYTES :] == 7), "nothing behind the set is touched"


@given(st.integers(1, 5 * BLOCK_LINES), st.integers(0, 2**32))
@settings(max_examples=20)
def test_an_order_meets_every_line_once(lines, seed):
    assert np.array_equal(np.sort(random_order(lines, seed)), np.arange(lines))


def test_the_order_has_no_stride():
    lines = 100 * BLOCK_LINES + 5
    order = random_order(lines, 3)
    counts = np.unique(np.diff(order), return_counts=True)[1]
    assert counts.max() < len(order) / 500  # the nearest of 1024 even lines in a block, at random
    assert not np.array_equal(order, random_order(lines, 4))
    assert np.array_equal(order, random_order(lines, 3))


@pytest.mark.parametrize("lines", [7, BLOCK_LINES, 3 * BLOCK_LINES + 11, 40 * BLOCK_LINES])
def test_neighbours_are_half_a_lap_apart(lines):
    """A core that misses one line of a pair fetches the other one too."""
    order = random_order(lines, 1)
    half = -(-lines // 2)
    assert set(order[:half] % 2) == {0}
    assert set(order[half:] % 2) == {1}
    in_one_block = np.arange(lines - 1) % BLOCK_LINES != BLOCK_LINES - 1
    apart = np.abs(np.diff(np.argsort(order)))[in_one_block]
    assert np.all(np.abs(apart - lines / 2) <= BLOCK_LINES / 2)


def test_few_pages_are_walked_at_a_time():
    order = random_order(64 * BLOCK_LINES, 1)
    pages = order * LINE_BYTES // 4096
    for begin in range(0, len(pages), BLOCK_LINES // 2):
        assert len(np.unique(pages[begin : begin + BLOCK_LINES // 2])) <= BLOCK_LINES * LINE_BYTES // 4096


@pytest.mark.parametrize("target", TARGETS, ids=lambda row: row.name)
def test_the_code_is_a_chain_of_loads(target):
    assembly = target.assembly(emit_chase)
    check_count("dependent load", LOAD_PATTERN, assembly, STEPS, beside=1)
    loads = [
        row
        for row in instructions(assembly)
        if row.mnemonic in ("movq", "ldr") and row.memory == (0 if row.mnemonic == "movq" else 1)
    ]
    assert (len(loads) - 1) % STEPS == 0
    chained = [row for row in loads if len({word.strip("()[]") for word in row.operands}) == 1]
    assert len(chained) >= STEPS - 1, "the loaded value is the next address"


def test_gold_on_this_host():
    assert verify(compile_kernel(emit_chase))


@pytest.mark.parametrize("steps", [STEPS - 1, STEPS // 2, STEPS + 1])
def test_another_number_of_loads_is_caught(steps, monkeypatch):
    monkeypatch.setattr(cpu_latency, "STEPS", steps)
    kernel = compile_kernel(emit_chase)
    monkeypatch.undo()
    assert not verify(kernel)
    with pytest.raises(CompiledCodeMismatch):
        check_count("dependent load", LOAD_PATTERN, kernel.assembly, STEPS, beside=1)


def test_a_call_goes_on_where_the_last_one_stopped():
    memory, lines = scratch(200 * LINE_BYTES), 5 * STEPS
    address = lay_ring(memory, lines * LINE_BYTES, 1)
    kernel = compile_kernel(emit_chase)
    stops = [kernel(1, address) for _ in range(5)]
    assert len(set(stops)) == 5
    assert stops[-1] == lap(memory, lines)[0]


def test_a_chase_that_stands_still_is_caught():
    def still(builder, repetitions, address, size):
        return vir.DOUBLE(0.0)

    assert not verify(compile_kernel(still))


def test_points_are_of_one_core_and_one_access_a_load():
    found = [row for row in CPU_LATENCY.points(made_up_device(), Request()) if isinstance(row, Point)]
    assert {row.axes["threads"] for row in found} == {1}
    assert {row.ceiling for row in found} == {
        *(f"{level}.latency" for level in ("L1", "L2", "L3", "DRAM")),
        "curve.latency",
    }
    assert {CPU_LATENCY.work(row).accesses for row in found} == {STEPS}
    program = CPU_LATENCY.build(found[0], host())
    assert program.memory_bytes == found[0].axes["working_set_bytes"] + LINE_BYTES
    assert program.check(0)
