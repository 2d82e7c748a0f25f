from __future__ import annotations

import json

import msgspec
import pytest

from ert_numba.errors import ErtError
from ert_numba.store import documents
from ert_numba.store.documents import DocumentType, load, register
from ert_numba.store.migrations import STEPS, upgrade


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document in its third version: version 1 called the field `text`, version 2 knew no colour."""

    body: str
    colour: str
    schema: str = "test.note"
    version: int = 3


def rename_text(document):
    document["body"] = document.pop("text")
    return document


def add_colour(document):
    if "colour" in document:
        raise ValueError("a colour before there were any")
    return document | {"colour": "black"}


MADE_UP = {("test.note", 1): rename_text, ("test.note", 2): add_colour}


@pytest.fixture
def note_is_registered(monkeypatch):
    monkeypatch.setattr(documents, "_TYPES", dict(documents._TYPES))
    register(DocumentType(type=Note, label="a note", made_by="write", faults=lambda note: ()))
    for key, step in MADE_UP.items():
        monkeypatch.setitem(STEPS, key, step)


def test_steps_run_in_order_and_leave_the_original_alone():
    old = {"schema": "test.note", "version": 1, "text": "hello"}
    assert upgrade(old, "test.note", 1, 3, MADE_UP) == {
        "schema": "test.note",
        "version": 3,
        "body": "hello",
        "colour": "black",
    }
    assert old == {"schema": "test.note", "version": 1, "text": "hello"}


def test_a_chain_with_a_gap_leads_nowhere():
    assert upgrade({}, "test.note", 0, 3, MADE_UP) is None
    assert upgrade({}, "other", 1, 2, MADE_UP) is None


@pytest.mark.usefixtures("note_is_registered")
@pytest.mark.parametrize(
    "old",
    [
        {"version": 1, "text": "hello"},
        {"version": 2, "body": "hello"},
        {"version": 3, "body": "hello", "colour": "black"},
    ],
)
def test_a_file_of_any_version_loads_as_todays(tmp_path, old):
    path = tmp_path / "note.json"
    path.write_text(json.dumps({"schema": "test.note"} | old))
    assert load(path, Note) == Note(body="hello", colour="black")


@pytest.mark.usefixtures("note_is_registered")
@pytest.mark.parametrize(
    ("old", "found"),
    [
        ({"version": 1}, "no whole document of version 1: KeyError\\('text'\\)"),
        ({"version": 2, "body": "x", "colour": "?"}, "no whole document of version 2: ValueError"),
        ({"version": 1, "text": 5}, r"Expected `str`, got `int` - at `\$\.body`"),
        ({"version": 2, "body": "x", "more": 1}, "unknown field `more`"),
        ({"version": 0, "text": "x"}, "version 0 of test.note, which never was"),
        ({"version": 4, "body": "x"}, "made by a newer ert_numba"),
    ],
)
def test_a_broken_old_file_is_an_error(tmp_path, old, found):
    path = tmp_path / "note.json"
    path.write_text(json.dumps({"schema": "test.note"} | old))
    with pytest.raises(ErtError, match=found):
        load(path, Note)


def test_every_step_belongs_to_a_registered_document_and_ends_at_its_version():
    versions = {row.schema: row.version for row in documents.registered()}
    for schema, start in STEPS:
        assert 1 <= start < versions[schema]
    for schema, version in versions.items():
        assert {start for name, start in STEPS if name == schema} == set(range(1, version))
