"""Where a document comes from: versions and kernel release; names of people and hosts only when asked."""

from __future__ import annotations

import getpass
import platform
import shlex
import socket
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata

from ert_numba.records import Provenance

DISTRIBUTION = "ert-numba"
PACKAGES = ("numba", "llvmlite", "numpy", "scipy", "numba-cuda", "cuda-core", "msgspec")


def collect(
    tool: str = "ert_numba", versions: Mapping[str, str] | None = None, full: bool = False, now: datetime | None = None
) -> Provenance:
    """Provenance of a document made now. ``versions`` adds what only the caller knows (driver, CUDA).

    ``full`` adds host name, user and command line: results are made to be shared, so nothing private goes in unasked.
    """
    found = {"python": platform.python_version()} | {name: version for name in PACKAGES if (version := _version(name))}
    return Provenance(
        created=(now or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        tool=f"{tool} {_version(DISTRIBUTION) or 'not installed'}",
        versions=found | dict(versions or {}),
        system=_system(),
        host_name=socket.gethostname() if full else None,
        user=_user() if full else None,
        command_line=shlex.join(sys.orig_argv) if full else None,
    )


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _system() -> str:
    # Not platform.version(): the build line of a kernel names the host and the user that built it.
    libc = " ".join(platform.libc_ver())
    return f"{platform.system()} {platform.release()} {platform.machine()}" + (f", {libc}" if libc.strip() else "")


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a user id that no table names
        return None
