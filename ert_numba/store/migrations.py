"""How a document of an older version becomes one of today's: one step a version, by schema.

A step is a function ``upgrade_1_to_2(document: dict) -> dict`` over the plain JSON, so that it keeps working when the
records move on. To change a document's format: raise its ``version``, write the step, add it to the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Step = Callable[[dict[str, Any]], dict[str, Any]]

STEPS: dict[tuple[str, int], Step] = {}
"""(schema, version that the step upgrades FROM) -> step."""


def upgrade(
    document: dict[str, Any], schema: str, found: int, current: int, steps: Mapping[tuple[str, int], Step] = STEPS
) -> dict[str, Any] | None:
    """The document at version ``current``; None where no chain of steps leads there."""
    for version in range(found, current):
        step = steps.get((schema, version))
        if step is None:
            return None
        document = step(dict(document)) | {"schema": schema, "version": version + 1}
    return document
