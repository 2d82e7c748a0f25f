"""JSON Schema of each document, generated from its record, for people who read the files with other tools.

``python -m ert_numba.store.schema [FOLDER]`` writes them into ``results/schema``.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import msgspec

from ert_numba.store.documents import DocumentType, registered

FOLDER = Path("results") / "schema"


def schema_of(row: DocumentType) -> dict[str, Any]:
    """The JSON Schema (2020-12) of one document; its own name and version are the only ones it accepts."""
    (reference,), definitions = msgspec.json.schema_components([row.type], ref_template="#/$defs/{name}")
    for definition in definitions.values():
        # msgspec before 0.23 keeps the indentation of the source, which Python 3.13 has stripped already.
        definition["description"] = inspect.cleandoc(definition.get("description", ""))
    root = definitions[row.type.__name__]
    root["properties"]["schema"] = {"const": row.schema}
    root["properties"]["version"] = {"const": row.version}
    root["required"] = ["schema", "version", *root["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **reference, "$defs": definitions}


def file_name(row: DocumentType) -> str:
    """A schema stays beside its successors, so that old files can still be checked."""
    return f"{row.schema}.v{row.version}.json"


def schema_text(row: DocumentType) -> str:
    """The schema as it stands in its file."""
    return msgspec.json.format(msgspec.json.encode(schema_of(row), order="deterministic"), indent=2).decode() + "\n"


def write_schemas(folder: Path = FOLDER) -> list[Path]:
    """Write the schema of every registered document; these are generated, so an old one is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / file_name(row) for row in registered()]
    for path, row in zip(paths, registered(), strict=True):
        path.write_text(schema_text(row), encoding="utf-8")
    return paths


if __name__ == "__main__":
    write_schemas(*map(Path, sys.argv[1:2]))
