"""Progress bars on stderr, for what takes longer than a breath."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ert_numba.terminal import note


@contextmanager
def progress_listener() -> Iterator[Callable[[Any], None]]:
    """A progress bar on stderr with the time left; nothing where stderr is no terminal."""
    with _bar(0.1) as draw:

        def listen(event: Any) -> None:
            if draw is not None:
                left = max(0.0, event.budget_seconds - event.seconds_spent)
                draw(event.seconds_spent / event.budget_seconds, f"round {event.round + 1}: {event.label}", left)

        yield listen


@contextmanager
def starts_listener() -> Iterator[Callable[[Any], None]]:
    """The same for process starts; a line for each of them where stderr is no terminal."""
    # Once a second: the measuring goes on in another process, beside every redrawing.
    with _bar(1.0) as draw:
        began, noted = 0.0, 0

        def listen(step: Any) -> None:
            nonlocal began, noted
            began = began or time.monotonic()  # the first start's imports say nothing of the visits
            if draw is None and step.start > noted:
                noted = step.start
                note(f"start {step.start} of {step.starts}")
            share = (step.start - 1 + step.share) / step.starts
            if draw is not None and share > 0:
                left = (time.monotonic() - began) * (1 / share - 1)
                draw(share, f"start {step.start} of {step.starts}: {step.key}", left)

        yield listen


@contextmanager
def _bar(interval_seconds: float) -> Iterator[Callable[[float, str, float], None] | None]:
    """Draws the share that is done, what is going on and the seconds left; None where stderr is no terminal.

    It redraws only when it is called, between measurements: a thread of its own would disturb them.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description:32}"), BarColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=console, auto_refresh=False, transient=True) as bar:
        task = bar.add_task("starting", total=1.0, left="")
        drawn = -interval_seconds

        def draw(share: float, description: str, left: float) -> None:
            nonlocal drawn
            if time.monotonic() - drawn < interval_seconds:
                return
            drawn = time.monotonic()
            bar.update(task, completed=min(1.0, share), description=description, left=f"{left:.0f} s left")
            bar.refresh()

        yield draw
