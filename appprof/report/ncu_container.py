"""The frame of an ``.ncu-rep`` file: blocks of length-prefixed messages. Of their content, the block headers alone.

    "NVR\\0"  u32 n  FileHeader[n]
    to the end:  u32 n  BlockHeader[n]  payload[BlockHeader.PayloadSize]
    payload = sources, then results of kernels, ranges, command lists, graphs, each (u32 n, message[n])

Integers are little endian. Sources are modules of machine code, most of a large file: stepped over, never read.
"""

from __future__ import annotations

import struct
from typing import TypeVar

import msgspec

from appprof.report.protobuf_wire import Damaged, fields, integer, message, text

T = TypeVar("T")

MAGIC = b"NVR\0"
KINDS = ("kernel", "range", "cmdlist", "graph")
COUNT_FIELDS = {1: "source", 2: "kernel", 7: "range", 8: "cmdlist", 9: "graph"}
# More than any report has: a hostile file must not fill the memory with empty messages.
MESSAGE_LIMIT = 2_000_000


class Result(msgspec.Struct, frozen=True):
    kind: str
    message: memoryview
    process: int  # index into the container's processes, -1 for the session's own


class Container(msgspec.Struct):
    """What the file holds, whole messages only. ``declared`` counts the results that its headers speak of."""

    strings: list[str] = []
    sessions: list[memoryview] = []
    processes: list[memoryview] = []
    results: list[Result] = []
    declared: int = 0
    lost: list[str] = []

    def keep(self, kept: list[T], item: T) -> None:
        if len(kept) >= MESSAGE_LIMIT:
            raise Damaged(f"more than {MESSAGE_LIMIT} messages of one kind")
        kept.append(item)


def read_container(view: memoryview) -> Container:
    """Cut a file into messages. Raises ``Damaged`` where no result stands before the damage."""
    found = Container()
    if view[:4] != MAGIC:
        raise Damaged("its first four bytes are not those of a report")
    at = _step(view, 4)
    try:
        while at is not None and at < len(view):
            at = _block(view, at, found)
    except Damaged as error:
        if not found.results:
            raise
        found.lost.append(f"damaged behind result {len(found.results)}: {error}")
    if found.declared > len(found.results):
        found.lost.append(f"truncated after result {len(found.results)} of {found.declared}")
    elif at is None:
        found.lost.append("truncated inside a block that may have held results")
    return found


def _step(view: memoryview, at: int) -> int | None:
    """The position behind a length-prefixed message; None where the file ends inside it."""
    if at + 4 > len(view):
        return None
    end = at + 4 + int(struct.unpack_from("<I", view, at)[0])
    return end if end <= len(view) else None


def _block(view: memoryview, at: int, found: Container) -> int | None:
    """Take one block; the position behind it, None where the file ends inside."""
    behind = _step(view, at)
    if behind is None:
        return None
    if behind == at + 4:  # zeros without end would be blocks without end
        raise Damaged("a block without a header")
    counts = dict.fromkeys(COUNT_FIELDS.values(), 0)
    payload, process = 0, -1
    for number, value in fields(view[at + 4 : behind]):
        if number in COUNT_FIELDS:
            counts[COUNT_FIELDS[number]] = integer(value)
        elif number == 3:
            found.keep(found.sessions, message(value))
        elif number == 4:
            _strings(message(value), found)
        elif number == 5:
            payload = integer(value)
        elif number == 6:
            process = len(found.processes)
            found.keep(found.processes, message(value))
    end = behind + payload
    whole = view[behind : min(end, len(view))]
    found.declared += sum(counts[kind] for kind in KINDS)
    _payload(whole, counts, process, found)
    return end if end <= len(view) else None


def _payload(payload: memoryview, counts: dict[str, int], process: int, found: Container) -> None:
    at: int | None = 0
    for kind in ("source", *KINDS):
        for _ in range(counts[kind]):
            start = at
            at = None if start is None else _step(payload, start)
            if at is None or start is None:
                return
            if kind != "source":
                found.keep(found.results, Result(kind, payload[start + 4 : at], process))


def _strings(table: memoryview, found: Container) -> None:
    for number, value in fields(table):
        if number == 1:
            found.keep(found.strings, text(value))
