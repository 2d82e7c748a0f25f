"""Vega, Vega-Lite and vega-embed as one script for an offline page, made by a process of its own beside other work.

vl-convert takes one to two seconds for it, whatever the page, and holds Python's global lock meanwhile: a thread
would stop everything else.
"""

from __future__ import annotations

import atexit
import contextlib
import subprocess
import sys
from functools import cache

VEGA_LITE = "6.4"
_MAKE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle(vl_version=sys.argv[1]).encode())"
_PATIENCE_SECONDS = 60.0
_begun: list[subprocess.Popen[bytes]] = []


def prepare_vega() -> None:
    """Begin to make the script; :func:`vega_script` collects it. Does nothing where it was begun before."""
    if _begun or not sys.executable or getattr(sys, "frozen", False):  # a frozen program is no Python to start
        return
    # -P: no module out of the current folder.
    command = [sys.executable, "-P", "-c", _MAKE, VEGA_LITE]
    with contextlib.suppress(OSError):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        atexit.register(process.kill)  # a run that ends early leaves none behind
        _begun.append(process)


@cache
def vega_script() -> str:
    """The script; made here and now where no other process has made it."""
    for process in _begun:
        made = b""
        with contextlib.suppress(subprocess.TimeoutExpired):
            made, _ = process.communicate(timeout=_PATIENCE_SECONDS)
        if made and process.returncode == 0:
            return made.decode()
    import vl_convert  # 84 MB: only where a page or a picture is made

    # Without a snippet the bundle sets window.vegaEmbed; its own type stub does not know that this is allowed.
    return vl_convert.javascript_bundle(vl_version=VEGA_LITE)  # type: ignore[call-arg]
