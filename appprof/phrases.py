"""Figures and verdicts as text: the same in the terminal, in CSV, in Markdown and on pages. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from appprof.analysis import Coverage
from appprof.result import KernelRow, Result
from appprof.words import brief_path, part, path_words
from ert_numba.units import si

_MUCH = 0.1  # of the kernel time
_SHORT_RESOURCE = {"DRAM": "DRAM", "L2": "L2", "L1": "L1", "SHARED": "shared", "HOST": "host"}


def unknown(value: float | None, text: Callable[[float], str]) -> str:
    """A number as text; what is not known is a question mark, never 0."""
    return "?" if value is None else text(value)


def percent(value: float) -> str:
    """``8.4%``, ``74%``; ``149x`` where no one would speak of per cent."""
    if value >= 10:
        return f"{value:,.0f}x"
    return f"{value:.1%}" if value < 0.0995 else f"{value:.0%}"


def ratio(value: float) -> str:
    """Three digits, without an exponent where a person would write none: ``0.167``, ``41.8``, ``1,734``."""
    return f"{value:,.0f}" if 1000 <= value < 1e9 else f"{value:.3g}"


def work_unit(paths: Iterable[str]) -> str:
    """``OP`` where all of the work is of integers, else ``FLOP``: by the keys of its paths."""
    keys = list(paths)
    return "OP" if keys and all(key.startswith("int") for key in keys) else "FLOP"


def rate_words(row: KernelRow) -> str:
    """``51.0 TFLOP/s``, ``856 TOP/s``, or ``?``."""
    return unknown(row.flop_per_second, lambda value: si(value, f"{work_unit(row.flop_by_path)}/s"))


def kernel_time_words(result: Result) -> str:
    """Summed kernel time; where no launch has a time it is not known, and not 0."""
    return si(result.kernel_seconds, "s") if result.coverage.timed_launches else "unknown"


def count_words(number: int, one: str, many: str) -> str:
    """``1 launch``, ``7 launches``."""
    return f"{number:,} {one if number == 1 else many}"


def verdict_words(row: KernelRow) -> str:
    """``FP32``, ``L2``, ``tensor wgmma``, ``IMPOSSIBLE``: one or two words for a column."""
    if row.verdict == "excess":
        return "IMPOSSIBLE" if row.excess == "impossible" else "above roof"
    if row.verdict in ("latency", "launch", "issue", "unknown"):
        return row.verdict
    bound = row.bound or ""
    if bound == "tensor":
        paths = [key for key in row.flop_by_path if ".tensor" in key]
        return brief_path(max(paths, key=row.flop_by_path.__getitem__))
    return _SHORT_RESOURCE.get(bound) or path_words(bound)


def coverage_words(coverage: Coverage) -> str:
    """Which share of the time has what: the line that says how far to trust the rest."""
    words = [f"FLOP of {part(coverage.flop)} of the kernel time"]
    if coverage.flop_partial:
        words.append(f"some FLOP of another {part(coverage.flop_partial)}")
    words += [f"bytes of {level} of {part(share)}" for level, share in coverage.bytes.items()]
    if coverage.timed_launches < coverage.launches:
        words.append(f"a time of {coverage.timed_launches} of {coverage.launches} launches")
    return "Known: " + ", ".join(words) + "."


def instruction_words(result: Result) -> str:
    """Where much of the time only a count of instructions would explain, the command for one; else nothing."""
    none = sum(row.time_share or 0.0 for row in result.kernels if row.verdict == "latency" and row.instructions is None)
    if none < _MUCH or not result.instruction_command:
        return ""
    command = result.instruction_command
    return f"{part(none)} of the kernel time is near no roof: for its instructions profile with\n  {command}"


def why_one_group(by: str) -> str:
    """Why there is no table of a way to group: it tells no launches apart."""
    hints = {
        "range": "; a report has NVTX ranges where it was taken with ncu --nvtx",
        "module": "; the README has the hooks that name modules",
        "module-kind": " further than modules do",
    }
    return f"it tells no launches apart{hints.get(by, '')}"


def figures_of(total: str, value: float) -> str:
    """A total of a comparison in its unit."""
    unit = {"time": "s", "flop": "FLOP"}.get(total, "B")
    return f"{value:.0f}" if total == "launches" else si(value, unit)


def signed(change: float | None) -> str:
    """``+5.1%``, ``-40.0%`` of B against A; ``23x`` where no one would speak of per cent; nothing is ``0.0%``."""
    if change is None:
        return "?"
    if change >= 10:
        return f"{change + 1:,.0f}x"
    return "0.0%" if abs(change) < 5e-4 else f"{change:+.1%}"
