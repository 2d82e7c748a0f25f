"""A writer of ``.ncu-rep`` files, as small as their description: what no real report has is made with it."""

from __future__ import annotations

import struct


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, value: int | float | bytes | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def framed(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def metric(name: int, value: bytes, *instances: bytes) -> bytes:
    return field(1, name) + (field(2, value) if value else b"") + b"".join(field(3, field(2, one)) for one in instances)


def block(names: list[str], results: dict[int, list[bytes]], session: bytes = b"", sources: int = 0) -> bytes:
    """A block of one string table; ``results`` by the header's field that counts them (2 kernels, 7 ranges ...)."""
    payload = b"".join(framed(b"cubin" * 50) for _ in range(sources))
    payload += b"".join(framed(result) for number in sorted(results) for result in results[number])
    table = b"".join(field(1, name) for name in names)
    header = field(1, sources) + b"".join(field(number, len(rows)) for number, rows in results.items())
    header += (field(3, session) if session else b"") + field(4, table) + field(5, len(payload))
    return framed(header) + payload


def report(*blocks: bytes) -> bytes:
    return b"NVR\0" + framed(field(1, 1)) + b"".join(blocks)
