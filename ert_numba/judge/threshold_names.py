"""Names and patterns of thresholds that no benchmark of two runs has: an error where said for these runs alone.

A project writes its thresholds once, for runs of every device: what is missing in two of them is told and no more.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ert_numba.errors import ErtError
from ert_numba.judge.thresholds import Thresholds, expression, matches

_NEAR = 5  # names in a message


def absent_names(thresholds: Thresholds, benchmarks: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """A note on the names and patterns of a project that no benchmark (name, key) of either side has, if there are any.

    One that is a slip of the hand away from what a benchmark has gets a note of its own. Raises ErtError where they
    were not said in a project's file.
    """
    known = list(dict.fromkeys(text for pair in benchmarks for text in pair))
    absent = [pattern for pattern in thresholds.named if not any(matches(pattern, text) for text in known)]
    if not absent:
        return ()
    if not thresholds.project:
        raise _error(absent[0], known)
    slips = {pattern: near for pattern in absent if (near := near_by_a_slip(pattern, known))}
    others = [pattern for pattern in absent if pattern not in slips]
    notes = [
        f"{thresholds.project} names {pattern}, which neither run has. Near it: {', '.join(near)}. Perhaps a slip"
        for pattern, near in slips.items()
    ]
    if others:
        notes.append(f"{thresholds.project} names {', '.join(others)}, which neither run has")
    return tuple(notes)


def _error(pattern: str, known: Sequence[str]) -> ErtError:
    near = difflib.get_close_matches(pattern, known, n=_NEAR, cutoff=0.5) or sorted(known)[:_NEAR]
    return ErtError(
        f"a threshold for {pattern!r}",
        "neither run has a benchmark of that name",
        f"Near it: {', '.join(near)}" if near else "Neither run has a benchmark at all",
    )


def near_by_a_slip(pattern: str, known: Iterable[str]) -> list[str]:
    """What the pattern would match with other capitals, or one letter less, more or another, or two letters swapped.

    Digits and points are no slips: ``L3.read`` on a GPU is not meant for L2, nor ``L2.read.*`` on a CPU for its read.
    """
    slips = dict.fromkeys(_slips(pattern.lower()))
    any_slip = re.compile("|".join(map(expression, slips)), re.DOTALL)
    return list(islice((text for text in known if any_slip.fullmatch(text.lower())), _NEAR))


def _slips(pattern: str) -> Iterator[str]:
    yield pattern
    for at in range(len(pattern) + 1):
        before, letter, after = pattern[:at], pattern[at : at + 1], pattern[at + 1 :]
        yield f"{before}?{letter}{after}"
        if letter.isalpha():
            yield before + after
            yield f"{before}?{after}"
            if after[:1].isalpha():
                yield before + after[0] + letter + after[1:]
