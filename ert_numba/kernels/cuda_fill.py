"""Device memory with known contents: word i holds i, so that the sum of any set of words is known exactly."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba import cuda  # a global: the simulator swaps it

from ert_numba.kernels.cuda_driver import Buffer, Function, LaunchShape, call
from ert_numba.kernels.cuda_toolchain import Recipe, cache_folder, compile_recipe
from ert_numba.kernels.ptx import asm_operation

_SHAPE = LaunchShape(1024, 256)


def make_index_kernel() -> Callable[..., None]:
    """Four words a store."""
    store = asm_operation(
        "{\n.reg .b32 w<4>;\nmov.u32 w0, $1;\nadd.u32 w1, w0, 1;\nadd.u32 w2, w0, 2;\nadd.u32 w3, w0, 3;\n"
        "st.global.v4.u32 [$0], {w0,w1,w2,w3};\n}",
        None,
        ("int64", "uint32"),
    )
    return index_loop(store)


def index_loop(store: Any) -> Callable[..., None]:
    from numba.core.types import int64, uint32

    def kernel(memory, quads):  # type: ignore[no-untyped-def]
        i = int64(cuda.grid(1))
        while i < quads:
            store(memory + int64(16) * i, uint32(int64(4) * i))
            i += int64(cuda.gridsize(1))

    return kernel


RECIPE = Recipe(make=make_index_kernel, parameters={}, types=("int64", "int64"), declared=())


@functools.cache
def _function(context: int, capability: tuple[int, int]) -> Function:
    compiled = compile_recipe(RECIPE, capability, cache_folder())
    return Function(compiled.cubin, compiled.entry, compiled.types)


def fill_with_index(memory: Buffer) -> None:
    """Enqueue the fill on the current device; the buffer is a multiple of 16 bytes."""
    from cuda.bindings import driver

    device = call(driver.cuCtxGetDevice)
    names = driver.CUdevice_attribute
    major = call(driver.cuDeviceGetAttribute, names.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)
    minor = call(driver.cuDeviceGetAttribute, names.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
    function = _function(int(call(driver.cuCtxGetCurrent)), (major, minor))
    function.launch(_SHAPE, (memory.address, memory.size_bytes // 16))


def index_sum(words: int) -> int:
    """Sum of the first ``words`` words, modulo 2^32, as 32-bit addition makes it."""
    wraps, rest = divmod(words, 2**32)
    return (wraps * (2**32 * (2**32 - 1) // 2) + rest * (rest - 1) // 2) % 2**32
