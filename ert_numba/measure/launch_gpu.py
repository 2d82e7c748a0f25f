"""Each kernel of the suite once, at its measuring size: what a profiler's counters are compared with.

The half of the counter check that belongs to the machine: what every kernel declares, by its name in a profiler.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ert_numba.errors import ErtError
from ert_numba.kernels.cuda_driver import profiled, synchronize, use_device
from ert_numba.kernels.cuda_program import CudaProgram
from ert_numba.kernels.registry_cuda import CUDA_KERNELS
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import DeviceInfo, Point, Skipped, Work

AMOUNT = 2e10  # FLOP, bytes or accesses of one launch: a millisecond or so
LATENCY_AMOUNT = 2e5
_NO_KERNEL = ("cublas_gemm", "cuda_host_link", "cuda_launch")  # a library's names, copies, and kernels that do nothing


class Launched(msgspec.Struct, frozen=True, kw_only=True):
    """One launch: ``name`` is the kernel's entry, ``work`` what the launch does with ``repetitions`` of its loop."""

    name: str
    ceiling: str
    blocks: int
    threads: int
    repetitions: int
    work: Work


class LaunchedSuite(msgspec.Struct, frozen=True, kw_only=True):
    """All launches of one run, in order: what a profiler sees that waits for the program to start it."""

    device: str
    launches: tuple[Launched, ...]
    skipped: tuple[Skipped, ...] = ()


def launch_suite(device: DeviceInfo, ordinal: int, request: Request) -> LaunchedSuite:
    """Run one point of every ceiling once; what the memory has no room for is skipped with its reason."""
    use_device(ordinal)
    launches: list[Launched] = []
    skipped: list[Skipped] = []
    for spec, point in _one_a_ceiling(device, request):
        try:
            launches.append(_launch(spec, point, device))
        except ErtError as error:
            skipped.append(Skipped(what=point.key, reason=str(error)))
    return LaunchedSuite(device=device.name, launches=tuple(launches), skipped=tuple(skipped))


def _one_a_ceiling(device: DeviceInfo, request: Request) -> Iterator[tuple[KernelSpec, Point]]:
    seen: set[str] = set()
    for spec in CUDA_KERNELS:
        if spec.name in _NO_KERNEL:
            continue
        for item in spec.points(device, request):
            if isinstance(item, Point) and item.ceiling not in seen:
                seen.add(item.ceiling)
                yield spec, item


def _launch(spec: KernelSpec, point: Point, device: DeviceInfo) -> Launched:
    program = spec.build(point, device)
    if not isinstance(program, CudaProgram):
        raise TypeError(f"{spec.name} launches no kernel of its own")
    once = spec.work(point)
    amount = once.flop or once.bytes_counted if spec.kind != "latency" else once.accesses
    wanted = LATENCY_AMOUNT if spec.kind == "latency" else AMOUNT
    repetitions = max(1, round(wanted / amount))
    state = program.prepare(0)
    program.warm(state)
    synchronize()
    with profiled():  # neither the fills nor the laps that warm a cache
        program.run(state, repetitions)
        synchronize()
    shape = program.launch_shape(repetitions)
    return Launched(
        name=program.compiled.entry,
        ceiling=point.ceiling,
        blocks=shape.blocks * shape.rows,
        threads=shape.threads,
        repetitions=repetitions,
        work=Work(
            flop=once.flop * repetitions,
            bytes_counted=once.bytes_counted * repetitions,
            bytes_moved=once.bytes_moved * repetitions,
            accesses=once.accesses * repetitions,
        ),
    )
