"""Formatting at the edge: SI prefixes for rates and times, binary ones for capacities.

Inside the project every quantity is in SI base units with the unit in its name (``seconds``,
``bytes_per_second``); only this module turns a number into text, and text from a user into a number.
"""

from __future__ import annotations

import math
import re

from ert_numba.errors import ErtError

_SI = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|)\s*", re.IGNORECASE)
_SECONDS = {"ms": 1e-3, "": 1.0, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


def si(value: float, unit: str, digits: int = 3) -> str:
    """``si(1.169e11, "FLOP/s")`` is ``'117 GFLOP/s'``: ``digits`` significant digits, never an exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {unit}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    prefix = min(max(3 * (int(exponent) // 3), min(_SI)), max(_SI))
    shift = int(exponent) - prefix
    return f"{float(mantissa) * 10.0**shift:.{max(0, digits - 1 - shift)}f} {_SI[prefix]}{unit}"


def capacity(size_bytes: float) -> str:
    """``capacity(49152)`` is ``'48 KiB'``: binary prefixes, as caches and memories are labelled."""
    step = min(int(math.log2(max(size_bytes, 1)) // 10), len(_BINARY) - 1)
    scaled = size_bytes / 1024**step
    return f"{scaled:.0f} {_BINARY[step]}" if scaled >= 100 else f"{scaled:.3g} {_BINARY[step]}"


def parse_size(text: str) -> int:
    """Bytes from ``'32K'``, ``'1.5MiB'`` or ``'4096'``; every prefix is binary, as for a cache size."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ErtError("a size in bytes", f"{text!r}", "Write a number with K, M or G, for example 32K or 1.5MiB")
    power = " kmgt".index(match[2].lower() or " ")
    return int(float(match[1]) * 1024**power)


def parse_duration(text: str) -> float:
    """Seconds from ``'45'``, ``'45s'``, ``'2min'`` or ``'500ms'``."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ErtError("a time", f"{text!r}", "Write a number with ms, s, min or h, for example 45s")
    return float(match[1]) * _SECONDS[match[2].lower()]
