"""Files of pytest-benchmark, this suite's or anybody's, as process starts. Only raw times are read: the statistics are
made again from them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ert_numba.errors import ErtError, NotComparable
from ert_numba.files import read_text
from ert_numba.judge.evidence import Observed, ProcessStart, amount
from ert_numba.starts import KEY, SUITE_VERSION, Benchmarked, SuiteInfo
from ert_numba.store.magnitudes import faults_of_numbers, is_usable

MAXIMUM_BYTES = 1 << 27
_BEGINNING = 1 << 8
_BROKEN = "Take an unbroken copy of the file, or benchmark again"
_NO_TIMES = "Save with --benchmark-save-data or --benchmark-json (`python -m ert_numba bench` always does)"


class _Stats(msgspec.Struct):
    data: list[float] | None = None


class _Benchmark(msgspec.Struct):
    fullname: str
    stats: _Stats
    extra_info: dict[str, Any] = {}


class _File(msgspec.Struct):
    benchmarks: list[_Benchmark]
    machine_info: dict[str, Any]
    datetime: str = ""


def is_benchmark_file(path: Path) -> bool:
    """Whether a file begins as those of pytest-benchmark do; what is broken in it is said when it is read."""
    try:
        with path.open("rb") as file:
            return b'"machine_info"' in file.read(_BEGINNING)
    except (OSError, ValueError):  # ValueError: a null character in the name
        return False


def read_start(path: Path) -> ProcessStart:
    """One file. Raises ErtError that names the file and the benchmark."""
    asked = f"to read the benchmarks in {path}"
    plain = _decoded(path, asked)
    try:
        file = msgspec.convert(plain, type=_File)
        info = _info(path, file.machine_info.get(KEY), asked)
        observed = tuple(_observed(row, asked) for row in file.benchmarks)
    except (msgspec.ValidationError, OverflowError) as error:
        raise ErtError(asked, str(error), _BROKEN) from error
    for fault in (*_faults_of_info(info), *_faults(observed)):
        raise ErtError(asked, fault, _BROKEN)
    created = info.provenance.created if info else file.datetime
    machine = {} if info else dict(_machine(file.machine_info))
    return ProcessStart(label=path.name, created=created, info=info, machine=machine, observed=observed)


def _decoded(path: Path, asked: str) -> Any:
    data = read_text(path, asked, MAXIMUM_BYTES)
    try:
        plain = json.loads(data)  # not msgspec: pytest-benchmark writes a bare NaN where extra_info holds one
        json.dumps(plain, ensure_ascii=False).encode()  # half of a surrogate pair is no text, and could not be written
        return plain
    except RecursionError as error:
        raise ErtError(asked, "it is nested too deeply", "Check that it is the right file") from error
    except ValueError as error:
        raise ErtError(asked, f"it is no whole JSON: {error}", _BROKEN) from error


def _info(path: Path, found: Any, asked: str) -> SuiteInfo | None:
    if found is None:
        return None
    version = found.get("suite_version") if isinstance(found, Mapping) else None
    if isinstance(version, int) and version > SUITE_VERSION:
        what = f"version {version} of the suite, made by a newer ert_numba (this one knows {SUITE_VERSION})"
        raise NotComparable(asked, what, "Upgrade: pip install --upgrade ert-numba")
    return msgspec.convert(found, type=SuiteInfo)


def _observed(row: _Benchmark, asked: str) -> Observed:
    if row.stats.data is None:
        raise ErtError(asked, f"{row.fullname} has no raw times", _NO_TIMES)
    said = row.extra_info.get(KEY)
    record = None if said is None else msgspec.convert(said, type=Benchmarked)
    return Observed(name=row.fullname, seconds=tuple(row.stats.data), said=record)


def _faults_of_info(info: SuiteInfo | None) -> Iterator[str]:
    if info is not None:
        yield from (f"of its machine, {fault}" for fault in faults_of_numbers(info))


def _faults(observed: tuple[Observed, ...]) -> Iterator[str]:
    if not observed:
        yield "it holds no benchmark"
    seen: set[str] = set()
    for row in observed:
        if row.name in seen:
            yield f"{row.name} appears twice"
        seen.add(row.name)
        if not row.seconds:
            yield f"{row.name} has an empty list of times"
        for index, value in enumerate(row.seconds):
            if not _is_positive(value):
                yield f"time {index} of {row.name} is {value!r}, where a positive number must stand"
        if row.said is not None:
            yield from _faults_of(row.name, row.said)
        one = amount(row.said)
        if not all(_is_positive(value / one) and _is_positive(one / value) for value in row.seconds if value > 0 < one):
            yield f"the rate of {row.name} is beyond all numbers"


def _faults_of(name: str, said: Benchmarked) -> Iterator[str]:
    yield from (f"of {name}, {fault}" for fault in faults_of_numbers(said))
    tops = {"limit": said.limit, "roof": said.roof.attainable if said.roof else None}
    figures = {"clock": said.clock_hz, **{what: (value,) for what, value in tops.items() if value is not None}}
    for what, values in figures.items():
        if not all(_is_positive(value) for value in values):
            yield f"the {what} of {name} is no positive number"
    amounts = {"FLOP/s": said.work.flop, "OP/s": said.work.flop, "B/s": said.work.bytes_counted}
    declared = amounts.get(said.unit, said.work.accesses)
    if not _is_positive(declared) and not (said.unit == "s" and declared == 0):
        yield f"{name} is in {said.unit} and declares no such work"


def _is_positive(value: float) -> bool:
    return value > 0 and is_usable(value)


def _machine(info: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What may be told of a foreign file's machine: not its node, which is the host's name."""
    cpu = info.get("cpu")
    brand = cpu.get("brand_raw") or cpu.get("brand") if isinstance(cpu, Mapping) else None
    texts = {
        "cpu": brand,
        "python": info.get("python_version"),
        "system": " ".join(str(info[name]) for name in ("system", "release", "machine") if name in info),
    }
    return ((name, str(text)) for name, text in texts.items() if text)
