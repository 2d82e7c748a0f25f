"""Made-up runs of a benchmark suite, as pytest-benchmark would have stored them: noise, clocks and shifts are given."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from example_models import PROVENANCE, cpu_device, h200_device

from ert_numba.judge.evidence import Observed, ProcessStart, SuiteRun
from ert_numba.records import DeviceInfo, Work
from ert_numba.starts import KEY, SUITE_VERSION, Benchmarked, RoofHit, SuiteInfo

CLOCK_HZ = 1.98e9
# key, kind, unit, what one call does, seconds of one call, between-start noise
SUITE: tuple[tuple[str, str, str, Work, float, float], ...] = (
    ("fp64.vector.fma", "compute", "FLOP/s", Work(flop=1.3e11), 3.9e-3, 0.001),
    ("fp32.vector.fma", "compute", "FLOP/s", Work(flop=2.6e11), 3.9e-3, 0.001),
    ("bf16.tensor.wgmma", "compute", "FLOP/s", Work(flop=2.9e12), 4.0e-3, 0.004),
    ("int8.tensor.wgmma", "compute", "OP/s", Work(flop=5.6e12), 4.1e-3, 0.003),
    ("DRAM.read", "bandwidth", "B/s", Work(bytes_counted=1.6e10, bytes_moved=1.6e10), 3.5e-3, 0.0008),
    ("DRAM.triad", "bandwidth", "B/s", Work(bytes_counted=1.6e10, bytes_moved=1.6e10), 3.9e-3, 0.0004),
    ("L1.read", "bandwidth", "B/s", Work(bytes_counted=1.3e11, bytes_moved=1.3e11), 4.0e-3, 0.0014),
    ("DRAM.latency", "latency", "s", Work(accesses=2.8e4), 1.5e-2, 0.001),
    ("launch.graph", "overhead", "s", Work(accesses=8.0e2), 3.8e-3, 0.004),
    ("HOST.h2d_pageable", "bandwidth", "B/s", Work(bytes_counted=1e8, bytes_moved=1e8), 1.1e-2, 0.25),
)  # fmt: skip
USER = "tests/bench_model.py::test_softmax[fp16-4096]"
NAME = "ert_numba/benchmarks/test_ceilings.py::test_ceiling[{}]"


def name_of(key: str) -> str:
    return key if "::" in key else NAME.format(key)


def made_up_run(
    name: str,
    *,
    starts: int = 5,
    seed: int = 1,
    rounds: int = 8,
    device: DeviceInfo | None = None,
    driver: str = "580.159",
    times: Mapping[str, float] | None = None,  # factor on the seconds, by key
    clocks: Mapping[str, float] | None = None,  # factor on the clock, by key
    without: Sequence[str] = (),
    roof: RoofHit | None = None,
) -> SuiteRun:
    """A run on the example H200: the suite and a user's kernel."""
    noise = random.Random(f"{name} {seed}")
    device = device or h200_device()
    provenance = msgspec.structs.replace(PROVENANCE, versions=PROVENANCE.versions | {"driver": driver})
    roof = roof or RoofHit(attainable=4.5e12, bandwidth_key="DRAM.read", model="2026-11-29T1737-gpu")
    user = (USER, "user", "B/s", Work(bytes_counted=8e8, bytes_moved=8e8), 2.2e-4, 0.002)
    found = []
    for start in range(1, starts + 1):
        info = SuiteInfo(suite_version=SUITE_VERSION, device=device, provenance=provenance, start=start)
        observed = []
        for key, kind, unit, work, seconds, spread in (*SUITE, user):
            if key in without:
                continue
            clock = CLOCK_HZ * (clocks or {}).get(key, 1.0)
            level = seconds * (times or {}).get(key, 1.0) * noise.lognormvariate(0, spread)
            said = Benchmarked(
                key=key, kernel="example", kind=kind, unit=unit, work=work, axes={"blocks": 132},
                clock_hz=() if kind == "overhead" else tuple(clock * noise.gauss(1, 2e-4) for _ in range(rounds)),
                limit=1.1 * work.flop / seconds if kind == "compute" else None,
                roof=roof if kind == "user" else None, verified=None if kind == "user" else True,
                conditions={"repetitions": 1, "temperature_celsius": 40 + start, "throttle": ""},
            )  # fmt: skip
            values = tuple(level * noise.lognormvariate(0, 5e-4) for _ in range(rounds))
            observed.append(Observed(name=name_of(key), seconds=values, said=said))
        label = f"{start:04}_{name}.json"
        found.append(ProcessStart(label=label, created=provenance.created, info=info, observed=tuple(observed)))
    return SuiteRun(name=name, starts=tuple(found))


def on_a_cpu(name: str, **more: Any) -> SuiteRun:
    return made_up_run(name, device=cpu_device(), **more)


def as_file(start: ProcessStart) -> dict[str, Any]:
    """What pytest-benchmark 5.3.1 would have written, without the statistics that nobody reads."""
    return {
        "machine_info": {"node": "secret-host", "python_version": "3.11.2", "system": "Linux", "release": "6.1.0",
                         "machine": "x86_64", "cpu": {"brand_raw": "Example CPU"},
                         **({KEY: msgspec.to_builtins(start.info)} if start.info else {})},
        "commit_info": {"id": "unversioned"},
        "benchmarks": [
            {"group": None, "name": row.name.rsplit("::")[-1], "fullname": row.name, "params": None, "param": None,
             "extra_info": {KEY: msgspec.to_builtins(row.said)} if row.said else {}, "options": {"timer": "x"},
             "stats": {"min": min(row.seconds), "rounds": len(row.seconds), "data": list(row.seconds)}}
            for row in start.observed
        ],
        "datetime": "2026-11-30T02:00:00+00:00",
        "version": "5.3.1",
    }  # fmt: skip


def save_run(run: SuiteRun, folder: Path, first: int = 1) -> list[Path]:
    """The run's files, numbered on from ``first``, in a storage's machine folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{first + index:04}_{run.name}.json" for index in range(len(run.starts))]
    for path, start in zip(paths, run.starts, strict=True):
        path.write_text(json.dumps(as_file(start), indent=4))
    return paths


def foreign(run: SuiteRun) -> SuiteRun:
    """The same times as somebody else's suite would have stored them."""
    starts = [
        msgspec.structs.replace(
            start, info=None, machine={"cpu": "Example CPU"},
            observed=tuple(msgspec.structs.replace(row, said=None) for row in start.observed),
        )
        for start in run.starts
    ]  # fmt: skip
    return SuiteRun(name=run.name, starts=tuple(starts))
