"""What a launch costs: empty kernels one after another, from the stream and from a CUDA graph."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable
from typing import Any

from ert_numba.kernels.cuda_driver import Buffer, Function, LaunchShape, call, failure, stream
from ert_numba.kernels.cuda_program import CudaProgram, CudaState, build_code
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.ptx import asm_operation
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import DeviceInfo, Point, Skipped, Work

GRAPH_NODES = 256


def make_empty_kernel() -> Callable[..., None]:
    """Stores only where it is told a reason, so that it is not nothing at all."""
    store = asm_operation("st.global.u32 [$0], $1;", None, ("int64", "uint32"))

    def kernel(results, repetitions):  # type: ignore[no-untyped-def]
        if repetitions < 0:
            store(results, 1)

    return kernel


RECIPE = Recipe(make=make_empty_kernel, parameters={}, types=("int64", "int32"), declared=())


def point_recipe(point: Point, device: DeviceInfo) -> Recipe:
    return RECIPE


class LaunchProgram(CudaProgram):
    """``way`` "stream": one driver call a launch. "round_trip": and wait for each. "graph": 256 launches a call."""

    def __init__(self, point: Point, device: DeviceInfo) -> None:
        self.way = str(point.axes["way"])
        super().__init__(build_code(RECIPE, device), LaunchShape(1, 32))
        self.code = "an empty kernel"
        self._graph: Any = None

    def prepare(self, worker: int) -> CudaState:
        state = CudaState(Function(self.compiled.cubin, self.compiled.entry, self.compiled.types), Buffer(8))
        if self.way == "graph":
            self._graph = self._capture(state)
        return state

    def _capture(self, state: CudaState) -> Any:
        from cuda.bindings import driver

        call(driver.cuStreamBeginCapture, stream(), driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
        for _ in range(GRAPH_NODES):
            state.function.launch(self.shape, (state.results.address, 1))
        graph = call(driver.cuStreamEndCapture, stream())
        executable = call(driver.cuGraphInstantiate, graph, 0)
        call(driver.cuGraphDestroy, graph)
        return executable

    def run(self, state: CudaState, repetitions: int) -> float:
        from cuda.bindings import driver

        if self.way == "graph":
            for _ in range(repetitions):
                call(driver.cuGraphLaunch, self._graph, stream())
            return 0.0
        # The driver by ctypes, arguments made once: cuda.bindings' conversion of them costs more than a launch.
        launch, values = bare_launch(
            state.function.handle, self.shape, (ctypes.c_int64(state.results.address), ctypes.c_int32(1))
        )
        wait = bare_call("cuStreamSynchronize", ctypes.c_void_p) if self.way == "round_trip" else None
        measured = ctypes.c_void_p(int(stream()))
        for _ in range(repetitions):
            status = launch(*values)
            if wait is not None:
                status = status or wait(measured)
            if status:
                raise failure("cuLaunchKernel", driver.CUresult(status).name)
        return 0.0

    def check(self, state: CudaState) -> None:
        return None


def bare_call(name: str, *types: Any) -> Any:
    """A driver function by ctypes; the status is its plain result."""
    function = getattr(ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"), name)
    function.argtypes, function.restype = types, ctypes.c_int
    return function


def bare_launch(function: int, shape: LaunchShape, arguments: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """cuLaunchKernel and its arguments, ready to be called over and over."""
    unsigned, pointer = ctypes.c_uint, ctypes.c_void_p
    pointers = (pointer * len(arguments))(*(ctypes.addressof(value) for value in arguments))
    pointers.keep = arguments  # type: ignore[attr-defined]  # the array holds only addresses
    entry = bare_call("cuLaunchKernel", pointer, *[unsigned] * 7, pointer, pointer, pointer)
    values = (pointer(function), shape.blocks, 1, 1, shape.threads, 1, 1, 0, pointer(int(stream())), pointers, None)
    return entry, values


def _points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    for way in ("stream", "round_trip", "graph"):
        yield Point(kernel="cuda_launch", ceiling=f"launch.{way}", axes={"way": way})


def work(point: Point) -> Work:
    return Work(accesses=float(GRAPH_NODES if point.axes["way"] == "graph" else 1))


def _build(point: Point, device: DeviceInfo) -> LaunchProgram:
    return LaunchProgram(point, device)


SPEC = KernelSpec(name="cuda_launch", device_kind="gpu", kind="overhead", points=_points, work=work, build=_build)
