"""What this GPU is, as the driver tells, and the limits that follow from its product and its buses."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import uuid as uuids
from collections.abc import Callable, Iterator
from typing import Any

from ert_numba.catalog.gpus import Gpu, gpu_of
from ert_numba.device.nvml import Nvml, open_nvml
from ert_numba.errors import ErtError
from ert_numba.records import Cache, DeviceInfo, Limit

Attribute = Callable[[str], int]
# Bytes counted of bytes moved: single words of 8 bytes move their sector of 32.
_DRAM_SHARES = {"DRAM.read": 1.0, "DRAM.write": 1.0, "DRAM.copy": 1.0, "DRAM.triad": 1.0, "DRAM.strided": 0.25,
                "DRAM.random": 0.25}  # fmt: skip
_HOST_KEYS = {"HOST.h2d_pinned": 1, "HOST.d2h_pinned": 1, "HOST.h2d_pageable": 1, "HOST.d2h_pageable": 1,
              "HOST.both_pinned": 2}  # fmt: skip


class NoGpu(ErtError):
    """No GPU can be measured: which part is missing, and the command that mends it."""


def require_packages() -> None:
    """Raise :class:`NoGpu` where the driver is missing, or with the extra to install where a package is."""
    if not _has_driver():
        raise NoGpu("a GPU", "no NVIDIA driver: libcuda was not found", "If there is one, nvidia-smi must work first")
    missing = [name for name in ("numba_cuda", "cuda.bindings") if not _installed(name)]
    if missing:
        raise NoGpu(
            "a GPU", f"no {' and no '.join(missing)}", "Install it: pip install 'ert-numba[cuda13]' (or [cuda12])"
        )


def require_compiler(driver_version: int, compiler: tuple[int, int] | None) -> None:
    """Raise :class:`NoGpu` where the compiler's CUDA is of a later major version than the driver's: its code would not
    load. ``driver_version`` is as the driver counts (12040); of a compiler that is not found nothing is said here.
    """
    major, minor = driver_version // 1000, driver_version % 1000 // 10
    if compiler is not None and major < compiler[0]:
        extra = "" if compiler[0] != 13 or major != 12 else ", or pip install 'ert-numba[cuda12]'"
        raise NoGpu(
            "a GPU",
            f"its driver is of CUDA {major}.{minor}, older than the compiler here (CUDA {compiler[0]}.{compiler[1]})",
            f"Update the driver{extra}",
        )


def compiler_version() -> tuple[int, int] | None:
    """CUDA's version of the linker that makes machine code; None where there is none."""
    try:
        from cuda.bindings import nvjitlink

        major, minor = nvjitlink.version()
    except Exception:  # a missing library raises what its loader likes; the toolchain names it when it is needed
        return None
    return int(major), int(minor)


def _has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def count_gpus() -> int:
    """GPUs (or MIG slices) that CUDA shows this process; raises :class:`NoGpu` where it cannot say."""
    require_packages()
    from cuda.bindings import driver

    try:
        status = driver.cuInit(0)[0]
    except RuntimeError as error:  # cuda.bindings found no libcuda
        raise NoGpu("a GPU", "no NVIDIA driver: libcuda was not found", "Install it; nvidia-smi must work") from error
    if int(status) != 0:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        hint = f"CUDA_VISIBLE_DEVICES is {visible!r}; " if visible is not None else ""
        raise NoGpu("a GPU", f"cuInit says {status.name}", f"{hint}`nvidia-smi -L` must list a GPU")
    return int(driver.cuDeviceGetCount()[1])


def probe_gpu(ordinal: int) -> DeviceInfo:
    """The GPU with CUDA's number ``ordinal`` among those visible; makes no context."""
    count = count_gpus()
    if not 0 <= ordinal < count:
        raise NoGpu(
            f"GPU {ordinal}", f"{count} visible", "Number them from 0; see CUDA_VISIBLE_DEVICES and `nvidia-smi -L`"
        )
    from cuda.bindings import driver

    def attribute(name: str) -> int:
        status, value = driver.cuDeviceGetAttribute(
            getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), ordinal
        )
        return int(value) if int(status) == 0 else 0

    name = driver.cuDeviceGetName(256, ordinal)[1].decode(errors="replace").strip("\x00 ")
    raw = bytes(driver.cuDeviceGetUuid(ordinal)[1].bytes)
    memory = int(driver.cuDeviceTotalMem(ordinal)[1])
    version = int(driver.cuDriverGetVersion()[1])
    require_compiler(version, compiler_version())
    prefix = "MIG-" if " MIG " in name else "GPU-"
    return describe(name, prefix + str(uuids.UUID(bytes=raw)), memory, version, attribute)


