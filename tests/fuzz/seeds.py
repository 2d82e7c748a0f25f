"""Small inputs that a fuzzer starts from: real files, cut to what their formats consist of."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

from made_up_reports import field, framed

from appprof.report.protobuf_wire import fields, integer, message
from ert_numba.errors import ErtError

DATA = Path(__file__).parents[1] / "data"
RESULTS = Path(__file__).parents[2] / "results"
METRICS, KERNELS, LINES, COLUMNS, IDENTITY = 12, 3, 12, 30, 14
OF_ROOFLINES = (b"gpu__time", b"dram__bytes", b"lts__t_", b"smsp__sass", b"sm__cycles", b"launch__occupancy_per")
COUNTS, METRIC_FIELD = (2, 7, 8, 9), {2: 13, 7: 4, 8: 4, 9: 4}
SECTIONS = 17  # of a kernel's result: what a page shows, which no reader needs


def reports() -> Iterator[bytes]:
    """Reports of a few results with a few metrics each and no machine code."""
    for path in sorted(DATA.rglob("*.ncu-rep*")):
        data = path.read_bytes()
        yield cut_report(gzip.decompress(data) if path.suffix == ".gz" else data)


def exports() -> Iterator[bytes]:
    """CSV files of a few lines: ncu's own, and those that imitate faults."""
    for path in sorted(DATA.rglob("*.csv*")):
        data = path.read_bytes()
        yield cut_csv(gzip.decompress(data) if path.suffix == ".gz" else data)


def stored() -> Iterator[bytes]:
    """Documents: application and machine models, ERT's, and those of the results that are small enough."""
    from example_models import cpu_model, h200_model
    from example_profiles import models_of

    from ert_numba.store.documents import encode

    profiles = [*sorted((DATA / "ncu").rglob("F*.csv")), *sorted((DATA / "ncu" / "h200").glob("*_raw.csv"))]
    for path in (*profiles, *sorted(DATA.rglob("options/*.ncu-rep.gz"))):
        with contextlib.suppress(ErtError):
            yield from map(encode, models_of(path))
    yield from map(encode, (cpu_model(), h200_model()))
    yield from (path.read_bytes() for path in sorted((DATA / "ert").glob("*.json")))
    yield from (path.read_bytes() for path in sorted(RESULTS.rglob("*.json")) if path.stat().st_size < 1 << 15)


SEEDS: dict[str, Callable[[], Iterator[bytes]]] = {"ncu_rep": reports, "ncu_csv": exports, "document": stored}


def cut_report(data: bytes) -> bytes:
    """The report without sources and sections, of each kind of result the first few, with the metrics of a roofline."""
    view = memoryview(data)
    out, at = bytearray(data[:4]), 4
    size = int.from_bytes(view[at : at + 4], "little")
    out += view[at : at + 4 + size]
    at += 4 + size
    kept = 0
    while at < len(data):
        size = int.from_bytes(view[at : at + 4], "little")
        header = list(fields(view[at + 4 : at + 4 + size]))
        at += 4 + size
        numbers = {number: integer(value) for number, value in header if number in (1, 5, *COUNTS)}
        payload, results = b"", dict.fromkeys(COUNTS, 0)
        place = at
        for number in (1, *COUNTS):
            for _ in range(numbers.get(number, 0)):
                length = int.from_bytes(view[place : place + 4], "little")
                if number != 1 and kept < KERNELS:
                    payload += framed(_cut_result(view[place + 4 : place + 4 + length], METRIC_FIELD[number]))
                    results[number] += 1
                    kept += 1
                place += 4 + length
        at += numbers.get(5, 0)
        whole = b"".join(
            field(number, value if isinstance(value, int) else bytes(value))
            for number, value in header
            if number not in (1, 5, *COUNTS)
        )
        whole += b"".join(field(number, count) for number, count in results.items() if count) + field(5, len(payload))
        out += framed(whole) + payload
    return bytes(out)


def _cut_result(view: memoryview, metrics: int) -> bytes:
    out, left = b"", METRICS
    for number, value in fields(view):
        if number == metrics:
            wanted = b"(" in bytes(message(value)) or b"\x19" in bytes(message(value))
            if left <= 0 or len(message(value)) > 200 or not wanted:
                continue
            left -= 1
        if number != SECTIONS or metrics != METRIC_FIELD[2]:
            out += field(number, value if isinstance(value, int) else bytes(value))
    return out


def cut_csv(data: bytes) -> bytes:
    """The first lines, of hundreds of columns those that say who a launch is and those of a roofline."""
    lines = [line.split(b'","') for line in data.split(b"\n")[:LINES]]
    widest = max(lines, key=len)
    if len(widest) <= COLUMNS:
        return b"\n".join(map(b'","'.join, lines))
    kept = [at for at, name in enumerate(widest) if at < IDENTITY or name.startswith(OF_ROOFLINES)]
    cut = [[line[at] for at in kept if at < len(line)] for line in lines]
    return b"\n".join(b'","'.join(line) + b'"' * (len(line) == len(kept)) for line in cut)
