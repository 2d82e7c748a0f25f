"""Reader of Nsight Compute's own report, ``.ncu-rep``, with nothing of NVIDIA's: on every system, to the last digit."""

from __future__ import annotations

from pathlib import Path

import msgspec

from appprof.report.collector import collector_at_rest
from appprof.report.devices import PREFIX, make_device
from appprof.report.names import name_without_kernel
from appprof.report.ncu_container import Container, Result, read_container
from appprof.report.ncu_metrics import MetricReader, Scalar, Values, unit_of
from appprof.report.ncu_nvtx import read_nvtx
from appprof.report.ncu_rules import read_advice
from appprof.report.ncu_session import Process, Session, read_session
from appprof.report.opened import whole
from appprof.report.profile import Device, KernelProfile, Private, Report, Source
from appprof.report.protobuf_wire import Damaged, Value, fields, integer, message, text
from ert_numba.errors import ErtError


class Numbering(msgspec.Struct, frozen=True):
    """Where a kind of result keeps what all kinds have; 0: it has no such field. The first of ``names`` that is set."""

    metrics: int
    nvtx: int
    context: int
    clocks: int
    rules: int
    stream: int = 0
    names: tuple[int, ...] = ()
    mangled: int = 0
    grid: int = 0
    block: int = 0


NUMBERING = {
    "kernel": Numbering(13, 21, 22, 25, 19, stream=23, names=(7, 5, 6), mangled=5, grid=10, block=11),
    "range": Numbering(4, 10, 11, 12, 20),
    "cmdlist": Numbering(4, 10, 11, 13, 21, stream=12, names=(18,)),
    "graph": Numbering(4, 10, 11, 13, 22, stream=12),
}
THREAD = 1
LOST_LINES = 20


def read_ncu_rep(path: Path) -> Report:
    """All results of a report. What a truncated or damaged file still holds whole is read, the rest named in ``lost``.

    Raises ``ErtError`` where nothing is whole.
    """
    with whole(path) as view, collector_at_rest():
        try:
            container = read_container(view)
            session = read_session(container)
        except Damaged as error:
            raise ErtError(
                f"a report of Nsight Compute in {path.name}", f"it is damaged: {error}", "Copy or collect it again"
            ) from None
        reader = _ResultReader(path, container, session)
        kernels = reader.all()
        lost = (*container.lost, *reader.lost)
        # Nothing of the mapped file may outlive it.
        container.results.clear()
        container.sessions.clear()
        container.processes.clear()
    if not kernels:
        found = "; ".join(lost) or "it holds no kernel"
        raise ErtError(f"kernels in {path.name}", found, "Copy or collect the report again")
    return Report(kernels=tuple(kernels), sources=(reader.source,), lost=lost)


