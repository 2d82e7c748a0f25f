"""Our CPU kernels against the C reference beside this file, in turns: ``python tests/reference/against_c.py``.

Needs gcc. Each quantity is measured by both programs in short turns, so that a neighbour's burst hits both; both sides'
raw repeats then go through the same estimator. Prints a table, and with ``--output FILE`` writes JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from ert_numba.device.cpu import probe_cpu
from ert_numba.device.topology import probe
from ert_numba.fit.robust import Estimate, deciding, estimate_rate
from ert_numba.kernels.cpu_bandwidth import CPU_BANDWIDTH
from ert_numba.kernels.cpu_fma import CPU_FMA
from ert_numba.kernels.cpu_levels import level_sizes
from ert_numba.kernels.cpu_program import host_isa
from ert_numba.kernels.spec import KernelSpec
from ert_numba.measure.timers_cpu import CpuTimer
from ert_numba.records import DeviceInfo, Point
from ert_numba.units import si

SOURCE = Path(__file__).with_name("reference.c")
# The C side measures with both: short calls as ours are, and calls so long that its barriers weigh nothing.
CALL_SECONDS = (0.3e-3, 3e-3)


class Reference:
    """The C program as a child that answers commands."""

    def __init__(self, cpus: list[int], folder: Path) -> None:
        binary = folder / "reference"
        subprocess.run(["gcc", "-O3", "-march=native", "-pthread", str(SOURCE), "-o", str(binary)], check=True)
        self.child = subprocess.Popen(
            [str(binary), *map(str, cpus)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, command: str, repetitions: int, calls: int) -> tuple[float, list[float]]:
        """Work of a call and the seconds of each."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(f"{command} {repetitions} {calls}\n")
        self.child.stdin.flush()
        work, *seconds = map(float, self.child.stdout.readline().split())
        return work, seconds

    def close(self) -> None:
        assert self.child.stdin is not None
        self.child.stdin.close()
        self.child.wait(timeout=10)


def quantities(device: DeviceInfo, threads: int) -> dict[str, tuple[list[str], list[tuple[KernelSpec, Point]]]]:
    """(commands of the C side, points of ours) by name; each side's best variant counts."""
    isa, sizes = host_isa(device), level_sizes(device, threads)

    def fma(precision: str) -> list[tuple[KernelSpec, Point]]:
        return [
            (
                CPU_FMA,
                Point(
                    kernel="cpu_fma",
                    ceiling=f"{precision}.vector.fma",
                    axes={"accumulators": count, "threads": threads, "isa": isa.key},
                ),
            )
            for count in isa.accumulators[:2]
        ]

    def stream(ceiling: str, streams: tuple[int, ...]) -> list[tuple[KernelSpec, Point]]:
        size = sizes[ceiling.partition(".")[0]]
        axes = {"page": "huge", "threads": threads, "isa": isa.key, "working_set_bytes": size}
        points = [Point(kernel="cpu_bandwidth", ceiling=ceiling, axes={**axes, "streams": count}) for count in streams]
        return [(CPU_BANDWIDTH, point) for point in points]

    return {
        "fp64.vector.fma": (["fma64"], fma("fp64")),
        "fp32.vector.fma": (["fma32"], fma("fp32")),
        "L1.read": ([f"read {count} {sizes['L1']}" for count in (1, 2, 4)], stream("L1.read", (1, 2, 4))),
        "L2.read": ([f"read {count} {sizes['L2']}" for count in (1, 2, 4)], stream("L2.read", (1, 2, 4))),
        "DRAM.read": ([f"read {count} {sizes['DRAM']}" for count in (1, 4)], stream("DRAM.read", (1, 4))),
        "DRAM.triad_nt": ([f"triad {sizes['DRAM']}"], stream("DRAM.triad_nt", (1, 4))),
    }


def best(rates: dict[str, list[float]]) -> tuple[str, Estimate]:
    """The variant with the highest estimate."""
    estimates = {name: estimate_rate(values, candidates=len(rates)) for name, values in rates.items()}
    name = max(estimates, key=lambda key: estimates[key].value)
    return name, estimates[name]


