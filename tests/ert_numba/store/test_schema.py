from __future__ import annotations

import copy
import json
from pathlib import Path

import jsonschema
import pytest
from document_strategies import machine_models, sweeps
from example_models import cpu_model, cpu_sweep, h200_model
from hypothesis import given

from ert_numba.store.documents import encode, registered
from ert_numba.store.import_ert import import_ert
from ert_numba.store.schema import file_name, schema_of, schema_text, write_schemas

ROOT = Path(__file__).parents[3]
OWN = [row for row in registered() if row.schema.startswith("ert_numba.")]


def validator(schema: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema_of(next(row for row in OWN if row.schema == schema)))


SWEEP, MACHINE = validator("ert_numba.sweep"), validator("ert_numba.machine")


@pytest.mark.parametrize("row", OWN, ids=lambda row: row.schema)
def test_the_files_are_current(row):
    stored = ROOT / "results" / "schema" / file_name(row)
    assert stored.read_text(encoding="utf-8") == schema_text(row), "run: python -m ert_numba.store.schema"


@pytest.mark.parametrize("row", OWN, ids=lambda row: row.schema)
def test_the_schema_is_one(row):
    jsonschema.Draft202012Validator.check_schema(schema_of(row))


def test_every_document_obeys_its_schema():
    SWEEP.validate(json.loads(encode(cpu_sweep())))
    MACHINE.validate(json.loads(encode(cpu_model())))
    MACHINE.validate(json.loads(encode(h200_model())))
    for path in (ROOT / "tests" / "data" / "ert").glob("*.json"):
        MACHINE.validate(json.loads(encode(import_ert(path))))


@given(document=sweeps)
def test_any_sweep_obeys_the_schema(document):
    SWEEP.validate(json.loads(encode(document)))


@given(document=machine_models)
def test_any_model_obeys_the_schema(document):
    MACHINE.validate(json.loads(encode(document)))


@pytest.mark.parametrize(
    ("field", "value"),
    [("schema", "ert_numba.machine"), ("version", 2), ("colour", "red"), ("samples", [{}]), ("run", 5)],
)
def test_the_schema_refuses_what_the_reader_refuses(field, value):
    document = json.loads(encode(cpu_sweep()))
    assert SWEEP.is_valid(document)
    assert not SWEEP.is_valid(document | {field: value})


@pytest.mark.parametrize("field", ["schema", "version", "run", "device", "provenance"])
def test_the_schema_requires_what_the_reader_requires(field):
    document = copy.deepcopy(json.loads(encode(cpu_sweep())))
    del document[field]
    assert not SWEEP.is_valid(document)


def test_the_schemas_are_written_where_told(tmp_path):
    for _ in range(2):  # generated files may be replaced
        paths = write_schemas(tmp_path / "schema")
    assert {path.name for path in paths} >= {"ert_numba.sweep.v1.json", "ert_numba.machine.v1.json"}
    assert all(json.loads(path.read_text())["$schema"].endswith("2020-12/schema") for path in paths)
