"""The command line: each command parses, calls one function, and prints one table or path.

Numbers go to stdout, notes to stderr. Heavy imports stand inside the commands, so that ``--help`` is instant.
"""

from __future__ import annotations

from appprof.cli.profiles import diff, read, roofline
from appprof.cli.verifying import verify
from ert_numba.terminal import application, command_of

__all__ = ["app"]

app = application("From a profile that you have to a hierarchical roofline that says what to do.")
for _command in (read, roofline, diff, verify):  # as --help lists them
    command_of(app)(_command)
