"""Changes to a JSON document or a CSV file that keep its form, so that they reach what its values mean."""

from __future__ import annotations

import json
import random
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 3, 1 << 31, 1 << 63, 1 << 64, 10**30, 0.0, -0.0, 0.5, 1e-320, 1e-30, 1e30, 1e308, -1e308,
    "", "0", "n/a", "cpu", "gpu", "fp64", "DRAM", "kernel", "</script>", "\u202e\x00\x1b[2J", "x" * 3000,
    [], {}, [0], {"": 0},
)  # fmt: skip
CELLS = (
    b"", b"0", b"-1", b"1", b"1e400", b"1e-" + b"9" * 5000,
    b"1e308", b"-1e308", b"1e-320", b"0.000000", b"n/a", b"nan", b"inf", b"-nan(ind)",
    b"1.234", b"1,234", b"1.234.567,89", b"1,234,567.89", b"1'234", b"1 234", b"9" * 400, b"9" * 20, b"4 (1; 2; x)",
    b"9" * 5000 + b".0", b"(%s, 1, 1)" % (b"9" * 5000), b"9" * 5000 + b' ""a:b"" ', b"4 (%s: 1)" % (b"9" * 5000),
    b"a (a)", b"Gbyte", b"us", b"%", b"cycle/second", b"inst/cycle", b"furlong", b"byte", b"90.0", b"0.0", b"9.0",
    b"7.0", b"(0, 0, 0)", b"(1, 1, 1)", b"range", b"graph", b"\xff\xfe", b"\x00", b'""', b'"', b"\n", b"x" * 5000,
    b"((((", b'7  ""a:b:none:none:none:none:none:none"" ', b"gpu__time_duration.sum", b"dram__bytes.sum",
    b"lts__t_bytes.sum", b"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed",
    b"sm__cycles_elapsed.avg.per_second",
    b"device__attribute_multiprocessor_count", b"dram__bytes.sum.peak_sustained",
    b"dram__cycles_elapsed.avg.per_second",
)  # fmt: skip


def mutate_json(data: bytes, seed: int) -> bytes:
    """One value inside a document replaced, left out or doubled; the bytes as they are where they are no JSON."""
    choice = random.Random(seed)
    try:
        root = json.loads(data)
    except (ValueError, RecursionError):
        return data
    place = root
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place)) if isinstance(place, list) else ()
        if not keys:
            return data
        key = choice.choice(list(keys))
        if not isinstance(place[key], dict | list) or not place[key] or choice.random() < 0.05:
            break
        place = place[key]
    match choice.randrange(6):
        case 0:
            del place[key]
        case 1 if isinstance(place, list):
            place.append(place[key])
        case 2 if isinstance(place[key], int | float):
            place[key] = place[key] * choice.choice((-1, 0, 2, 1e3, 1e-9, 1e200))
        case _:
            place[key] = choice.choice(VALUES)
    return json.dumps(root).encode()


def mutate_csv(data: bytes, seed: int) -> bytes:
    """A cell replaced or a row left out, doubled or moved."""
    choice = random.Random(seed)
    lines = data.split(b"\n")
    at = choice.randrange(len(lines))
    match choice.randrange(6):
        case 0:
            del lines[at]
        case 1:
            lines.insert(choice.randrange(len(lines) + 1), lines[at])
        case _:
            cells = lines[at].split(b'","')
            cells[choice.randrange(len(cells))] = choice.choice(CELLS)
            lines[at] = b'","'.join(cells)
    return b"\n".join(lines)
