"""The fixture ``roofline_benchmark``: a user's own kernel as a benchmark that knows its roof."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from ert_numba.benchmarks.device_clock import DEVICE_CLOCK
from ert_numba.benchmarks.measuring import as_json, in_words
from ert_numba.benchmarks.user_roofs import CAUSES, READS_ALONE, Declared, Placed, declared, place, require_same_device
from ert_numba.benchmarks.user_timing import EventTimer, HostTimer, UserTimer, calibrated
from ert_numba.errors import ErtError
from ert_numba.machine import MachineModel
from ert_numba.records import AxisValue, DeviceInfo
from ert_numba.starts import KEY, Benchmarked, RoofHit
from ert_numba.units import si

ROUNDS = 20
NO_MODEL = "no machine model: name a sweep by --roofline-machine, or roofline_machine in the ini file"


class ImpossibleShare(UserWarning):
    """A kernel above its roof, which none can be: its figure is kept as it is, and is wrong somewhere."""


@dataclass(frozen=True)
class Hit:
    """What a kernel reached. Rates are of the median round; ``reason`` says why ``share_of_roof`` is None or odd.

    ``seconds`` of one call; ``roof`` names the ceilings; ``impossible``: above the roof even at the upper end of its
    interval. ``result`` is what the callable returned last.
    """

    result: Any
    seconds: float | None = None
    flop_per_second: float | None = None
    bytes_per_second: float | None = None
    share_of_roof: float | None = None
    roof: RoofHit | None = None
    impossible: bool = False
    reason: str = ""


class Places:
    """The devices and the machine model of one pytest session, each found once."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._devices: dict[str, DeviceInfo] = {}
        self._model: MachineModel | None = None
        self.lines: list[str] = []  # for pytest's summary

    @property
    def ordinal(self) -> int:
        return int(self._config.option.roofline_device)

    def device(self, kind: str) -> DeviceInfo:
        """Raises ErtError where there is no such device."""
        if kind not in self._devices:
            from ert_numba.backends import choose

            self._devices[kind] = choose({"gpu": "cuda"}.get(kind, kind), self.ordinal)[0].device
        return self._devices[kind]

    @property
    def main(self) -> DeviceInfo | None:
        """The one that the file speaks of: a GPU before the host that drives it."""
        return self._devices.get("gpu", self._devices.get("cpu"))

    def summary(self) -> list[str]:
        """A line a kernel; why there is no share, once."""
        return self.lines if self._model is not None else [*self.lines, f"No shares of roofs: {NO_MODEL}"]

    def model(self) -> MachineModel | None:
        """Raises ErtError where the file that is named cannot be read."""
        option, ini = self._config.option.roofline_machine, str(self._config.getini("roofline_machine"))
        path = Path(option) if option else self._config.rootpath / ini if ini else None
        if path is not None and self._model is None:
            from ert_numba.api import load

            self._model = load(path)
        return self._model


