"""Blackwell's Tensor Cores by ``tcgen05.mma``: named as missing, so that nobody takes a lower path for the peak.

One thread issues for an SM or a pair of them; operands lie in shared memory, accumulators in tensor memory, which a
kernel allocates. A kernel would have rows beside ``WGMMA_SHAPES`` and a program like that of ``cuda_wgmma``. Consumer
Blackwell (12.x) has no ``tcgen05``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Never

from ert_numba.kernels.cuda_program import capability
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import DeviceInfo, Point, Skipped, Work

PRECISIONS = ("fp16", "bf16", "tf32", "fp8_e4m3", "fp8_e5m2", "int8")
_MAJORS = (10, 11)


def _points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    if capability(device)[0] not in _MAJORS:
        return
    for precision in filter(request.wants_precision, PRECISIONS):
        reason = "no kernel of this package issues it yet: cuBLAS shows what these Tensor Cores reach"
        yield Skipped(what=f"{precision}.tensor.tcgen05", reason=reason)


def _none(*arguments: object) -> Never:
    raise NotImplementedError("tcgen05 offers no point")


def work(point: Point) -> Work:
    _none(point)


SPEC = KernelSpec(name="cuda_tcgen05", device_kind="gpu", kind="compute", points=_points, work=work, build=_none)
