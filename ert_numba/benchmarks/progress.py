"""What a process start tells whoever started it, line by line through a pipe: where it is, and what went wrong."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import BinaryIO

import msgspec


class Measuring(msgspec.Struct, frozen=True, tag="measuring"):
    """About to visit ``key``: ``done`` of ``of`` visits lie behind."""

    key: str
    done: int
    of: int


class Left(msgspec.Struct, frozen=True, tag="left"):
    """A benchmark that brought no figure: skipped, or (``failed``) wrong."""

    key: str
    reason: str
    failed: bool


Told = Measuring | Left
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Told)


def tell(descriptor: int, told: Told) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more
        os.write(descriptor, _ENCODER.encode(told) + b"\n")


def heard(pipe: BinaryIO) -> Iterator[Told]:
    """Until the other side closes its end. A line that is none of ours is left out."""
    for line in pipe:
        with contextlib.suppress(msgspec.DecodeError):
            yield _DECODER.decode(line)