class RooflineBenchmark:
    """``roofline_benchmark(callable, flop=..., bytes=..., precision=..., level=...)``: time a callable, name its roof.

    ``flop`` and ``bytes`` are those of ONE call (either may be left out); ``precision`` is a precision ("fp64"), whose
    highest ceiling is the roof, or a ceiling's key ("fp64.vector.fma"); ``level`` is the memory level that the bytes
    come from, ``access`` the ceiling's ("read", "copy", "triad"; the highest of the level by default), ``scope`` "core"
    for a kernel on one core. ``on`` is "gpu" or "cpu"; by default the machine model's device, else the GPU if the
    callable has touched one. On a GPU the callable is timed by events on ``stream`` (a handle, or a stream of PyTorch,
    CuPy or numba; the default stream if None), so it need not synchronise.

    Returns a :class:`Hit`. Raises ErtError for a wrong use, NotComparable for a model of another device.
    """

    def __init__(self, benchmark: Any, node_id: str, backend: str, places: Places) -> None:
        self._benchmark, self._node_id, self._backend, self._places = benchmark, node_id, backend, places

    def __call__(
        self,
        function: Callable[[], Any],
        *,
        flop: float = 0.0,
        bytes: float = 0.0,
        precision: str | None = None,
        level: str = "DRAM",
        access: str | None = None,
        scope: str = "all",
        on: str | None = None,
        stream: Any = None,
    ) -> Hit:
        __tracebackhide__ = True  # a wrong use is shown at the line of the user's test
        try:
            return self._timed(function, (flop, bytes, precision, level, access, scope), on, stream)
        except ErtError as error:
            raise error.with_traceback(None) from None

    def _timed(self, function: Callable[[], Any], work: tuple[Any, ...], on: str | None, stream: Any) -> Hit:
        if self._benchmark.disabled:
            return Hit(function(), reason="benchmarks are off here: under xdist, or by --benchmark-disable")
        if not callable(function):
            raise ErtError("a kernel to time", f"{function!r:.80}", "Pass a callable without arguments, a lambda say")
        model = self._places.model()
        timer = self._timer(function, on or self._kind(model), stream)
        what = declared(timer.kind, *work)
        placed = self._placed(what, model, timer.kind)
        calls = calibrated(timer, function)
        self._benchmark.pedantic(
            lambda: DEVICE_CLOCK.advance(timer.seconds(function, calls) / calls),
            setup=DEVICE_CLOCK.restart,
            rounds=ROUNDS,
        )
        return self._report(what, placed, timer, calls)

    def _kind(self, model: MachineModel | None) -> str:
        if model is not None:
            return model.device.kind
        return {"cuda": "gpu", "auto": ""}.get(self._backend, self._backend)

    def _timer(self, function: Callable[[], Any], kind: str, stream: Any) -> UserTimer:
        if kind not in ("", "gpu", "cpu"):
            raise ErtError("where a kernel runs", f"on={kind!r:.80}", "Pass on='gpu' or on='cpu'")
        if kind == "cpu" or (not kind and stream is None and not _gpu_touched(function, self._places.ordinal)):
            return HostTimer()
        self._places.device("gpu")  # raises with what is missing
        timer = EventTimer(self._places.ordinal, stream)
        timer.require_work(function)
        return timer

    def _placed(self, what: Declared, model: MachineModel | None, kind: str) -> Placed | None:
        device = self._places.device(kind)
        if model is None:
            return None
        require_same_device(model, device)
        return place(what, model)

    def _report(self, what: Declared, placed: Placed | None, timer: UserTimer, calls: int) -> Hit:
        seconds = list(self._benchmark.stats.stats.data)
        roof = placed.roof if placed else None
        axes: dict[str, AxisValue] = {"level": what.level, "scope": what.scope}
        axes |= {name: value for name in ("precision", "access") if (value := getattr(what, name)) is not None}
        record = Benchmarked(
            key=self._node_id,
            kernel=self._benchmark.name,
            kind="user",
            unit=what.unit,
            work=what.work,
            axes=axes,
            roof=roof,
            conditions={"calls_per_round": calls, "timer": "CUDA events" if timer.kind == "gpu" else "host clock",
                        "device": self._places.device(timer.kind).name},
        )  # fmt: skip
        hit = _hit(what, placed, median(seconds), timer.result)
        words = in_words(record, seconds)
        if hit.flop_per_second and hit.bytes_per_second:
            words["bandwidth"] = si(hit.bytes_per_second, "B/s")
        if hit.impossible:
            words["share of roof"] += f": impossible, {CAUSES}"
            warnings.warn(ImpossibleShare(f"{self._node_id}: {words['share of roof']}"), stacklevel=4)
        if hit.reason:
            share = f"{words['share of roof']}: " if placed else ""
            words["share of roof"] = share + hit.reason
        self._benchmark.extra_info.update(words, **{KEY: as_json(record)})
        self._places.lines.append(_line(record, words, hit))
        return hit


def _hit(what: Declared, placed: Placed | None, seconds: float, result: Any) -> Hit:
    value = (what.flop or what.bytes) / seconds
    above = placed is not None and value > placed.utmost
    return Hit(
        result=result,
        seconds=seconds,
        flop_per_second=what.flop / seconds if what.flop else None,
        bytes_per_second=what.bytes / seconds if what.bytes else None,
        share_of_roof=value / placed.roof.attainable if placed else None,
        roof=placed.roof if placed else None,
        impossible=above and not (placed and placed.reads_alone),
        reason=NO_MODEL if placed is None else READS_ALONE if above and placed.reads_alone else "",
    )


def _gpu_touched(function: Callable[[], Any], ordinal: int) -> bool:
    """Whether this process holds a GPU after one call; where it does not, the work was the host's."""
    from ert_numba.device.gpu import NoGpu, require_packages

    function()
    try:
        require_packages()
    except NoGpu:
        return False
    from ert_numba.benchmarks.user_timing import context_active

    return context_active(ordinal)


def _line(record: Benchmarked, words: dict[str, str], hit: Hit) -> str:
    """``test_scale: 23.1 GB/s, 81.2 % of 28.4 GB/s (DRAM.update)``"""
    rates = ", ".join(words[name] for name in ("median", "bandwidth") if name in words)
    if hit.roof is None:
        return f"{record.kernel}: {rates}"
    keys = ", ".join(key for key in (hit.roof.bandwidth_key, hit.roof.compute_key) if key)
    share, _, cause = words["share of roof"].partition(": ")
    roof = f"{share} of {si(hit.roof.attainable, record.unit)} ({keys})"
    return f"{record.kernel}: {rates}, {roof}" + (f": {cause}" if cause else "")
