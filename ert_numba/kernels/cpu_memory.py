"""Memory of one worker: anonymous pages of a chosen size, first touched by the thread that will use them.

Page size moves the device-memory roof by a factor of up to 1.9 on one machine, so it is an axis of the sweep and a
condition of its results, never left to the allocator.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

HUGE_PAGE = 2 * 1024 * 1024
Bytes = npt.NDArray[np.uint8]


class Arena:
    """Blocks that a worker reuses from point to point; a larger request replaces the block of its kind."""

    def __init__(self) -> None:
        self._blocks: dict[str, tuple[mmap.mmap, Bytes]] = {}

    def take(self, size_bytes: int, page: str, touch: Callable[[Callable[[], None]], None] | None = None) -> Bytes:
        """At least ``size_bytes``, aligned to a huge page, every page touched; ``page`` is 'huge' or 'small'.

        ``touch`` may wrap the first touch, to make it happen elsewhere (on another memory node).
        """
        kind = page if touch is None else page + "@remote"
        held = self._blocks.get(kind)
        if held is not None and len(held[1]) >= size_bytes:
            return held[1]
        self._blocks.pop(kind, None)
        block, view = _map(size_bytes, page)

        def fill() -> None:
            # 1.0 in every word: no denormals and no NaN, whichever precision reads it.
            view.view(np.float64)[:] = 1.0

        if touch is None:
            fill()
        else:
            touch(fill)
        self._blocks[kind] = (block, view)
        return view

    def release(self) -> None:
        self._blocks.clear()


def _map(size_bytes: int, page: str) -> tuple[mmap.mmap, Bytes]:
    size = -(-size_bytes // HUGE_PAGE) * HUGE_PAGE
    block = mmap.mmap(-1, size + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    whole = np.frombuffer(block, dtype=np.uint8)
    skip = -whole.ctypes.data % HUGE_PAGE
    advice = getattr(mmap, "MADV_HUGEPAGE" if page == "huge" else "MADV_NOHUGEPAGE", None)
    if advice is not None:
        # A kernel without transparent huge pages refuses: the sample's condition says what was granted.
        with contextlib.suppress(OSError):
            block.madvise(advice)
    return block, whole[skip : skip + size]
