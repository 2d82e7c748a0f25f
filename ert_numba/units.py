"""Formatting at the edge: SI prefixes for rates and times, binary ones for capacities.

Inside the project every quantity is in SI base units with the unit in its name (``seconds``,
``bytes_per_second``); only this module turns a number into text, and text from a user into a number.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from ert_numba.errors import ErtError

_SI = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
# At most 15 digits: more is a slip of the hand, and would overflow a float or be rounded by it.
_NUMBER = r"([0-9]{1,15}(?:\.[0-9]{1,15})?)"
_SIZE = re.compile(rf"\s*{_NUMBER}\s*(?:([kmgt])i?)?b?\s*", re.IGNORECASE | re.ASCII)
_DURATION = re.compile(rf"\s*{_NUMBER}\s*(ms|s|min|m|h|)\s*", re.IGNORECASE | re.ASCII)
_SECONDS = {"ms": 1e-3, "": 1.0, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


def si(value: float, unit: str, digits: int = 3) -> str:
    """``si(1.169e11, "FLOP/s")`` is ``'117 GFLOP/s'``: ``digits`` significant digits, never an exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{abs(value) if value == 0 else value:g} {unit}".rstrip()
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    prefix = min(max(3 * (int(exponent) // 3), min(_SI)), max(_SI))
    shift = int(exponent) - prefix
    return f"{float(mantissa) * 10.0**shift:.{max(0, digits - 1 - shift)}f} {_SI[prefix]}{unit}".rstrip()


def capacity(size_bytes: float) -> str:
    """``capacity(49152)`` is ``'48 KiB'``: binary prefixes, as caches and memories are labelled."""
    if not math.isfinite(size_bytes):
        return f"{size_bytes:g} B"
    step = min(int(math.log2(max(size_bytes, 1)) // 10), len(_BINARY) - 1)
    if round(size_bytes / 1024**step) == 1024 and step < len(_BINARY) - 1:
        step += 1  # '1 MiB', not '1024 KiB'
    scaled = size_bytes / 1024**step
    return f"{scaled:.0f} {_BINARY[step]}" if scaled >= 100 else f"{scaled:.3g} {_BINARY[step]}"


def parse_size(text: str) -> int:
    """Bytes from ``'32K'``, ``'1.5MiB'`` or ``'4096'``; every prefix is binary, as for a cache size."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ErtError("a size in bytes", f"{text!r:.80}", "Write a number with K, M or G, for example 32K or 1.5MiB")
    power = " kmgt".index((match[2] or " ").lower())
    return int(Fraction(match[1]) * 1024**power)


def parse_duration(text: str) -> float:
    """Seconds from ``'45'``, ``'45s'``, ``'2min'`` or ``'500ms'``."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ErtError("a time", f"{text!r:.80}", "Write a number with ms, s, min or h, for example 45s")
    return float(match[1]) * _SECONDS[match[2].lower()]
