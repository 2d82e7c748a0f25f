"""The metric values inside one result of an ``.ncu-rep`` file, and the unit that each metric's own name implies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

import msgspec

from appprof.report.plausible import doubt
from appprof.report.protobuf_wire import Damaged, Value, fields, float32, float64, integer, message, text

Scalar = float | str
READERS: dict[int, Callable[[Value], Scalar]] = {
    1: text,
    2: float32,
    3: float64,
    4: lambda value: float(integer(value)),
    5: lambda value: float(integer(value)),
}
MEMO_LIMIT, MEMO_BYTES, MEMO_TOTAL_BYTES = 200_000, 1 << 16, 64 << 20
NANOSECONDS = 1e9

# Base units by what a name says of its counter; the first row that matches. Rollups come behind.
UNIT_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"gpu__time_|profiler__pmsampler_interval_time"), "s"),
    (re.compile(r".*(?:_per_|_average_)"), ""),
    (re.compile(r".*(?:_pct|hit_rate|throughput)"), "%"),
    (re.compile(r".*__warps"), "warp"),
    (re.compile(r".*__(?:[a-z0-9_]*_)?cycles|.*writeback_active"), "cycle"),
    (re.compile(r".*(?:__|_)sectors?(?:_|$)"), "sector"),
    (re.compile(r".*(?:__|_)bytes(?:_|$)"), "B"),
    (re.compile(r".*sass_data_bytes"), "B"),
    (re.compile(r".*__(?:[a-z0-9_]*_)?inst(?:_|$)"), "inst"),
)


class Metric(msgspec.Struct, frozen=True, gc=False):
    """``value`` is None for a metric that has instances alone."""

    name: int
    value: Scalar | None
    instances: tuple[Scalar | None, ...] = ()


class Values(msgspec.Struct, frozen=True):
    """The metrics of one result by name, in SI base units."""

    numbers: dict[str, float] = {}
    texts: dict[str, str] = {}
    instances: dict[str, tuple[Scalar | None, ...]] = {}
    missing: dict[str, str] = {}


class MetricReader:
    """Reads metric messages; those equal to the byte (device attributes, occupancy tables, zeros) once a file."""

    def __init__(self, strings: list[str]) -> None:
        self.strings = strings
        self._memo: dict[bytes, Metric] = {}
        self._memo_bytes = 0

    def read(self, messages: Iterable[memoryview]) -> Values:
        found = Values({}, {}, {}, {})
        for view in messages:
            metric = self._metric(view)
            if metric.name >= len(self.strings):
                raise Damaged(f"a metric whose name, number {metric.name}, is not in the file")
            self._put(self.strings[metric.name], metric, found)
        return found

    def _metric(self, view: memoryview) -> Metric:
        if len(view) > MEMO_BYTES:
            return read_metric(view)
        key = bytes(view)
        metric = self._memo.get(key)
        if metric is None:
            metric = read_metric(view)
            self._memo_bytes += len(key)
            if len(self._memo) < MEMO_LIMIT and self._memo_bytes < MEMO_TOTAL_BYTES:
                self._memo[key] = metric
        return metric

    def _put(self, name: str, metric: Metric, found: Values) -> None:
        seconds = unit_of(name) == "s"
        value = metric.value
        if isinstance(value, str):
            found.texts[name] = value
        elif value is None:
            if not metric.instances:
                found.missing[name] = "the report names it and holds no value"
        elif why := doubt(name, value):
            found.missing[name] = why
        else:
            found.numbers[name] = value / NANOSECONDS if seconds else value
        # One instance that repeats the value says nothing more.
        if metric.instances and metric.instances != (value,):
            found.instances[name] = tuple(map(_in_seconds, metric.instances)) if seconds else metric.instances


def _in_seconds(value: Scalar | None) -> Scalar | None:
    return value / NANOSECONDS if isinstance(value, float) else value


def read_metric(view: memoryview) -> Metric:
    name, value = 0, None
    instances: list[Scalar | None] = []
    for number, field in fields(view):
        if number == 1:
            name = integer(field)
        elif number == 2:
            value = _scalar(message(field))
        elif number == 3:
            inside = [message(part) for at, part in fields(message(field)) if at == 2]
            instances.append(_scalar(inside[0]) if inside else None)
    return Metric(name, value, tuple(instances))


def _scalar(view: memoryview) -> Scalar | None:
    found: Scalar | None = None
    for number, field in fields(view):
        if number in READERS:
            found = READERS[number](field)
    return found


@lru_cache(maxsize=20_000)
def unit_of(name: str) -> str:
    """The unit that ``MetricReader`` leaves a value in, as far as the name tells; ``""`` where it tells nothing."""
    base, _, rollup = name.partition(".")
    if "pct" in rollup:
        return "%"
    if rollup in ("ratio", "max_rate"):
        return ""
    unit = next((unit for pattern, unit in UNIT_PATTERNS if pattern.match(base)), "")
    if rollup.endswith("per_second"):
        return "Hz" if unit == "cycle" else f"{unit}/s" if unit else ""
    if "per_cycle" in rollup or "peak_sustained" in rollup:
        return f"{unit}/cycle" if unit not in ("", "cycle", "warp") else unit.removesuffix("cycle")
    return unit
