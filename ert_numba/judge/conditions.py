"""Conditions that should be alike on both sides for a change to mean something, as text by name."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ert_numba.records import DeviceInfo, Provenance
from ert_numba.units import si


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A condition that is not the same on both sides, each side as text; None where a side does not state it."""

    name: str
    a: str | None
    b: str | None


def conditions_of(device: DeviceInfo, provenance: Provenance) -> dict[str, str]:
    """Those of a device and of what measured it."""
    # Not the memory: it is what was free at the moment, and never the same.
    names = ("name", "architecture", "units", "threads", "sockets", "numa_nodes")
    found = {f"device {name.replace('_', ' ')}": str(getattr(device, name)) for name in names}
    if device.maximum_clock_hz is not None:
        found["device maximum clock"] = si(device.maximum_clock_hz, "Hz")
    found |= {f"device {name}": text for name, text in device.properties.items()}
    found |= {f"version of {name}": text for name, text in provenance.versions.items()}
    return found | {"system": provenance.system, "tool": provenance.tool}


def differences(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[Difference, ...]:
    names = [*a, *(name for name in b if name not in a)]
    return tuple(Difference(name=name, a=a.get(name), b=b.get(name)) for name in names if a.get(name) != b.get(name))
