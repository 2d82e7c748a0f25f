"""Power, temperature, clocks and throttle reasons by NVML: optional, matched by UUID, silent where a device has none.

NVML's index is not CUDA's under CUDA_VISIBLE_DEVICES, so a device is found by its UUID. WSL, Jetson and MIG slices
answer some questions with NotSupported: what is not known is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ert_numba.records import AxisValue

# Bits of nvmlDeviceGetCurrentClocksEventReasons, from nvml.h.
REASONS: dict[int, str] = {
    0x1: "idle",
    0x2: "application clocks",
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "thermal, software",
    0x40: "thermal, hardware",
    0x80: "power brake",
    0x100: "display clocks",
}
POWER_NOW = 186  # NVML_FI_DEV_POWER_INSTANT; after 0.25 s of load an H200 tells 700 W here and 250 W as its mean
HARMLESS = 0x1 | 0x2 | 0x100


class Nvml:
    """One GPU seen by NVML."""

    def __init__(self, library: Any, handle: Any) -> None:
        self._library, self._handle = library, handle

    def _ask(self, name: str, *arguments: Any) -> Any:
        """The answer, or None where this device does not give one."""
        return self._ask_system(name, self._handle, *arguments)

    def _ask_system(self, name: str, *arguments: Any) -> Any:
        function: Callable[..., Any] | None = getattr(self._library, name, None)
        if function is None:
            return None
        try:
            return function(*arguments)
        except self._library.NVMLError:
            return None

    def conditions(self) -> dict[str, AxisValue]:
        """What to store beside a sample: ``power_watts``, ``temperature_celsius``, ``throttle`` (comma-separated)."""
        found: dict[str, AxisValue] = {}
        power = self._power_milliwatts()
        if power is not None:
            found["power_watts"] = power / 1000
        temperature = self._ask("nvmlDeviceGetTemperature", 0)
        if temperature is not None:
            found["temperature_celsius"] = int(temperature)
        reasons = self._ask("nvmlDeviceGetCurrentClocksEventReasons")
        if reasons is None:
            reasons = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons")  # the name before driver 535
        if reasons is not None:
            found["throttle"] = throttle_text(int(reasons))
        return found

    def _power_milliwatts(self) -> int | None:
        """Of this moment; else the mean of the last second, which is all that older drivers tell."""
        values = self._ask("nvmlDeviceGetFieldValues", [POWER_NOW])
        if values and values[0].nvmlReturn == 0:
            return int(values[0].value.uiVal)
        mean = self._ask("nvmlDeviceGetPowerUsage")
        return None if mean is None else int(mean)

    def properties(self) -> dict[str, str]:
        """What a person wants to know of the device once."""
        found: dict[str, str] = {}
        driver = self._ask_system("nvmlSystemGetDriverVersion")
        if driver is not None:
            found["driver"] = driver.decode() if isinstance(driver, bytes) else str(driver)
        cap = self._ask("nvmlDeviceGetEnforcedPowerLimit")
        if cap is not None:
            found["power cap"] = f"{cap / 1000:.0f} W"
        generation, width = self._ask("nvmlDeviceGetMaxPcieLinkGeneration"), self._ask("nvmlDeviceGetMaxPcieLinkWidth")
        if generation and width:
            found["PCIe"] = f"generation {generation} x{width}"
        ecc = self._ask("nvmlDeviceGetTotalEccErrors", 1, 0)  # uncorrected, since the driver was loaded
        if ecc is not None:
            found["uncorrected ECC errors"] = str(ecc)
        return found

    def pcie_bytes_per_second(self) -> float | None:
        """One way, after line coding, of the link as it can be; packet headers take more."""
        generation, width = self._ask("nvmlDeviceGetMaxPcieLinkGeneration"), self._ask("nvmlDeviceGetMaxPcieLinkWidth")
        rates = {1: 0.25e9, 2: 0.5e9, 3: 8e9 * 128 / 130 / 8, 4: 16e9 * 128 / 130 / 8, 5: 32e9 * 128 / 130 / 8}
        return rates[generation] * width if generation in rates and width else None

    def other_processes(self, own: int, holding: bool = False) -> int | None:
        """How many other processes have a context on the device; None where it is not told.

        In a container NVML may tell the host's process numbers: then ``own`` is none of them, and where this process is
        ``holding`` a context one of them is its own all the same.
        """
        processes = self._ask("nvmlDeviceGetComputeRunningProcesses")
        if processes is None:
            return None
        own_rows = sum(1 for row in processes if row.pid == own) or int(holding)
        return max(0, len(processes) - own_rows)


def open_nvml(uuid: str) -> Nvml | None:
    """NVML's view of the device ``GPU-…`` or ``MIG-…``; None where there is no NVML or it does not know the device."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        return Nvml(pynvml, pynvml.nvmlDeviceGetHandleByUUID(uuid))
    except pynvml.NVMLError:
        return None


def throttle_text(reasons: int) -> str:
    """The reasons that cost performance, by name; empty where there are none."""
    return ", ".join(name for bit, name in REASONS.items() if reasons & bit & ~HARMLESS)
