"""The suite in several process starts, one after another: what pytest does once, as often as a comparison needs.

Each start is a pytest of its own, so that memory is laid out, code loaded and clocks found anew: what differs between
two starts is the noise that a comparison has to know. Only whole starts are saved.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import msgspec

from ert_numba.backends import Refusal
from ert_numba.benchmarks.plugin import storage_of
from ert_numba.benchmarks.progress import Left, Measuring, heard
from ert_numba.benchmarks.suite import Suite
from ert_numba.errors import ErtError, NotComparable
from ert_numba.files import check_writable, write_bytes_new
from ert_numba.judge.evidence import driver_of
from ert_numba.records import DeviceInfo, Skipped
from ert_numba.starts import SUITE_VERSION
from ert_numba.store.benchmark_files import read_start
from ert_numba.store.benchmark_runs import runs_in

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_PATIENCE_SECONDS = 20.0  # for a start that was interrupted to give its device back
_SAID = 2000  # characters of pytest's own output, where there is nothing better to say
_ENDED = {  # pytest's exit codes
    2: "it was interrupted",
    3: "it failed",
    4: "pytest refused its command line",
    5: "no benchmark is chosen",
}


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What to run. ``only`` is pytest's expression over names (-k); ``storage`` None means a folder of the device's."""

    save: str
    starts: int = 5
    backend: str = "auto"
    device: int = 0
    threads: int | None = None
    only: str = ""
    results: Path = Path("results")
    storage: Path | None = None
    full_provenance: bool = False


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """Where the starts are: ``start`` counts those of this call from 1, ``share`` is how much of it lies behind."""

    start: int
    starts: int
    key: str
    share: float


@dataclass
class Repeated:
    """What came of it. ``files`` are this call's, one a whole start; ``earlier`` those of the same name before it."""

    name: str
    folder: Path
    device: DeviceInfo
    earlier: list[Path]
    files: list[Path] = field(default_factory=list)
    left: dict[str, Left] = field(default_factory=dict)
    interrupted: bool = False
    refusals: tuple[Refusal, ...] = ()  # of better devices
    skipped: tuple[Skipped, ...] = ()  # what no kernel offers on this device

    @property
    def all_files(self) -> list[Path]:
        return [*self.earlier, *self.files]

    @property
    def failed(self) -> list[Left]:
        return [row for row in self.left.values() if row.failed]


def run_starts(asked: Asked, listener: Callable[[Step], None]) -> Repeated:
    """Run and save. Raises ErtError before the first start where the device, the name or the folder will not do, and
    after it where a start brought nothing; NotComparable where earlier starts of the name are of another machine.

    Ctrl-C ends it: the starts that were whole are kept.
    """
    if not _NAME.fullmatch(asked.save):
        raise ErtError("a name to save under", repr(asked.save), "Take letters, digits, dots and dashes: driver-580")
    if asked.starts < 1:
        raise ErtError("process starts", str(asked.starts), "Ask for at least one; a comparison needs five")
    suite = Suite(asked.backend, asked.device, asked.threads)
    folder = check_writable((asked.storage or storage_of(suite.device, asked.results)) / _machine_id())
    earlier = runs_in([folder]).get((folder, asked.save), [])
    if earlier:
        _require_alike(earlier[-1], suite, asked.save)
    done = Repeated(asked.save, folder, suite.device, earlier, refusals=suite.refusals, skipped=suite.skipped)
    with tempfile.TemporaryDirectory(prefix="ert_numba-") as scratch:
        for number in range(1, asked.starts + 1):
            try:
                _one(asked, done, number, Path(scratch), listener)
            except KeyboardInterrupt:
                done.interrupted = True
                break
    return done


def _machine_id() -> str:
    """The subfolder that pytest-benchmark gives this Python, so that its own commands find the files."""
    from pytest_benchmark.utils import get_machine_id

    return str(get_machine_id())  # type: ignore[no-untyped-call]


