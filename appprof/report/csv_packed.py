"""What a scanner found in one part of a long CSV, as bytes for another process, and put to what another one found."""

from __future__ import annotations

from array import array
from itertools import islice

import msgspec

from appprof.report.csv_identity import Identity
from appprof.report.csv_rows import LOST_KEPT, MESSAGES_KEPT, RowScanner
from appprof.report.csv_tables import GroupKey, LongTable

NUMBER = "q"  # eight bytes: a launch's ID has up to 18 digits


class Packed(msgspec.Struct, frozen=True, array_like=True):
    """The launches, groups and messages of a part. ``cells`` are those of a group, ``rows`` how many rows they make.

    A launch has an ID, the index of its identity and a count of parts; a part is the index of a group and a row of it.
    These five are arrays of ``NUMBER`` as bytes. ``advice`` goes by the launch's index.
    """

    keys: list[GroupKey]
    cells: list[bytes]
    rows: list[int]
    identities: list[Identity]
    ids: bytes
    whose: bytes
    counts: bytes
    part_groups: bytes
    part_rows: bytes
    advice: dict[int, list[str]]
    messages: list[str]
    lost: list[str]
    lost_rows: int
    noise: int


_decoder = msgspec.msgpack.Decoder(Packed)


def pack(scanner: RowScanner, table: LongTable) -> bytes:
    """``table`` holds all that ``scanner`` found."""
    places = {id(group): place for place, group in enumerate(table.keyed.values())}
    identities: dict[int, int] = {}
    kept: list[Identity] = []
    ids, whose, counts, part_groups, part_rows = (array(NUMBER) for _ in range(5))
    advice: dict[int, list[str]] = {}
    for index, launch in enumerate(table.launches):
        who = identities.setdefault(id(launch.identity), len(kept))
        if who == len(kept):
            kept.append(launch.identity)
        ids.append(launch.id)
        whose.append(who)
        counts.append(len(launch.parts))
        for group, row in launch.parts:
            part_groups.append(places[id(group)])
            part_rows.append(row)
        if launch.advice:
            advice[index] = launch.advice
    return msgspec.msgpack.encode(
        Packed(
            keys=list(table.keyed),
            cells=[b"\n".join(group.cells) for group in table.keyed.values()],  # no cell has a line end
            rows=[group.count for group in table.keyed.values()],
            identities=kept,
            ids=ids.tobytes(),
            whose=whose.tobytes(),
            counts=counts.tobytes(),
            part_groups=part_groups.tobytes(),
            part_rows=part_rows.tobytes(),
            advice=advice,
            messages=scanner.messages,
            lost=scanner.lost,
            lost_rows=scanner.lost_rows,
            noise=scanner.noise,
        )
    )


def unpack(data: bytes) -> Packed | None:
    """None for bytes that :func:`pack` has not made."""
    try:
        return _decoder.decode(data)
    except msgspec.DecodeError:  # of which ValidationError is one
        return None


def append(packed: Packed, scanner: RowScanner, table: LongTable) -> None:
    """Put what was found in the next part of the file to ``scanner`` and its ``table``, as if they had read it."""
    groups = [table.group(key) for key in packed.keys]
    launch_of, advice = table.launch, packed.advice
    first = [group.count for group in groups]
    for group, cells, rows in zip(groups, packed.cells, packed.rows, strict=True):
        group.cells += cells.split(b"\n")
        group.count += rows
    places = [table.place(identity) for identity in packed.identities]
    parts = zip(_numbers(packed.part_groups), _numbers(packed.part_rows), strict=True)
    launches = zip(_numbers(packed.ids), _numbers(packed.whose), _numbers(packed.counts), strict=True)
    for index, (number, who, count) in enumerate(launches):
        launch = launch_of(number, places[who])
        for at, row in islice(parts, count):
            launch.parts.append((groups[at], first[at] + row))
        if index in advice:
            launch.advice += advice[index]
    scanner.messages += packed.messages[: MESSAGES_KEPT - len(scanner.messages)]
    scanner.lost += packed.lost[: LOST_KEPT - len(scanner.lost)]
    scanner.lost_rows += packed.lost_rows
    scanner.noise += packed.noise


def _numbers(data: bytes) -> array[int]:
    numbers: array[int] = array(NUMBER)
    numbers.frombytes(data)
    return numbers
