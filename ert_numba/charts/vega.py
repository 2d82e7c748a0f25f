"""Vega, Vega-Lite and vega-embed as one script for an offline page, kept between runs in the user's cache folder.

vl-convert takes one to two seconds for it, whatever the page, and holds Python's global lock meanwhile: a thread would
stop everything else. So a process of its own makes it beside other work, the first time.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib.metadata
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from ert_numba.files import cache_folder, keep

VEGA_LITE = "6.4"
_MAKE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle(vl_version=sys.argv[1]).encode())"
_PATIENCE_SECONDS = 60.0
_begun: list[subprocess.Popen[bytes]] = []


def prepare_vega() -> None:
    """Begin to make the script; :func:`vega_script` collects it. Does nothing where it was made or begun before."""
    if _begun or not sys.executable or getattr(sys, "frozen", False):  # a frozen program is no Python to start
        return
    if _kept() is not None:
        return
    # -P: no module out of the current folder.
    command = [sys.executable, "-P", "-c", _MAKE, VEGA_LITE]
    with contextlib.suppress(OSError):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        atexit.register(process.kill)  # a run that ends early leaves none behind
        _begun.append(process)


@cache
def vega_script() -> str:
    """The script: that of an earlier run, or made now, in this process where no other has made it."""
    script = _kept()
    if script is None:
        script = _made_beside() or _made_here()
        place = _place()
        if place is not None:
            data = script.encode()
            keep(place, hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
    return script


def _kept() -> str | None:
    """The script of an earlier run, if it is whole and this user's own: it will run in the readers' browsers."""
    place = _place()
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if place is not None and (not hasattr(os, "getuid") or place.stat().st_uid == os.getuid()):
            digest, _, data = place.read_bytes().partition(b"\n")
            return data.decode() if hashlib.sha256(data).hexdigest().encode() == digest else None
    return None


def _place() -> Path | None:
    """Where this version's script is kept; None where there is no place."""
    try:
        maker = importlib.metadata.version("vl-convert-python")
        return cache_folder("vega") / f"vega-lite-{VEGA_LITE}-by-{maker}.js"
    except (importlib.metadata.PackageNotFoundError, RuntimeError):  # RuntimeError: a user without a home
        return None


def _made_beside() -> str:
    for process in _begun:
        made = b""
        with contextlib.suppress(subprocess.TimeoutExpired):
            made, _ = process.communicate(timeout=_PATIENCE_SECONDS)
        if made and process.returncode == 0:
            return made.decode()
    return ""


def _made_here() -> str:
    import vl_convert  # 84 MB: only where a page or a picture is made

    # Without a snippet the bundle sets window.vegaEmbed; its own type stub does not know that this is allowed.
    return vl_convert.javascript_bundle(vl_version=VEGA_LITE)  # type: ignore[call-arg]
