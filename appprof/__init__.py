"""From a profile to a hierarchical roofline that says what to do.

    import appprof
    (model,) = appprof.read("report.ncu-rep")              # FLOP, bytes and time of every kernel
    analysis = appprof.analyse(model, "machine.json")      # each under its roofs
    for row in appprof.make_result(analysis).kernels:
        print(row.short, row.verdict, row.roof_share, row.gives_back_seconds, *row.sentences)
    appprof.chart(analysis)                                # an altair chart, shown in a notebook
    appprof.instruction_chart(analysis)                    # warp instructions against transactions, where counted
    appprof.diff_chart(appprof.compare(before, analysis))  # hollow before, filled after
    appprof.write_page(analysis, "roofline.html")          # one offline page

Everything is imported on first use: ``import appprof`` is free, and numba is never imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from appprof.api import (
        Analysis,
        ApplicationModel,
        Diff,
        MachineModel,
        Result,
        Verdict,
        analyse,
        chart,
        compare,
        diff_chart,
        instruction_chart,
        load_machine,
        make_result,
        pick,
        read,
        read_one,
        save,
        verify_machine,
        write_page,
    )

__all__ = [
    "Analysis", "ApplicationModel", "Diff", "MachineModel", "Result", "Verdict", "analyse", "chart", "compare",
    "diff_chart", "instruction_chart", "load_machine", "make_result", "pick", "read", "read_one", "save",
    "verify_machine", "write_page",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("appprof.api"), name)
