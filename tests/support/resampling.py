"""Stored process starts of one machine, drawn again and again as two runs that are the same, or of which one is slower.

``python tests/support/resampling.py cpu 1000`` prints what the judge makes of them; the tests do the same with fewer.
"""

from __future__ import annotations

import gzip
import random
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

from ert_numba.judge.evidence import SuiteRun
from ert_numba.judge.judgement import FASTER, SLOWER, Judgement
from ert_numba.judge.suite import judge
from ert_numba.judge.thresholds import DEFAULT
from ert_numba.store.benchmark_files import read_start

DATA = Path(__file__).parents[1] / "data" / "benchmarks"
A_SIDE = 5
SLOWDOWN = 1.03


@cache
def stored(kind: str, name: str = "") -> SuiteRun:
    """All starts under tests/data/benchmarks/<kind> of one name (that of the kind where none is given)."""
    starts = []
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((DATA / kind).glob(f"*_{name or kind}.json.gz")):
            plain = Path(folder) / path.stem
            plain.write_bytes(gzip.decompress(path.read_bytes()))
            starts.append(read_start(plain))
    return SuiteRun(name=kind, starts=tuple(starts))


def pairs(run: SuiteRun, draws: int, seed: int = 1) -> Iterator[tuple[SuiteRun, SuiteRun]]:
    """Two runs of five starts each that share none: a start on both sides would hide the noise."""
    chance = random.Random(seed)
    for _ in range(draws):
        drawn = chance.sample(run.starts, 2 * A_SIDE)
        yield tuple(SuiteRun(name=name, starts=tuple(part))  # type: ignore[misc]
                    for name, part in (("a", drawn[:A_SIDE]), ("b", drawn[A_SIDE:])))  # fmt: skip


def slowed(run: SuiteRun, factor: float = SLOWDOWN, only: str | None = None) -> SuiteRun:
    """The run with the times of one benchmark, or of all, multiplied."""
    starts = [
        msgspec.structs.replace(start, observed=tuple(
            msgspec.structs.replace(row, seconds=tuple(factor * value for value in row.seconds))
            if only in (None, row.name) else row
            for row in start.observed))
        for start in run.starts
    ]  # fmt: skip
    return msgspec.structs.replace(run, starts=tuple(starts))


def alarms(judgement: Judgement) -> list[str]:
    return [row.key for row in judgement.benchmarks if row.verdict in (SLOWER, FASTER)]


def main(kind: str, draws: int) -> None:
    run = stored(kind)
    crying: Counter[str] = Counter()
    found: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    wolves = 0
    noises: dict[str, list[float]] = {}
    thresholds: dict[str, list[float]] = {}
    for a, b in pairs(run, draws):
        same = judge(a, b)
        names = alarms(same)
        wolves += bool(names)
        crying.update(names)
        verdicts.update(row.verdict for row in same.benchmarks)
        for row in same.benchmarks:
            if row.noise is not None and row.threshold is not None:
                noises.setdefault(row.key, []).append(row.noise)
                thresholds.setdefault(row.key, []).append(row.threshold.fraction)
        # A factor moves no variance, so what is found does not depend on what else is slowed: all at once.
        found.update(row.key for row in judge(a, slowed(b)).benchmarks if row.verdict == SLOWER)
    print(f"{kind}: {len(run.starts)} starts, {draws} draws of {A_SIDE} and {A_SIDE}")
    print(f"same against same: {wolves} of {draws} comparisons cry wolf {dict(crying)}; {dict(verdicts)}")
    median = {key: statistics.median(values) for key, values in noises.items()}
    print(f"{'':36}noise  threshold  {100 * (SLOWDOWN - 1):.0f} % slower found")
    for key in sorted(median, key=lambda key: median[key]):
        threshold = statistics.median(thresholds[key])
        print(f"{key:34}{100 * median[key]:6.3f} %{100 * threshold:8.2f} %  {100 * found[key] / draws:6.1f} %")
    quiet = [key for key in median if statistics.median(thresholds[key]) <= DEFAULT * 1.001]
    share = statistics.mean(found[key] for key in quiet) / draws
    print(
        f"{len(quiet)} of {len(median)} keep the threshold of {100 * DEFAULT:.1f} %: {100 * share:.2f} % of them found"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
