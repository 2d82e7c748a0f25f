"""The protobuf wire format: fields of a message out of bytes, every length checked against what is there.

Only what a report needs: no schema, no groups. A reader asks for the fields that it knows and skips the rest, which is
how the format grows without breaking readers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
VARINT_LIMIT = 10  # bytes: 64 bits in groups of seven
MASK_64 = (1 << 64) - 1

Value = int | memoryview


class Damaged(Exception):
    """The bytes are no message: a length runs past the end, a number does not end, or a field has no type."""


def varint(view: memoryview, at: int) -> tuple[int, int]:
    """The number at ``at`` and the position behind it."""
    value = shift = 0
    end = min(len(view), at + VARINT_LIMIT)
    while at < end:
        byte = view[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & MASK_64, at
        shift += 7
    raise Damaged("a number that does not end")


def fields(view: memoryview) -> Iterator[tuple[int, Value]]:
    """(field number, value) in the order of the bytes: an int for a varint, bytes for everything else."""
    at, size = 0, len(view)
    while at < size:
        # Numbers of one byte, nearly all there are, without a call.
        key = view[at]
        key, at = (key, at + 1) if key < 128 else varint(view, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value = view[at] if at < size else 128
            value, at = (value, at + 1) if value < 128 else varint(view, at)
            yield number, value
            continue
        if kind == BYTES:
            length = view[at] if at < size else 128
            length, at = (length, at + 1) if length < 128 else varint(view, at)
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
        else:
            raise Damaged(f"a field of type {kind}, which no report has")
        if not number or length > size - at:
            raise Damaged("a length that runs past the end")
        yield number, view[at : at + length]
        at += length


def text(value: Value) -> str:
    """A string field; bytes that are no UTF-8 are kept as escapes."""
    return bytes(value).decode("utf-8", "backslashreplace") if isinstance(value, memoryview) else ""


def message(value: Value) -> memoryview:
    if not isinstance(value, memoryview):
        raise Damaged("a number where a message should be")
    return value


def integer(value: Value) -> int:
    if not isinstance(value, int):
        raise Damaged("bytes where a number should be")
    return value


def float32(value: Value) -> float:
    return float(struct.unpack("<f", _sized(value, 4))[0])


def float64(value: Value) -> float:
    return float(struct.unpack("<d", _sized(value, 8))[0])


def _sized(value: Value, size: int) -> memoryview:
    view = message(value)
    if len(view) != size:
        raise Damaged("a number of another width than its field has")
    return view
