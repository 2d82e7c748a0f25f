"""What the command lines of both packages share: their application, errors as messages, notes, tables, JSON.

Numbers go to stdout, notes to stderr.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer

from ert_numba.errors import ErtError, showable

if TYPE_CHECKING:
    import msgspec
    from rich.console import Console

INTERRUPTED = 130
READER_LEFT = 141  # what a shell says of a program whose output nobody reads any more: 128 + SIGPIPE
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.EPIPE)
TO_PRINT = "to print to the standard output"
NARROWEST = 80
Command = TypeVar("Command", bound=Callable[..., Any])


def application(about: str) -> typer.Typer:
    """A command line with no command yet."""
    return typer.Typer(help=about, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def command_of(app: typer.Typer) -> Callable[[Command], Command]:
    """A decorator that registers a command under its function's name; a user's error ends as a message, never a
    traceback, with the error's exit code."""

    def register(function: Command) -> Command:
        @wraps(function)
        def guarded(*arguments: Any, **options: Any) -> Any:
            try:
                return function(*arguments, **options)
            except ErtError as error:
                note(_words(error))
                raise typer.Exit(error.exit_code) from None
            except KeyboardInterrupt:
                note("Interrupted before there was a result.")
                raise typer.Exit(INTERRUPTED) from None
            except BrokenPipeError:
                raise typer.Exit(READER_LEFT) from None

        app.command(name=function.__name__.replace("_", "-"))(guarded)
        return function

    return register


def run(app: typer.Typer, program: str) -> None:
    """Run a command line as a program. Output that cannot be written ends as a message too, never as a traceback."""
    if sys.stdout is None:
        _complain(ErtError(TO_PRINT, "it is closed", "Redirect it to a file, or to /dev/null"))
    try:
        try:
            app(prog_name=program)
        except SystemExit as error:
            if isinstance(error.__context__, BrokenPipeError):  # rich and click end help that nobody reads with 1
                sys.exit(READER_LEFT)
            raise
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.filename is not None or error.errno not in UNWRITABLE:  # of a file, or of something else altogether
            raise
        # What is still in the buffer goes nowhere; Python would fail to write it once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(READER_LEFT)
        _complain(ErtError(TO_PRINT, f"it cannot be written: {error.strerror}", "Make room, or redirect it elsewhere"))


def _complain(error: ErtError) -> NoReturn:
    note(_words(error))
    sys.exit(error.exit_code)


def _words(error: ErtError) -> str:
    return f"Asked for: {error.asked}\nFound:     {error.found}\nTo do:     {error.remedy}"


def note(text: str) -> None:
    """To stderr: a path or a device name is no markup, and what comes out of a file commands no terminal.

    Where stderr cannot be written, the note is lost and the work goes on.
    """
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(showable(text), file=sys.stderr)


def table_console() -> Console:
    """Rich's console on stdout; a reader that went away is an error of its own."""
    from rich.console import Console

    class TableConsole(Console):
        def on_broken_pipe(self) -> None:
            raise typer.Exit(READER_LEFT)

    return TableConsole(markup=False)


def show_tables(tables: Iterable[Any]) -> None:
    """Rich tables to stdout, each followed by an empty line."""
    console = table_console()
    console.width = max(console.width, NARROWEST)  # squeezed tables would cut figures: a narrow terminal wraps instead
    for table in tables:
        console.print(table)
        console.print()


def print_json(*documents: msgspec.Struct) -> None:
    """A stored document to stdout, as its file would hold it; several one after the other, as ``jq -s`` reads them."""
    from ert_numba.store.documents import encode

    for document in documents:
        sys.stdout.write(encode(document).decode())
