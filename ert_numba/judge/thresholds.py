"""From which change on a benchmark counts as changed: what the user says, by name or pattern, or the default."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import msgspec

from ert_numba.errors import ErtError
from ert_numba.judge.judgement import Threshold
from ert_numba.judge.noise import Shift

DEFAULT = 0.015
NOISIEST = 0.2  # as a change of time: a benchmark that cannot tell this from noise says nothing at all
_WIDEST = 20.0  # of a logarithm


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """Fractions of the time. ``general`` is for all, ``named`` for benchmark names, keys, or patterns with * and ?.

    A name goes before a pattern, and of two patterns the later one counts. ``source`` says where ``general`` stands;
    ``project`` where ``named`` do, if that is a project's file, which serves other runs too.
    """

    general: float | None = None
    source: str = "--threshold"
    named: dict[str, float] = {}
    project: str = ""

    def stated(self, name: str, key: str) -> Threshold | None:
        """What the user says of this benchmark; None where nothing."""
        for exact in (name, key):
            if exact in self.named:
                return Threshold(fraction=self.named[exact], source=f"stated for {exact}")
        for pattern in reversed(self.named):
            if matches(pattern, name) or matches(pattern, key):
                return Threshold(fraction=self.named[pattern], source=f"stated for {pattern}")
        return None if self.general is None else Threshold(fraction=self.general, source=self.source)


def threshold_of(stated: Threshold | None, shift: Shift) -> Threshold:
    """What is stated stands; the default rises to what the benchmark's own noise lets one tell apart."""
    if stated is not None:
        return stated
    told_apart = change_of(shift.corrected)
    if told_apart > DEFAULT:
        return Threshold(fraction=told_apart, source="its own noise")
    return Threshold(fraction=DEFAULT, source="default")


def change_of(log_ratio: float) -> float:
    """A ratio less 1, where the exponential of a hopeless interval must neither overflow nor vanish."""
    return math.expm1(max(-_WIDEST, min(log_ratio, _WIDEST)))


def percent(change: float) -> str:
    """``+3.0 %``."""
    return f"{100 * change:+.1f} %"


def parse_thresholds(table: Mapping[str, object], where: str) -> Thresholds:
    """The table ``[tool.ert_numba.compare]``: ``threshold`` and ``[.thresholds]``, in percent. Raises ErtError."""
    for name in table:
        if name not in ("threshold", "thresholds"):
            raise ErtError(f"to read {where}", f"it has {name!r}", "Known are: threshold, thresholds")
    named = table.get("thresholds", {})
    if not isinstance(named, Mapping):
        raise ErtError(f"to read {where}", "thresholds is no table", 'Write "fp64.*" = 2.0 under it')
    general = table.get("threshold")
    return Thresholds(
        general=None if general is None else _fraction(general, "threshold", where),
        source=where,
        named={name: _fraction(value, name, where) for name, value in named.items()},
        project=where if named else "",
    )


def _fraction(percent: object, name: str, where: str) -> float:
    if isinstance(percent, bool) or not isinstance(percent, int | float) or not 0 < percent < 1000:
        raise ErtError(f"the threshold {name!r} in {where}", f"{percent!r:.40}", "Write a percentage, for example 1.5")
    return percent / 100


def matches(pattern: str, text: str) -> bool:
    """Whether the whole text is what the pattern says: ``*`` for any letters, ``?`` for one."""
    return pattern == text or re.fullmatch(expression(pattern), text, re.DOTALL) is not None


def expression(pattern: str) -> str:
    """The pattern as a regular expression."""
    # Not fnmatch: brackets in pytest's names are no sets of letters.
    return "".join({"*": ".*", "?": "."}.get(letter) or re.escape(letter) for letter in pattern)
