"""The one door to every profile format: a row a format, tried in order by what the file begins with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from appprof.report.foreign import refuse_foreign
from appprof.report.join import join_reports
from appprof.report.ncu_container import MAGIC
from appprof.report.ncu_csv import read_ncu_csv
from appprof.report.ncu_rep import read_ncu_rep
from appprof.report.opened import first_bytes
from appprof.report.profile import Report
from ert_numba.errors import ErtError

HEAD_BYTES = 4096


class Format(msgspec.Struct, frozen=True):
    """``begins`` looks at the file's name and its first bytes; ``read`` takes its path and the user's decimal mark."""

    begins: Callable[[str, bytes], bool]
    read: Callable[[Path, str | None], Report]


# To add a format, write a reader that returns a Report and add its row; the CSV takes whatever nobody else knows.
FORMATS: tuple[Format, ...] = (
    Format(lambda _, head: head.startswith(MAGIC), lambda path, _: read_ncu_rep(path)),
    Format(lambda _, head: True, read_ncu_csv),
)


def read_report(paths: Sequence[Path], decimal_mark: str | None = None) -> Report:
    """Everything that one or several files hold; files of one run that hold different metrics are joined.

    Raises ``ErtError`` for a file that is no profile. Each file's ``Source.label`` is made unique.
    """
    reports, labels = [], set[str]()
    for path in paths:
        report = read_file(path, decimal_mark)
        label, number = path.name, 1
        while label in labels:
            number += 1
            label = f"{path.name} ({number})"
        labels.add(label)
        reports.append(report if number == 1 else _labelled(report, label))
    return reports[0] if len(reports) == 1 else join_reports(reports)


def _labelled(report: Report, label: str) -> Report:
    source = replace(report.sources[0], label=label)
    return replace(
        report, sources=(source,), kernels=tuple(replace(kernel, source=source) for kernel in report.kernels)
    )


def read_file(path: Path, decimal_mark: str | None = None) -> Report:
    """Everything that one file holds. Raises ``ErtError`` for a file that is no profile, and says what it is."""
    head = first_bytes(path, HEAD_BYTES)
    if not head.strip() and len(head) < HEAD_BYTES:
        raise ErtError(f"a profile in {path.name}", "the file is empty", "Profile again")
    if not head.startswith(MAGIC):  # a .ncu-repz that is a packed report, as some versions write it, is read
        refuse_foreign(path.name, head)
    if b"\0" in head and not head.startswith(MAGIC):
        raise ErtError(
            f"a profile in {path.name}",
            "it is binary and no report of Nsight Compute, whose first bytes are NVR",
            "Give a .ncu-rep file, or its export as CSV",
        )
    return next(row.read(path, decimal_mark) for row in FORMATS if row.begins(path.name, head))
