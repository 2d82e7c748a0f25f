"""The CUDA driver as a handful of calls that raise, on one device and one stream a process.

Only ``cuda.bindings`` is used, so a machine needs the driver and pip packages, no toolkit. Every program enqueues on
:func:`stream`, which belongs to the device that :func:`use_device` made current.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ert_numba.errors import DeviceLost, ErtError

_REMEDIES = {
    "CUDA_ERROR_OUT_OF_MEMORY": "Free device memory (nvidia-smi lists who holds it) or ask for smaller --sizes",
    "CUDA_ERROR_NO_DEVICE": "Check CUDA_VISIBLE_DEVICES and `nvidia-smi -L`",
    "CUDA_ERROR_INVALID_DEVICE": "List what there is with `ert-numba devices`",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "Driver older than compiler: update it, or install ert-numba[cuda12]",
    "CUDA_ERROR_INVALID_IMAGE": "Driver older than compiler: update it, or install ert-numba[cuda12]",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "Clear the kernel cache and run again; if it stays, report the GPU's name",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "The kernel module and libcuda differ: restart after the driver's update",
    "CUDA_ERROR_ECC_UNCORRECTABLE": "The memory of the GPU is faulty: see `nvidia-smi -q -d ECC`",
    "CUDA_ERROR_ILLEGAL_ADDRESS": "A kernel left its memory: report it with the sweep.json; another process can go on",
    "CUDA_ERROR_DEVICE_UNAVAILABLE": "Another process holds the GPU for itself alone: see `nvidia-smi -q -d COMPUTE`",
}
_DEFAULT_REMEDY = "See `nvidia-smi -q` and the kernel log for the state of the GPU"


class CudaError(ErtError):
    """A driver call failed; ``name`` is CUDA's own name of the failure."""

    def __init__(self, asked: str, name: str) -> None:
        self.name = name
        super().__init__(asked, name, _REMEDIES.get(name, _DEFAULT_REMEDY))


class GpuLost(CudaError, DeviceLost):
    """A failure after which every call of this process on the device fails."""


# cuda.h: "leaves the process in an inconsistent state and any further CUDA work will return the same error".
STICKY = frozenset(
    "CUDA_ERROR_" + name
    for name in (
        "DEINITIALIZED", "DEVICE_UNAVAILABLE", "ECC_UNCORRECTABLE", "NVLINK_UNCORRECTABLE", "ILLEGAL_ADDRESS",
        "LAUNCH_TIMEOUT", "CONTEXT_IS_DESTROYED", "ASSERT", "HARDWARE_STACK_ERROR", "ILLEGAL_INSTRUCTION",
        "MISALIGNED_ADDRESS", "INVALID_ADDRESS_SPACE", "INVALID_PC", "LAUNCH_FAILED", "TENSOR_MEMORY_LEAK",
        "EXTERNAL_DEVICE", "CONTAINED", "UNKNOWN",
    )
)  # fmt: skip


def failure(asked: str, name: str) -> CudaError:
    """The error of a driver call that returned the status ``name``."""
    return (GpuLost if name in STICKY else CudaError)(asked, name)


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """The values that a driver function returns; raises :class:`CudaError` unless it says CUDA_SUCCESS."""
    status, *values = function(*arguments)
    if int(status) != 0:
        raise failure(function.__name__, status.name)
    return values[0] if len(values) == 1 else tuple(values)


_streams: dict[int, Any] = {}


def use_device(ordinal: int) -> None:
    """Make the primary context of a device current in this thread, with a stream of its own for measuring."""
    from cuda.bindings import driver

    call(driver.cuInit, 0)
    context = call(driver.cuDevicePrimaryCtxRetain, call(driver.cuDeviceGet, ordinal))
    call(driver.cuCtxSetCurrent, context)
    if int(context) not in _streams:
        _streams[int(context)] = call(driver.cuStreamCreate, driver.CUstream_flags.CU_STREAM_NON_BLOCKING.value)


def stream() -> Any:
    """The measuring stream of the current device; :func:`use_device` comes first."""
    from cuda.bindings import driver

    return _streams[int(call(driver.cuCtxGetCurrent))]


def synchronize() -> None:
    from cuda.bindings import driver

    call(driver.cuStreamSynchronize, stream())


