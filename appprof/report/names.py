"""Kernel names across tools and files: one kernel is spelled in many ways. For matching only, never for display."""

from __future__ import annotations

import re
from functools import lru_cache

ANONYMOUS = re.compile(r"\(anonymous namespace\)|<unnamed>|(?<![\w<])unnamed>")
CAST = re.compile(r"\((?:bool|char|short|int|long|unsigned|unsigned int|unsigned long|long long|unsigned long long)\)")
INTEGER_SUFFIX = re.compile(r"\b(\d+)(?:u|l|ul|ull|ll)\b", re.IGNORECASE)
BLANKS = re.compile(r"\s+")
OPEN, CLOSE = "<([{", ">)]}"


@lru_cache(maxsize=100_000)
def normalise(name: str) -> str:
    """The name without return type, parameters, casts and blanks, an anonymous namespace in one spelling."""
    text = ANONYMOUS.sub("{anonymous}", name)
    text = INTEGER_SUFFIX.sub(r"\1", CAST.sub("", text)).replace("[abi:", "[")
    text = _without_parameters(text.strip())
    return BLANKS.sub("", _without_return_type(text))


@lru_cache(maxsize=100_000)
def base_name(name: str) -> str:
    """The bare name of the function: no namespaces, no template arguments, no tags."""
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
    depth, cut = 0, 0
    for at, char in enumerate(text):
        if char in OPEN:
            depth += 1
        elif char in CLOSE:
            depth = max(0, depth - 1)
        elif char == " " and depth == 0 and "operator" not in text[cut:at]:
            cut = at + 1
    return text[cut:] or text
