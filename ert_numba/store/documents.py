"""Save and load the documents that cross files: versioned JSON, checked both ways.

A document is a frozen struct whose first fields are ``schema`` (text) and ``version`` (integer) with today's values as
defaults. ``register`` makes a type known; this package registers its own below.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ert_numba.counted import Verdict, faults_of_verdict
from ert_numba.errors import ErtError
from ert_numba.files import read_text, write_bytes_new
from ert_numba.judge.history import HistoryEntry
from ert_numba.judge.judgement import Judgement
from ert_numba.machine import MachineModel
from ert_numba.records import Sweep
from ert_numba.store.checks import faults_of_history, faults_of_judgement, faults_of_machine, faults_of_sweep
from ert_numba.store.magnitudes import faults_of_numbers
from ert_numba.store.migrations import upgrade

_BROKEN = "Take an unbroken copy of the file, or make it again with: {made_by}"
_EDITED = "Undo the edit, take an unbroken copy of the file, or make it again with: {made_by}"
_DEFECT = "This is a defect of what made it: please report it"
_NUMBERS_ON_LINES = re.compile(rb'\[\n[^\[\]{}"]*\]')

D = TypeVar("D", bound=msgspec.Struct)


class DocumentType(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of document: ``faults`` yields a sentence for each broken rule that types alone cannot say."""

    type: type[msgspec.Struct]
    label: str  # "a sweep"
    made_by: str  # the command that makes one
    faults: Callable[[Any], Iterable[str]]
    maximum_bytes: int = 1 << 26  # a larger file is not read: it would take many times its size in memory

    @property
    def schema(self) -> str:
        return str(_default(self.type, "schema"))

    @property
    def version(self) -> int:
        return int(_default(self.type, "version"))


class _Header(msgspec.Struct, frozen=True):
    schema: str | None = None
    version: int | None = None
    empirical: msgspec.Raw = msgspec.Raw()  # marks a roofline.json of ERT


_TYPES: dict[str, DocumentType] = {}


def register(row: DocumentType) -> None:
    """Make a type of document known to ``save`` and ``load``."""
    _TYPES[row.schema] = row


def registered() -> tuple[DocumentType, ...]:
    """Every known type of document, by schema name."""
    return tuple(_TYPES[name] for name in sorted(_TYPES))


def save(document: msgspec.Struct, path: Path) -> Path:
    """Write a document to a path where nothing stands yet. Raises ErtError; then no file is left."""
    return write_bytes_new(Path(path), encode(document))


def load(path: Path, wanted: type[D]) -> D:
    """Read a document of one type. Raises ErtError that names the file and the field."""
    document = _load(Path(path), _row(wanted))
    assert isinstance(document, wanted)
    return document


def load_any(path: Path) -> msgspec.Struct:
    """Read a document of any registered type. Raises ErtError that names the file and the field."""
    return _load(Path(path), None)


def encode(document: msgspec.Struct) -> bytes:
    """The document as JSON: indented, keys in a stable order, numbers exact. Raises ErtError where it breaks a rule."""
    row = _row(type(document))
    asked = f"to save {row.label}"
    try:
        plain = msgspec.to_builtins(document, enc_hook=_plain_number, order="deterministic")
        checked = msgspec.convert(plain, type=row.type)
        for fault in _faults(row, checked):
            raise ErtError(asked, fault, _DEFECT)
        text = msgspec.json.format(msgspec.json.encode(plain), indent=2)
        # What does not come back the same is not written.
        exact = msgspec.json.decode(text, type=row.type) == checked
    except (msgspec.MsgspecError, UnicodeError, OverflowError, TypeError) as error:
        raise ErtError(asked, str(error), _DEFECT) from error
    if not exact:
        raise ErtError(asked, "it holds what JSON cannot hold", _DEFECT)
    return _NUMBERS_ON_LINES.sub(_one_line, text) + b"\n"


def _load(path: Path, wanted: DocumentType | None) -> msgspec.Struct:
    asked = f"to read {wanted.label if wanted else 'a document'}"
    made_by = wanted.made_by if wanted else "python -m ert_numba"
    maximum = wanted.maximum_bytes if wanted else max(row.maximum_bytes for row in registered())
    data = read_text(path, asked, maximum)
    try:
        header = msgspec.json.decode(data, type=_Header)
        row = _choose(path, header, wanted, asked)
        document = _decode(path, data, header.version, row, asked)
    except msgspec.ValidationError as error:
        raise ErtError(asked, f"{path}: {error}", _EDITED.format(made_by=made_by)) from error
    except msgspec.DecodeError as error:
        raise ErtError(asked, f"{path} is no whole JSON: {error}", _BROKEN.format(made_by=made_by)) from error
    except UnicodeDecodeError as error:  # from msgspec before 0.23
        raise ErtError(asked, f"{path} is no UTF-8 text: {error}", _BROKEN.format(made_by=made_by)) from error
    except RecursionError as error:
        raise ErtError(asked, f"{path} is nested too deeply", "Check that it is the right file") from error
    for fault in _faults(row, document):
        raise ErtError(asked, f"{path}: {fault}", _EDITED.format(made_by=row.made_by))
    return document


