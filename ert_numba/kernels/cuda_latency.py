"""Latency by a pointer chase: one thread, each address the result of the load before it.

The chain visits every 128-byte line of the working set once, in random order, so that neither a prefetcher nor an open
row helps. Whole laps are timed; bracketing single loads by clock reads distorts short chains. Memory holds addresses,
not indices, so nothing but the load is in the chain. The device lays it out: half a gigabyte crosses no link.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda  # a global: the simulator swaps it

from ert_numba.kernels.cuda_code import Declared
from ert_numba.kernels.cuda_driver import Buffer, Function, LaunchShape, synchronize
from ert_numba.kernels.cuda_program import CudaProgram, CudaState, build_code
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.ptx import asm_operation
from ert_numba.records import DeviceInfo, Point, Work

LINE = 128
STEPS = 64  # dependent loads of one repetition
WARM_BYTES = 96 << 20  # a set that a cache may hold is warmed; a larger one would keep nothing
WARM_LAPS = 2  # the near half of an H200's L2 keeps a line of the far half from its second use on
WARM_THREADS = 1024
_SHARED_WORDS, _SHARED_STRIDE = 2048, 677  # an odd stride visits every word before it returns


def chase_text(space: str, register: str) -> str:
    """``STEPS`` dependent loads a repetition, from address ``$2`` on; the last address is the result."""
    lines = ["{", f".reg .{register} a;", ".reg .s32 i;", ".reg .pred p;", f"mov.{register} a, $2;", "mov.s32 i, $1;"]
    lines += ["LOOP_${:uid}:", *([f"ld.{space}.{register} a, [a];"] * STEPS)]
    lines += ["sub.s32 i, i, 1;", "setp.gt.s32 p, i, 0;", "@p bra LOOP_${:uid};", f"mov.{register} $0, a;", "}"]
    return "\n".join(lines)


def make_global_chase(space: str) -> Callable[..., None]:
    chase = asm_operation(chase_text(space, "b64"), "int64", ("int32", "int64"))
    store = asm_operation("st.global.b64 [$0], $1;", None, ("int64", "int64"))

    def kernel(results, repetitions, begin):  # type: ignore[no-untyped-def]
        store(results, chase(repetitions, begin))

    return kernel


def make_shared_chase() -> Callable[..., None]:
    from numba.core.types import int32, int64

    tile = asm_operation(
        f"{{\n.shared .align 16 .b8 tile_${{:uid}}[{4 * _SHARED_WORDS}];\nmov.u32 $0, tile_${{:uid}};\n}}", "int32", ()
    )
    write = asm_operation("st.shared.b32 [$0], $1;", None, ("int32", "int32"))
    chase = asm_operation(chase_text("volatile.shared", "b32"), "int32", ("int32", "int32"))
    store = asm_operation("st.global.b64 [$0], $1;", None, ("int64", "int64"))
    words, stride = _SHARED_WORDS, _SHARED_STRIDE

    def kernel(results, repetitions, begin):  # type: ignore[no-untyped-def]
        address = tile()
        for i in range(words):
            write(address + int32(4 * i), address + int32(4 * ((i + stride) % words)))
        store(results, int64(chase(repetitions, address + int32(begin)) - address))

    return kernel


def make_chain_layer() -> Callable[..., None]:
    load = asm_operation("ld.global.u32 $0, [$1];", "uint32", ("int64",))
    return chain_layer(load, asm_operation("st.global.b64 [$0], $1;", None, ("int64", "int64")))


def chain_layer(load: Any, store: Any) -> Callable[..., None]:
    """The first words of the lines of ``memory`` become one cycle: each the address of what follows in ``order``."""
    from numba.core.types import int64

    size = LINE

    def kernel(memory, order, lines):  # type: ignore[no-untyped-def]
        i = int64(cuda.grid(1))
        while i < lines:
            line = int64(load(order + int64(4) * i))
            following = int64(load(order + int64(4) * ((i + int64(1)) % lines)))
            store(memory + int64(size) * line, memory + int64(size) * following)
            i += int64(cuda.gridsize(1))

    return kernel


LAYER = Recipe(make=make_chain_layer, parameters={}, types=("int64", "int64", "int64"), declared=())
_LAYER_SHAPE = LaunchShape(1024, 256)


def make_touch_kernel(space: str) -> Callable[..., None]:
    number = asm_operation("ld.global.u32 $0, [$1];", "uint32", ("int64",))
    word = asm_operation(f"ld.{space}.u32 $0, [$1];", "uint32", ("int64",))
    return touch_loop(number, word, asm_operation("red.global.add.u32 [$0], $1;", None, ("int64", "uint32")))


def touch_loop(number: Any, word: Any, add: Any) -> Callable[..., None]:
    """One block reads the lines in the order of the chain, ``laps`` times: a thousand times as fast as the chain.

    The sum is there so that no load is dropped.
    """
    from numba.core.types import int64, uint32

    def kernel(results, memory, order, lines, laps):  # type: ignore[no-untyped-def]
        total = uint32(0)
        for _ in range(laps):
            i = int64(cuda.threadIdx.x)
            while i < lines:
                total += word(memory + int64(LINE) * int64(number(order + int64(4) * i)))
                i += int64(cuda.blockDim.x)
        add(results, total)

    return kernel


def touch_recipe(space: str) -> Recipe:
    return Recipe(
        make=make_touch_kernel,
        parameters={"space": space},
        types=("int64", "int64", "int64", "int64", "int64"),
        declared=(  # in SASS the load of the line's number looks alike
            Declared(ptx="ld." + space.replace(".", r"\.") + r"\.u32", count=1, sass=r"LDG\.E", sass_per_ptx=2),
        ),
    )


def recipe(space: str) -> Recipe:
    shared = space == "shared"
    name = "volatile.shared.b32" if shared else f"{space}.b64"
    return Recipe(
        make=make_shared_chase if shared else make_global_chase,
        parameters={} if shared else {"space": space},
        types=("int64", "int32", "int64"),
        declared=(
            Declared(ptx="ld." + name.replace(".", r"\."), count=STEPS, sass="LDS" if shared else r"LDG\.E\.64"),
        ),
    )


def point_recipe(point: Point, device: DeviceInfo) -> Recipe:
    return recipe(str(point.axes["space"]))


class ChaseProgram(CudaProgram):
    """One chain. Axes: ``space`` "shared", "global.ca" or "global.cg"; ``working_set_bytes``; ``seed``."""

    def __init__(self, point: Point, device: DeviceInfo) -> None:
        axes = point.axes
        self.space, self.lines = str(axes["space"]), max(2, int(axes["working_set_bytes"]) // LINE)
        self.order = np.random.default_rng(int(axes["seed"])).permutation(np.arange(self.lines, dtype=np.uint32))
        self.position = 0  # in the order: each run goes on where the last ended, so a large set is never half cached
        self.layer = build_code(LAYER, device)
        self.touch = build_code(touch_recipe(self.space), device) if self._cacheable() else None
        super().__init__(build_code(point_recipe(point, device), device), LaunchShape(1, 1, carveout_percent=0))

    def allocate(self) -> list[Buffer]:
        if self.space == "shared":
            return []
        memory, order = Buffer(self.lines * LINE), Buffer(4 * self.lines)
        order.upload(self.order)
        layer = Function(self.layer.cubin, self.layer.entry, self.layer.types)
        layer.launch(_LAYER_SHAPE, (memory.address, order.address, self.lines))
        return [memory, order]

    def _cacheable(self) -> bool:
        return self.space != "shared" and self.lines * LINE <= WARM_BYTES

    def warm(self, state: CudaState) -> None:
        if self.touch is None:
            return
        touch = Function(self.touch.cubin, self.touch.entry, self.touch.types)
        touch.configure(self.shape)  # its L1 is as large as the chain's
        memory, order = state.buffers
        values = (state.results.address, memory.address, order.address, self.lines, WARM_LAPS)
        touch.launch(LaunchShape(1, WARM_THREADS), values)
        synchronize()  # before the function is unloaded

    def values(self, state: CudaState, repetitions: int) -> tuple[int, ...]:
        begin = state.buffers[0].address + LINE * int(self.order[self.position]) if state.buffers else 0
        self.position = (self.position + repetitions * STEPS) % self.lines
        return (state.results.address, repetitions, begin)

    def check(self, state: CudaState) -> bool:
        repetitions = 3
        self.run(state, repetitions)
        found = int(state.results.download(np.int64, 1)[0])
        if not state.buffers:
            return found == 4 * (repetitions * STEPS * _SHARED_STRIDE % _SHARED_WORDS)
        last = self.order[self.position]
        return found == state.buffers[0].address + LINE * int(last)


def work(point: Point) -> Work:
    return Work(accesses=float(STEPS), bytes_counted=8.0 * STEPS, bytes_moved=32.0 * STEPS)
