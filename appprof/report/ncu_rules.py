"""What the profiler's own rules said of a result in an ``.ncu-rep`` file, as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from appprof.report.protobuf_wire import fields, message, text

NOTHING = memoryview(b"")
# ``@url:Profiling Guide:https://...@`` and ``@section:Occupancy:the section@``, as the tool's pages link.
LINK = re.compile(r"@(\w+):([^:@]*):([^@]*)@")


def read_advice(results: Iterable[memoryview]) -> tuple[str, ...]:
    """One text a message: the rule's name, then what it says, as the CSV of the details page writes both."""
    found = []
    for view in results:
        parts = dict(fields(view))
        rule, body = text(parts.get(1, NOTHING)), message(parts.get(3, NOTHING))
        for item in (message(value) for at, value in fields(body) if at == 1):
            for said in (message(value) for at, value in fields(item) if at == 1):
                words = text(dict(fields(said)).get(1, NOTHING))
                found.append(f"{rule} {LINK.sub(_plain, words)}".strip())
    return tuple(found)


def _plain(link: re.Match[str]) -> str:
    kind, words, target = link.groups()
    return f"{words} ({target})" if kind == "url" else target
