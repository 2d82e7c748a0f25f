"""Every place that bytes can come from, nearest first, one row each.

``order`` sorts the levels of one device from the core outwards, and is what "nearer" means everywhere.
"""

from __future__ import annotations

import msgspec


class MemoryLevel(msgspec.Struct, frozen=True, kw_only=True):
    """One level: ``scope`` says what owns a copy of it (core, SM, socket, device, link)."""

    key: str
    label: str
    order: int
    device_kind: str  # "cpu" or "gpu": the same key may stand in both
    scope: str


MEMORY_LEVELS: tuple[MemoryLevel, ...] = (
    MemoryLevel(key="L1", label="L1", order=10, device_kind="cpu", scope="core"),
    MemoryLevel(key="L2", label="L2", order=20, device_kind="cpu", scope="core"),
    MemoryLevel(key="L3", label="L3", order=30, device_kind="cpu", scope="socket"),
    MemoryLevel(key="DRAM", label="DRAM", order=40, device_kind="cpu", scope="socket"),
    MemoryLevel(key="REMOTE", label="DRAM, remote node", order=50, device_kind="cpu", scope="link"),
    MemoryLevel(key="SHARED", label="Shared memory", order=5, device_kind="gpu", scope="SM"),
    MemoryLevel(key="L1", label="L1", order=10, device_kind="gpu", scope="SM"),
    MemoryLevel(key="L2", label="L2", order=20, device_kind="gpu", scope="device"),
    MemoryLevel(key="DRAM", label="Device memory", order=40, device_kind="gpu", scope="device"),
    MemoryLevel(key="HOST", label="Host link", order=60, device_kind="gpu", scope="link"),
)

# How bytes cross the host link, in words; other ways to access memory are named by what reads them.
HOST_ACCESSES: dict[str, str] = {
    "h2d_pinned": "to the device, pinned",
    "d2h_pinned": "to the host, pinned",
    "both_pinned": "both ways, pinned",
    "h2d_pageable": "to the device, pageable",
    "d2h_pageable": "to the host, pageable",
}

BY_KEY: dict[tuple[str, str], MemoryLevel] = {(row.device_kind, row.key): row for row in MEMORY_LEVELS}


def level_order(device_kind: str, key: str) -> int:
    """Rank from the core outwards; a level that no row names (an import's guess) sorts last."""
    row = BY_KEY.get((device_kind, key))
    return row.order if row else 1000
