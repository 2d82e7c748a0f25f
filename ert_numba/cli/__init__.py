"""The command line: each command parses, calls one function of the API, and prints one table or path.

Numbers go to stdout, notes to stderr. Heavy imports stand inside the commands, so that ``--help`` is instant.
"""

from __future__ import annotations

from ert_numba.cli.comparing import bench, compare, history
from ert_numba.cli.measuring import devices, fit, launch, sweep
from ert_numba.cli.showing import import_ert, plot, show
from ert_numba.terminal import application, command_of

__all__ = ["app"]

app = application("Measure what a machine can do: its hierarchical roofline, with intervals.")
for _command in (sweep, devices, launch, fit, show, plot, bench, compare, history, import_ert):  # as --help lists them
    command_of(app)(_command)
