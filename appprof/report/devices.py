"""The facts of a GPU out of a report's ``device__attribute_*`` metrics, the same for every format."""

from __future__ import annotations

import math
from collections.abc import Mapping

from appprof.report.profile import Device

PREFIX = "device__attribute_"


def make_device(
    attributes: Mapping[str, float | str],
    index: int | None = None,
    compute_capability: tuple[int, int] | None = None,
) -> Device:
    """A device from its attributes by full name; ``index`` and ``compute_capability`` where they stand elsewhere."""

    def number(name: str) -> float | None:
        value = attributes.get(PREFIX + name)
        return value if isinstance(value, float) and math.isfinite(value) else None

    def integer(name: str) -> int | None:
        value = number(name)
        return None if value is None else int(value)

    major, minor = integer("compute_capability_major"), integer("compute_capability_minor")
    if compute_capability is None and major is not None and minor is not None:
        compute_capability = (major, minor)
    name = attributes.get(PREFIX + "display_name")
    sm_khz, memory_khz = number("max_gpu_frequency_khz"), number("max_mem_frequency_khz")
    return Device(
        index=integer("device_index") if index is None else index,
        name=name if isinstance(name, str) and name else None,
        compute_capability=compute_capability,
        sm_count=integer("multiprocessor_count"),
        maximum_sm_clock_hz=sm_khz and sm_khz * 1e3,
        maximum_memory_clock_hz=memory_khz and memory_khz * 1e3,
        memory_bus_bits=integer("global_memory_bus_width"),
        memory_bytes=integer("total_memory"),
        l2_bytes=integer("l2_cache_size"),
        attributes=dict(attributes),
    )
