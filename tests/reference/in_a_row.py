"""Sweeps of one machine in a row: how far apart, and do their intervals overlap? ``in_a_row.py RUN RUN ... [-o NEW]``.

For each ceiling of the first run: the median, the distance of the lowest and highest run from it, and of how many pairs
of runs the intervals overlap. Writes the figures as JSON with ``-o``.
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

from ert_numba import load
from ert_numba.machine import Ceiling, MachineModel
from ert_numba.units import si


def row_of(key: str, runs: list[MachineModel]) -> dict[str, Any]:
    found: list[Ceiling] = [row for run in runs if (row := run.ceiling(key)) is not None]
    middle = median(row.value for row in found)
    pairs = list(combinations(found, 2))
    return {
        "key": key,
        "unit": found[0].unit,
        "values": [float(f"{row.value:.5g}") for row in found],
        "lowest": round(min(row.value for row in found) / middle - 1, 5),
        "highest": round(max(row.value for row in found) / middle - 1, 5),
        "widest_interval": round(max((row.high - row.low) / row.value for row in found), 4),
        "overlapping": sum(one.low <= other.high and other.low <= one.high for one, other in pairs),
        "pairs": len(pairs),
        "noisy": sum(row.noisy for row in found),
        "clock_ghz": [round(max(row.clock_hz) / 1e9, 3) if row.clock_hz else None for row in found],
    }


def knees_of(run: MachineModel) -> list[dict[str, Any]]:
    return [
        {
            "level": knee.level, "ceiling": knee.ceiling, "witness": knee.witness, "transition": knee.shape,
            "kib": [round(size / 1024, 1) for size in (knee.low, knee.capacity_bytes, knee.high)],
        }
        for knee in run.knees
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    runs = [found for path in options.runs if isinstance(found := load(path), MachineModel)]
    rows = [row_of(ceiling.key, runs) for ceiling in runs[0].ceilings]
    for row in rows:
        middle = si(median(row["values"]), row["unit"])
        print(
            f"{row['key']:34} {middle:>14} {100 * row['lowest']:+7.2f} {100 * row['highest']:+7.2f} %"
            f"  overlap {row['overlapping']}/{row['pairs']}  noisy {row['noisy']}/{len(runs)}"
            f"  widest {100 * row['widest_interval']:.0f} %"
        )
    for run in runs:
        print(run.run, *(f"{knee['witness']} {knee['level']} {knee['kib'][1]} KiB" for knee in knees_of(run)), sep="; ")
    if options.output:
        found = {"ceilings": rows, "knees": {run.run: knees_of(run) for run in runs}}
        options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
