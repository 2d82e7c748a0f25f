"""Files of a megabyte that are made to cost time or memory, each read by a process that may use little of either.

``python hostile.py`` ends with the name of the first file that costs more than ``SECONDS`` or ``BYTES``.
"""

from __future__ import annotations

import gzip
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from made_up_reports import block, field, framed, metric, report

MEGABYTE = 1 << 20
SECONDS, BYTES = 10, 1 << 30
RANGES = b'"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",'
WHO = (
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
)
WIDE = "".join(f'"{name}",' for name in (*WHO, "Device", "CC")).encode()
LONG = WIDE + b'"Section Name","Metric Name","Metric Unit","Metric Value"\n'
RESULT = field(7, "k") + field(13, metric(0, field(5, 1)))
NAMES = {
    "blanks": b"operator " + b" " * MEGABYTE,
    "words": b"a " * (MEGABYTE // 2),
    "tags": b"[abi:" * (MEGABYTE // 5),
    "brackets": b"(" * (MEGABYTE // 2) + b")" * (MEGABYTE // 2),
    "angles": b"<" * MEGABYTE,
    "digits": b"0 " * (MEGABYTE // 2),
    "unnamed": b"unnamed>" * (MEGABYTE // 8),
}
CELLS = {
    "instances": b"5 (" + b"1;" * (MEGABYTE // 2) + b")",
    "open brackets": b"5" + b"(" * MEGABYTE,
    "blanks": b" " * MEGABYTE + b"5",
    "digits": b"9" * MEGABYTE,
    "exponent": b"1e" + b"9" * 100_000,
    "commas": b"1" + b",000" * (MEGABYTE // 4),
    "groups": b"1" + b" 000" * (MEGABYTE // 4),
}
RANGE_CELLS = {"starts": b'""a:' * 200_000, "colons": b'""' + b":" * 900_000 + b'x""', "blanks": b" " * MEGABYTE}


def row(number: int = 0, kernel: bytes = b"k", name: bytes = b"gpu__time_duration.sum", value: bytes = b"5") -> bytes:
    who = b'"%d","7","a","h","%s","1","7","(1, 1, 1)","(1, 1, 1)","0","9.0","s",' % (number, kernel)
    return who + b'"%s","ns","%s"\n' % (name, value)


def reports() -> Iterator[tuple[str, bytes]]:
    yield "blocks without a header", report(bytes(MEGABYTE))
    yield "many results", report(block(["a.sum"], {2: [RESULT] * 40_000}))
    names = [f"m{at}.sum" for at in range(30_000)]
    metrics = b"".join(field(13, metric(at, field(5, at))) for at in range(30_000))
    yield "many metrics", report(block(names, {2: [field(7, "k") + metrics]}))
    yield "many strings", _one(RESULT, [""] * 400_000)
    yield "many instances", _one(field(7, "k") + field(13, metric(0, b"", *[field(5, 1)] * 120_000)))
    stack = b"".join(field(2, field(3, field(1, "r"))) for _ in range(60_000))
    yield "many ranges", _one(RESULT + field(21, field(2, field(1, 5) + stack)))
    for what, words in (("many links", "@a:" * 300_000), ("a long link", "@a" + "a" * 900_000)):
        yield what, _one(RESULT + field(19, field(1, "x") + field(3, field(1, field(1, field(1, words))))))
    yield "quotes in the command", report(block(["a.sum"], {2: [RESULT]}, field(11, '--a "' * 200_000)))
    yield "counts that are not there", report(framed(field(2, 1 << 31) + field(1, 1 << 31) + field(5, 1 << 30)))
    yield "headers alone", report(*[framed(field(2, 1 << 20) + field(5, 0))] * 50_000)
    devices = [field(7, "k") + field(13, metric(0, field(5, at))) for at in range(20_000)]
    yield "devices without end", report(block(["device__attribute_x"], {2: devices}))


def _one(result: bytes, strings: list[str] | None = None) -> bytes:
    return report(block(strings or ["a.sum"], {2: [result]}))


def exports() -> Iterator[tuple[str, bytes]]:
    yield from ((f"kernel of {what}", LONG + row(kernel=name)) for what, name in NAMES.items())
    yield from ((f"value of {what}", LONG + row(value=cell)) for what, cell in CELLS.items())
    head = LONG.replace(b'"Kernel', RANGES + b'"Kernel')
    for what, cell in RANGE_CELLS.items():
        yield f"ranges of {what}", head + row().replace(b'"h",', b'"h","5  ' + cell + b'",')
    yield "a line without end", LONG + b'"' + b"a" * MEGABYTE
    yield "quotes", LONG + b'"' * MEGABYTE
    yield "rows that never close", LONG + b'"0","7","a\n' * 80_000
    yield "lone quotes", LONG + b'"0","7","a" b","c\n' * 50_000
    columns = b",".join(b'"m%d"' % at for at in range(20_000))
    short = b"".join(b'"%d","7","a"\n' % at for at in range(60_000))
    yield "short rows of a wide table", WIDE + columns + b"\n" + short
    yield "headers", (LONG + row()) * 3500
    yield "launches", LONG + b"".join(row(at, b"k%d" % at) for at in range(8000))
    yield "metrics of one launch each", LONG + b"".join(row(at, name=b"m%d" % at) for at in range(4000))
    yield "processes", LONG + b"".join(row().replace(b'"7"', b'"%d"' % at, 1) for at in range(8000))
    yield "kinds of GPU", LONG + b"".join(row().replace(b'"9.0"', b'"%d.0"' % at) for at in range(4000))
    yield "sizes", LONG + row().replace(b"(1, 1, 1)", b"(" + b" " * MEGABYTE + b"1")


def packed() -> Iterator[tuple[str, bytes]]:
    import zstandard

    # Half a million rows: honest work, of which a slow core does no more within the time.
    yield "gzip of rows", gzip.compress(LONG) + gzip.compress(row() * 10_000) * 50
    yield "gzip of a line", gzip.compress(LONG + b'"') + gzip.compress(b"a" * MEGABYTE) * 500
    yield "zstd of zeros", zstandard.ZstdCompressor(level=3).compress(report() + bytes(200 * MEGABYTE))


def main() -> None:
    import targets

    def too_long(_: int, __: FrameType | None) -> None:
        raise TimeoutError

    signal.signal(signal.SIGXCPU, too_long)
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    for make, target in ((reports, "ncu_rep"), (exports, "ncu_csv"), (packed, "ncu_csv")):
        for what, data in make():
            used = resource.getrusage(resource.RUSAGE_SELF)
            resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + SECONDS, hard))
            try:
                targets.TARGETS[target](data)
            except (TimeoutError, MemoryError) as error:
                sys.exit(f"{target}, {what} ({len(data):,} B): {error!r}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
