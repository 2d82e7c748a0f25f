"""The magnitudes that a number in a document may have, whatever its field: integers of JSON have no bound, and what is
made of a number beyond all floats, or of one next to nothing, is an error of arithmetic far from the file. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

# Wide enough for products of the readers' extremes, and narrow enough that no ratio of two becomes infinite.
LEAST, MOST = 1e-70, 1e70
_SHOWN = 24  # letters of a number


def is_usable(number: float) -> bool:
    """Whether a number is 0 or lies, without its sign, between ``LEAST`` and ``MOST``; NaN and infinity do not."""
    return number == 0 or LEAST <= abs(number) <= MOST


def faults_of_numbers(document: msgspec.Struct) -> Iterator[str]:
    """One sentence for each number of no usable magnitude, naming its field as ``samples[0].conditions.load``."""
    for path, number in _unusable(document):
        text = repr(number)
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        yield f"{path.lstrip('.')} is {shown}, where 0 or a number from {LEAST:g} to {MOST:g} must stand"


def _unusable(value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, int | float):
        if not is_usable(value):
            yield "", value
        return
    for step, inner in _inside(value):
        if inner is None or isinstance(inner, str):
            continue
        for path, number in _unusable(inner):
            yield f"{step if isinstance(step, str) else f'[{step}]'}{path}", number


def _inside(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, msgspec.Struct):
        return ((f".{name}", getattr(value, name)) for name in value.__struct_fields__)
    if isinstance(value, dict):
        return ((f".{name}", inner) for name, inner in value.items())
    return enumerate(value)
