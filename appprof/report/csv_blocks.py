"""The rows of many launches of a long CSV at once.

Those of one launch share their beginning to the byte, and what is left of them is cut at its quotes, where counting
these proves that it gives what a CSV reader would.
"""

from __future__ import annotations

import re

SEPARATOR = b'","'
LINE_END = b'"\n"'
MOST_SKIPS = 4096  # lengths of beginnings kept
SLACK = 4  # bytes by which the values of a launch may be shorter than those of the last one, a row


class BlockFinder:
    """Finds the rows of launches by their common beginnings; remembers how many rows the last launch had."""

    def __init__(self) -> None:
        self._skips: dict[int, re.Pattern[bytes]] = {}
        self._rows = self._tail_bytes = 0

    def find(
        self, text: bytes, at: int, end: int, trailer: bytes, most: int
    ) -> tuple[list[tuple[int, bytes, int]], list[bytes], int]:
        """Up to ``most`` runs of lines with one beginning in ``text[at:end]``, each (its place, the beginning, its
        lines); all lines without their beginnings; where the last run ends.

        ``trailer`` is what every line ends in, from the last quote of its value on.
        """
        blocks: list[tuple[int, bytes, int]] = []
        tails: list[bytes] = []
        while at < end and len(blocks) < most:
            stop = text.find(b"\n", at, end)
            value = text.rfind(SEPARATOR, at, stop - len(trailer)) if text.endswith(trailer, at, stop) else -1
            unit = text.rfind(SEPARATOR, at, value) if value >= 0 else -1
            name = text.rfind(SEPARATOR, at, unit) if unit >= 0 else -1
            if name < 0:
                break
            prefix = text[at : name + len(SEPARATOR)]
            size = len(prefix)
            rows = [text[at + size : stop]]
            # Where the rows of a launch end that has as many as the last one had, of almost their length.
            guess = text.find(b"\n", at + self._rows * size + self._tail_bytes, end)
            if guess > stop and text.startswith(prefix, text.rfind(b"\n", at, guess) + 1):
                body = text[at + size : guess]
                found = self._skip(size).split(body)
                if (b"\n" + prefix).join(found) == body:
                    rows, stop = found, guess
            while text.startswith(prefix, stop + 1, end):
                begin, stop = stop + 1 + size, text.find(b"\n", stop + 1, end)
                rows.append(text[begin:stop])
            tails += rows
            count = len(rows)
            self._rows, self._tail_bytes = count, stop - at - count * (size + SLACK)
            blocks.append((at, prefix, count))
            at = stop + 1
        return blocks, tails, at

    def _skip(self, size: int) -> re.Pattern[bytes]:
        """A line end and so many bytes."""
        if size not in self._skips:
            self._skips = {} if len(self._skips) > MOST_SKIPS else self._skips
            self._skips[size] = re.compile(rb"\n.{%d}" % size, re.DOTALL)
        return self._skips[size]


def cut(tails: list[bytes], trailer: bytes) -> tuple[list[bytes], list[bytes], list[bytes]] | None:
    """Names, units and values of rows without their beginnings; None where quotes inside of cells would mislead."""
    # Name, comma, unit, comma, value, what follows it, line end. Line ends stand between rows alone: where each is
    # the last of seven pieces, every row has its own five quotes and lends none to the next.
    lines, behind = LINE_END.join((*tails, b"")), trailer[1:]
    if b'"' in behind:
        lines, behind = lines.replace(trailer + LINE_END, b'"' + LINE_END), b""
    cells, count = lines.split(b'"'), len(tails)
    bars = ((1, b","), (3, b","), (5, behind), (6, b"\n"))
    if len(cells) != 7 * count + 1 or any(cells[place::7].count(bar) != count for place, bar in bars):
        return None
    return cells[0:-1:7], cells[2::7], cells[4::7]
