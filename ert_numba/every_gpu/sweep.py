"""All GPUs of the host, at once and one after the other: a run each, with what the neighbours cost in its model.

At once comes first, for some seconds, so that each sweep that follows can be saved whole as soon as it is done. A GPU
that fails costs itself alone. Which GPUs there are is CUDA's answer, so CUDA_VISIBLE_DEVICES is honoured.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from ert_numba.api import RESULTS, Run, fit, save
from ert_numba.errors import ErtError
from ert_numba.every_gpu.messages import Answer, Failed, Measured, Order, Progressed, Ready, Sampled, Start
from ert_numba.every_gpu.process import Worker
from ert_numba.kernels.spec import Request
from ert_numba.records import DeviceInfo, Sample, Skipped, Sweep

LEAD_SECONDS = 0.5  # from the order to start to the start
UNMEASURED = Skipped(what="PEER", reason="links between GPUs are not measured by this version")
Open = Callable[[Order], Worker]


@dataclass(frozen=True)
class GpuRun:
    """What came of one GPU: a run, or the reason why there is none. ``beside``: why it has no figures beside others."""

    ordinal: int
    run: Run | None
    failure: ErtError | None = None
    beside: ErtError | None = None


def sweep_every_gpu(
    request: Request | None = None,
    *,
    budget_seconds: float | None = None,
    results: Path | str | None = RESULTS,
    full_provenance: bool = False,
    listener: Callable[[Any], None] | None = None,
    open_worker: Open = Worker,
) -> tuple[GpuRun, ...]:
    """Measure every GPU that CUDA shows; a run for each in CUDA's order. Ctrl-C ends it after the GPU in work is saved.

    Raises ErtError where there is no GPU or nothing can be compiled for it.
    """
    from ert_numba.charts.vega import prepare_vega
    from ert_numba.files import check_writable

    request = request or Request()
    if results is not None:
        check_writable(Path(results))
    devices = _prepared(request)
    order = Order(
        ordinal=0, gpus=len(devices), request=request, together=False, budget_seconds=budget_seconds,
        full_provenance=full_provenance,
    )  # fmt: skip
    beside = in_step(order, open_worker) if len(devices) > 1 else {}
    if results is not None:
        prepare_vega()
    done: list[GpuRun] = []
    for ordinal in range(len(devices)):
        answer = hear_out(open_worker(msgspec.structs.replace(order, ordinal=ordinal)), listener)
        done.append(_made(answer, ordinal, len(devices), beside.get(ordinal), results))
        run = done[-1].run
        if run is not None and isinstance(run.stopped, KeyboardInterrupt):
            break
    return tuple(done)


def _prepared(request: Request) -> list[DeviceInfo]:
    """Every GPU, probed, and its kernels compiled: no process of them waits for another's compiler."""
    from ert_numba.device.gpu import count_gpus, probe_gpu
    from ert_numba.measure.gpu_sweep import compile_all

    devices = [probe_gpu(ordinal) for ordinal in range(count_gpus())]
    if not devices:
        raise ErtError("every GPU", "CUDA shows none", "See CUDA_VISIBLE_DEVICES and `nvidia-smi -L`")
    for device in {device.architecture: device for device in devices}.values():
        compile_all(device, request)
    return devices


def in_step(order: Order, open_worker: Open) -> dict[int, tuple[Sample, ...] | ErtError]:
    """What each GPU reaches while all are at work, or why it has no figure. Ctrl-C here ends everything."""
    orders = [msgspec.structs.replace(order, ordinal=k, together=True) for k in range(order.gpus)]
    workers = [open_worker(row) for row in orders]
    found: dict[int, tuple[Sample, ...] | ErtError] = {}
    try:
        ready = []
        for worker in workers:
            answer = worker.hear()
            if isinstance(answer, Ready):
                ready.append(worker)
            else:
                found[worker.order.ordinal] = _reason(answer, worker.order.ordinal)
        start = Start(at=time.monotonic() + LEAD_SECONDS)
        for worker in ready:
            worker.tell(start)
        for worker in ready:
            answer, ordinal = worker.hear(), worker.order.ordinal
            found[ordinal] = answer.samples if isinstance(answer, Sampled) else _reason(answer, ordinal)
    finally:
        for worker in workers:
            worker.end()
    # The others stood still beside a GPU that never began: its neighbours would seem cheaper than they are.
    missing = sorted(set(range(order.gpus)) - {k for k, row in found.items() if isinstance(row, tuple)})
    return {k: _with_condition(row, missing) for k, row in found.items()}


def _with_condition(row: tuple[Sample, ...] | ErtError, missing: Sequence[int]) -> tuple[Sample, ...] | ErtError:
    if isinstance(row, ErtError) or not missing:
        return row
    note = ",".join(map(str, missing))
    return tuple(msgspec.structs.replace(one, conditions={**one.conditions, "gpus_that_failed": note}) for one in row)


def hear_out(worker: Worker, listener: Callable[[Any], None] | None) -> Answer:
    """The answer after all progress; Ctrl-C is passed on once, and what the worker then sends is kept."""
    interrupted = False
    try:
        while True:
            try:
                answer = worker.hear()
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                worker.interrupt()
                continue
            if not isinstance(answer, Progressed):
                return answer
            if listener is not None and not interrupted:
                listener(answer.progress)
    finally:
        worker.end()


def _made(
    answer: Answer,
    ordinal: int,
    gpus: int,
    beside: tuple[Sample, ...] | ErtError | None,
    results: Path | str | None,
) -> GpuRun:
    failed = beside if isinstance(beside, ErtError) else None
    if not isinstance(answer, Measured):
        return GpuRun(ordinal, None, _reason(answer, ordinal), failed)
    sweep = _joined(answer.sweep, ordinal, gpus, beside)
    stopped = KeyboardInterrupt() if answer.interrupted else answer.failure.error() if answer.failure else None
    try:
        run = Run(sweep, fit(sweep), None, {}) if results is None else save(sweep, Path(results))
    except ErtError as error:  # as a full disk: the other GPUs go on
        return GpuRun(ordinal, None, error, failed)
    return GpuRun(ordinal, replace(run, stopped=stopped), None, failed)  # type: ignore[arg-type]


def _joined(sweep: Sweep, ordinal: int, gpus: int, beside: tuple[Sample, ...] | ErtError | None) -> Sweep:
    """The sweep of a GPU alone with its samples beside the others."""
    provenance = sweep.provenance
    if provenance.command_line is not None:
        provenance = msgspec.structs.replace(provenance, command_line=shlex.join(sys.orig_argv))
    missing = [UNMEASURED] if gpus > 1 else []
    if isinstance(beside, ErtError):
        missing.append(Skipped(what="@neighbours", reason=str(beside)))
    return msgspec.structs.replace(
        sweep,
        settings={**sweep.settings, "gpu": ordinal, "gpus": gpus},
        samples=(*sweep.samples, *(beside if isinstance(beside, tuple) else ())),
        skipped=(*sweep.skipped, *missing),
        provenance=provenance,
    )


def _reason(answer: Answer, ordinal: int) -> ErtError:
    if isinstance(answer, Failed):
        return answer.error()
    return ErtError(f"to measure GPU {ordinal}", f"its process said {type(answer).__name__}", "Please report it")
