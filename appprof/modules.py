"""Which module of a network a launch belongs to, as far as its NVTX ranges name one. Pure.

Neither Nsight Compute nor ``torch.autograd.profiler.emit_nvtx`` knows modules (the latter names operators): hooks must
have pushed a range around each ``forward``. A range is taken to name a module where it is

- a path of attributes, ``model.layers.0.mlp``, as ``named_modules(prefix="model")`` gives it; not where it begins with
  a library (``torch.float16``) or is a file;
- a marker of the layer-wise hooks of TensorRT-LLM, vLLM and others, ``{'Module': 'layers.0.mlp', ...}``;
- a marker of PyProf's, ``layer:conv1``;

or where a pattern of the user's own matches it. Of nested ranges the innermost that names one counts.
"""

from __future__ import annotations

import re
from functools import lru_cache

from appprof.words import one_line
from ert_numba.errors import ErtError

OUTSIDE = "(outside any module)"
_MARKER = re.compile(r"""^\{\s*['"]Module['"]\s*:\s*['"]([^'"]*)['"]""")
_LAYER = re.compile(r"^layer:\s*(\S.*)$")
_PATH = re.compile(r"^[A-Za-z_]\w*(?:\.\w+)+$")
# Dotted names that are no module of a network: of libraries and number formats, and of files.
_LIBRARIES = frozenset(
    ("torch", "aten", "at", "c10", "cuda", "cudnn", "cublas", "nccl", "numpy", "np", "cupy", "jax", "jnp", "tf",
     "tensorflow", "tsl", "xla", "triton")
)  # fmt: skip
_FILES = frozenset(("py", "cu", "cuh", "cpp", "cc", "c", "h", "hpp", "jl", "f90", "json", "so"))
_INDEX = re.compile(r"(?<=\.)\d+(?=\.|$)")


def module_of(ranges: tuple[str, ...], pattern: str = "") -> str | None:
    """The path of the module that the innermost naming range names; None where none does.

    ``pattern`` is a regular expression in place of the rules above; its first group, or all it matches, is the path.
    """
    found = (_named(name, pattern) for name in reversed(ranges))
    return next((path for path in found if path), None)


def kind_of(module: str) -> str:
    """The path with its indices open: ``model.layers.*.mlp`` of each of many layers alike."""
    return _INDEX.sub("*", module)


def check_pattern(pattern: str) -> str:
    """The pattern as it is. Raises ErtError where it is no regular expression."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise ErtError(
            "a pattern of ranges that name modules", f"{pattern!r} is no regular expression: {error}", "Mend it"
        ) from error
    return pattern


@lru_cache(maxsize=100_000)
def _named(name: str, pattern: str) -> str | None:
    text = one_line(name)
    if pattern:
        found = re.search(pattern, text)
        return None if found is None else (found[1] if found.re.groups else found[0])
    marked = _MARKER.match(text) or _LAYER.match(text)
    if marked is not None:
        return marked[1]
    if _PATH.match(text) is None:
        return None
    parts = text.split(".")
    return None if parts[0].lower() in _LIBRARIES or parts[-1].lower() in _FILES else text
