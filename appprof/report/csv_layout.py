"""The header of an Nsight Compute CSV: which column is what, by name alone, and whether the file is long or wide."""

from __future__ import annotations

import csv
import re

import msgspec

IDENTITY = (
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream",
    "Block Size", "Grid Size", "Device", "CC",
)  # fmt: skip
NVTX_PUSH_POP = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
NVTX_START_END = "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
METRIC = ("Metric Name", "Metric Unit", "Metric Value")
SECTION, BODY_ITEM = "Section Name", "Body Item Label"
RULES = ("Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup")
NOT_METRICS = frozenset((*IDENTITY, NVTX_PUSH_POP, NVTX_START_END, *METRIC, SECTION, BODY_ITEM, *RULES))
DELIMITERS = (",", ";", "\t")
CELL = r'"[^"]*+(?:""[^"]*+)*+"'
WELL_FORMED = re.compile(rf"(?:{CELL}|)(?:,(?:{CELL}|))*")


class Layout(msgspec.Struct, frozen=True):
    """``columns`` maps a header name to its index; of a name that stands twice, the first counts."""

    columns: dict[str, int]
    width: int
    delimiter: str
    quoted: bool  # whether the header's own cells are in quotes, as the tool writes them

    @property
    def is_long(self) -> bool:
        return all(name in self.columns for name in METRIC)

    @property
    def is_regular(self) -> bool:
        """Name, unit and value side by side behind all that identifies a launch, as every tool version has them."""
        place = self.columns.get(METRIC[0], 0)
        behind = {self.columns[name] for name in RULES if name in self.columns}
        return (
            self.quoted
            and self.delimiter == ","
            and [self.columns.get(name) for name in METRIC] == [place, place + 1, place + 2]
            and behind == set(range(place + 3, self.width))
            and self.columns["ID"] == 0
        )


def row_cells(line: str, layout: Layout) -> list[str] | None:
    """The cells of a row below the header; None where they are not those of the header.

    ncu doubles the quotes that it adds around NVTX ranges and leaves those inside a range's own name as they are: a CSV
    reader then splits and merges cells, so that values move into other columns. Such rows are cut at ``","``.
    """
    if not layout.quoted or layout.delimiter != "," or WELL_FORMED.fullmatch(line):
        cells = split_cells(line, layout.delimiter)
        return cells if len(cells) <= layout.width else None
    return literal_cells(line, layout)


def literal_cells(line: str, layout: Layout) -> list[str] | None:
    """The cells between ``","``, whatever quotes stand in them; None where their number is not that of the header."""
    body = line.rstrip(",")
    if len(body) < 2 or not (body.startswith('"') and body.endswith('"')):
        return None
    cells = [cell.replace('""', '"') for cell in body[1:-1].split('","')]
    # Metric rows of a page with rules end behind their value.
    whole = layout.columns[METRIC[2]] + 1 if layout.is_long else layout.width
    return cells if len(cells) in (whole, layout.width) else None


def split_cells(line: str, delimiter: str = ",") -> list[str]:
    """The cells of one logical line; quotes are doubled inside a cell, line ends may stand in it."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # a cell above 128 KiB (instances), a bare carriage return
        return _split_any(line, delimiter)


def _split_any(line: str, delimiter: str) -> list[str]:
    mark = re.escape(delimiter)
    cells = re.finditer(rf'(?:^|{mark})(?:"([^"]*(?:""[^"]*)*)"?[^{mark}]*|([^{mark}]*))', line)
    return [cell[1].replace('""', '"') if cell[1] is not None else cell[2] for cell in cells]


def find_layout(line: str) -> Layout | None:
    """The layout that a header line describes; None for any other line."""
    if "ID" not in line or "Kernel Name" not in line:
        return None
    for delimiter in DELIMITERS:
        cells = [cell.strip() for cell in split_cells(line, delimiter)]
        if "ID" in cells and "Kernel Name" in cells and len(cells) > 3:
            columns: dict[str, int] = {}
            for index, cell in enumerate(cells):
                columns.setdefault(cell, index)
            return Layout(columns, len(cells), delimiter, line.startswith('"ID"'))
    return None
