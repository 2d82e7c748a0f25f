"""NVML's answers, refusals and names, on a library that is not one."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ert_numba.device.nvml import Nvml, open_nvml, throttle_text


class FakeError(Exception):
    pass


class FakeLibrary:
    """Answers by name; what is not listed refuses, as WSL and Jetson do."""

    NVMLError = FakeError

    def __init__(self, **answers: Any) -> None:
        self.answers = answers

    def __getattr__(self, name: str) -> Any:
        if not name.startswith(("nvmlDevice", "nvmlSystem")):
            raise AttributeError(name)

        def ask(*arguments: Any) -> Any:
            if name not in self.answers:
                raise FakeError("Not Supported")
            return self.answers[name]

        return ask


def test_conditions() -> None:
    nvml = Nvml(
        FakeLibrary(
            nvmlDeviceGetPowerUsage=698_500, nvmlDeviceGetTemperature=61, nvmlDeviceGetCurrentClocksEventReasons=0x4
        ),
        None,
    )
    assert nvml.conditions() == {"power_watts": 698.5, "temperature_celsius": 61, "throttle": "power cap"}


def field(status: int, milliwatts: int) -> SimpleNamespace:
    return SimpleNamespace(nvmlReturn=status, value=SimpleNamespace(uiVal=milliwatts))


@pytest.mark.parametrize(("status", "watts"), [(0, 709.0), (3, 247.3)])
def test_power_of_this_moment_where_the_driver_tells_it(status: int, watts: float) -> None:
    library = FakeLibrary(nvmlDeviceGetPowerUsage=247_300, nvmlDeviceGetFieldValues=[field(status, 709_000)])
    assert Nvml(library, None).conditions() == {"power_watts": watts}


def test_the_old_name_of_the_reasons_is_asked_too() -> None:
    assert Nvml(FakeLibrary(nvmlDeviceGetCurrentClocksThrottleReasons=0x40), None).conditions() == {
        "throttle": "thermal, hardware"
    }


def test_what_is_refused_is_left_out() -> None:
    nvml = Nvml(FakeLibrary(), None)
    assert nvml.conditions() == {}
    assert nvml.properties() == {}
    assert nvml.pcie_bytes_per_second() is None
    assert nvml.other_processes(1) is None


@pytest.mark.parametrize("answer", ["580.95.05", b"580.95.05"])
def test_the_drivers_version(answer: str | bytes) -> None:
    assert Nvml(FakeLibrary(nvmlSystemGetDriverVersion=answer), None).properties() == {"driver": "580.95.05"}


def test_pcie_by_generation_and_width() -> None:
    nvml = Nvml(FakeLibrary(nvmlDeviceGetMaxPcieLinkGeneration=5, nvmlDeviceGetMaxPcieLinkWidth=16), None)
    assert nvml.pcie_bytes_per_second() == pytest.approx(63.0e9, rel=1e-3)
    unknown = Nvml(FakeLibrary(nvmlDeviceGetMaxPcieLinkGeneration=9, nvmlDeviceGetMaxPcieLinkWidth=16), None)
    assert unknown.pcie_bytes_per_second() is None


def test_own_process_is_no_neighbour() -> None:
    process = type("Process", (), {"pid": 7})
    other = type("Process", (), {"pid": 8})
    nvml = Nvml(FakeLibrary(nvmlDeviceGetComputeRunningProcesses=[process, other]), None)
    assert nvml.other_processes(7) == 1
    assert nvml.other_processes(7, holding=True) == 1


def test_in_a_container_one_of_the_hosts_numbers_is_its_own() -> None:
    process = type("Process", (), {"pid": 40007})
    alone = Nvml(FakeLibrary(nvmlDeviceGetComputeRunningProcesses=[process]), None)
    assert alone.other_processes(7, holding=True) == 0
    assert alone.other_processes(7) == 1, "no context of its own yet"
    empty = Nvml(FakeLibrary(nvmlDeviceGetComputeRunningProcesses=[]), None)
    assert empty.other_processes(7, holding=True) == 0


@pytest.mark.parametrize(
    ("bits", "text"), [(0, ""), (0x1 | 0x2 | 0x100, ""), (0x4 | 0x20, "power cap, thermal, software")]
)
def test_throttle_text(bits: int, text: str) -> None:
    assert throttle_text(bits) == text


def test_no_package_and_no_library_are_no_nvml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert open_nvml("GPU-1") is None
    broken = ModuleType("pynvml")

    def fail() -> None:
        raise FakeError("libnvidia-ml not found")

    broken.NVMLError, broken.nvmlInit = FakeError, fail  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pynvml", broken)
    assert open_nvml("GPU-1") is None
