"""Kernel names across tools and files: one kernel is spelled in many ways."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from appprof.report.profile import NvtxRange
from appprof.words import CAST

ANONYMOUS = re.compile(r"\(anonymous namespace\)|<unnamed>|(?<![\w<])unnamed>")
INTEGER_SUFFIX = re.compile(r"\b(\d+)(?:u|l|ul|ull|ll)\b", re.IGNORECASE)
BLANKS = re.compile(r"\s+")
OPEN, CLOSE = "<([{", ">)]}"


def name_without_kernel(kind: str, nvtx: Sequence[NvtxRange]) -> str:
    """Ranges and graphs have no name of their own: the innermost NVTX range around them serves."""
    return f"{kind} {nvtx[-1].name}" if nvtx else kind


@lru_cache(maxsize=100_000)
def normalise(name: str) -> str:
    """The name without return type, parameters, casts and blanks, an anonymous namespace in one spelling.

    For matching, never for display.
    """
    text = ANONYMOUS.sub("{anonymous}", name)
    text = INTEGER_SUFFIX.sub(r"\1", CAST.sub("", text)).replace("[abi:", "[")
    text = _without_parameters(text.strip())
    return BLANKS.sub("", _without_return_type(text))


@lru_cache(maxsize=100_000)
def base_name(name: str) -> str:
    """For matching, never for display: the bare name of the function, no namespaces, no template arguments, no tags."""
    text = normalise(name)
    start = min((at for at in (text.find("<"), text.find("[")) if at > 0), default=len(text))
    return text[:start].rsplit("::", 1)[-1] or text


def _without_parameters(text: str) -> str:
    """Cut the last pair of round brackets that stands in no other, where the name ends with it."""
    depth = 0
    if not text.endswith(")"):
        return text
    for at in range(len(text) - 1, -1, -1):
        if text[at] == ")":
            depth += 1
        elif text[at] == "(":
            depth -= 1
            if depth == 0:
                return text[:at] if at else text
    return text


def _without_return_type(text: str) -> str:
    """What stands behind the last blank that is in no bracket."""
    depth, cut, operator = 0, 0, text.find("operator")
    for at, char in enumerate(text):
        if char in OPEN:
            depth += 1
        elif char in CLOSE:
            depth = max(0, depth - 1)
        elif char == " " and depth == 0 and not 0 <= operator < at:
            cut = at + 1
    return text[cut:] or text
