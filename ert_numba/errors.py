"""One family of errors that a user can cause or mend; the CLI catches it once."""

from __future__ import annotations

_LONGEST = 1500


class ErtError(Exception):
    """What was asked, what was found, what to do. The CLI prints it and exits with ``exit_code``."""

    exit_code = 3

    def __init__(self, asked: str, found: str, remedy: str) -> None:
        # All three go to Exception, so that the error survives pickling from a worker process.
        super().__init__(asked, found, remedy)
        self.asked, self.found, self.remedy = map(showable, (asked, found, remedy))

    def __str__(self) -> str:
        return f"{self.asked}: {self.found}. {self.remedy}"


def showable(text: str) -> str:
    """What may come out of a hostile file: no control characters for the terminal, and no end of it."""
    shown = "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in text[:_LONGEST])
    return shown + (" ..." if len(text) > _LONGEST else "")


class DeviceLost(ErtError):
    """The device answers no more in this process: whatever would be measured on it next fails too."""


class GateFailed(ErtError):
    """A comparison or a budget that the user set was not met."""

    exit_code = 1


class NotComparable(ErtError):
    """Two results that were measured under conditions too unlike to be compared."""

    exit_code = 4
