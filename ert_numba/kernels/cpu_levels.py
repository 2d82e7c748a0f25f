"""Which working sets stand for which memory level of a CPU, per core."""

from __future__ import annotations

from collections.abc import Iterator

from ert_numba.records import Cache, DeviceInfo, Skipped
from ert_numba.units import capacity

SMALLEST_BYTES = 4096
# Device memory begins where the last-level cache can hold no more than a quarter of the set.
BEYOND_LAST_LEVEL = 4
# With no cache known, a set that no present cache holds.
UNKNOWN_LAST_LEVEL_BYTES = 64 * 1024 * 1024
# One working set takes at most this fraction of the memory: sets of both page sizes, and those of a single worker, are
# held at once.
MEMORY_SHARE = 8
LEAST_BEYOND = 2  # a set smaller than this times the last-level cache says nothing of the memory behind it


def share_bytes(cache: Cache, threads: int, cores: int) -> int:
    """What one of ``threads`` workers may fill of the cache; more workers than cores are hardware threads of a core."""
    users = max(1, min(threads, cache.shared_by * -(-threads // cores)))
    return cache.bytes // users


def last_level_bytes(device: DeviceInfo) -> int:
    """All instances of the outermost cache together."""
    if not device.caches:
        return UNKNOWN_LAST_LEVEL_BYTES
    outermost = max(device.caches, key=lambda cache: cache.level)
    return outermost.bytes * outermost.instances


def dram_bytes(device: DeviceInfo, threads: int) -> int:
    """Working set of one worker that lies in device memory: 4 x the last-level cache, within the memory there is."""
    wanted = BEYOND_LAST_LEVEL * last_level_bytes(device)
    if device.memory_bytes:
        wanted = min(wanted, device.memory_bytes // MEMORY_SHARE)
    return wanted // threads


def level_sizes(device: DeviceInfo, threads: int) -> dict[str, int]:
    """Working set of one worker for every level that can be seen, innermost first.

    Half of the first cache; of another private one a quarter, or four times the cache before it where that is more:
    so a neighbour on the same core, who holds a part of it, does not turn the figure into one of the next level. Of
    a shared one no more than four times the cache before it, for the same reason.
    """
    sizes: dict[str, int] = {}
    before = 0
    ordered = sorted(device.caches, key=lambda cache: cache.level)
    for cache in ordered:
        share = share_bytes(cache, threads, device.units)
        half = share // 2
        # The outermost cache has neighbours (other machines' cores, if this one is virtual) even where none is seen.
        private = cache.shared_by <= 1 and (not before or cache is not ordered[-1])
        size = min(half, max(4 * before, share // 4 if private else 0)) if before else half
        if size > before:  # else the inner levels hold it all: nothing of this one could be seen
            sizes[cache.level] = size
        before = share
    memory = dram_bytes(device, threads)
    if memory * threads >= LEAST_BEYOND * last_level_bytes(device) - threads:  # - threads: the division's remainder
        sizes["DRAM"] = memory
    return sizes


def unseen_levels(device: DeviceInfo, threads: int, asked: tuple[str, ...]) -> Iterator[Skipped]:
    """Why a level that was asked for (device memory always is, where nothing is said) has no working set here."""
    sizes = level_sizes(device, threads)
    for level in asked or ("DRAM",):
        if level in sizes or level == "REMOTE":
            continue
        reason = "no such cache is known here, or those before it hold as much as a core's share of it"
        if level == "DRAM":
            reason = (
                f"{LEAST_BEYOND} times the last-level cache ({capacity(last_level_bytes(device))}) is more than "
                f"1/{MEMORY_SHARE} of the memory that may be used ({capacity(device.memory_bytes)})"
            )
        yield Skipped(what=level, reason=reason)


def curve_sizes(device: DeviceInfo, threads: int, per_octave: int) -> tuple[int, ...]:
    """Log-spaced working sets of one worker, from well inside the first cache to well past the last."""
    largest = dram_bytes(device, threads)
    sizes = []
    size = float(SMALLEST_BYTES)
    while size < largest:
        sizes.append(int(size) // 1024 * 1024)
        size *= 2 ** (1 / per_octave)
    return (*sizes, largest // 1024 * 1024)
