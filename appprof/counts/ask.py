"""Which metrics to collect on a chip so that a quantity is known: the table of metrics, read the other way round."""

from __future__ import annotations

from functools import lru_cache

from appprof.metrics import (
    ALL,
    BYTE_COUNTERS,
    HALF_FMA_CHIPS,
    TENSOR_HALF_FMA,
    TENSOR_INSTRUCTIONS,
    TMA_BYTES,
    VECTOR_OPS,
    Capability,
)
from appprof.metrics_tensor import TENSOR_COUNTERS

CLOCK_METRICS = ("sm__cycles_elapsed.avg.per_second", "lts__cycles_elapsed.avg.per_second")
DRAM_CLOCK = "dram__cycles_elapsed.avg.per_second"
DEFINITIONS = {"SHARED": ("SHARED.sass",), "L1": ("L1.tag", "L1.wb"), "L2": ("L2.sm", "L2.all"), "DRAM": ("DRAM",)}
QUANTITIES = ("time", "flop", *DEFINITIONS)


@lru_cache(maxsize=256)
def ask_for(quantity: str, chip: Capability | None) -> tuple[str, ...]:
    """Full metric names that this chip has; of an unknown chip, those that every chip has."""
    if quantity == "time":
        return ("gpu__time_duration.sum", *CLOCK_METRICS)
    if quantity == "flop":
        return (*_vector(chip), *_tensor(chip))
    names = [name for definition in DEFINITIONS[quantity] for name in byte_metrics(definition, chip)]
    if quantity == "DRAM" and names:
        names.append(DRAM_CLOCK)
    if quantity == "L1" and chip is not None and chip >= (9, 0):
        names += [f"{name}.sum" for name in TMA_BYTES]
    return tuple(names)


@lru_cache(maxsize=64)
def ask_for_all(chip: Capability | None) -> tuple[str, ...]:
    """Everything that a hierarchical roofline needs on this chip, each name once."""
    return tuple(dict.fromkeys(name for quantity in QUANTITIES for name in ask_for(quantity, chip)))


def _vector(chip: Capability | None) -> list[str]:
    rows = [row for row in VECTOR_OPS if chip in row.chips or (chip is None and row.chips == ALL)]
    return [f"{row.names[0]}.sum" for row in rows]


def _tensor(chip: Capability | None) -> list[str]:
    """The finest counters: their sum is the whole, and they alone tell the instruction and the sparsity."""
    counters = TENSOR_COUNTERS.get(chip, ()) if chip is not None else ()
    holders = {row.within for row in counters}
    names = [TENSOR_INSTRUCTIONS]
    if chip in HALF_FMA_CHIPS:
        names.append(TENSOR_HALF_FMA)
    for row in counters:
        if row.name not in holders:
            names += [row.half(False), row.half(True)] if row.split else [row.name]
    return [f"{name}.sum" for name in names]


def byte_metrics(definition: str, chip: Capability | None) -> list[str]:
    """Full names of the preferred counter of a definition on a chip, halves never where a whole exists."""
    rows = [row for row in BYTE_COUNTERS if row.definition == definition]
    fits = [row for row in rows if not row.names[0].startswith("derived") and (chip is None or chip in row.chips)]
    return [f"{name}.sum" for name in fits[0].names] if fits else []