class _ResultReader:
    """Turns results into records; shares devices and dictionaries between them."""

    def __init__(self, path: Path, container: Container, session: Session) -> None:
        self.container, self.session = container, session
        self.source = _source(path, session)
        self.lost: list[str] = []
        self._unsaid = 0
        self._metrics = MetricReader(container.strings)
        self._devices: dict[tuple[tuple[str, Scalar], ...], Device] = {}
        self._units: dict[tuple[str, ...], dict[str, str]] = {}
        self._occurrences: dict[tuple[int | None, str], int] = {}

    def all(self) -> list[KernelProfile]:
        kernels = []
        for index, result in enumerate(self.container.results):
            try:
                kernels.append(self._kernel(index, result))
            except Damaged as error:
                self._lose(f"result {index + 1} of {self.container.declared} is damaged: {error}")
        if self._unsaid:
            self.lost.append(f"{self._unsaid} results more are damaged")
        return kernels

    def _lose(self, line: str) -> None:
        if len(self.lost) < LOST_LINES:
            self.lost.append(line)
        else:
            self._unsaid += 1

    def _kernel(self, index: int, result: Result) -> KernelProfile:
        numbering = NUMBERING[result.kind]
        single: dict[int, Value] = {}
        metrics: list[memoryview] = []
        rules: list[memoryview] = []
        for number, value in fields(result.message):
            if number == numbering.metrics:
                metrics.append(message(value))
            elif number == numbering.rules:
                rules.append(message(value))
            else:
                single[number] = value
        if not metrics and not any(number in single for number in numbering.names):
            raise Damaged("it holds neither a metric nor a name")
        values = self._metrics.read(metrics)
        device = self._device(values)
        if not metrics:
            self._lose(f"result {index + 1} of {self.container.declared} holds no metric")
        nvtx = read_nvtx(single.get(numbering.nvtx), _optional(single, THREAD))
        # Kernels that are no C++ (extern "C", generated code) have no demangled name, only that of their entry.
        given = (text(single[number]) for number in numbering.names if number in single)
        name = next(filter(None, given), "") or name_without_kernel(result.kind, nvtx)
        process = self.session.processes[result.process] if result.process >= 0 else self.session.process
        return KernelProfile(
            kernel=name,
            mangled=text(single.get(numbering.mangled, memoryview(b""))) or None,
            kind=result.kind,
            id=index,
            occurrence=self._occurrence(process, name),
            process_id=process.number if process.number is not None else self.session.process.number,
            device=device,
            context=_optional(single, numbering.context),
            stream=_optional(single, numbering.stream),
            grid=_dimensions(single.get(numbering.grid)),
            block=_dimensions(single.get(numbering.block)),
            nvtx=nvtx,
            clock_locked=_clock_locked(single.get(numbering.clocks)),
            values=values.numbers,
            units=self._units_of(values.numbers),
            missing=values.missing,
            instances=values.instances,
            texts=values.texts,
            advice=read_advice(rules),
            source=self.source,
        )

    def _device(self, values: Values) -> Device:
        """The device of a result; its attributes are moved out of the metrics, where each result repeats them."""
        own: dict[str, Scalar] = {}
        for name in [name for name in values.numbers if name.startswith(PREFIX)]:
            own[name] = values.numbers.pop(name)
        for name in [name for name in values.texts if name.startswith(PREFIX)]:
            own[name] = values.texts.pop(name)
        index = own.get(PREFIX + "device_index", values.numbers.get("launch__device_id"))
        number = int(index) if isinstance(index, float) else None
        if number is None and len(self.session.attributes) == 1:
            number = next(iter(self.session.attributes))
        attributes = {**self.session.attributes.get(-1 if number is None else number, {}), **own}
        key = tuple(attributes.items())
        if key not in self._devices:
            self._devices[key] = make_device(attributes, number)
        return self._devices[key]

    def _units_of(self, values: dict[str, float]) -> dict[str, str]:
        names = tuple(values)
        if names not in self._units:
            self._units[names] = {name: unit_of(name) for name in names}
        return self._units[names]

    def _occurrence(self, process: Process, name: str) -> int:
        key = (process.number, name)
        count = self._occurrences.get(key, 0)
        self._occurrences[key] = count + 1
        return count


def _source(path: Path, session: Session) -> Source:
    processes = (session.process, *session.processes)
    return Source(
        label=path.name,
        format="ncu-rep",
        tool_version=session.tool_version,
        created=session.created,
        clock_control=session.option("clock-control"),
        cache_control=session.option("cache-control"),
        replay_mode=session.option("replay-mode"),
        private=Private(
            path=str(path),
            host_names=tuple(sorted({process.host for process in processes} - {""})),
            process_names=tuple(sorted({process.name for process in processes} - {""})),
            command_line=session.command_line or None,
        ),
    )


def _optional(single: dict[int, Value], number: int) -> int | None:
    return integer(single[number]) if number and number in single else None


def _dimensions(value: Value | None) -> tuple[int, int, int] | None:
    if value is None:
        return None
    found = {at: integer(size) for at, size in fields(message(value)) if at in (1, 2, 3)}
    return (found.get(1, 1), found.get(2, 1), found.get(3, 1)) if found else None


def _clock_locked(value: Value | None) -> bool | None:
    """Whether the clocks were held, by what the profiler did, not by what it was asked."""
    found = dict(fields(message(value))) if value is not None else {}
    return bool(found[2]) if 2 in found else None
