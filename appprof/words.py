"""Names for people: resources, levels, precisions and paths, and kernel names short enough to read. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ert_numba.catalog.precisions import BY_KEY as PRECISIONS
from ert_numba.units import si

LEVEL_WORDS = {
    "SHARED": "shared memory", "L1": "L1", "L2": "L2", "DRAM": "device memory", "HOST": "the host link",
}  # fmt: skip
LEVEL_LABELS = {"SHARED": "Shared", "L1": "L1", "L2": "L2", "DRAM": "DRAM", "HOST": "Host"}
PATH_WORDS = {
    "vector": "", "tensor": "tensor", "tensor.mma.sync": "tensor (mma.sync)", "tensor.wgmma": "tensor (wgmma)",
    "tensor.tcgen05": "tensor (tcgen05)",
}  # fmt: skip
LONGEST_NAME = 44
# numba tags a name with its version and a hash: the version tells two compilations apart, the hash says nothing.
_NUMBA_TAG = re.compile(r"\[(?:abi:)?(v\d+)[,\w]*\]")
# The type that Nsight Compute's report writes before a template argument, and its CSV does not.
CAST = re.compile(r"\((?:bool|char|short|int|long|unsigned|unsigned int|unsigned long|long long|unsigned long long)\)")
NO_KERNELS = ("range ", "graph ", "cmdlist ")  # results of other kinds have these words before the name of their range
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def precision_words(key: str) -> str:
    row = PRECISIONS.get(key)
    return row.label if row else key.upper().replace("_", "/")


def path_words(key: str) -> str:
    """``FP16 tensor (wgmma), 2:4 sparse`` of ``fp16.tensor.wgmma.sparse``."""
    whole = key.removesuffix(".sparse")
    precision, _, path = whole.partition(".")
    words = f"{precision_words(precision)} {PATH_WORDS.get(path, path)}".strip()
    return f"{words}, 2:4 sparse" if whole != key else words


def brief_path(key: str) -> str:
    """``FP16 wgmma``: a path for a narrow column, or for a label."""
    return path_words(key).replace("tensor (", "").replace(")", "")


def resource_words(key: str) -> str:
    """A resource in a sentence: ``FP32``, ``the tensor cores``, ``L2 bandwidth``."""
    if key == "tensor":
        return "the tensor cores"
    if key == "launch":
        return "the launching of kernels"
    if key == "issue":
        return "the issue of instructions"
    if key in LEVEL_WORDS:
        return f"the bandwidth of {LEVEL_WORDS[key]}"
    return f"{path_words(key)} arithmetic"


def part(value: float) -> str:
    """A part of a whole that never says all, or nothing, of what is almost that."""
    if 0 < value < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < value < 1.0 - 1e-12 else f"{value:.0%}"


def many(value: float, things: str) -> str:
    """``2.57 G warp instructions``: a number of things whose name takes no prefix."""
    return f"{si(value, '').strip()} {things}"


def one_line(text: str) -> str:
    """Text from outside on one line, with nothing that moves a cursor or turns the direction of writing."""
    return " ".join(_CONTROL.sub(" ", text).split()) or "(no name)"


def group_name(by: str, name: str, longest: int = 60) -> str:
    """The name of a range, a stream or a file as it stands, of a precision in words; cut where it is long."""
    text = path_words(name) if by == "precision" and "." in name else one_line(name)
    return _cut(text, longest)


@lru_cache(maxsize=100_000)
def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """A kernel's name without return type, parameters and namespaces; templates as far as they fit."""
    if not name.strip():
        return one_line(name)
    if name.startswith(NO_KERNELS):
        return _cut(one_line(name), longest)
    text = _without_parameters(CAST.sub("", _NUMBA_TAG.sub(r"[\1]", one_line(name))))
    head, template = _split_template(text)
    words = head.split(" ")
    bare = words[-1].rsplit("::", 1)[-1] or words[-1] or head
    return _cut((bare + template) if template else bare, longest)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def unique_short_names(names: Iterable[str]) -> dict[str, str]:
    """Short names that tell all of ``names`` apart, by a number where they must."""
    found: dict[str, str] = {}
    seen: dict[str, int] = {}
    for name in names:
        short = short_name(name)
        seen[short] = seen.get(short, 0) + 1
        found[name] = short if seen[short] == 1 else f"{short} #{seen[short]}"
    return found


def _without_parameters(text: str) -> str:
    """Cut the last pair of round brackets where the name ends with it, but no ``(anonymous namespace)``."""
    depth = 0
    if not text.endswith(")"):
        return text
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return text[:at] if at and text[at - 1] not in " :" else text
    return text


def _split_template(text: str) -> tuple[str, str]:
    """The name up to the bracket that opens its last template arguments or tags, and these."""
    depth, cut = 0, len(text)
    for at in range(len(text) - 1, -1, -1):
        if text[at] in ">]":
            if depth == 0 and at != cut - 1:
                break
            depth += 1
        elif text[at] in "<[":
            depth -= 1
            if depth == 0:
                cut = at
        elif depth == 0:
            break
    return (text[:cut], text[cut:]) if cut > 0 else (text, "")
