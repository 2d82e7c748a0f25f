"""What the judge says of two runs of a benchmark suite: a document, in SI base units."""

from __future__ import annotations

from collections import Counter

import msgspec

from ert_numba.judge.conditions import Difference

FASTER, SLOWER, SAME, UNKNOWN = "FASTER", "SLOWER", "SAME", "UNKNOWN"
NEW, MISSING, UNLIKE = "NEW", "MISSING", "NOT COMPARABLE"
VERDICTS = (SLOWER, UNLIKE, UNKNOWN, MISSING, NEW, FASTER, SAME)  # as they are listed: worst first


class Threshold(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The smallest change of time that counts, as a fraction, and who says so."""

    fraction: float
    source: str


class Level(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One side of a benchmark: ``value`` over its sound starts, the range of these, in the unit of its ``Judged``.

    ``starts`` counts the sound ones of ``of_starts``; ``share`` is the median share of what a user's kernel could
    attain (``roof``), or else of the physical limit; ``clock_hz`` the median beside the rounds that count.
    """

    value: float
    low: float
    high: float
    starts: int
    of_starts: int
    clock_hz: float | None = None
    roof: float | None = None
    share: float | None = None


class Judged(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One benchmark on both sides.

    ``change`` is that of the time for the same work, B/A - 1, so more is slower whatever the unit; ``low``..``high``
    its own 95 % interval, ``corrected`` the interval that holds for all benchmarks of the comparison at once, in 99 of
    100 comparisons; ``noise`` the between-start standard deviation, as a fraction; ``cycles`` the change of the time in
    clock cycles, where the clock was seen. ``reason`` says why there is no
    verdict, ``moved`` what changed ("clock", "roof", "kernel", "ceiling"), ``cause`` the same as a sentence, and
    ``file`` where a user's benchmark is defined.
    """

    name: str
    key: str
    kind: str  # "compute" | "bandwidth" | "latency" | "overhead" | "user" | "" (a file that is not ours)
    unit: str
    verdict: str
    reason: str = ""
    moved: str = ""
    cause: str = ""
    file: str | None = None
    a: Level | None = None
    b: Level | None = None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    corrected: tuple[float, float] | None = None
    noise: float | None = None
    cycles: float | None = None
    threshold: Threshold | None = None
    differences: tuple[Difference, ...] = ()


class Judgement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Run B against run A, worst first. ``differences`` names conditions of the runs that are not alike."""

    schema: str = "ert_numba.judgement"
    version: int = 1
    run_a: str
    run_b: str
    device: str
    driver_a: str | None = None
    driver_b: str | None = None
    benchmarks: tuple[Judged, ...] = ()
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many have each verdict, worst first, without those that none has."""
        found = Counter(row.verdict for row in self.benchmarks)
        return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}


def exit_code(judgement: Judgement, strict: bool = False) -> int:
    """1 where something is slower (``strict``: or unknown, or missing), 4 where something is not comparable, else 0."""
    counts = judgement.counts
    failed = (SLOWER, UNKNOWN, MISSING) if strict else (SLOWER,)
    if any(verdict in counts for verdict in failed):
        return 1
    return 4 if UNLIKE in counts else 0
