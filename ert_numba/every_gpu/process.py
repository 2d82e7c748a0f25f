"""The process that measures one GPU, as its parent sees it: told an order, heard line by line, interrupted once."""

from __future__ import annotations

import contextlib
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

import msgspec

from ert_numba.errors import ErtError
from ert_numba.every_gpu.messages import Answer, Failed, Order

COMMAND = (sys.executable, "-m", "ert_numba.every_gpu.worker")
SILENCE_SECONDS = 300.0  # a sweep tells of each point that it visits, and none takes a fraction of this


class Worker:
    """One process. A session of its own keeps the terminal's Ctrl-C from it: it gets one, from here."""

    def __init__(self, order: Order, command: Sequence[str] = COMMAND) -> None:
        self.order = order
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, bufsize=0
        )
        self._heard: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        # A thread: a signal that ended a read here would tear a line in two.
        threading.Thread(target=self._listen, daemon=True).start()
        self.tell(order)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._heard.put(line)
        self._heard.put(b"")

    def tell(self, message: msgspec.Struct) -> None:
        """Send one message; a process that is gone is found out by :meth:`hear`."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(msgspec.json.encode(message) + b"\n")

    def hear(self, seconds: float = SILENCE_SECONDS) -> Answer:
        """The next answer; one that it failed where the process ended, fell silent or said what is no answer."""
        try:
            line = self._heard.get(timeout=seconds)
            if line:
                return msgspec.json.decode(line, type=Answer)
            found = f"its process ended with {self._process.wait(10)} and no result"
        except queue.Empty:
            found = f"its process said nothing for {seconds:.0f} s"
        except (msgspec.DecodeError, subprocess.TimeoutExpired) as error:
            found = f"its process answered with no message: {error}"
        self.end()
        asked = f"to measure GPU {self.order.ordinal}"
        return Failed.of(ErtError(asked, found, f"Try it alone: sweep --device {self.order.ordinal}"))

    def interrupt(self) -> None:
        """As Ctrl-C: it sends what it has."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """Gone when this returns, whatever it did."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
