"""The record of a GPU from what a driver says of it, on made-up drivers."""

from __future__ import annotations

from typing import Any

import pytest

from ert_numba.device import gpu
from ert_numba.device.gpu import NoGpu, describe, probe_gpu, require_packages

H200 = {
    "COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0, "MULTIPROCESSOR_COUNT": 132,
    "MAX_THREADS_PER_MULTIPROCESSOR": 2048, "MEMORY_CLOCK_RATE": 3201000, "GLOBAL_MEMORY_BUS_WIDTH": 6016,
    "CLOCK_RATE": 1980000, "L2_CACHE_SIZE": 62914560,
}  # fmt: skip


class FakeNvml:
    def __init__(self, link: float | None = 63e9, others: int | None = 0, ecc: str = "0") -> None:
        self.link, self.others, self.ecc = link, others, ecc

    def properties(self) -> dict[str, str]:
        return {"power cap": "700 W", "uncorrected ECC errors": self.ecc}

    def pcie_bytes_per_second(self) -> float | None:
        return self.link

    def other_processes(self, own: int) -> int | None:
        return self.others


def described(monkeypatch: pytest.MonkeyPatch, nvml: Any = None, name: str = "NVIDIA H200", **changed: int) -> Any:
    monkeypatch.setattr(gpu, "open_nvml", lambda uuid: nvml)
    values = H200 | changed
    uuid = "MIG-1" if " MIG " in name else "GPU-1"
    return describe(name, uuid, 143 << 30, 13000, lambda key: values.get(key, 0))


def test_h200(monkeypatch: pytest.MonkeyPatch) -> None:
    device = described(monkeypatch, FakeNvml())
    assert (device.architecture, device.units, device.threads) == ("sm_90", 132, 132 * 2048)
    assert device.maximum_clock_hz == 1.98e9
    assert {row.level: row.bytes for row in device.caches} == {"L1": 256 << 10, "L2": 62914560}
    memory = device.limit("DRAM.read")
    assert memory is not None
    assert memory.per_second == pytest.approx(4.814e12, rel=1e-3)
    words = device.limit("DRAM.random")
    assert words is not None
    assert words.per_second == memory.per_second / 4
    wgmma = device.limit("fp16.tensor.wgmma")
    assert wgmma is not None
    assert wgmma.per_cycle == 4096
    both = device.limit("HOST.both_pinned")
    assert both is not None
    assert both.per_second == 126e9


def test_the_uuid_itself_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    device = described(monkeypatch, FakeNvml())
    assert "GPU-1" not in repr(device)
    assert device.properties["uuid hash"]


def test_an_unknown_product_is_described_without_limits_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    device = described(monkeypatch, FakeNvml(), name="NVIDIA Wonder 9000")
    assert device.limit("fp32.vector.fma") is None
    assert device.limit("DRAM.read") is not None
    assert any("not in the catalogue" in note for note in device.notes)
    assert [row.level for row in device.caches] == ["L2"]


def test_a_mig_slice_takes_its_product_from_the_parent_and_no_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    device = described(monkeypatch, None, name="NVIDIA H200 MIG 1g.18gb", MULTIPROCESSOR_COUNT=16)
    assert device.units == 16
    assert device.limit("fp32.vector.fma") is not None
    assert device.limit("DRAM.read") is None
    assert device.limit("L2.read") is None
    assert any("MIG" in note for note in device.notes)


def test_without_nvml_the_probe_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    device = described(monkeypatch, None)
    assert any("No NVML" in note for note in device.notes)
    assert device.limit("HOST.h2d_pinned") is None


def test_neighbours_on_the_gpu_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    device = described(monkeypatch, FakeNvml(others=2))
    assert any("2 other process" in note for note in device.notes)


def test_faulty_memory_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    device = described(monkeypatch, FakeNvml(ecc="3"))
    assert [note for note in device.notes if "ECC" in note] == [
        "3 uncorrected ECC errors since the driver was loaded: see `nvidia-smi -q -d ECC`"
    ]
    assert described(monkeypatch, FakeNvml()).notes == ()


@pytest.mark.parametrize("silent", ["MEMORY_CLOCK_RATE", "GLOBAL_MEMORY_BUS_WIDTH"])
def test_a_silent_attribute_is_no_limit_of_zero(monkeypatch: pytest.MonkeyPatch, silent: str) -> None:
    assert described(monkeypatch, None, **{silent: 0}).limit("DRAM.read") is None


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "_has_driver", lambda: True)
    monkeypatch.setattr(gpu, "_installed", lambda name: name != "numba_cuda")
    with pytest.raises(NoGpu, match=r"no numba_cuda.*pip install 'ert-numba\[cuda13\]'"):
        require_packages()


def test_without_a_driver_nobody_is_told_to_install_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "_has_driver", lambda: False)
    monkeypatch.setattr(gpu, "_installed", lambda name: False)
    with pytest.raises(NoGpu, match="no NVIDIA driver") as caught:
        require_packages()
    assert "pip" not in str(caught.value)


@pytest.mark.parametrize(
    ("driver", "compiler", "remedy"),
    [
        (12040, (13, 0), r"CUDA 12.4, older than the compiler here \(CUDA 13.0\).*ert-numba\[cuda12\]"),
        (11080, (12, 9), "CUDA 11.8, older than the compiler here .*Update the driver$"),
    ],
)
def test_a_driver_older_than_the_compiler_is_refused(driver: int, compiler: tuple[int, int], remedy: str) -> None:
    with pytest.raises(NoGpu, match=remedy):
        gpu.require_compiler(driver, compiler)


@pytest.mark.parametrize(("driver", "compiler"), [(13000, (13, 1)), (13000, (12, 9)), (12040, None)])
def test_a_driver_of_the_same_major_version_runs_what_the_compiler_makes(
    driver: int, compiler: tuple[int, int] | None
) -> None:
    gpu.require_compiler(driver, compiler)


class FakeDriver:
    """A driver whose cuInit answers with a status and that sees ``count`` devices."""

    def __init__(self, status: int, name: str, count: int = 0) -> None:
        outer = type("Status", (int,), {"name": name})
        self.status, self.count = outer(status), count

    def cuInit(self, flags: int) -> tuple[Any]:  # noqa: N802
        return (self.status,)

    def cuDeviceGetCount(self) -> tuple[int, int]:  # noqa: N802
        return 0, self.count


def with_driver(monkeypatch: pytest.MonkeyPatch, driver: FakeDriver) -> None:
    bindings = pytest.importorskip("cuda.bindings")
    monkeypatch.setattr(gpu, "require_packages", lambda: None)
    monkeypatch.setattr(bindings, "driver", driver, raising=False)
    monkeypatch.setitem(__import__("sys").modules, "cuda.bindings.driver", driver)


def test_a_driver_that_sees_nothing_says_which_variable_hides_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with_driver(monkeypatch, FakeDriver(100, "CUDA_ERROR_NO_DEVICE"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(NoGpu, match=r"CUDA_ERROR_NO_DEVICE.*CUDA_VISIBLE_DEVICES is ''"):
        gpu.count_gpus()


@pytest.mark.parametrize("ordinal", [-1, 2, 99])
def test_a_number_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch, ordinal: int) -> None:
    with_driver(monkeypatch, FakeDriver(0, "CUDA_SUCCESS", count=2))
    with pytest.raises(NoGpu, match="2 visible"):
        probe_gpu(ordinal)