class Buffer:
    """Device memory that is freed with its last reference. ``address`` is what a kernel takes as uint64."""

    def __init__(self, size_bytes: int) -> None:
        from cuda.bindings import driver

        self.size_bytes = size_bytes
        self.address = int(call(driver.cuMemAlloc, size_bytes))
        weakref.finalize(self, driver.cuMemFree, self.address).atexit = False  # the context goes with the process

    def fill(self, word: int) -> None:
        """Every 32-bit word to ``word``."""
        from cuda.bindings import driver

        call(driver.cuMemsetD32Async, self.address, word, self.size_bytes // 4, stream())

    def upload(self, values: NDArray[Any]) -> None:
        from cuda.bindings import driver

        values = np.ascontiguousarray(values)
        call(driver.cuMemcpyHtoDAsync, self.address, values.ctypes.data, values.nbytes, stream())
        synchronize()

    def download(self, dtype: Any, count: int | None = None) -> NDArray[Any]:
        from cuda.bindings import driver

        values = np.empty(self.size_bytes // np.dtype(dtype).itemsize if count is None else count, dtype)
        call(driver.cuMemcpyDtoHAsync, values.ctypes.data, self.address, values.nbytes, stream())
        synchronize()
        return values


class Part(Buffer):
    """A part of a buffer, which lives as long as its parts do."""

    def __init__(self, whole: Buffer, offset_bytes: int, size_bytes: int) -> None:
        self.whole, self.size_bytes = whole, size_bytes
        self.address = whole.address + offset_bytes


_GRAIN = 64 << 20  # bytes: programs whose sizes differ by a tile share
_common: weakref.WeakValueDictionary[int, Buffer] = weakref.WeakValueDictionary()


def common_memory(size_bytes: int) -> Buffer:
    """Memory of the current device that programs use in turn; it holds whatever the last one left there.

    For programs of gigabytes: several, kept open side by side, would not fit, and freeing costs more than memory. An
    H200's driver clears what was freed, at some 2 ms a GB, and takes 13 % of the bandwidth for so long.
    """
    from cuda.bindings import driver

    context = int(call(driver.cuCtxGetCurrent))
    found = _common.get(context)
    if found is None or found.size_bytes < size_bytes:
        found = _common[context] = Buffer(-(-size_bytes // _GRAIN) * _GRAIN)
    return found


@dataclass(frozen=True)
class LaunchShape:
    """Blocks, threads of a block, and what a block asks of the SM's joint L1 and shared memory.

    ``rows`` times ``blocks`` of them, row after row: the second dimension of the grid.
    """

    blocks: int
    threads: int
    rows: int = 1
    shared_bytes: int = 0
    carveout_percent: int | None = (
        None  # of the joint memory that becomes shared memory; None leaves the driver's choice
    )


class Function:
    """A kernel loaded from a cubin, and its arguments' C types."""

    def __init__(self, cubin: bytes, entry: str, types: Sequence[str]) -> None:
        from cuda.bindings import driver

        self._library = call(driver.cuLibraryLoadData, cubin, [], [], 0, [], [], 0)
        kernel = call(driver.cuLibraryGetKernel, self._library, entry.encode())
        self._function = call(driver.cuKernelGetFunction, kernel)
        self._types = tuple(getattr(ctypes, "c_" + C_NAMES[name]) for name in types)

    def configure(self, shape: LaunchShape) -> None:
        """Tell the driver what the shape asks for beyond its defaults; once, before the first launch."""
        from cuda.bindings import driver

        attribute = driver.CUfunction_attribute
        if shape.shared_bytes > 48 * 1024:
            name = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            call(driver.cuFuncSetAttribute, self._function, name, shape.shared_bytes)
        if shape.carveout_percent is not None:
            name = attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
            call(driver.cuFuncSetAttribute, self._function, name, shape.carveout_percent)

    def attribute(self, name: str) -> int:
        """``"NUM_REGS"``, ``"LOCAL_SIZE_BYTES"``: what the compiler gave a thread."""
        from cuda.bindings import driver

        key = getattr(driver.CUfunction_attribute, "CU_FUNC_ATTRIBUTE_" + name)
        return int(call(driver.cuFuncGetAttribute, key, self._function))

    @property
    def handle(self) -> int:
        return int(self._function)

    def launch(self, shape: LaunchShape, values: Sequence[int | float]) -> None:
        """Enqueue on the measuring stream."""
        from cuda.bindings import driver

        call(
            driver.cuLaunchKernel, self._function, shape.blocks, shape.rows, 1, shape.threads, 1, 1, shape.shared_bytes,
            stream(), (tuple(values), self._types), 0,
        )  # fmt: skip


C_NAMES = {
    "int32": "int32",
    "uint32": "uint32",
    "int64": "int64",
    "uint64": "uint64",
    "float32": "float",
    "float64": "double",
}


class Event:
    """A point in the measuring stream."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self._event = call(driver.cuEventCreate, 0)

    def record(self) -> None:
        from cuda.bindings import driver

        call(driver.cuEventRecord, self._event, stream())

    def seconds_since(self, start: Event) -> float:
        """Waits for this event; the events' own resolution is about 0.5 µs."""
        from cuda.bindings import driver

        call(driver.cuEventSynchronize, self._event)
        return float(call(driver.cuEventElapsedTime, start._event, self._event)) * 1e-3


@contextmanager
def device(ordinal: int) -> Iterator[None]:
    """``use_device`` for a block, then the context that was current before."""
    from cuda.bindings import driver

    call(driver.cuInit, 0)
    before = call(driver.cuCtxGetCurrent)
    use_device(ordinal)
    try:
        yield
    finally:
        call(driver.cuCtxSetCurrent, before)


@contextmanager
def profiled() -> Iterator[None]:
    """What a profiler that was told to wait for it (``ncu --profile-from-start off``) sees; without one, nothing."""
    from cuda.bindings import driver

    call(driver.cuProfilerStart)
    try:
        yield
    finally:
        call(driver.cuProfilerStop)
