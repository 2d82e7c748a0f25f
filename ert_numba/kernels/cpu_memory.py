"""Memory of one worker: anonymous pages of a chosen size, first touched by the thread that will use them.

Page size moves the device-memory roof by a factor of up to 1.9 on one machine, so it is an axis of the sweep and a
condition of its results, never left to the allocator.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ert_numba.errors import ErtError
from ert_numba.units import capacity

HUGE_PAGE = 2 * 1024 * 1024
Bytes = npt.NDArray[np.uint8]


Touch = Callable[[Callable[[], None]], None]
"""Runs a first touch, perhaps elsewhere."""


@dataclass
class _Block:
    """Mapped memory; from ``start`` to ``stop`` lie words that are no numbers (addresses of a pointer chase)."""

    mapping: mmap.mmap
    view: Bytes
    start: int = 0
    stop: int = 0

    def fill(self, start: int, stop: int) -> None:
        # 1.0 in every word: no NaN and no denormals. An address read as a number is a denormal, and a core that
        # multiplies those is a hundred times slower.
        self.view[start:stop].view(np.float64)[:] = 1.0

    def clean(self, size_bytes: int) -> None:
        """Numbers in the first ``size_bytes``."""
        until = max(self.start, min(self.stop, _whole_words(size_bytes)))
        self.fill(self.start, until)
        self.start, self.stop = (until, self.stop) if until < self.stop else (0, 0)

    def give_away(self, size_bytes: int) -> None:
        """Something else will be written into the first ``size_bytes``."""
        self.start, self.stop = 0, max(self.stop, _whole_words(size_bytes))


def _whole_words(size_bytes: int) -> int:
    return -(-size_bytes // 8) * 8


class Arena:
    """Blocks that a worker reuses from point to point; a larger request replaces the block of its kind."""

    def __init__(self) -> None:
        self._blocks: dict[str, _Block] = {}

    def take(self, size_bytes: int, page: str, touch: Touch | None = None, numbers: bool = True) -> Bytes:
        """At least ``size_bytes``, aligned to a huge page, every page touched; ``page`` is 'huge' or 'small'.

        ``touch`` may wrap the first touch, to make it happen elsewhere (on another memory node). With ``numbers`` every
        word of the first ``size_bytes`` is an ordinary number; without, the caller will write something else there.
        """
        kind = page if touch is None else page + "@remote"
        held = self._blocks.get(kind)
        if held is None or len(held.view) < size_bytes:
            self._blocks.pop(kind, None)  # before the new one is mapped: never both at once
            # Some more than asked: the next kernel's arrays lie a little further apart, and a GB takes long to touch.
            held = _Block(*_map(size_bytes + size_bytes // 16, page))
            fill = partial(held.fill, 0, len(held.view))
            if touch is None:
                fill()
            else:
                touch(fill)
            self._blocks[kind] = held
        if numbers:
            held.clean(size_bytes)
        else:
            held.give_away(size_bytes)
        return held.view

    def release(self) -> None:
        self._blocks.clear()


def _map(size_bytes: int, page: str) -> tuple[mmap.mmap, Bytes]:
    size = -(-size_bytes // HUGE_PAGE) * HUGE_PAGE
    try:
        block = mmap.mmap(-1, size + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError, ValueError) as error:
        raise ErtError(f"{capacity(size)} of memory for a worker", str(error), "Ask for smaller --sizes") from error
    whole = np.frombuffer(block, dtype=np.uint8)
    skip = -whole.ctypes.data % HUGE_PAGE
    advice = getattr(mmap, "MADV_HUGEPAGE" if page == "huge" else "MADV_NOHUGEPAGE", None)
    if advice is not None:
        # A kernel without transparent huge pages refuses: the sample's condition says what was granted.
        with contextlib.suppress(OSError):
            block.madvise(advice)
    return block, whole[skip : skip + size]
