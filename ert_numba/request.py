"""What a user asks of a sweep, checked before anything is measured; and back again from a sweep's settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ert_numba.catalog.memory_levels import MEMORY_LEVELS
from ert_numba.catalog.precisions import PRECISIONS
from ert_numba.errors import ErtError, NotComparable
from ert_numba.kernels.spec import Request
from ert_numba.records import AxisValue, DeviceInfo, Sweep
from ert_numba.units import capacity, si

MOST_SEED = (1 << 32) - 1  # what every generator of random numbers takes
SMALLEST_SET_BYTES = 1024  # two iterations of the widest read kernel
# Those that make two runs unlike: a name alone tells no model of a virtual CPU, and no GPU from its neighbour.
LASTING_PROPERTIES = ("model", "instruction set", "transparent huge pages", "uuid hash")

_SETTINGS = "the settings of the sweep to go on with"


def checked(request: Request, budget_seconds: float, device: DeviceInfo) -> Request:
    """The request, if the device can be asked for it. Raises ErtError that names the choices."""
    levels = [row.key for row in MEMORY_LEVELS if row.device_kind == device.kind]
    _known("a precision", request.precisions, [row.key for row in PRECISIONS])
    _known("a memory level", request.levels, levels)
    for size in request.sizes:
        if size < SMALLEST_SET_BYTES:
            raise ErtError(
                "a working set",
                capacity(size),
                f"The smallest that a vector kernel can sweep is {capacity(SMALLEST_SET_BYTES)}",
            )
    if request.threads is not None and not 1 <= request.threads <= device.threads:
        raise ErtError(
            f"{request.threads} threads",
            f"{device.threads} processors that may be used",
            "Choose a number between the two",
        )
    if not 0 <= request.seed <= MOST_SEED:
        raise ErtError("a seed", f"{request.seed!r:.40}", f"Choose a number from 0 to {MOST_SEED}")
    if not budget_seconds > 0:
        raise ErtError(
            "a time budget", si(budget_seconds, "s"), "Give the sweep at least a second, for example --budget 30s"
        )
    return request


def _known(what: str, asked: Iterable[str], choices: Sequence[str]) -> None:
    unknown = [name for name in asked if name not in choices]
    if unknown:
        raise ErtError(what, ", ".join(repr(name) for name in unknown), f"Choose among {', '.join(choices)}")


def to_settings(request: Request, budget_seconds: float) -> dict[str, AxisValue]:
    """The request as a sweep stores it."""
    return {
        "precisions": ",".join(request.precisions),
        "levels": ",".join(request.levels),
        "threads": request.threads or 0,
        "sizes": ",".join(map(str, request.sizes)),
        "quick": request.quick,
        "full": request.full,
        "seed": request.seed,
        "budget_seconds": budget_seconds,
    }


def from_settings(settings: dict[str, AxisValue]) -> tuple[Request, float]:
    """The request and the budget of a stored sweep, to go on with it. Raises ErtError where they cannot be read."""
    try:
        request = Request(
            precisions=_words(settings["precisions"]),
            levels=_words(settings["levels"]),
            threads=int(settings["threads"]) or None,
            sizes=tuple(int(size) for size in _words(settings["sizes"])),
            quick=bool(settings["quick"]),
            full=bool(settings["full"]),
            seed=int(settings["seed"]),
        )
        budget = float(settings["budget_seconds"])
    except (KeyError, ValueError) as error:
        raise ErtError(_SETTINGS, f"{error} is missing or no number", "Start anew") from error
    for name, value in to_settings(request, budget).items():
        found = settings[name]
        if found != value or isinstance(found, bool) != isinstance(value, bool):  # True is 1, and no number
            raise ErtError(_SETTINGS, f"{name} is {found!r:.40}, which no sweep stores", "Start anew")
    return request, budget


def _words(text: AxisValue) -> tuple[str, ...]:
    return tuple(filter(None, str(text).split(",")))


def require_alike(before: Sweep, device: DeviceInfo, versions: dict[str, str]) -> None:
    """Two runs of unlike conditions are never merged. Raises NotComparable that names both values."""
    there = before.device
    pairs = [
        ("device", there.name, device.name),
        ("usable cores or SMs", there.units, device.units),
        ("features", there.features, device.features),
        ("caches", there.caches, device.caches),
        *((name, there.properties.get(name), device.properties.get(name)) for name in LASTING_PROPERTIES),
        *((f"version of {name}", before.provenance.versions.get(name), value) for name, value in versions.items()),
    ]
    for what, old, new in pairs:
        if old != new:
            raise NotComparable(
                f"to go on with run {before.run}",
                f"its {what} was {old!r}, here it is {new!r}",
                "Start a new sweep instead",
            )
