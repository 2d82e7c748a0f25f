"""Which ceiling, peak or rate is the roof of which counted path: found once, looked up for every launch. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from appprof.counts.peaks import Peak
from ert_numba.machine import Ceiling, MachineModel

# Formats that the machine model measures in variants, and counters do not tell apart.
_FAMILIES = {"fp8_e4m3": "fp8", "fp8_e5m2": "fp8"}
Row = TypeVar("Row")


def index_ceilings(machine: MachineModel | None) -> dict[str, Ceiling]:
    """The fastest possible ceiling of the whole device by the key of a path, or by level and access."""
    if machine is None:
        return {}
    found = [
        (key + (".sparse" if row.sparse else ""), row)
        for row in machine.roofs("compute") for key in path_keys(f"{row.precision}.{row.path}")
    ]  # fmt: skip
    found += [(f"{row.level}.{row.access}", row) for row in machine.roofs("bandwidth")]
    return highest(found, lambda row: row.value)


def path_keys(key: str) -> Iterator[str]:
    """The paths of the counters that a ceiling of this key is a roof of.

    Fused work is ``vector``; accumulation in FP16 is a variant of an instruction's path; and any tensor path may be
    that of operations whose instruction is not known, cuBLAS's of these alone.
    """
    precision, _, path = key.partition(".")
    family = _FAMILIES.get(precision, precision)
    if path == "vector.fma":
        yield f"{family}.vector"
    elif path.startswith("tensor."):
        yield f"{family}.{path.removesuffix('.acc16')}"
        yield f"{family}.tensor"
    else:
        yield key


def peak_keys(row: Peak) -> Iterator[str]:
    """The paths that a peak of the report is a roof of."""
    sparse = ".sparse" if row.sparse else ""
    yield row.key + sparse
    precision, _, path = row.key.partition(".")
    if path.startswith("tensor."):
        yield f"{precision}.tensor{sparse}"


def highest(rows: Iterable[tuple[str, Row]], value: Callable[[Row], float]) -> dict[str, Row]:
    """Of the rows of one key the one of the highest value."""
    best: dict[str, Row] = {}
    for key, row in rows:
        if key not in best or value(row) > value(best[key]):
            best[key] = row
    return best
