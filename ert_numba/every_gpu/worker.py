"""``python -m ert_numba.every_gpu.worker``: measure one GPU as the order on stdin says, and answer on stdout.

A process of its own, because an error such as an illegal address ends all CUDA work of its process, and because GPUs
that are measured at once must not wait for one interpreter's lock.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from ert_numba.errors import DeviceLost, ErtError
from ert_numba.every_gpu.messages import Answer, Failed, Measured, Order, Progressed, Ready, Sampled, Start

Say = Callable[[Answer], None]


def alone(order: Order, say: Say) -> None:
    """An ordinary sweep of the GPU."""
    from ert_numba.sampling import measured

    done, stopped = measured(
        order.request,
        backend="cuda",
        device=order.ordinal,
        budget_seconds=order.budget_seconds,
        full_provenance=order.full_provenance,
        listener=lambda progress: say(Progressed(progress)),
    )
    failure = Failed.of(stopped) if isinstance(stopped, DeviceLost) else None
    say(Measured(done, isinstance(stopped, KeyboardInterrupt), failure))


def together(order: Order, say: Say, wait: Callable[[], Start]) -> None:
    """The ceilings that neighbours may touch, in step with the other processes."""
    from ert_numba.device.gpu import probe_gpu
    from ert_numba.measure.side_by_side import CALL_SECONDS, keep_timetable, open_all, shared_points
    from ert_numba.measure.timers_cuda import CudaTimer

    device = probe_gpu(order.ordinal)
    points = shared_points(device, order.request)
    timer = CudaTimer(device, order.ordinal, CALL_SECONDS)
    try:
        benches = open_all(timer, points)
        say(Ready())
        say(Sampled(keep_timetable(points, benches, wait().at, order.gpus)))
    finally:
        timer.close()


def main(source: BinaryIO, target: BinaryIO) -> None:
    def say(answer: Answer) -> None:
        target.write(msgspec.json.encode(answer) + b"\n")
        target.flush()

    order = msgspec.json.decode(source.readline(), type=Order)
    try:
        if order.together:
            together(order, say, lambda: msgspec.json.decode(source.readline(), type=Start))
        else:
            alone(order, say)
    except ErtError as error:
        say(Failed.of(error))
    except KeyboardInterrupt:
        say(Failed(f"GPU {order.ordinal}", "interrupted before there was a result", "Start again"))


if __name__ == "__main__":
    # Whatever a library prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    main(sys.stdin.buffer, answers)
