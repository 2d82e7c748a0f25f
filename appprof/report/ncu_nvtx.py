"""The NVTX ranges that were open around a result of an ``.ncu-rep`` file."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from appprof.report.profile import DEFAULT_DOMAIN, NvtxRange
from appprof.report.protobuf_wire import Value, fields, integer, message, text

NOTHING = memoryview(b"")
OF_THREADS = 0  # ranges belong to the thread that pushed them, unless the user asked for those of the process
REGISTERED = 3


class Domain(msgspec.Struct, frozen=True):
    name: str = ""
    strings: Mapping[int, str] = {}


def read_nvtx(value: Value | None, thread: int | None) -> tuple[NvtxRange, ...]:
    """Start-end ranges of the process, then the pushed ones of the launching thread, outermost first.

    Of a thread that pushed none, those of all threads: backward passes run on threads of their own.
    """
    if value is None:
        return ()
    state = list(fields(message(value)))
    domains = dict(_domain(message(field)) for number, field in state if number == 1)
    scope = next((integer(field) for number, field in state if number == 5), OF_THREADS)
    started = [row for number, field in state if number == 3 for row in _started(message(field), domains)]
    pushed = [row for number, field in state if number == 2 for row in _pushed(message(field), domains)]
    own = [row for row in pushed if row.thread == thread] if scope == OF_THREADS else []
    return (*started, *(own or pushed))


def _domain(view: memoryview) -> tuple[int, Domain]:
    number, name = 0, ""
    strings: dict[int, str] = {}
    for at, value in fields(view):
        if at == 1:
            number = integer(value)
        elif at == 2:
            name = text(value)
        elif at == 3:
            pair = dict(fields(message(value)))
            strings[integer(pair.get(1, 0))] = text(pair.get(2, NOTHING))
    return number, Domain("" if name == DEFAULT_DOMAIN else name, strings)


def _pushed(view: memoryview, domains: Mapping[int, Domain]) -> list[NvtxRange]:
    """The ranges of one thread."""
    stacks = list(fields(view))
    thread = next((integer(value) for at, value in stacks if at == 1), 0)
    found = []
    for at, stack in stacks:
        if at == 2:
            domain, ranges = _parts(message(stack), domains)
            found += [
                NvtxRange(name=_name(one, 1, 2, domain), domain=domain.name, kind="push_pop", thread=thread)
                for one in ranges
            ]
    return found


def _started(view: memoryview, domains: Mapping[int, Domain]) -> list[NvtxRange]:
    """The start-end ranges of one domain."""
    domain, ranges = _parts(view, domains)
    return [NvtxRange(name=_name(one, 2, 3, domain), domain=domain.name, kind="start_end") for one in ranges]


def _parts(view: memoryview, domains: Mapping[int, Domain]) -> tuple[Domain, list[memoryview]]:
    parts = list(fields(view))
    number = next((integer(value) for at, value in parts if at == 1), 0)
    return domains.get(number, Domain()), [message(value) for at, value in parts if at == 3]


def _name(view: memoryview, name_at: int, attributes_at: int, domain: Domain) -> str:
    """A range's name; where it is empty and its message registered, the string that was registered."""
    parts = dict(fields(view))
    name = text(parts.get(name_at, NOTHING))
    if name or attributes_at not in parts:
        return name
    attributes = dict(fields(message(parts[attributes_at])))
    said = dict(fields(message(attributes.get(5, NOTHING))))
    return domain.strings.get(integer(said.get(3, 0)), "") if said.get(1) == REGISTERED else ""
