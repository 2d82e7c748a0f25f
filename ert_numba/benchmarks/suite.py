"""The suite in one pytest session: the device, its benchmarks and timer, and what the file says of it all."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata

from ert_numba.backends import Backend, choose
from ert_numba.benchmarks.choice import choose_points
from ert_numba.benchmarks.measuring import PACES, Gathered, Listener, measure
from ert_numba.errors import ErtError
from ert_numba.kernels.spec import Request
from ert_numba.measure.timers import Timer
from ert_numba.records import DeviceInfo, Skipped
from ert_numba.request import checked
from ert_numba.starts import SUITE_VERSION, SuiteInfo
from ert_numba.store.provenance import collect

# Beside those of every document: what compiles, links and multiplies, and what ran the suite.
LIBRARIES = (
    "cuda-bindings", "nvidia-nvvm", "nvidia-cuda-nvvm-cu12", "nvidia-nvjitlink", "nvidia-nvjitlink-cu12",
    "nvidia-cublas", "nvidia-cublas-cu12", "pytest", "pytest-benchmark",
)  # fmt: skip
DRIVER_PROPERTIES = ("driver", "CUDA driver")


class Suite:
    """Every kernel of the registry, one benchmark a ceiling, on the device that was chosen.

    Raises ErtError where no such device can be measured. Everything is measured when the first benchmark asks.
    """

    def __init__(self, backend: str = "auto", ordinal: int = 0, threads: int | None = None) -> None:
        chosen, refusals = choose(backend, ordinal)
        self.backend: Backend = chosen
        self.device: DeviceInfo = chosen.device
        self.request = checked(Request(threads=threads), 1.0, self.device)
        self.refusals = refusals  # a GPU that is there and is not measured must not go unsaid
        self.benchmarks, skipped = choose_points(chosen.kernels, self.device, self.request)
        self.skipped: tuple[Skipped, ...] = (*skipped, *chosen.absent)
        if not self.benchmarks:
            raise ErtError("a benchmark", f"no kernel runs on {self.device.name}", "See `python -m ert_numba devices`")
        self.timer: Timer | None = None
        self._gathered: dict[str, Gathered] | None = None

    def measured(self, keys: Sequence[str], listener: Listener) -> dict[str, Gathered]:
        """All benchmarks of the session at the first call, in turns: see ``measuring.measure``. Raises ErtError."""
        if self._gathered is None:
            self.timer = self.backend.open_timer(self.request)
            chosen = [self.benchmarks[key] for key in keys]
            self._gathered = measure(chosen, self.timer, PACES[self.device.kind], listener)
        return self._gathered

    def close(self) -> None:
        if self.timer is not None:
            self.timer.close()


def suite_info(device: DeviceInfo, start: int = 1, full: bool = False) -> SuiteInfo:
    """What a file says of the start that made it; ``full`` adds host name, user and command line."""
    versions = {name: device.properties[name] for name in DRIVER_PROPERTIES if name in device.properties}
    return SuiteInfo(
        suite_version=SUITE_VERSION,
        device=device,
        provenance=collect(versions=versions | library_versions(), full=full),
        start=start,
    )


def library_versions() -> dict[str, str]:
    """Those of ``LIBRARIES`` that are installed."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
