"""A compiled CUDA kernel as a Program: memory, launches and the comparison with its gold value.

All repetitions happen inside ONE launch, so that a sample can last long against the cost of a launch: most kernels take
first the address of one result a thread and the number of repetitions, and loop over these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ert_numba.kernels.cuda_driver import Buffer, Function, LaunchShape
from ert_numba.kernels.cuda_toolchain import Compiled, Recipe, cache_folder, compile_recipe
from ert_numba.records import DeviceInfo


@dataclass
class CudaState:
    """What one prepared program holds on the device."""

    function: Function
    results: Buffer
    buffers: list[Buffer] = field(default_factory=list)


class CudaProgram:
    """Base of the programs that launch one kernel; a kernel module says what memory and arguments it needs."""

    result_bytes = 8
    result_count: int | None = None
    """Results of ``result_bytes`` each; None: one a thread."""

    def __init__(self, compiled: Compiled, shape: LaunchShape) -> None:
        self.compiled, self.shape, self.code = compiled, shape, compiled.code

    def allocate(self) -> list[Buffer]:
        """Device memory beside the results, filled; none for kernels that live in registers."""
        return []

    def values(self, state: CudaState, repetitions: int) -> Sequence[int | float]:
        """The kernel's arguments for a measured launch."""
        raise NotImplementedError

    def prepare(self, worker: int) -> CudaState:
        function = Function(self.compiled.cubin, self.compiled.entry, self.compiled.types)
        function.configure(self.shape)
        results = self.result_count or self.shape.blocks * self.shape.threads
        return CudaState(function, Buffer(results * self.result_bytes), self.allocate())

    def warm(self, state: CudaState) -> None:
        """Fill the caches as the first measured call needs them: other kernels ran since the last one."""

    def launch_shape(self, repetitions: int) -> LaunchShape:
        return self.shape

    def run(self, state: CudaState, repetitions: int) -> float:
        state.function.launch(self.launch_shape(repetitions), self.values(state, repetitions))
        return 0.0

    def check(self, state: CudaState) -> bool | None:
        raise NotImplementedError


def capability(device: DeviceInfo) -> tuple[int, int]:
    """``(9, 0)`` from ``sm_90``."""
    digits = device.architecture.removeprefix("sm_").rstrip("af")
    return int(digits[:-1]), int(digits[-1])


def build_code(recipe: Recipe, device: DeviceInfo) -> Compiled:
    """Checked machine code for the device, from the user's kernel cache where it is there."""
    return compile_recipe(recipe, capability(device), cache_folder())


def blocks(device: DeviceInfo, threads: int) -> int:
    """Blocks of ``threads`` threads that fill every SM: 2048, 1536 or 1024 threads by architecture."""
    per_sm = device.threads // device.units if device.threads > device.units else 1024
    return max(1, per_sm // threads) * device.units
