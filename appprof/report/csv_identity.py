"""Who a row of a CSV speaks of: the launch, its shape, its place and the NVTX ranges around it."""

from __future__ import annotations

import re

import msgspec

from appprof.report.csv_layout import NVTX_PUSH_POP, NVTX_START_END, Layout
from appprof.report.profile import NvtxRange

DIMENSIONS = re.compile(r"\(?\s*(\d+)\s*[,x; ]\s*(\d+)\s*[,x; ]\s*(\d+)\s*\)?")
CAPABILITY = re.compile(r"(\d+)[.,](\d+)")
NVTX_CELL = re.compile(r'(?:(\d+)\s+)?"([^"]*(?:""[^"]*)*)"')
NVTX_FIELDS_BEHIND_NAME = 6  # payload type and value, colour type and colour, message type and message


class Identity(msgspec.Struct, frozen=True):
    """Everything that stands in the identity cells but the launch's ID, its section and its body item."""

    kernel: str
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
    return Identity(
        kernel=without_nvtx_prefix(cell("Kernel Name"), nvtx),
        process_id=_integer(cell("Process ID")),
        process_name=cell("Process Name"),
        host_name=cell("Host Name"),
        context=_integer(cell("Context")),
        stream=_integer(cell("Stream")),
        grid=_dimensions(cell("Grid Size")),
        block=_dimensions(cell("Block Size")),
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
    """``640  "<default domain>:forward:none:none:none:none:none:none" ``: an id, then one quoted text a range."""
    found, thread = [], None
    for match in NVTX_CELL.finditer(cell):
        thread = int(match[1]) if match[1] else thread
        domain, _, rest = match[2].replace('""', '"').partition(":")
        name = rest.rsplit(":", NVTX_FIELDS_BEHIND_NAME)[0]
        domain = "" if domain == "<default domain>" else domain
        found.append(NvtxRange(name=name, domain=domain, kind=kind, thread=thread if kind == "push_pop" else None))
    return tuple(found)


def _integer(text: str) -> int | None:
    digits = text.replace(",", "").replace(".", "")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None


def _dimensions(text: str) -> tuple[int, int, int] | None:
    match = DIMENSIONS.fullmatch(text)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None
