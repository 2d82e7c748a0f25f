"""Timing of a user's own callable: CUDA events on the stream that it launches on, or the host's clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from ert_numba.errors import ErtError
from ert_numba.units import si

CALL_SECONDS = 1e-3  # of one round, in as many calls: events resolve 0.5 µs, and a lone launch costs the host's path
MOST_CALLS = 1 << 20
# Work that goes on after the last event is on another stream: its time would be missing, and the rate far too high.
UNSEEN_PART, UNSEEN_SECONDS = 0.2, 2e-4
WARM_SECONDS = 0.2  # a resting clock rises over some 100 ms; also what a callable compiles or allocates at first


class UserTimer(Protocol):
    """Times ``calls`` calls in a row and keeps what the last one returned."""

    kind: str  # "gpu" | "cpu"
    result: Any

    def seconds(self, function: Callable[[], Any], calls: int) -> float: ...


class HostTimer:
    """By the host's clock: for what has done its work when it returns."""

    kind = "cpu"

    def __init__(self) -> None:
        self.result: Any = None

    def seconds(self, function: Callable[[], Any], calls: int) -> float:
        began = time.perf_counter()
        for _ in range(calls):
            self.result = function()
        return time.perf_counter() - began


class EventTimer:
    """By events around the calls, on one stream of the device's primary context (PyTorch's, CuPy's and numba's own).

    The default is the legacy default stream, which waits for every blocking stream, so work on any of those is within
    the events. Where a call takes the GPU less time than the host needs to launch it, the figure is the launch path's.
    """

    kind = "gpu"

    def __init__(self, ordinal: int, stream: Any = None) -> None:
        from cuda.bindings import driver

        from ert_numba.kernels.cuda_driver import call

        self.result: Any = None
        self._driver, self._call, self._ordinal = driver, call, ordinal
        self._stream = stream_handle(stream)
        self._events: tuple[Any, Any] | None = None

    def require_work(self, function: Callable[[], Any]) -> None:
        """Run once; raises ErtError where this process has not touched the GPU even then: there is nothing to time."""
        self.result = function()
        if not context_active(self._ordinal):
            raise ErtError(
                "a kernel on the GPU",
                f"the callable launched nothing on GPU {self._ordinal}",
                "Pass on='cpu' for what runs on the host, or choose its GPU by --roofline-device",
            )
        if self._events is None:
            driver = self._driver
            context = self._call(driver.cuDevicePrimaryCtxRetain, self._call(driver.cuDeviceGet, self._ordinal))
            self._call(driver.cuCtxSetCurrent, context)
            self._events = (self._call(driver.cuEventCreate, 0), self._call(driver.cuEventCreate, 0))

    def seconds(self, function: Callable[[], Any], calls: int) -> float:
        if self._events is None:
            self.require_work(function)
        assert self._events is not None
        start, stop = self._events
        driver, call = self._driver, self._call
        call(driver.cuCtxSynchronize)
        call(driver.cuEventRecord, start, self._stream)
        for _ in range(calls):
            self.result = function()
        call(driver.cuEventRecord, stop, self._stream)
        call(driver.cuEventSynchronize, stop)
        ended = time.perf_counter()
        call(driver.cuCtxSynchronize)
        after = time.perf_counter() - ended
        seconds = float(call(driver.cuEventElapsedTime, start, stop)) * 1e-3
        if after > UNSEEN_PART * seconds + UNSEEN_SECONDS:
            raise ErtError(
                "a kernel's time on its stream",
                f"the GPU worked on for {si(after, 's')} after {si(seconds, 's')} between the events",
                "Pass the stream that the callable launches on: stream=",
            )
        return seconds


def context_active(ordinal: int) -> bool:
    """Whether anything in this process has made the device's primary context, which every library shares."""
    from cuda.bindings import driver

    from ert_numba.kernels.cuda_driver import call

    call(driver.cuInit, 0)
    _, active = call(driver.cuDevicePrimaryCtxGetState, call(driver.cuDeviceGet, ordinal))
    return bool(active)


def stream_handle(stream: Any) -> int:
    """The driver's handle of a stream: an integer, PyTorch's, CuPy's, numba's, or of ``__cuda_stream__``."""
    if stream is None:
        return 0
    if isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr", "handle"):
        found = getattr(stream, name, None)
        if found is not None:
            return int(getattr(found, "value", found) or 0)
    raise ErtError("a CUDA stream", f"{stream!r:.80}", "Pass an integer handle, or a stream of PyTorch, CuPy or numba")


def calibrated(timer: UserTimer, function: Callable[[], Any]) -> int:
    """Calls of one round, after warming up."""
    began, calls = time.monotonic(), 1
    while True:
        seconds = timer.seconds(function, calls)
        warm = time.monotonic() - began >= WARM_SECONDS
        if seconds >= CALL_SECONDS or calls >= MOST_CALLS:
            if warm or seconds >= WARM_SECONDS:
                return calls
        elif seconds > 0:
            calls = min(MOST_CALLS, max(calls + 1, min(8 * calls, round(1.2 * calls * CALL_SECONDS / seconds))))
        else:
            calls = min(MOST_CALLS, 8 * calls)
