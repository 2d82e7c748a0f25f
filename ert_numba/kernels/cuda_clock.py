"""The SM clock around a stretch of the stream, and a kernel that holds the stream while the host fills it.

Two stamps of ``%clock64`` (counts cycles of one SM, across kernels) over ``%globaltimer`` (nanoseconds), taken on every
SM before and after the measured work, give the clock that the SMs truly ran at, libraries' kernels included.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda  # a global: the simulator swaps it

from ert_numba.kernels.cuda_driver import Buffer, Function, LaunchShape
from ert_numba.kernels.cuda_program import build_code
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.ptx import asm_operation
from ert_numba.records import DeviceInfo


def make_stamp_kernel() -> Callable[..., None]:
    """Block b writes its SM's number, cycle count and the global time to four words each (one unused)."""
    from numba.core.types import int64

    stamp = asm_operation(
        "{\n.reg .b64 t<2>;\n.reg .b32 s;\nmov.u32 s, %smid;\ncvt.u64.u32 t0, s;\nst.global.u64 [$0], t0;\n"
        "mov.u64 t0, %clock64;\nmov.u64 t1, %globaltimer;\nst.global.v2.u64 [$0+16], {t0,t1};\n}",
        None,
        ("int64",),
    )

    def kernel(stamps):  # type: ignore[no-untyped-def]
        stamp(stamps + int64(32) * int64(cuda.blockIdx.x))

    return kernel


def make_hold_kernel() -> Callable[..., None]:
    """Returns after ``nanoseconds``."""
    hold = asm_operation(
        "{\n.reg .b64 b, t;\n.reg .pred p;\nmov.u64 b, %globaltimer;\nHOLD_${:uid}:\nmov.u64 t, %globaltimer;\n"
        "sub.u64 t, t, b;\nsetp.lt.u64 p, t, $0;\n@p bra HOLD_${:uid};\n}",
        None,
        ("int64",),
    )

    def kernel(nanoseconds):  # type: ignore[no-untyped-def]
        hold(nanoseconds)

    return kernel


STAMP = Recipe(make=make_stamp_kernel, parameters={}, types=("int64",), declared=())
HOLD = Recipe(make=make_hold_kernel, parameters={}, types=("int64",), declared=())


FASTEST = 1.005  # of the maximum clock, that a reading may exceed it by: it repeats to 1e-5


class ClockProbe:
    """Stamps at the begin and the end of the measured work, and a hold before both."""

    def __init__(self, device: DeviceInfo) -> None:
        self.maximum_hz = device.maximum_clock_hz
        stamp, hold = build_code(STAMP, device), build_code(HOLD, device)
        self._stamp = Function(stamp.cubin, stamp.entry, stamp.types)
        self._hold = Function(hold.cubin, hold.entry, hold.types)
        self._shape = LaunchShape(device.units, 32)
        self._stamps = (Buffer(32 * device.units), Buffer(32 * device.units))

    def hold(self, seconds: float) -> None:
        self._hold.launch(LaunchShape(1, 1), (round(seconds * 1e9),))

    def begin(self) -> None:
        self._stamp.launch(self._shape, (self._stamps[0].address,))

    def end(self) -> None:
        self._stamp.launch(self._shape, (self._stamps[1].address,))

    def credible(self, clock_hz: float) -> bool:
        """Whether the GPU's own time ran on between the stamps.

        It is set now and then, some 20 ms long at a rate 4 to 8 % off (seen on one host of H200s, once a minute or so).
        Events use the same time, so what was timed meanwhile looks faster than it is, and the clock above its maximum.
        """
        return self.maximum_hz is None or clock_hz <= FASTEST * self.maximum_hz

    def clock_hz(self) -> float | None:
        """Median over SMs of cycles per second between the stamps; None where no SM was seen twice."""
        first, last = ({row[0]: row for row in buffer.download(np.uint64).reshape(-1, 4)} for buffer in self._stamps)
        rates = [
            (int(last[sm][2]) - int(first[sm][2])) / (int(last[sm][3]) - int(first[sm][3])) * 1e9
            for sm in first.keys() & last.keys()
            if last[sm][3] > first[sm][3]
        ]
        return float(np.median(rates)) if rates else None
