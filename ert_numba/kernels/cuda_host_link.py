"""The link between host and device: copies to it, from it and both ways at once, from pinned and pageable memory."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ert_numba.kernels.cuda_driver import Buffer, call, stream, synchronize
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import DeviceInfo, Point, Skipped, Work

SIZE = 64 << 20
WAYS = ("h2d_pinned", "d2h_pinned", "both_pinned", "h2d_pageable", "d2h_pageable")


@dataclass
class LinkState:
    """Two buffers on each side, for the two directions; the second stream and the events that tie it to the first."""

    host: tuple[int, int]
    keep: Any
    device: tuple[Buffer, Buffer]
    other: Any
    fork: Any
    join: Any


class PinnedMemory:
    """Page-locked host memory, freed with its last reference."""

    def __init__(self, size_bytes: int) -> None:
        from cuda.bindings import driver

        self.address = int(call(driver.cuMemHostAlloc, size_bytes, 0))
        self.size_bytes = size_bytes
        weakref.finalize(self, driver.cuMemFreeHost, self.address).atexit = False

    def words(self) -> Any:
        """The memory as an array of uint32."""
        block = (ctypes.c_uint32 * (self.size_bytes // 4)).from_address(self.address)
        return np.ctypeslib.as_array(block)


class LinkProgram:
    """One way of copying."""

    code = "driver copies, no kernel"

    def __init__(self, way: str) -> None:
        self.way = way

    def prepare(self, worker: int) -> LinkState:
        from cuda.bindings import driver

        words = SIZE // 4
        keep: tuple[Any, Any]
        if self.way.endswith("pinned"):
            keep = (PinnedMemory(SIZE), PinnedMemory(SIZE))
            arrays = tuple(block.words() for block in keep)
            host = (keep[0].address, keep[1].address)
        else:
            arrays = keep = (np.empty(words, np.uint32), np.empty(words, np.uint32))
            host = (arrays[0].ctypes.data, arrays[1].ctypes.data)
        arrays[0][:] = np.arange(words, dtype=np.uint32)  # touched: pages that were never written have no memory
        arrays[1][:] = 0
        device = (Buffer(SIZE), Buffer(SIZE))
        device[1].upload(arrays[0])
        events = [call(driver.cuEventCreate, driver.CUevent_flags.CU_EVENT_DISABLE_TIMING.value) for _ in range(2)]
        other = call(driver.cuStreamCreate, driver.CUstream_flags.CU_STREAM_NON_BLOCKING.value)
        return LinkState(host=host, keep=keep, device=device, other=other, fork=events[0], join=events[1])

    def run(self, state: LinkState, repetitions: int) -> float:
        from cuda.bindings import driver

        both = self.way.startswith("both")
        back = state.other if both else stream()
        if both:
            call(driver.cuEventRecord, state.fork, stream())
            call(driver.cuStreamWaitEvent, state.other, state.fork, 0)
        for _ in range(repetitions):
            if both or self.way.startswith("h2d"):
                call(driver.cuMemcpyHtoDAsync, state.device[0].address, state.host[0], SIZE, stream())
            if both or self.way.startswith("d2h"):
                call(driver.cuMemcpyDtoHAsync, state.host[1], state.device[1].address, SIZE, back)
        if both:
            call(driver.cuEventRecord, state.join, state.other)
            call(driver.cuStreamWaitEvent, stream(), state.join, 0)
        return 0.0

    def check(self, state: LinkState) -> bool:
        self.run(state, 1)
        synchronize()
        gold = np.arange(SIZE // 4, dtype=np.uint32)
        right = True
        if not self.way.startswith("d2h"):
            right = bool(np.array_equal(state.device[0].download(np.uint32), gold))
        if not self.way.startswith("h2d"):
            found = state.keep[1].words() if self.way.endswith("pinned") else state.keep[1]
            right = right and bool(np.array_equal(found, gold))
        return right


def _points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    if request.wants_level("HOST"):
        for way in WAYS:
            yield Point(kernel="cuda_host_link", ceiling=f"HOST.{way}", axes={"way": way})


def work(point: Point) -> Work:
    size = float(SIZE * (2 if str(point.axes["way"]).startswith("both") else 1))
    return Work(bytes_counted=size, bytes_moved=size)


def _build(point: Point, device: DeviceInfo) -> LinkProgram:
    return LinkProgram(str(point.axes["way"]))


SPEC = KernelSpec(name="cuda_host_link", device_kind="gpu", kind="bandwidth", points=_points, work=work, build=_build)
