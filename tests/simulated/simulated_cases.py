"""Run by test_addressing_in_the_simulator, one case a process, with NUMBA_ENABLE_CUDASIM=1."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from typing import Any

import numpy as np
from numba import cuda

from ert_numba.kernels import (
    cuda_fill,
    cuda_knee,
    cuda_latency,
    cuda_load,
    cuda_read,
    cuda_shared,
    cuda_store,
    cuda_words,
)
from ert_numba.kernels.cuda_fill import index_sum

WORD = 4


class Memory:
    """Words that hold their index, from address 0; counts who touches what. The simulator runs threads."""

    def __init__(self, words: int) -> None:
        self.words = np.arange(words, dtype=np.uint64)
        self.reads: Counter[int] = Counter()
        self.stored: dict[int, int] = {}
        self.lock = threading.Lock()

    def quad(self, address: int) -> int:
        assert address % 16 == 0
        first = int(address) // WORD
        with self.lock:
            self.reads.update(range(first, first + 4))
        return int(self.words[first : first + 4].sum()) % 2**32

    def store(self, address: int, value: int) -> None:
        with self.lock:
            self.stored[int(address) // WORD] = int(value) % 2**32

    def add(self, address: int, value: int) -> None:
        word = int(address) // WORD
        with self.lock:
            self.stored[word] = (self.stored.get(word, 0) + int(value)) % 2**32

    def total(self) -> int:
        return sum(self.stored.values()) % 2**32


def ring(blocks: int, threads: int, loads: int, span: int, shared: bool, laps: int) -> None:
    memory = Memory(span // WORD * (1 if shared else blocks))
    row = threads * 16

    def several(base: int, offset: int, length: int) -> np.uint32:
        places = [(int(offset) + k * row) % int(length) for k in range(loads)]
        return np.uint32(sum(memory.quad(int(base) + place) for place in places) % 2**32)

    def one(base: int, offset: int, length: int) -> np.uint32:
        return np.uint32(memory.quad(int(base) + int(offset)))

    kernel = cuda.jit(cuda_load.ring_loop(several, one, memory.store, threads, loads))
    first = span // blocks // 128 * 128 if shared else 0
    with np.errstate(over="ignore"):
        kernel[blocks, threads](0, laps, 0, 0 if shared else span, np.uint32(span), first)
    readers = blocks if shared else 1
    assert set(memory.reads.values()) == {laps * readers}, Counter(memory.reads.values())
    assert len(memory.reads) == len(memory.words)
    assert memory.total() == laps * readers * index_sum(len(memory.words)) % 2**32


def ring_private() -> None:
    ring(blocks=2, threads=4, loads=2, span=4 * 16 * 2 * 5, shared=False, laps=3)


def ring_tail() -> None:
    """A span that is no multiple of a group, nor of a row."""
    ring(blocks=2, threads=4, loads=2, span=16 * 11, shared=False, laps=3)


def ring_shared() -> None:
    ring(blocks=3, threads=4, loads=2, span=128 * 7, shared=True, laps=2)


def read() -> None:
    """Two rows of three blocks of two warps, each a tile of two groups."""
    blocks, threads, loads, groups = 3, 64, 2, 2
    memory = Memory(blocks * threads * loads * 16 * groups // WORD)

    def several(address: int) -> np.uint32:
        return np.uint32(sum(memory.quad(int(address) + k * threads * 16) for k in range(loads)) % 2**32)

    kernel = cuda.jit(cuda_read.tile_loop(several, memory.add, threads, loads))
    with np.errstate(over="ignore"):
        kernel[(blocks, 2), threads](0, 0, groups)
    assert set(memory.reads.values()) == {2}
    assert len(memory.reads) == len(memory.words)
    assert set(memory.stored) == set(range(blocks * threads // 32))  # a result a warp
    assert memory.total() == 2 * index_sum(len(memory.words)) % 2**32


def copy() -> None:
    blocks, threads, loads, groups = 2, 4, 2, 3
    span = blocks * threads * loads * 16 * groups
    touched: Counter[tuple[int, int, int]] = Counter()
    lock = threading.Lock()

    def group(target: int, first: int, second: int, scale: float) -> None:
        with lock:
            for k in range(loads):
                step = k * threads * 16
                touched[int(target) + step, int(first) + step, int(second) + step] += 1

    kernel = cuda.jit(cuda_store.store_loop(group, threads, loads))
    kernel[(blocks, 2), threads](0, 10_000, 20_000, groups, 1.0)
    assert set(touched) == {(at, 10_000 + at, 20_000 + at) for at in range(0, span, 16)}
    assert set(touched.values()) == {2}


def words(pattern: str) -> None:
    blocks, threads = 2, 4
    count, sectors = 4 * blocks * threads * 3, 4 * blocks * threads * 3
    memory = Memory(sectors * 8)

    def reads(*addresses: int) -> np.uint32:
        found = 0
        for address in addresses:
            assert int(address) % cuda_words.SECTOR == 0
            at = int(address) // WORD
            with memory.lock:
                memory.reads.update((at, at + 1))
            found += int(memory.words[at] + memory.words[at + 1])
        return np.uint32(found % 2**32)

    loop = cuda_words.strided_loop if pattern == "strided" else cuda_words.random_loop
    kernel = cuda.jit(loop(reads, memory.store))
    with np.errstate(over="ignore"):
        kernel[blocks, threads](0, 1, 0, count, cuda_words.SECTOR if pattern == "strided" else sectors)
    picked = (
        index_sum(sectors) if pattern == "strided" else cuda_words.random_index_sum(blocks * threads, count, sectors)
    )
    assert memory.total() == (16 * picked + count) % 2**32
    assert sum(memory.reads.values()) == 2 * count
    if pattern == "strided":
        assert set(memory.reads.values()) == {1}


def strided() -> None:
    words("strided")


def random() -> None:
    words("random")


def knee() -> None:
    """One thread a block, so that the simulator needs seconds, against the first column of the gold values."""
    blocks, chunks, seed = 2, 5, 12345
    memory = Memory(blocks * chunks * cuda_knee.CHUNK // WORD)

    def load(address: int) -> np.uint32:
        return np.uint32(memory.quad(address))

    kernel = cuda.jit(cuda_knee.knee_loop(load, memory.store))
    with np.errstate(over="ignore"):
        kernel[blocks, 1](0, 1, 0, chunks * cuda_knee.CHUNK, chunks, np.uint32(seed), np.uint32(0))
    gold = cuda_knee.gold(blocks, chunks, chunks, seed, 1)[:, 0]
    assert [memory.stored[block] for block in range(blocks)] == [int(value) for value in gold]


def layer() -> None:
    """Following the addresses that were laid, every line is visited once before the first returns."""
    order, base, place = [3, 0, 4, 1, 2, 6, 5], 1 << 12, 64
    written: dict[int, int] = {}

    def load(address: int) -> np.uint32:
        return np.uint32(order[(int(address) - place) // 4])

    def store(address: int, value: int) -> None:
        written[int(address)] = int(value)

    cuda.jit(cuda_latency.chain_layer(load, store))[2, 2](base, place, len(order))
    address, seen = base + cuda_latency.LINE * order[0], []
    for _ in order:
        seen.append((address - base) // cuda_latency.LINE)
        address = written[address]
    assert seen == order
    assert address == base + cuda_latency.LINE * order[0]
    assert len(written) == len(order)


def touch() -> None:
    """Every line is read once a lap, whatever the number of threads, and what was read is added up."""
    order, base, place = [3, 0, 4, 1, 2, 6, 5], 1 << 12, 64
    lock = threading.Lock()
    seen: Counter[int] = Counter()
    total = [0]

    def number(address: int) -> np.uint32:
        return np.uint32(order[(int(address) - place) // 4])

    def word(address: int) -> np.uint32:
        with lock:
            seen[(int(address) - base) // cuda_latency.LINE] += 1
        return np.uint32(address)

    def add(address: int, value: int) -> None:
        assert int(address) == 8
        with lock:
            total[0] += int(value)

    cuda.jit(cuda_latency.touch_loop(number, word, add))[1, 3](8, base, place, len(order), 2)
    assert seen == dict.fromkeys(order, 2)
    assert total[0] == 2 * sum(base + cuda_latency.LINE * line for line in order)


def index() -> None:
    written: dict[int, int] = {}

    def store(address: int, value: int) -> None:
        written[int(address)] = int(value)

    cuda.jit(cuda_fill.index_loop(store))[2, 4](64, 21)
    assert written == {64 + 16 * i: 4 * i for i in range(21)}


def shared() -> None:
    tile: dict[int, int] = {}
    found: list[tuple[int, int]] = []

    def write(address: int, value: int) -> None:
        tile[int(address)] = int(value)

    def read(repetitions: int, address: int) -> np.uint32:
        found.append((int(address), sum(tile[int(address) + 4 * j] for j in range(4))))
        return np.uint32(0)

    def nothing(address: int, value: int) -> None:
        return None

    cuda.jit(cuda_shared.shared_loop(lambda: np.int32(0), write, read, nothing, 4 * 8))[1, 8](0, 1)
    assert tile == {4 * i: i for i in range(32)}
    assert sorted(found) == [(16 * t, sum(range(4 * t, 4 * t + 4))) for t in range(8)]


def main(name: str) -> None:
    cases: dict[str, Any] = {
        case.__name__: case
        for case in (
            ring_private,
            ring_shared,
            ring_tail,
            read,
            copy,
            strided,
            random,
            knee,
            layer,
            touch,
            index,
            shared,
        )
    }
    cases[name]()


if __name__ == "__main__":
    main(sys.argv[1])
