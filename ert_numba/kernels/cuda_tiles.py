"""Device memory in tiles, a block each: what reads and writes of more than any cache holds have in common.

Blocks that stay and take their next part when they are done drift apart, and the front that the device works on grows
wide. Blocks that do one small tile and go follow the order of memory, since the hardware starts them in order: an H200
writes 6 %, copies 7 % and reads up to 2 % faster that way (results/nvidia-h200/tile_variants.json).
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from ert_numba.kernels.cuda_driver import Buffer, LaunchShape, Part, common_memory
from ert_numba.kernels.cuda_program import CudaProgram
from ert_numba.kernels.cuda_toolchain import Compiled
from ert_numba.records import AxisValue, Point

LOAD = 16  # bytes
RESULTS = 8192  # however many blocks there are


class Tile(msgspec.Struct, frozen=True, kw_only=True):
    """What one block does: ``groups`` in a row of ``loads`` 16-byte elements a thread, all in flight at once."""

    threads: int
    loads: int
    groups: int

    @property
    def group_bytes(self) -> int:
        return self.threads * self.loads * LOAD

    @property
    def bytes(self) -> int:
        return self.group_bytes * self.groups

    def whole(self, size_bytes: int) -> int:
        """The most whole tiles in a size, in bytes; one at least."""
        return max(1, size_bytes // self.bytes) * self.bytes

    def axes(self) -> dict[str, AxisValue]:
        return {"block_threads": self.threads, "loads": self.loads, "groups": self.groups}


def tile_of(point: Point) -> Tile:
    axes = point.axes
    return Tile(threads=int(axes["block_threads"]), loads=int(axes["loads"]), groups=int(axes["groups"]))


class TileProgram(CudaProgram):
    """A block for each tile of ``arrays`` of ``array_bytes``; a repetition is one more row of such blocks."""

    result_bytes = 4
    result_count = RESULTS

    def __init__(self, compiled: Compiled, tile: Tile, array_bytes: int, arrays: int) -> None:
        self.tile, self.array_bytes, self.arrays = tile, array_bytes, arrays
        super().__init__(compiled, LaunchShape(array_bytes // tile.bytes, tile.threads))

    def allocate(self) -> list[Buffer]:
        """Memory that other programs use too: what a check needs in it, the check puts there."""
        memory = common_memory(self.array_bytes * self.arrays)
        return [Part(memory, k * self.array_bytes, self.array_bytes) for k in range(self.arrays)]

    def launch_shape(self, repetitions: int) -> LaunchShape:
        """The hardware starts a row's blocks when those of the row before have all been started."""
        return replace(self.shape, rows=repetitions)
