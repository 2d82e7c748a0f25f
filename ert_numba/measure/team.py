"""Worker threads, each pinned to one processor for its life, with memory of its own."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ert_numba.errors import ErtError
from ert_numba.kernels.cpu_memory import Arena

Result = TypeVar("Result")


@dataclass
class Worker:
    """One thread's place and memory."""

    index: int
    cpu: int
    arena: Arena = field(default_factory=Arena)


class Team:
    """``cpus[i]`` is where worker i runs. Tasks run inside the workers; an exception comes back to the caller."""

    def __init__(self, cpus: Sequence[int]) -> None:
        self.workers = [Worker(index, cpu) for index, cpu in enumerate(cpus)]
        self._tasks: list[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in cpus]
        self._done: queue.SimpleQueue[tuple[int, int, Any, BaseException | None]] = queue.SimpleQueue()
        self._turn = 0
        self._threads = [
            threading.Thread(target=self._serve, args=(worker,), daemon=True, name=f"worker-{worker.index}")
            for worker in self.workers
        ]
        for thread in self._threads:
            thread.start()
        try:
            self.run(_pin, len(self.workers))
        except ErtError:
            self.close()
            raise

    def _serve(self, worker: Worker) -> None:
        while True:
            item = self._tasks[worker.index].get()
            if item is None:
                return
            turn, task = item
            try:
                self._done.put((turn, worker.index, task(worker), None))
            except BaseException as error:
                self._done.put((turn, worker.index, None, error))

    def run(self, task: Callable[[Worker], Result], workers: int) -> list[Result]:
        """Run on the first ``workers`` at once; results in their order."""
        self._turn += 1
        for inbox in self._tasks[:workers]:
            inbox.put((self._turn, task))
        results: dict[int, Result] = {}
        failure: BaseException | None = None
        while len(results) < workers:
            turn, index, result, error = self._done.get()
            if turn != self._turn:
                continue  # of a task whose caller was interrupted
            failure = failure or error
            results[index] = result
        if failure is not None:
            raise failure
        return [results[index] for index in range(workers)]

    def close(self) -> None:
        for inbox in self._tasks:
            inbox.put(None)
        for thread in self._threads:
            thread.join()


def _pin(worker: Worker) -> None:
    try:
        os.sched_setaffinity(0, {worker.cpu})  # 0 is the calling thread on Linux: only this worker moves
    except OSError as error:
        raise ErtError(
            f"a worker on processor {worker.cpu}", str(error.strerror), "Look whether the processor is still allowed"
        ) from error
