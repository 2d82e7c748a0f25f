"""Who a row of a CSV speaks of: the launch, its shape, its place and the NVTX ranges around it."""

from __future__ import annotations

import re

import msgspec

from appprof.report.csv_layout import NVTX_PUSH_POP, NVTX_START_END, Layout
from appprof.report.names import name_without_kernel
from appprof.report.profile import DEFAULT_DOMAIN, NvtxRange

# Python refuses to read numbers of thousands of digits.
DIMENSIONS = re.compile(r"\(?\s*(\d{1,12})\s*[,x; ]\s*(\d{1,12})\s*[,x; ]\s*(\d{1,12})\s*\)?")
CAPABILITY = re.compile(r"(\d{1,3})[.,](\d{1,3})")
NAMED = re.compile(r"(\d+)(?: \(.*\))?", re.DOTALL)  # a stream with a name: ``13 (side stream)``
# ``640  "<range>"  "<range>" `` and `` "0:<range>" ``: a range's own quotes are not doubled.
NVTX_START = re.compile(r'\s*(?:(\d{1,18}) +)?"')
NVTX_BETWEEN = re.compile(r'" +(?:(\d{1,18}) +)?"')
START_END_ID = re.compile(r"\d{1,20}:")
NVTX_FIELDS_BEHIND_NAME = 6  # payload type and value, colour type and colour, message type and message
REPEATED_NAME = re.compile(r"(.*)(?::[^:]*){5}:\1", re.DOTALL)
REPEATED_LIMIT = 4096


class Identity(msgspec.Struct, frozen=True):
    """Everything that stands in the identity cells but the launch's ID, its section and its body item."""

    kernel: str
    kind: str = "kernel"
    process_id: int | None = None
    process_name: str = ""
    host_name: str = ""
    context: int | None = None
    stream: int | None = None
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    device_index: int | None = None
    compute_capability: tuple[int, int] | None = None
    nvtx: tuple[NvtxRange, ...] = ()


def identify(layout: Layout, cells: list[str]) -> Identity:
    """The identity in the cells of one row; a cell that the layout has not, or that says nothing, is None."""

    def cell(name: str) -> str:
        index = layout.columns.get(name)
        return cells[index].strip() if index is not None and index < len(cells) else ""

    nvtx = (*_ranges(cell(NVTX_START_END), "start_end"), *_ranges(cell(NVTX_PUSH_POP), "push_pop"))
    capability = CAPABILITY.fullmatch(cell("CC"))
    kernel, grid = without_nvtx_prefix(cell("Kernel Name"), nvtx), _dimensions(cell("Grid Size"))
    kind = kernel if kernel == "graph" or (kernel == "range" and grid is None) else "kernel"
    return Identity(
        kernel=kernel if kind == "kernel" else name_without_kernel(kind, nvtx),
        kind=kind,
        process_id=_integer(cell("Process ID")),
        process_name=cell("Process Name"),
        host_name=cell("Host Name"),
        context=_number(cell("Context")),
        stream=_number(cell("Stream")),
        grid=grid if kind == "kernel" else None,  # that of a graph is the largest of each side over its kernels
        block=_dimensions(cell("Block Size")) if kind == "kernel" else None,
        device_index=_integer(cell("Device")),
        compute_capability=(int(capability[1]), int(capability[2])) if capability else None,
        nvtx=nvtx,
    )


def without_nvtx_prefix(kernel: str, nvtx: tuple[NvtxRange, ...]) -> str:
    """The name without what ``--print-nvtx-rename kernel`` puts before it, where the ranges prove that it did."""
    names = [row.name for row in nvtx if row.kind == "push_pop"]
    for prefix in ("/".join(names), *names):
        if prefix and kernel.startswith(prefix + "/"):
            return kernel[len(prefix) + 1 :]
    return kernel


def _ranges(cell: str, kind: str) -> tuple[NvtxRange, ...]:
    """``640  "<default domain>:forward:none:none:none:none:none:none" ``: a thread, then one quoted text a range."""
    start = NVTX_START.match(cell)
    if start is None:
        return ()
    found = []
    pieces = NVTX_BETWEEN.split(cell[start.end() :].rstrip().removesuffix('"'))
    thread: str | None = start[1]
    for at in range(0, len(pieces), 2):
        thread = pieces[at - 1] or thread if at else thread
        text = START_END_ID.sub("", pieces[at], count=1) if kind == "start_end" else pieces[at]
        domain, _, rest = text.partition(":")
        found.append(
            NvtxRange(
                name=_range_name(rest),
                domain="" if domain == DEFAULT_DOMAIN else domain,
                kind=kind,
                thread=int(thread) if thread and kind == "push_pop" else None,
            )
        )
    return tuple(found)


def _range_name(text: str) -> str:
    """The name before its six attributes. A registered one stands again behind them, with colons of its own."""
    repeated = REPEATED_NAME.fullmatch(text) if not text.endswith(":none") and len(text) < REPEATED_LIMIT else None
    return repeated[1] if repeated else text.rsplit(":", NVTX_FIELDS_BEHIND_NAME)[0]


def _number(text: str) -> int | None:
    named = NAMED.fullmatch(text)
    return _integer(named[1]) if named else None


def _integer(text: str) -> int | None:
    digits = text.replace(",", "").replace(".", "")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None


def _dimensions(text: str) -> tuple[int, int, int] | None:
    match = DIMENSIONS.fullmatch(text)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None
