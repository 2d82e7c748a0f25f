"""Worker threads: pinned, in order, with their exceptions brought back, and usable after an interrupt."""

from __future__ import annotations

import os
import threading

import pytest

from ert_numba.errors import ErtError
from ert_numba.measure.team import Team

CPUS = sorted(os.sched_getaffinity(0))


@pytest.fixture
def team():
    made = Team([CPUS[0], CPUS[-1], CPUS[0]])
    yield made
    made.close()


def test_each_worker_is_pinned_and_the_caller_is_not(team):
    before = os.sched_getaffinity(0)
    places = team.run(lambda worker: (worker.index, os.sched_getaffinity(0), threading.get_native_id()), 3)
    assert [index for index, _, _ in places] == [0, 1, 2]
    assert [cpus for _, cpus, _ in places] == [{CPUS[0]}, {CPUS[-1]}, {CPUS[0]}]
    assert len({thread for _, _, thread in places}) == 3
    assert os.sched_getaffinity(0) == before


def test_only_the_first_workers_run(team):
    assert team.run(lambda worker: worker.index, 2) == [0, 1]


def test_they_run_at_once(team):
    barrier = threading.Barrier(3)
    assert len(team.run(lambda worker: barrier.wait(timeout=20), 3)) == 3


def test_an_exception_comes_back_and_the_team_goes_on(team):
    def fail(worker):
        if worker.index == 1:
            raise ErtError("memory", "none", "buy some")
        return worker.index

    with pytest.raises(ErtError, match="buy some"):
        team.run(fail, 3)
    assert team.run(lambda worker: worker.index, 3) == [0, 1, 2]


def test_results_of_an_interrupted_task_are_not_taken_for_those_of_the_next(team):
    """Ctrl-C reaches the main thread while it waits; the workers finish their task all the same."""
    gate = threading.Event()

    class Interrupted:
        def __init__(self, inner):
            self.inner, self.taken = inner, 0

        def get(self):
            self.taken += 1
            if self.taken == 2:
                raise KeyboardInterrupt
            return self.inner.get()

        def put(self, item):
            self.inner.put(item)

    done = team._done
    team._done = Interrupted(done)
    with pytest.raises(KeyboardInterrupt):
        team.run(lambda worker: gate.wait(20) if worker.index else "old", 3)
    team._done = done
    gate.set()
    while done.qsize() < 2:  # the two late answers of the interrupted task
        pass

    def slowly(worker):
        threading.Event().wait(0.05 * worker.index)  # so that the first answer comes before the others
        return worker.index

    assert team.run(slowly, 3) == [0, 1, 2]


def test_close_ends_the_threads():
    made = Team([CPUS[0]])
    threads = list(made._threads)
    made.close()
    assert not any(thread.is_alive() for thread in threads)


def test_a_processor_that_is_not_allowed_is_an_error_and_hangs_nothing():
    with pytest.raises(ErtError, match="processor 4095"):
        Team([CPUS[0], 4095])
    assert not any(thread.name.startswith("worker-") and thread.is_alive() for thread in threading.enumerate())