def _faults(row: DocumentType, document: msgspec.Struct) -> Iterator[str]:
    yield from faults_of_numbers(document)  # first: the rules of a type calculate with them
    yield from row.faults(document)


def _choose(path: Path, header: _Header, wanted: DocumentType | None, asked: str) -> DocumentType:
    if header.schema is None:
        if bytes(header.empirical):
            remedy = "Read it with: python -m ert_numba import-ert FILE"
            raise ErtError(asked, f"{path} looks like a roofline.json of ERT", remedy)
        names = ", ".join(row.schema for row in registered())
        raise ErtError(asked, f"{path} has no field `schema`", f"Documents of this project name theirs: {names}")
    row = _TYPES.get(header.schema)
    if wanted is not None and row is not wanted:
        what = f"{row.label} ({row.schema})" if row else f"of schema {header.schema!r}"
        raise ErtError(asked, f"{path} is {what}", f"Make {wanted.label} with: {wanted.made_by}")
    if row is None:
        names = ", ".join(row.schema for row in registered())
        raise ErtError(asked, f"{path} is of schema {header.schema!r}", f"Known are: {names}")
    return row


def _decode(path: Path, data: bytes, version: int | None, row: DocumentType, asked: str) -> msgspec.Struct:
    if version == row.version:
        return msgspec.json.decode(data, type=row.type)
    if version is None:
        raise ErtError(asked, f"{path} has no field `version`", _EDITED.format(made_by=row.made_by))
    if version > row.version:
        found = (
            f"{path} has version {version} of {row.schema}, made by a newer ert_numba (this one knows {row.version})"
        )
        raise ErtError(asked, found, "Upgrade: pip install --upgrade ert-numba")
    old = msgspec.json.decode(data)
    try:
        newer = upgrade(old, row.schema, version, row.version)
    except (LookupError, TypeError, ValueError, AttributeError) as error:  # a step missed a field of the old format
        raise ErtError(
            asked, f"{path} is no whole document of version {version}: {error!r}", _EDITED.format(made_by=row.made_by)
        ) from error
    if newer is None:
        raise ErtError(
            asked, f"{path} has version {version} of {row.schema}, which never was", _EDITED.format(made_by=row.made_by)
        )
    return msgspec.convert(newer, type=row.type)


def _row(wanted: type[msgspec.Struct]) -> DocumentType:
    for row in _TYPES.values():
        if row.type is wanted:
            return row
    raise TypeError(f"{wanted.__name__} is no registered document")


def _default(type_: type[msgspec.Struct], name: str) -> Any:
    return next(field.default for field in msgspec.structs.fields(type_) if field.name == name)


def _plain_number(value: Any) -> Any:
    """Fits and compiled kernels hand out NumPy scalars, which msgspec does not know."""
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if type(value).__name__ in ("bool", "bool_"):  # NumPy's truth value registers as no number
        return bool(value)
    raise TypeError(f"{type(value).__name__} cannot stand in a document")


def _one_line(match: re.Match[bytes]) -> bytes:
    return b"[" + b", ".join(part.strip() for part in match[0][1:-1].split(b",")) + b"]"


register(
    DocumentType(
        type=Sweep,
        label="a sweep",
        made_by="python -m ert_numba sweep",
        faults=faults_of_sweep,
    )
)
register(
    DocumentType(
        type=MachineModel,
        label="a machine model",
        made_by="python -m ert_numba fit SWEEP",
        faults=faults_of_machine,
    )
)
register(
    DocumentType(
        type=Judgement,
        label="a judgement of two runs",
        made_by="python -m ert_numba compare A B -o judgement.json",
        faults=faults_of_judgement,
    )
)
register(
    DocumentType(
        type=Verdict,
        label="a verdict",
        made_by="python -m appprof verify --machine RUN",
        faults=faults_of_verdict,
    )
)
register(
    DocumentType(
        type=HistoryEntry,
        label="an entry of a device's history",
        made_by="python -m ert_numba history",
        faults=faults_of_history,
    )
)