def measure(turns: int) -> dict[str, dict[str, Any]]:
    """Every quantity by both sides; the clock beside ours gives the share of the physical limit."""
    topology = probe()
    device = probe_cpu(topology)
    threads = device.units
    cpus = [row.cpu for row in topology.placement[:threads]]
    timer = CpuTimer(device, topology, threads)
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        reference = Reference(cpus, Path(folder))
        todo = quantities(device, threads)
        theirs: dict[str, dict[str, list[float]]] = {name: {} for name in todo}
        ours: dict[str, dict[str, list[float]]] = {name: {} for name in todo}
        clocks: dict[str, dict[str, list[float]]] = {name: {} for name in todo}
        repetitions: dict[str, int] = {}
        for _ in range(turns):
            for name, (commands, points) in todo.items():
                calls = 2 if name.startswith("DRAM") else 24
                for command in commands:
                    for length in CALL_SECONDS[1:] if name.startswith("DRAM") else CALL_SECONDS:
                        variant = f"{command} in {length * 1e3:g} ms"
                        count = repetitions.get(variant) or _repetitions(reference, command, length)
                        repetitions[variant] = count
                        work, seconds = reference.ask(command, count, calls if length < 1e-3 else calls // 4 + 1)
                        theirs[name].setdefault(variant, []).extend(work / value for value in seconds)
                for spec, point in points:
                    count = repetitions.get(point.key)
                    bench = timer.open(spec, point, count)
                    repetitions[point.key] = bench.repetitions
                    amount = bench.work.flop or bench.work.bytes_counted
                    for _call in range(calls):
                        timing = bench.once()
                        ours[name].setdefault(point.key, []).append(amount / timing.seconds)
                        clocks[name].setdefault(point.key, []).append(timing.clock_hz or 0.0)
        reference.close()
    timer.close()
    for name in todo:
        (c_variant, c), (variant, mine) = best(theirs[name]), best(ours[name])
        limit = device.limit(name)
        beside = _clock_beside_best(ours[name], clocks[name])
        per_second = limit.per_cycle * threads * beside if limit and limit.per_cycle else None
        results[name] = {
            "ours": mine.value,
            "ours_interval": [mine.low, mine.high],
            "c": c.value,
            "c_interval": [c.low, c.high],
            "ratio": mine.value / c.value,
            "limit_at_measured_clock": per_second,
            "share_of_limit": mine.value / per_second if per_second else None,
            "clock_hz": beside,
            "our_variant": variant,
            "c_variant": c_variant,
        }
    return {"device": {"name": device.name, "threads": threads}, "quantities": results}


def _clock_beside_best(rates: dict[str, list[float]], clocks: dict[str, list[float]]) -> float:
    """The highest clock beside the repeats that carry the best variant's value, as a ceiling's limit takes it."""
    name, _ = best(rates)
    order = sorted(range(len(rates[name])), key=lambda index: -rates[name][index])
    return max(clocks[name][index] for index in order[: deciding(len(order))])


def _repetitions(reference: Reference, command: str, call_seconds: float) -> int:
    """So that a call of the C side lasts so long."""
    count = 1
    while True:
        seconds = min(reference.ask(command, count, 2)[1])
        if seconds >= call_seconds / 10:
            return max(1, round(count * call_seconds / seconds))
        count *= 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    found = measure(arguments.turns)
    print(f"{'':18}{'ours':>14}{'C':>14}{'ours / C':>10}{'of limit':>10}")
    for name, row in found["quantities"].items():
        unit = "FLOP/s" if "vector" in name else "B/s"
        share = f"{100 * row['share_of_limit']:.1f} %" if row["share_of_limit"] else ""
        print(f"{name:18}{si(row['ours'], unit):>14}{si(row['c'], unit):>14}{row['ratio']:>10.3f}{share:>10}")
    if arguments.output:
        arguments.output.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
