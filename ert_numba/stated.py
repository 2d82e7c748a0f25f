"""Settings and conditions in words, the same on pages and in tables: what was asked of a sweep, and what stood
beside its samples. Pure."""

from __future__ import annotations

from collections.abc import Callable

from ert_numba.records import AxisValue
from ert_numba.units import capacity, si

_LONGEST_SIZE = 18  # digits: more is no size in bytes


def settings_words(settings: dict[str, AxisValue]) -> str:
    """What was asked of a sweep, as ``all precisions; memory levels L1, L2; 4 threads; budget 32 s; seed 1``.

    What was left to the sweep is not said, and of what it chooses among, that it was all.
    """
    names = [name for name in _WORDS if name in settings] + sorted(settings.keys() - _WORDS.keys())
    return "; ".join(filter(None, (setting_words(name, settings[name]) for name in names)))


def setting_words(name: str, value: AxisValue) -> str:
    """One setting; empty where the choice was left to the sweep."""
    return _WORDS[name](value) if name in _WORDS else pair(name, value)


def _sizes(value: AxisValue) -> str:
    words = [capacity(int(word)) if word.isdecimal() and len(word) <= _LONGEST_SIZE else word for word in _items(value)]
    return f"working sets {', '.join(words)}" if words else ""


def _items(value: AxisValue) -> list[str]:
    return [word for word in str(value).split(",") if word]


def _among(what: str) -> Callable[[AxisValue], str]:
    return lambda value: f"{what} {', '.join(_items(value))}" if _items(value) else f"all {what}"


def _switch(name: str) -> Callable[[AxisValue], str]:
    return lambda value: name if value else ""


_WORDS: dict[str, Callable[[AxisValue], str]] = {
    "quick": _switch("quick"),
    "full": _switch("full"),
    "precisions": _among("precisions"),
    "levels": _among("memory levels"),
    "sizes": _sizes,
    "threads": lambda value: f"{value} thread{'' if value == 1 else 's'}" if value else "",
    "budget_seconds": lambda value: f"budget {si(value, 's') if isinstance(value, float) else f'{value} s'}",
    "seed": lambda value: f"seed {value}",
    "gpu": lambda value: f"GPU {value}",
    "gpus": lambda value: f"one of {value} GPUs",
}


def pairs(values: dict[str, AxisValue]) -> str:
    """Conditions by name, as ``huge pages, streams 4, working set 16 KiB``; an empty one is left out."""
    return ", ".join(filter(None, (pair(name, values[name]) for name in sorted(values))))


def pair(name: str, value: AxisValue) -> str:
    """One condition with its value; what is or is not has none, and of an empty one there is nothing to say."""
    words = name.replace("_", " ")
    if isinstance(value, bool):
        return words if value else f"no {words}"
    if name.endswith("_bytes") and not isinstance(value, str):
        return f"{name.removesuffix('_bytes').replace('_', ' ')} {capacity(value)}"
    return f"{words} {value}" if value != "" else ""
