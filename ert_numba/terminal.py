"""What the command lines of both packages share: their application, errors as messages, notes, tables, JSON.

Numbers go to stdout, notes to stderr.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from ert_numba.errors import ErtError, showable

if TYPE_CHECKING:
    import msgspec

INTERRUPTED = 130
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
                note(f"Asked for: {error.asked}\nFound:     {error.found}\nTo do:     {error.remedy}")
                raise typer.Exit(error.exit_code) from None
            except KeyboardInterrupt:
                note("Interrupted before there was a result.")
                raise typer.Exit(INTERRUPTED) from None

        app.command(name=function.__name__.replace("_", "-"))(guarded)
        return function

    return register


def note(text: str) -> None:
    """To stderr: a path or a device name is no markup, and what comes out of a file commands no terminal."""
    print(showable(text), file=sys.stderr)


def show_tables(tables: Iterable[Any]) -> None:
    """Rich tables to stdout, each followed by an empty line."""
    from rich.console import Console

    console = Console(markup=False)
    console.width = max(console.width, NARROWEST)  # squeezed tables would cut figures: a narrow terminal wraps instead
    for table in tables:
        console.print(table)
        console.print()


def print_json(*documents: msgspec.Struct) -> None:
    """A stored document to stdout, as its file would hold it; several one after the other, as ``jq -s`` reads them."""
    from ert_numba.store.documents import encode

    for document in documents:
        sys.stdout.write(encode(document).decode())
