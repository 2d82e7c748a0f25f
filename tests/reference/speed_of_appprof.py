"""How long ``python -m appprof roofline`` takes on made-up long CSV files, stage by stage and as a whole process.

    python tests/reference/speed_of_appprof.py [--launches 660 6600 66000] [--variants plain ragged scaled]
                                               [--machine results/nvidia-h200/RUN] [--folder /tmp/speed]

Files have 15 rows a launch. Stages are CPU seconds, helping processes included; the last columns are a new process
of the real command: wall seconds, CPU seconds with its children, peak memory. A machine that does other
work changes wall seconds most. Growth is the exponent of the stages' sum over the rows: 1 is linear.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from made_up_csv import VARIANTS, write_long_csv  # noqa: E402

STAGES = ("read", "gather", "analyse", "result", "page")


def stages(path: Path, machine: Path | None) -> Iterator[tuple[str, float]]:
    """(stage, CPU seconds) of one file, in this process, whose imports are done."""
    from appprof import api
    from appprof.charts.page import profile_page
    from appprof.gather import gather
    from appprof.report.collector import collector_at_rest
    from appprof.report.read import read_report
    from ert_numba.charts.vega import vega_script
    from ert_numba.store.provenance import collect

    known = None if machine is None else api.load_machine(machine)
    vega_script()
    provenance = collect("appprof")

    def clock() -> float:
        """CPU seconds of this process and of those that read for it."""
        return time.process_time() + sum(os.times()[2:4])

    with collector_at_rest():
        start = clock()
        report = read_report([path])
        yield "read", clock() - start
        start = clock()
        (model,) = gather(report, "speed", provenance)
        yield "gather", clock() - start
    start = clock()
    analysis = api.analyse(model, known)
    yield "analyse", clock() - start
    start = clock()
    api.make_result(analysis)
    yield "result", clock() - start
    start = clock()
    page = profile_page(analysis)
    yield "page", clock() - start
    assert "</html>" in page


def whole(path: Path, machine: Path | None) -> tuple[float, float, float, float]:
    """Wall seconds, CPU seconds, peak memory in MB and the page's kB of the command in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        roofs = [] if machine is None else ["--machine", str(machine)]
        command = [sys.executable, "-m", "appprof", "roofline", str(path), *roofs, "-o", str(page)]
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, command
        unit = 1e3 if sys.platform.startswith("linux") else 1e6
        return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / unit, page.stat().st_size / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, nargs="+", default=[660, 6_600, 66_000])
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=VARIANTS)
    parser.add_argument("--machine", type=Path)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "appprof-speed")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    print(f"{'file':16}{'MB':>7}" + "".join(f"{name:>9}" for name in (*STAGES, "wall", "CPU", "MB", "page kB")))
    paths = {(variant, launches): asked.folder / f"{variant}-{launches}.csv"
             for variant in asked.variants for launches in asked.launches}  # fmt: skip
    for (variant, launches), path in paths.items():
        if not path.exists():
            write_long_csv(path, launches, variant)
    # Before the stages: a new process inherits the peak memory of the one that starts it.
    wholes = {path: whole(path, asked.machine) for path in paths.values()}
    for variant in asked.variants:
        sums: list[float] = []
        for launches in asked.launches:
            path = paths[variant, launches]
            found = dict(stages(path, asked.machine))
            sums.append(sum(found.values()) - found["page"])
            wall, cpu, memory, page = wholes[path]
            row = "".join(f"{found[name]:9.3f}" for name in STAGES)
            size = f"{path.stem:16}{path.stat().st_size / 1e6:7.1f}"
            print(f"{size}{row}{wall:9.2f}{cpu:9.2f}{memory:9.0f}{page:9.0f}", flush=True)
        if len(sums) > 1:
            growth = math.log(sums[-1] / sums[0]) / math.log(asked.launches[-1] / asked.launches[0])
            print(f"{variant}: stages before the page grow as rows^{growth:.2f}")


if __name__ == "__main__":
    main()
