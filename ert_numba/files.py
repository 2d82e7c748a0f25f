"""Files that are read whole, written whole or not at all, and never over another file."""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from ert_numba.errors import ErtError
from ert_numba.records import slug

_PACKED = b"\x1f\x8b"
_PROBE_BYTES = 1 << 16
_MAXIMUM_NAMESAKES = 10_000

_FULL = ("the disk or the quota is full", "Free some space, or choose another folder")
_FORBIDDEN = ("you may not write there", "Choose a folder that you own, or change its permissions")
_NO_FOLDER = ("the folder does not exist", "Make the folder first, or choose another one")
_TOO_LONG = ("the name is too long for this file system", "Choose a shorter name")
_REASONS: dict[int, tuple[str, str]] = {
    errno.EEXIST: ("it exists already", "Nothing is ever overwritten: choose another name, or move the old file away"),
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: ("the file system takes no file that large", "Choose another folder"),
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EROFS: ("the file system is read-only", "Choose another folder"),
    errno.ENOENT: _NO_FOLDER,
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "Choose another folder"),
    errno.ENAMETOOLONG: _TOO_LONG,
}
# What a file system without hard links answers to link(): FAT and several FUSE ones.
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})


def write_text_new(path: Path, text: str) -> Path:
    """Write UTF-8 text to a path where nothing stands yet; whole, or not at all."""
    return write_bytes_new(path, text.encode("utf-8"))


def write_bytes_new(path: Path, data: bytes) -> Path:
    """Write bytes to a path where nothing stands yet; whole, or not at all.

    The bytes reach the disk under a name of their own first, so that neither a full disk, nor a crash, nor a
    second writer leaves half a file under ``path``. Raises ErtError.
    """
    path = Path(path)
    with _speaking_of(f"to write {path}"):
        # Before the work, for the common case; the link below is what holds under a race.
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        _write_whole(path, data)
    return path


def replace_text(path: Path, text: str) -> Path:
    """Write UTF-8 text in the place of whatever stands there, whole or not at all: for pages, which are made again.

    Documents are never written so. Raises ErtError.
    """
    path = Path(path)
    with _speaking_of(f"to write {path}"):
        temporary = _temporary(path.parent)
        try:
            _write_and_sync(temporary, text.encode("utf-8"))
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(path.parent)
    return path


def read_whole(path: Path, asked: str, maximum_bytes: int) -> bytes:
    """The whole of an ordinary file, within a limit. Raises ErtError."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise ErtError(asked, f"{path} is a folder", "Name the JSON file inside it")
        if not stat.S_ISREG(mode):
            raise ErtError(asked, f"{path} is a device or a pipe", "Save it to a file first")
        with path.open("rb") as file:
            data = file.read(maximum_bytes + 1)
    except FileNotFoundError as error:
        raise ErtError(asked, f"{path} does not exist", "Check the name") from error
    except PermissionError as error:
        raise ErtError(asked, f"you may not read {path}", "Change its permissions, or copy it") from error
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise ErtError(asked, f"{path} cannot be read: {error}", "Check the name") from error
    if len(data) > maximum_bytes:
        raise ErtError(asked, f"{path} is larger than {maximum_bytes >> 20} MiB", "Check that it is the right file")
    if not data.strip():
        raise ErtError(asked, f"{path} is empty", "Take an unbroken copy of the file")
    return data


def read_text(path: Path, asked: str, maximum_bytes: int) -> bytes:
    """As ``read_whole``, of a text that should be UTF-8: without its byte order mark. Raises ErtError."""
    data = read_whole(path, asked, maximum_bytes)
    if data.startswith(_PACKED):
        raise ErtError(asked, f"{path} is packed with gzip", "Unpack it first: gunzip")
    return data.removeprefix(codecs.BOM_UTF8)  # editors on Windows write one


def run_folder(results: Path, device_slug: str, name: str, now: datetime | None = None) -> Path:
    """Make the folder of one run, ``results/<device>/<UTC time>-<name>``: never one that exists. Raises ErtError."""
    stamp = (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H%M")
    parent = Path(results) / slug(device_slug, "unnamed-device")
    first = f"{stamp}-{slug(name, 'run')}"
    with _speaking_of(f"to make a folder for the run in {parent}"):
        _make_folder(parent)
        for number in range(1, _MAXIMUM_NAMESAKES):
            folder = parent / (first if number == 1 else f"{first}-{number}")
            try:
                folder.mkdir()  # atomic: of two runs in the same minute only one gets the name
            except FileExistsError:
                continue
            return folder
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def cache_folder(what: str) -> Path:
    """Where things that can be made again are kept between runs: ``ERT_NUMBA_CACHE``, else the user's cache folder."""
    named = os.environ.get("ERT_NUMBA_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(named) if named else Path(base) / "ert_numba" / what


def keep(path: Path, data: bytes) -> None:
    """Into the cache, whole or not at all; a folder that cannot be written means only that it is made again."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()


def check_writable(folder: Path) -> Path:
    """Find out before measuring whether results can be saved: make the folder, write and remove a small file."""
    folder = Path(folder)
    with _speaking_of(f"to write results into {folder}"):
        _make_folder(folder)
        probe = _temporary(folder)
        try:
            _write_and_sync(probe, bytes(_PROBE_BYTES))
        finally:
            probe.unlink(missing_ok=True)
    return folder


def check_new(path: Path) -> Path:
    """Find out before measuring whether ``write_bytes_new(path, ...)`` will be allowed. Raises ErtError."""
    path = Path(path)
    with _speaking_of(f"to write {path}"):
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    check_writable(path.parent)
    return path


@contextlib.contextmanager
def _speaking_of(asked: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        found, remedy = _REASONS.get(error.errno or 0, (error.strerror or str(error), "Choose another folder"))
        raise ErtError(asked, found, remedy) from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from error


def _temporary(folder: Path) -> Path:
    return folder / f".{secrets.token_hex(8)}.part"


def _write_and_sync(path: Path, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _write_whole(path: Path, data: bytes) -> None:
    temporary = _temporary(path.parent)
    try:
        _write_and_sync(temporary, data)
        _publish(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _publish(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Without links: claim the name, then replace our own empty claim.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            os.replace(temporary, path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _sync_folder(folder: Path) -> None:
    # Some network file systems cannot sync a folder; the file itself is safe by then.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
