"""What an ``.ncu-rep`` file says of the run as a whole: tool, versions, command line, devices, processes."""

from __future__ import annotations

import datetime
import math
import re
import shlex

import msgspec

from appprof.report.ncu_container import Container
from appprof.report.ncu_metrics import READERS, Scalar
from appprof.report.protobuf_wire import fields, integer, message, text

TARGET = "Nsight Compute Target"
# (option, long name without dashes, what ncu does when it is not given)
OPTIONS = {"clock-control": None, "cache-control": "all", "replay-mode": "kernel"}
VERSION = re.compile(r"([0-9]{4})\.([0-9]{1,3})(?:\.|$)")
BOOST_BY_DEFAULT = (2026, 1)  # before, ncu locked to the base clock unless told otherwise


class Process(msgspec.Struct, frozen=True):
    number: int | None = None
    host: str = ""
    name: str = ""


class Session(msgspec.Struct, frozen=True):
    """The run. ``attributes`` are the device attributes by the device's index."""

    process: Process = Process()
    processes: tuple[Process, ...] = ()
    created: str | None = None
    versions: dict[str, str] = {}
    attributes: dict[int, dict[str, Scalar]] = {}
    command_line: str = ""

    @property
    def tool_version(self) -> str | None:
        return self.versions.get(TARGET, "").split(" ")[0] or None

    def option(self, name: str) -> str | None:
        """What an option of ncu's was set to, its default where the command line is known and lacks it."""
        if not self.command_line:
            return None
        words = _words(self.command_line)
        for index, word in enumerate(words):
            if word.startswith(f"--{name}="):
                return word.partition("=")[2]
            if word == f"--{name}" and index + 1 < len(words):
                return words[index + 1]
        if name == "clock-control":
            return self._default_clocks()
        return OPTIONS[name]

    def _default_clocks(self) -> str | None:
        version = VERSION.match(self.tool_version or "")
        if version is None:
            return None
        return "boost" if (int(version[1]), int(version[2])) >= BOOST_BY_DEFAULT else "base"


def read_session(container: Container) -> Session:
    """The session's details, which may lie in several pieces over several blocks."""
    created, command_line, number = None, "", None
    versions: dict[str, str] = {}
    attributes: dict[int, dict[str, Scalar]] = {}
    for piece in container.sessions:
        for field, value in fields(piece):
            if field == 1:
                number = integer(value)
            elif field == 2:
                created = _iso(integer(value))
            elif field == 6:
                _device(message(value), attributes)
            elif field == 8:
                pair = {at: text(part) for at, part in fields(message(value))}
                versions[pair.get(1, "")] = pair.get(2, "")
            elif field == 11:
                command_line = text(value)
    return Session(
        process=Process(number),
        processes=tuple(_process(view) for view in container.processes),
        created=created,
        versions=versions,
        attributes=attributes,
        command_line=command_line,
    )


def _device(view: memoryview, attributes: dict[int, dict[str, Scalar]]) -> None:
    index, name = 0, ""
    found: dict[str, Scalar] = {}
    for field, value in fields(view):
        if field == 1:
            index = integer(value)
        elif field == 2:
            name = text(value)
        elif field == 3:
            pair = dict(fields(message(value)))
            for at, scalar in fields(message(pair.get(2, memoryview(b"")))):
                read = READERS[at](scalar) if at in READERS else math.nan
                if isinstance(read, str) or math.isfinite(read):
                    found[text(pair.get(1, memoryview(b"")))] = read
    if name:
        found.setdefault("device__attribute_display_name", name)
    attributes.setdefault(index, {}).update(found)


def _process(view: memoryview) -> Process:
    found = dict(fields(view))
    empty = memoryview(b"")
    number = found.get(1)
    return Process(number if isinstance(number, int) else None, text(found.get(2, empty)), text(found.get(3, empty)))


def _iso(seconds: int) -> str | None:
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return None


def _words(command_line: str) -> list[str]:
    """The words of the profiler's own part are plain; a program's wild quotes behind it must not matter."""
    try:
        return shlex.split(command_line)
    except ValueError:
        return command_line.split()
