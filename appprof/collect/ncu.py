"""Runs a program under Nsight Compute and reads its report: the only process that this package starts."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from appprof.report.profile import Report
from appprof.report.read import read_file
from ert_numba.errors import ErtError

ASKED = "to count with Nsight Compute"
SECONDS = 600.0
OPTIONS = {"clock-control": "none", "cache-control": "all", "profile-from-start": "off"}
NO_RIGHTS = "ERR_NVGPUCTRPERM"
RIGHTS = (
    "Either run as root (in a container with --cap-add=SYS_ADMIN), or let every user count: load the driver with "
    "`options nvidia NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d, and start the machine again"
)
# (what ncu says, what to do), in order; its own line is shown beside.
FAILURES: tuple[tuple[str, str], ...] = (
    (NO_RIGHTS, RIGHTS),
    ("Failed to find metric", "Install a newer Nsight Compute, which knows this GPU's counters"),
    ("application returned an error code", "Run `python -m ert_numba launch` alone, and mend what it says"),
    ("No kernels were profiled", "Run `python -m ert_numba launch` alone: it must launch kernels on an NVIDIA GPU"),
)


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """What the program printed, and the report of its kernels."""

    printed: str
    report: Report


def find_ncu() -> str:
    """The path of ncu. Raises ErtError where it is not installed."""
    found = shutil.which("ncu")
    if found is None:
        raise ErtError(ASKED, "no `ncu` is on the PATH", "Install Nsight Compute (it comes with CUDA's toolkit)")
    return found


def command(ncu: str, metrics: Iterable[str], folder: Path, program: Sequence[str]) -> list[str]:
    """The profiler's command line; report and messages go into ``folder``."""
    options = [word for name, value in OPTIONS.items() for word in (f"--{name}", value)]
    files = ["--log-file", str(folder / "log.txt"), "--export", str(folder / "report")]
    return [ncu, *options, *files, "--metrics", ",".join(metrics), *program]


def collect(metrics: Iterable[str], program: Sequence[str], seconds: float = SECONDS) -> Collected:
    """Run ``program`` once under ncu. Raises ErtError where ncu is missing, not permitted, fails or takes too long."""
    ncu = find_ncu()
    with tempfile.TemporaryDirectory(prefix="appprof-") as name:
        folder = Path(name)
        status, printed, complaints = _run(command(ncu, metrics, folder, program), seconds)
        log = folder / "log.txt"
        said = (log.read_text(encoding="utf-8", errors="replace") if log.is_file() else "") + printed + complaints
        report = folder / "report.ncu-rep"
        _check(status, said, report.is_file())
        return Collected(printed=printed, report=read_file(report))


def _run(words: Sequence[str], seconds: float) -> tuple[int, str, str]:
    try:
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True
        )
    except OSError as error:
        raise ErtError(ASKED, f"{words[0]} does not start: {error}", "Install Nsight Compute again") from error
    with process:
        try:
            printed, complaints = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise ErtError(
                ASKED, f"it had not ended after {seconds:.0f} s", "Try --quick; see that nothing else profiles the GPU"
            ) from error
        finally:  # the profiled program is a child of ncu's, so all of the group ends
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, printed, complaints


def _check(status: int, said: str, reported: bool) -> None:
    """Raise what went wrong. ncu may end with 0 though it was not permitted to count."""
    lines = said.splitlines()
    for text, remedy in FAILURES:
        line = next((line for line in lines if text in line), None)
        if line is not None:
            raise ErtError(ASKED, f"{line.strip()}{_last_words(text, lines)}", remedy)
    if status != 0 or not reported:
        errors = [line for line in lines if line.startswith("==ERROR==")] or lines[-3:]
        found = " ".join(line.strip() for line in errors) or "it said nothing"
        raise ErtError(ASKED, f"ncu ended with {status} and no whole report: {found}", "See what ncu says by itself")


def _last_words(text: str, lines: Sequence[str]) -> str:
    """What the program itself complained of, where the failure is its own."""
    own = [line.strip() for line in lines if line.startswith(("Found:", "To do:"))]
    return f" ({' '.join(own)})" if own and text.startswith("application") else ""
