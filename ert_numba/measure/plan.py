"""How much a sweep measures: its budget, the length of a visit, the rounds, and what is too dear to repeat."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ert_numba.measure.stopping import Settled
from ert_numba.records import held_back


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How much to measure. A visit makes ``visit_repeats`` calls, or fewer (3 at least) after ``visit_seconds``.

    A call longer than ``dear_seconds`` is made once a visit. Where calls take ``costly_seconds`` and more, a point goes
    on after the first round only if it leads its ceiling. What begins with one of ``patient`` is shared with others,
    and what ran below ``full_clock_hz`` depends on how the device manages its power: both are visited
    ``patient_visits`` times though they agreed with themselves at once.
    """

    budget_seconds: float
    visit_seconds: float = 0.008
    visit_repeats: int = 24
    rounds: int = 30
    least_visits: int = 4
    costly_seconds: float = 0.02
    dear_seconds: float = 0.2
    rule: Settled = Settled(tolerance=0.015, agreeing=10, least=48, most=400)
    refine_points: int = 14
    patient: tuple[str, ...] = ()
    patient_visits: int = 1
    full_clock_hz: float | None = None
    second_look: bool = True  # at curves before they get new sizes: one look may have seen a neighbour's burst

    def least_repeats(self, call_seconds: float) -> int:
        """Calls of this length in one visit, at least."""
        return 1 if self.dear(call_seconds) else min(3, self.visit_repeats)

    def costly(self, call_seconds: float) -> bool:
        return call_seconds > self.costly_seconds

    def patience(self, ceiling: str, clocks: Sequence[float]) -> int:
        """Visits at least. A sustained figure sees the moods of power management within one."""
        managed = held_back(clocks, self.full_clock_hz) and not ceiling.endswith(".sustained")
        return self.patient_visits if managed or ceiling.startswith(self.patient) else self.least_visits

    def dear(self, call_seconds: float) -> bool:
        return call_seconds > self.dear_seconds
