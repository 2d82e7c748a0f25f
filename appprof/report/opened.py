"""A file as bytes, whatever it is packed in: gzip, zstd, UTF-16, a byte-order mark. Bounded in memory."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import mmap
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from ert_numba.errors import ErtError

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
CHUNK_BYTES = 1 << 18  # with what is made of it, about the second-level cache: 4 MiB were measured 10 % slower
ZSTD_PIECE = 512  # packed bytes: at most some 16 MiB of content
UNPACKED_LIMIT = 8 << 30
UNPACKED_FREE = 256 << 20  # below this no ratio is suspicious
UNPACKED_RATIO = 400
WHOLE_LIMIT = 2 << 30


def first_bytes(path: Path, count: int) -> bytes:
    """The beginning of the file's content, unpacked and as UTF-8 where it is text."""
    head = b""
    for chunk in text_chunks(path):
        head += chunk
        if len(head) >= count:
            break
    return head[:count]


def text_chunks(path: Path) -> Iterator[bytes]:
    """The content in pieces of UTF-8 without a byte-order mark; bytes that are no text pass as they are."""
    pieces = _unpacked(path)
    first = next(pieces, b"")
    decoder, skip = _decoder(first)
    first = first[skip:]
    if decoder is None:
        yield first
        yield from pieces
        return
    yield decoder.decode(first).encode("utf-8", "backslashreplace")
    for piece in pieces:
        yield decoder.decode(piece).encode("utf-8", "backslashreplace")
    yield decoder.decode(b"", final=True).encode("utf-8", "backslashreplace")


def plain_start(path: Path) -> int | None:
    """Where the text begins in a file that is UTF-8 as it lies there; None for one that is packed or UTF-16."""
    with _open(path) as file:
        first = file.read(64)
    decoder, skip = _decoder(first)
    return None if first[:2] == GZIP or first[:4] == ZSTD or decoder is not None else skip


def pieces(file: IO[bytes], start: int, stop: int) -> Iterator[bytes]:
    """The bytes from ``start`` to ``stop``; where the file stands open is neither asked nor changed."""
    while start < stop:
        piece = os.pread(file.fileno(), min(CHUNK_BYTES, stop - start), start)
        if not piece:
            raise ErtError("the whole of a file", "it became shorter while it was read", "Read it when it is written")
        start += len(piece)
        yield piece


@contextlib.contextmanager
def whole(path: Path) -> Iterator[memoryview]:
    """The whole content: mapped where it is not packed, so that a large file costs no memory."""
    with _open(path) as file:
        packed = file.read(4)[:4]
        if packed[:2] == GZIP or packed == ZSTD:
            view = memoryview(_read_all(path))
        else:
            size = file.seek(0, io.SEEK_END)
            view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)) if size else memoryview(b"")
    with view:
        yield view


def _decoder(first: bytes) -> tuple[codecs.IncrementalDecoder | None, int]:
    """The decoder of UTF-16 text, and how long the byte-order mark is."""
    if first.startswith(codecs.BOM_UTF8):
        return None, 3
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        name = "utf-16-le" if first.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
        return codecs.getincrementaldecoder(name)("replace"), 2
    # Without a mark, ASCII text in UTF-16 has a zero in every other byte.
    start = first[:64]
    if len(start) >= 8 and not any(start[1::2]) and all(start[0::2]):
        return codecs.getincrementaldecoder("utf-16-le")("replace"), 0
    if len(start) >= 8 and not any(start[0::2]) and all(start[1::2]):
        return codecs.getincrementaldecoder("utf-16-be")("replace"), 0
    return None, 0


def _open(path: Path) -> io.BufferedReader:
    """A profile is read more than once, and a pipe can be only once."""
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise ErtError(f"a profile in {path.name}", "it is a device or a pipe", "Save it to a file first")
        return path.open("rb")
    except FileNotFoundError:
        raise ErtError(f"a profile in {path.name}", "there is no such file", "Check the path") from None
    except IsADirectoryError:
        raise ErtError(f"a profile in {path.name}", "it is a folder", "Name the files inside it") from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        why = getattr(error, "strerror", error)
        raise ErtError(f"a profile in {path.name}", f"it cannot be read: {why}", "Check the path") from None


def _unpacked(path: Path) -> Iterator[bytes]:
    with _open(path) as file:
        magic = file.peek(4)[:4]
        stream: IO[bytes] = file
        if magic[:2] == GZIP:
            stream = cast(IO[bytes], gzip.GzipFile(fileobj=file))
        elif magic == ZSTD:
            stream = _zstd(path, file)
        packed = path.stat().st_size
        total = 0
        while piece := _read(path, stream):
            total += len(piece)
            if stream is not file and total > min(UNPACKED_LIMIT, max(UNPACKED_FREE, UNPACKED_RATIO * packed)):
                raise ErtError(
                    f"the content of {path.name}",
                    f"it unpacks to more than {total >> 20} MiB from {packed} bytes",
                    "Unpack it yourself if you trust it",
                )
            yield piece


def _read(path: Path, stream: IO[bytes]) -> bytes:
    try:
        return stream.read(CHUNK_BYTES)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ErtError(
            f"the content of {path.name}", f"it cannot be unpacked: {error}", "Copy the file again"
        ) from None


def _read_all(path: Path) -> bytearray:
    data = bytearray()  # grows where it lies: pieces joined at the end would stand in memory twice
    for piece in _unpacked(path):
        data += piece
        if len(data) > WHOLE_LIMIT:
            raise ErtError(f"the content of {path.name}", "it unpacks to more than 2 GiB", "Unpack it first")
    return data


def _zstd(path: Path, file: IO[bytes]) -> Any:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise ErtError(
            f"the content of {path.name}",
            "it is packed with zstd, and the package zstandard is not installed",
            "pip install zstandard, or unpack the file with: zstd -d",
        ) from None
    return _ZstdStream(path, file, zstandard.ZstdDecompressor())


class _ZstdStream:
    """The content of zstd frames, piece by piece. zstandard's own reader takes a cut file for a whole one."""

    def __init__(self, path: Path, file: IO[bytes], decompressor: Any) -> None:
        self.path, self.file, self.decompressor = path, file, decompressor
        self._frame: Any = None
        self._packed = b""

    def read(self, _: int) -> bytes:
        """The next piece, never empty before the end: what a few packed bytes hold, so that a bomb stays small."""
        import zstandard

        data = b""
        try:
            while not data and self._next():
                data = self._frame.decompress(self._packed)
                self._packed = self._frame.unused_data if self._frame.eof else b""
        except zstandard.ZstdError as error:
            raise self._failed(str(error)) from None
        return data

    def _next(self) -> bool:
        """Have packed bytes and a frame that takes them; False at the end of the file."""
        self._packed = self._packed or self.file.read(ZSTD_PIECE)
        if not self._packed:
            if self._frame is not None and not self._frame.eof:
                raise self._failed("it ends before its last frame does")
            return False
        if self._frame is None or self._frame.eof:
            self._frame = self.decompressor.decompressobj()
        return True

    def _failed(self, why: str) -> ErtError:
        return ErtError(f"the content of {self.path.name}", f"it cannot be unpacked: {why}", "Copy it again")
