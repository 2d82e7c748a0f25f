"""Every kernel of a GPU; beside ``registry``, so that a CPU sweep imports nothing of CUDA.

The order is that of a round: what needs a full clock first, what heats the GPU and meets its power cap last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ert_numba.kernels import (
    cublas_gemm,
    cuda_clock,
    cuda_fill,
    cuda_fma,
    cuda_host_link,
    cuda_knee,
    cuda_latency,
    cuda_launch,
    cuda_load,
    cuda_memory,
    cuda_mma,
    cuda_read,
    cuda_shared,
    cuda_store,
    cuda_tcgen05,
    cuda_wgmma,
    cuda_words,
)
from ert_numba.kernels.cuda_program import capability
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.spec import KernelSpec
from ert_numba.records import DeviceInfo, Point

CUDA_KERNELS: tuple[KernelSpec, ...] = (
    cuda_launch.SPEC,
    cuda_host_link.SPEC,
    cuda_memory.LATENCY,
    cuda_memory.KNEES,
    cuda_memory.LOAD,
    cuda_memory.READ,
    cuda_memory.STORE,
    cuda_memory.WORDS,
    cuda_shared.SPEC,
    cuda_fma.SPEC,
    cuda_mma.SPEC,
    cuda_wgmma.SPEC,
    cuda_tcgen05.SPEC,
    cublas_gemm.SPEC,
)

POINT_RECIPES: dict[str, Callable[[Point, DeviceInfo], Recipe]] = {
    "cuda_launch": cuda_launch.point_recipe,
    "cuda_latency": cuda_latency.point_recipe,
    "cuda_knee": cuda_knee.point_recipe,
    "cuda_load": cuda_load.point_recipe,
    "cuda_read": cuda_read.point_recipe,
    "cuda_store": cuda_store.point_recipe,
    "cuda_words": cuda_words.point_recipe,
    "cuda_shared": cuda_shared.point_recipe,
    "cuda_fma": cuda_fma.point_recipe,
    "cuda_mma": cuda_mma.point_recipe,
    "cuda_wgmma": cuda_wgmma.point_recipe,
}
"""What a point compiles; kernels that are not here (a library's, the driver's copies) compile nothing."""

TIMER_RECIPES: tuple[Recipe, ...] = (
    cuda_clock.STAMP, cuda_clock.HOLD, cuda_fill.RECIPE, cuda_latency.LAYER,
    cuda_latency.touch_recipe("global.ca"), cuda_latency.touch_recipe("global.cg"),
)  # fmt: skip


def recipes(points: Iterable[Point], device: DeviceInfo) -> list[Recipe]:
    """All that measuring ``points`` compiles, each once: the timer's own kernels and those that fill memory too."""
    made = [
        *TIMER_RECIPES,
        *(POINT_RECIPES[point.kernel](point, device) for point in points if point.kernel in POINT_RECIPES),
    ]
    return list({(repr(row), capability(device)): row for row in made}.values())