def describe(name: str, uuid: str, memory_bytes: int, driver_version: int, attribute: Attribute) -> DeviceInfo:
    """The record of a device from what the driver says of it."""
    capability = (attribute("COMPUTE_CAPABILITY_MAJOR"), attribute("COMPUTE_CAPABILITY_MINOR"))
    units, product = attribute("MULTIPROCESSOR_COUNT"), gpu_of(name, capability)
    nvml = open_nvml(uuid)
    properties = {
        "uuid hash": hashlib.sha256(uuid.encode()).hexdigest()[:16],  # tells devices apart, names none
        "CUDA driver": f"{driver_version // 1000}.{driver_version % 1000 // 10}",
        "memory clock": f"{attribute('MEMORY_CLOCK_RATE') / 1e3:.0f} MHz",
        "memory bus": f"{attribute('GLOBAL_MEMORY_BUS_WIDTH')} bit",
        "threads an SM": str(attribute("MAX_THREADS_PER_MULTIPROCESSOR")),
        **(nvml.properties() if nvml else {}),
    }
    sliced = uuid.startswith("MIG-")
    return DeviceInfo(
        kind="gpu",
        name=name,
        vendor="NVIDIA",
        architecture="sm_{}{}".format(*capability),
        units=units,
        threads=units * attribute("MAX_THREADS_PER_MULTIPROCESSOR"),
        memory_bytes=memory_bytes,
        maximum_clock_hz=attribute("CLOCK_RATE") * 1e3 or None,
        features=("sm_{}{}".format(*capability),),
        caches=tuple(_caches(units, product, attribute)),
        limits=tuple(_limits(product, None if sliced else attribute, nvml)),
        properties=properties,
        notes=tuple(_notes(product, nvml, sliced)),
    )


def _caches(units: int, product: Gpu | None, attribute: Attribute) -> Iterator[Cache]:
    if product is not None and product.l1_bytes is not None:
        yield Cache(level="L1", bytes=product.l1_bytes, shared_by=1, instances=units, source="catalogue")
    l2 = attribute("L2_CACHE_SIZE")
    if l2:
        yield Cache(level="L2", bytes=l2, shared_by=units, instances=1, source="driver")


def _limits(product: Gpu | None, attribute: Attribute | None, nvml: Nvml | None) -> Iterator[Limit]:
    """``attribute`` is None for a MIG slice, whose share of the buses the driver does not tell."""
    for rate in product.rates if product else ():
        yield Limit(key=rate.key, per_cycle=rate.per_cycle, source=rate.source)
    if product and product.l2_bytes_per_second and attribute:
        yield Limit(key="L2.read", per_second=product.l2_bytes_per_second, source=product.l2_source)
    if attribute:
        dram = 2e3 * attribute("MEMORY_CLOCK_RATE") * attribute("GLOBAL_MEMORY_BUS_WIDTH") / 8
        for key, counted in _DRAM_SHARES.items() if dram else ():
            yield Limit(key=key, per_second=dram * counted, source="driver: memory clock x bus width x 2 / 8")
    link = nvml.pcie_bytes_per_second() if nvml else None
    for key, ways in _HOST_KEYS.items() if link else ():
        yield Limit(key=key, per_second=ways * float(link or 0), source="NVML: PCIe generation and width, 128b/130b")


def _notes(product: Gpu | None, nvml: Nvml | None, sliced: bool) -> Iterator[str]:
    if product is None:
        yield "This product is not in the catalogue: measured all the same, without theoretical limits"
    if nvml is None:
        yield "No NVML for this device: power, temperature and throttle reasons are not recorded"
    elif nvml.other_processes(os.getpid()):
        yield f"{nvml.other_processes(os.getpid())} other process(es) hold this GPU: the figures may be theirs too"
    faults = nvml.properties().get("uncorrected ECC errors", "0") if nvml else "0"
    if faults != "0":
        yield f"{faults} uncorrected ECC errors since the driver was loaded: see `nvidia-smi -q -d ECC`"
    if sliced:
        yield "A MIG slice: its share of memory and link has no theoretical limit"


def device_uuid(ordinal: int) -> str:
    """``GPU-…`` or ``MIG-…``, as NVML wants it. Never stored: see the hash in the record."""
    from cuda.bindings import driver

    name = driver.cuDeviceGetName(256, ordinal)[1].decode(errors="replace")
    raw: Any = driver.cuDeviceGetUuid(ordinal)[1].bytes
    return ("MIG-" if " MIG " in name else "GPU-") + str(uuids.UUID(bytes=bytes(raw)))
