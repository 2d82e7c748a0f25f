"""Work and bytes out of the rounded lines of a details page, against the report that it was printed from."""

from __future__ import annotations

import gzip
from pathlib import Path

from example_profiles import models_of

OPTIONS = Path(__file__).parents[2] / "data" / "ncu" / "h200" / "options"


def test_what_is_rounded_says_by_how_much(tmp_path: Path) -> None:
    """Rates, clocks and times of three digits: the true numbers lie within the rounding that is told."""
    lines = gzip.decompress((OPTIONS / "sections.details.det-all.csv.gz").read_bytes()).splitlines(keepends=True)
    page = tmp_path / "page.csv"
    page.write_bytes(b"".join(line for line in lines if b"Command line profiler metrics" not in line))
    (rounded,), (exact,) = models_of(page), models_of(OPTIONS / "sections.ncu-rep.gz")
    compared = 0
    for one, other in zip(rounded.cells, exact.cells, strict=True):
        assert one.seconds is not None
        assert other.seconds is not None
        assert abs(one.seconds - other.seconds) <= one.seconds_rounding * 1.000001
        for mine, theirs in zip(one.flop, other.flop, strict=True):
            assert mine.key == theirs.key
            assert 0 < abs(mine.value - theirs.value) <= mine.rounding < 0.01 * mine.value
            compared += 1
        mine_dram, their_dram = one.bytes_by("DRAM"), other.bytes_by("DRAM")
        assert mine_dram is not None
        assert their_dram is not None
        assert abs(mine_dram.value - their_dram.value) <= mine_dram.rounding < 0.01 * mine_dram.value
        compared += 1
    assert compared == 10
