"""Memory that programs use in turn, on a driver that only hands out addresses."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from ert_numba.kernels import cuda_driver
from ert_numba.kernels.cuda_driver import Buffer, Part, common_memory


class Driver:
    """Allocations by size, and what was freed."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.freed: list[int] = []
        self.context = 1

    def call(self, function: Any, *arguments: Any) -> int:
        if function.__name__ == "cuCtxGetCurrent":
            return self.context
        assert function.__name__ == "cuMemAlloc"
        self.sizes.append(arguments[0])
        return len(self.sizes) << 40


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    bindings = pytest.importorskip("cuda.bindings.driver", reason="needs the cuda.bindings package")
    made = Driver()
    monkeypatch.setattr(cuda_driver, "call", made.call)
    monkeypatch.setattr(bindings, "cuMemFree", made.freed.append)
    return made


def test_programs_share_what_is_large_enough(driver: Driver) -> None:
    first = common_memory(10**9)
    assert common_memory(10**9 + 4096) is first
    assert common_memory(5) is first
    assert driver.sizes == [first.size_bytes]
    assert first.size_bytes >= 10**9 + 4096


def test_a_larger_program_gets_memory_of_its_own_and_a_device_too(driver: Driver) -> None:
    first = common_memory(10**9)
    second = common_memory(2 * 10**9)
    assert second is not first
    assert common_memory(10**9) is second
    driver.context = 2
    assert common_memory(10**9) not in (first, second)


def test_parts_keep_the_whole_and_the_last_one_frees_it(driver: Driver) -> None:
    parts = [Part(common_memory(10**9), offset, 1000) for offset in (0, 1000)]
    assert [part.address - parts[0].address for part in parts] == [0, 1000]
    gc.collect()
    assert driver.freed == []
    whole = parts[0].address
    parts.clear()
    gc.collect()
    assert driver.freed == [whole]
    assert common_memory(1).address != whole


def test_a_part_is_filled_as_a_buffer_is() -> None:
    assert issubclass(Part, Buffer)
