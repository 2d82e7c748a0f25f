"""Headless Chromium, driven by the DevTools protocol over a pair of pipes: no driver program, no socket, no package."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
)  # fmt: skip
# Chromium reads commands from descriptor 3 and answers on 4; copy high first, so that neither end overwrites the other.
_LAUNCH = (
    "import fcntl, os, sys; r, w = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3]);"
    "os.dup2(r, 3); os.dup2(w, 4); os.execv(sys.argv[3], sys.argv[3:])"
)


class Page:
    """One tab: what it asked of the network, what it said on the console, and what a script finds in it."""

    def __init__(self, process: subprocess.Popen[bytes], write: Any, read: Any) -> None:
        self._process, self._write, self._read = process, write, read
        self._number = 0
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Send one command and return its answer; events that come before it are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._write.write(json.dumps(message).encode() + b"\0")
        self._write.flush()
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _receive(self) -> Any:
        text = bytearray()
        while not text.endswith(b"\0"):
            byte = self._read.read(1)
            if not byte:
                raise RuntimeError("Chromium ended")
            text += byte
        return json.loads(text[:-1])

    def _note(self, event: Any) -> None:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Runtime.consoleAPICalled":
                self.complaints.append(f"{parameters['type']}: {parameters['args']}")
            case "Runtime.exceptionThrown":
                self.complaints.append(str(parameters["exceptionDetails"]))
            case "Log.entryAdded":
                self.complaints.append(f"{parameters['entry']['level']}: {parameters['entry']['text']}")

    def look(self, width: int, height: int = 900, dark: bool = False, media: str = "") -> None:
        """Set the window, the colour scheme and, unless it is to be the true one, the medium of what is shown next."""
        mobile = width < 600
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", media=media, features=scheme)

    def open(self, path: Path) -> None:
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.run("new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))")

    def run(self, script: str) -> Any:
        """The value of an expression in the page, awaited."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def picture(self, path: Path) -> Path:
        """The whole page, not only the window, as PNG."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))
        return path


@contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """A browser with the empty folder ``profile``, ended with the context."""
    if PROGRAM is None:
        raise RuntimeError("Chromium is not installed")
    command_read, command_write = os.pipe()
    answer_read, answer_write = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", _LAUNCH, str(command_read), str(answer_write), PROGRAM, *_FLAGS,
         f"--user-data-dir={profile}"],
        pass_fds=(command_read, answer_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(command_read)
    os.close(answer_write)
    with open(command_write, "wb") as write, open(answer_read, "rb") as read:
        try:
            page = Page(process, write, read)
            yield page
            page._session = None
            page.call("Browser.close")
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(timeout=30)
