"""Microbenchmarks of a machine: what its hierarchical roofline is.

    import ert_numba
    run = ert_numba.sweep()               # measure, fit, save, draw
    model = ert_numba.load(run.folder)    # a machine model from its file
    ert_numba.chart(model)                # an altair chart, shown in a notebook
    ert_numba.compare("before", "after")  # two runs of benchmarks: a verdict for each

Everything is imported on first use: ``import ert_numba`` is free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ert_numba.api import Run, chart, draw, fit, load, load_sweep, save, sweep
    from ert_numba.comparing import compare
    from ert_numba.kernels.spec import Request

_HOMES = {"Request": "ert_numba.kernels.spec", "compare": "ert_numba.comparing"}  # the others: ert_numba.api
__all__ = ["Request", "Run", "chart", "compare", "draw", "fit", "load", "load_sweep", "save", "sweep"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES.get(name, "ert_numba.api")), name)
