"""Changes to an ``.ncu-rep`` file that keep its frames and lengths true, so that they reach what lies inside."""

from __future__ import annotations

import random
import struct

from made_up_reports import field, framed, varint

from appprof.report.protobuf_wire import Damaged, Value, fields

Node = tuple[int, int | bytes]
NUMBERS = (0, 1, 2, 3, 127, 128, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1)
DOUBLES = (0.0, -1.0, 1e-320, 1e308, -1e308, float("nan"), float("inf"), float("-inf"), 0.5)
TEXTS = (
    b"", b"9" * 5000, "²".encode(), b"\xff\xfe", b"x" * 5000, b"--clock-control", b"2025.3.1", b"a.sum",
    b"'\"@url:a:b@",
)  # fmt: skip
DOUBLE = 3  # the field of a value that is a double
DEPTH = 6


def mutate_report(data: bytes, seed: int) -> bytes:
    """One change somewhere inside a framed file; the bytes as they are where they are no such file."""
    choice = random.Random(seed)
    messages = _frames(data[4:])
    if not messages:
        return data
    at = choice.randrange(len(messages))
    messages[at] = _change(messages[at], choice, DEPTH)
    return data[:4] + b"".join(map(framed, messages))


def _frames(data: bytes) -> list[bytes]:
    found, at = [], 0
    while at + 4 <= len(data):
        size = int(struct.unpack_from("<I", data, at)[0])
        found.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    return found


def _change(data: bytes, choice: random.Random, depth: int) -> bytes:
    try:
        nodes = [(number, _plain(value)) for number, value in fields(memoryview(data))]
    except Damaged:
        nodes = []
    if not nodes or not depth:
        return _bytes(data, choice)
    at = choice.randrange(len(nodes))
    number, value = nodes[at]
    match choice.randrange(10):
        case 0:
            del nodes[at]
        case 1:
            nodes.insert(choice.randrange(len(nodes) + 1), nodes[at])
        case 2:
            nodes[at] = (choice.randrange(1, 40), value)
        case 3:
            nodes[at] = (number, choice.choice(NUMBERS))
        case 4:
            nodes[at] = (number, varint(choice.choice(NUMBERS)))
        case 5:
            nodes[at] = (DOUBLE, struct.pack("<d", choice.choice(DOUBLES)))
        case 6:
            nodes[at] = (number, choice.choice(TEXTS))
        case _ if isinstance(value, bytes):
            nodes[at] = (number, _change(value, choice, depth - 1))
        case _:
            nodes[at] = (number, choice.choice(NUMBERS))
    return b"".join(_encoded(*node, choice) for node in nodes)


def _encoded(number: int, value: int | bytes, choice: random.Random) -> bytes:
    if isinstance(value, bytes) and len(value) == 8 and choice.random() < 0.02:
        return field(number, choice.choice(DOUBLES))
    return field(number, value)


def _bytes(data: bytes, choice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(choice.randrange(1, 4)):
        if changed:
            changed[choice.randrange(len(changed))] = choice.randrange(256)
    return bytes(changed) * choice.choice((1, 1, 1, 2)) + bytes(choice.choice((0, 0, 1, 9)))


def _plain(value: Value) -> int | bytes:
    return value if isinstance(value, int) else bytes(value)
