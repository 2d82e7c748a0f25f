"""A worker as its parent hears it: answers, silence, nonsense, its end, and one Ctrl-C."""

from __future__ import annotations

import sys

import pytest

from ert_numba.every_gpu.messages import Failed, Order, Ready, Start
from ert_numba.every_gpu.process import Worker
from ert_numba.kernels.spec import Request

ORDER = Order(ordinal=3, gpus=4, request=Request(), together=True)


def worker(program: str) -> Worker:
    return Worker(ORDER, (sys.executable, "-c", "import sys, time\nfirst = sys.stdin.readline()\n" + program))


def test_it_is_told_its_order_and_then_the_start() -> None:
    one = worker(
        'assert \'"ordinal":3\' in first\nprint(\'{"type":"ready"}\', flush=True)\n'
        'assert \'7.5\' in sys.stdin.readline()\nprint(\'{"type":"sampled","samples":[]}\', flush=True)'
    )
    assert isinstance(one.hear(30), Ready)
    one.tell(Start(at=7.5))
    assert type(one.hear(30)).__name__ == "Sampled"
    one.end()


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("sys.exit(9)", "ended with 9"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "ended with -11"),
        ("print('Segmentation fault', flush=True)\ntime.sleep(60)", "no message"),
        ("time.sleep(60)", "said nothing for"),
    ],
)
def test_one_that_fails_is_a_reason_and_is_gone(program: str, found: str) -> None:
    one = worker(program)
    answer = one.hear(2 if "nothing" in found else 30)
    assert isinstance(answer, Failed)
    assert found in answer.found
    assert "sweep --device 3" in answer.remedy
    assert one._process.poll() is not None


def test_ctrl_c_reaches_it_once_and_lets_it_answer() -> None:
    one = worker(
        'try:\n print(\'{"type":"ready"}\', flush=True)\n time.sleep(60)\n'
        'except KeyboardInterrupt:\n print(\'{"type":"sampled","samples":[]}\', flush=True)'
    )
    assert isinstance(one.hear(30), Ready)
    one.interrupt()
    assert type(one.hear(30)).__name__ == "Sampled"
    one.end()


def test_telling_one_that_is_gone_raises_nothing() -> None:
    one = worker("")
    assert isinstance(one.hear(30), Failed)
    one.tell(Start(at=0.0))
    one.interrupt()