def _require_alike(path: Path, suite: Suite, name: str) -> None:
    """Starts of one name are one sample: what was made with another driver or suite is none of it."""
    from ert_numba.benchmarks.suite import suite_info

    before, now = read_start(path).info, suite_info(suite.device)
    pairs = (
        ("suite", before.suite_version if before else None, SUITE_VERSION),
        ("device", before.device.name if before else None, now.device.name),
        ("driver", driver_of(before) if before else None, driver_of(now)),
    )
    for what, old, new in pairs:
        if old != new:
            found = f"its {what} was {old}, here it is {new}"
            raise NotComparable(f"to add starts to {name!r}", found, "Save under another name")


def _one(asked: Asked, done: Repeated, number: int, scratch: Path, listener: Callable[[Step], None]) -> None:
    """One start, saved if it was whole."""
    made, log = scratch / f"{number}.json", scratch / f"{number}.log"
    with log.open("wb") as said:
        reader, writer = os.pipe()
        try:
            child = subprocess.Popen(
                _command(asked, done, number, made, writer),
                stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, pass_fds=(writer,), env=_environment(),
            )  # fmt: skip
        finally:
            os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            code = _follow(child, pipe, done, number, asked.starts, listener)
    if code not in (0, 1) or not made.is_file():
        raise ErtError(f"start {number} of {asked.save!r}", _why(code, done, log), "See `python -m ert_numba devices`")
    done.files.append(_publish(made, done))


def _command(asked: Asked, done: Repeated, number: int, made: Path, descriptor: int) -> list[str]:
    """pytest with this suite's plugins and nothing of the folder that it runs in."""
    backend = {"gpu": "cuda"}.get(done.device.kind, done.device.kind)
    words = [
        sys.executable, "-m", "pytest", "--pyargs", "ert_numba.benchmarks",
        "-c", os.devnull, "--rootdir", str(made.parent), "--noconftest", "-p", "no:cacheprovider", "-q",
        "-p", "pytest_benchmark.plugin", "-p", "ert_numba.benchmarks.plugin",
        "--benchmark-quiet", f"--benchmark-json={made}", f"--benchmark-storage=file://{made.parent}",
        f"--roofline-backend={backend}", f"--roofline-device={asked.device}",
        f"--roofline-start={len(done.all_files) + 1}", f"--roofline-progress={descriptor}",
        f"--roofline-provenance={'full' if asked.full_provenance else 'minimal'}",
    ]  # fmt: skip
    words += [f"--roofline-threads={asked.threads}"] if asked.threads is not None else []
    return [*words, "-k", asked.only] if asked.only else words


def _environment() -> dict[str, str]:
    """Of this process, without what would bring a user's own pytest options and plugins into the measurement."""
    foreign = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_XDIST_WORKER")
    return {**{k: v for k, v in os.environ.items() if k not in foreign}, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def _follow(
    child: subprocess.Popen[bytes],
    pipe: BinaryIO,
    done: Repeated,
    number: int,
    starts: int,
    listener: Callable[[Step], None],
) -> int:
    """Its exit code, once it has ended; an interrupt of ours becomes one of its own."""
    try:
        for told in heard(pipe):
            if isinstance(told, Measuring):
                listener(Step(start=number, starts=starts, key=told.key, share=told.done / told.of))
            else:
                done.left[told.key] = told
        return child.wait()
    except BaseException:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        raise


def _why(code: int, done: Repeated, log: Path) -> str:
    """Why a start brought no file."""
    if code in (0, 1) and done.left:
        return "; ".join(f"{row.key}: {row.reason}" for row in done.left.values())
    said = log.read_text(errors="replace").strip()[-_SAID:]
    return f"{_ENDED.get(code, f'pytest ended with {code}')}:\n{said}"


def _publish(made: Path, done: Repeated) -> Path:
    """Into the storage under pytest-benchmark's next number, without its indentation (a line for every number)."""
    data = json.dumps(json.loads(made.read_bytes()), separators=(",", ":")).encode()
    number = max((int(path.name[:4]) for path in done.folder.glob("[0-9][0-9][0-9][0-9]_*.json")), default=0)
    while True:
        number += 1
        path = done.folder / f"{number:04}_{done.name}.json"
        try:
            return write_bytes_new(path, data)
        except ErtError:
            if not path.exists():  # else another bench was faster: the next number
                raise
