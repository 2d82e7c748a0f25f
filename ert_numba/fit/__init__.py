"""From raw samples to a machine model: NumPy and SciPy only, no device and no files.

``ert_numba.fit`` is also the name of a function of the API. Python binds a package to its parent as soon as one of its
modules is imported, so this package can be called, and does what the function does.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, what: Any) -> Any:
        return importlib.import_module("ert_numba.api").fit(what)


sys.modules[__name__].__class__ = _Callable
