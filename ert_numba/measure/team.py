"""Worker threads, each pinned to one processor for its life, with memory of its own."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

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
        self._done: queue.SimpleQueue[tuple[int, Any, BaseException | None]] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._serve, args=(worker,), daemon=True, name=f"worker-{worker.index}")
            for worker in self.workers
        ]
        for thread in self._threads:
            thread.start()

    def _serve(self, worker: Worker) -> None:
        # 0 is the calling thread on Linux: only this worker moves.
        os.sched_setaffinity(0, {worker.cpu})
        while True:
            task = self._tasks[worker.index].get()
            if task is None:
                return
            try:
                self._done.put((worker.index, task(worker), None))
            except BaseException as error:
                self._done.put((worker.index, None, error))

    def run(self, task: Callable[[Worker], Result], workers: int) -> list[Result]:
        """Run on the first ``workers`` at once; results in their order."""
        for inbox in self._tasks[:workers]:
            inbox.put(task)
        results: dict[int, Result] = {}
        failure: BaseException | None = None
        for _ in range(workers):
            index, result, error = self._done.get()
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
