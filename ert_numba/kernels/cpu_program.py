"""What the CPU kernels share: the compiled program of a point, the instruction set it uses, and who runs it."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ert_numba.catalog.vector_isas import VECTOR_ISAS, VectorIsa
from ert_numba.kernels.cpu_compile import CompiledKernel
from ert_numba.kernels.cpu_memory import Arena, Bytes, Touch
from ert_numba.kernels.spec import Request
from ert_numba.records import DeviceInfo


@dataclass(frozen=True)
class CpuProgram:
    """A compiled kernel and the memory that one worker gives it.

    ``size_bytes`` is the kernel's third argument, ``memory_bytes`` what it may touch, all of it in
    ``pass_repetitions``. ``lay_out`` writes into a worker's memory what the kernel needs to find there (the ring of a
    pointer chase); it returns where to start. Without it the memory holds ordinary numbers.
    """

    kernel: CompiledKernel
    code: str
    gold: Callable[[], bool]
    size_bytes: int = 0
    memory_bytes: int = 0
    pass_repetitions: int = 1
    page: str = "huge"
    remote: bool = False
    lay_out: Callable[[Bytes], int] | None = None

    def prepare(self, worker: Arena, touch: Touch | None = None) -> int:
        """The address that the kernel starts from, in memory that the calling thread touched first."""
        if not self.memory_bytes:
            return 0
        numbers = self.lay_out is None
        memory = worker.take(self.memory_bytes, self.page, touch if self.remote else None, numbers)
        return int(memory.ctypes.data) if self.lay_out is None else self.lay_out(memory)

    def run(self, state: int, repetitions: int) -> float:
        return self.kernel(repetitions, state, self.size_bytes)

    def check(self, state: int) -> bool:
        return self.gold()


def host_isa(device: DeviceInfo) -> VectorIsa:
    """The widest instruction set of the catalogue that the device has in full."""
    return next(
        row for row in VECTOR_ISAS if row.machine == device.architecture and set(row.features) <= set(device.features)
    )


def scopes(device: DeviceInfo, request: Request) -> Iterator[tuple[str, int]]:
    """(suffix of the ceiling key, workers): one core, one socket where there are several, all.

    ``device.units`` is the number of physical cores that may be used; one worker runs on each.
    """
    everyone = request.threads or device.units
    if everyone > 1 and not request.quick:
        yield "@core", 1
    if 0 < device.socket_units < device.units and everyone == device.units and not request.quick:
        yield "@socket", device.socket_units
    yield "", everyone


def scratch(size_bytes: int) -> Bytes:
    """A small 64-byte-aligned buffer for a check against a gold value."""
    whole = np.zeros(size_bytes + 4096, dtype=np.uint8)
    skip = -whole.ctypes.data % 4096
    return whole[skip : skip + size_bytes]


def this_machine() -> str:
    """``platform.machine()`` in the catalogue's words."""
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
