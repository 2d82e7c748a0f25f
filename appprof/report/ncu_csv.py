"""Reader of Nsight Compute's CSV: every layout since 2019, amid whatever a terminal caught with it."""

from __future__ import annotations

import re
from pathlib import Path

from appprof.report.collector import collector_at_rest
from appprof.report.csv_kernels import assemble
from appprof.report.csv_parts import read_rows
from appprof.report.csv_rows import RowScanner
from appprof.report.csv_tables import LongTable, WideTable
from appprof.report.profile import Private, Report, Source
from ert_numba.errors import ErtError

PERMISSION = "ERR_NVGPUCTRPERM"
CLOCKS_FREE = re.compile(r"unmodified GPU clocks")


def read_ncu_csv(path: Path, decimal_mark: str | None = None) -> Report:
    """All launches of a CSV that ``ncu --csv`` wrote, long or wide.

    ``decimal_mark`` (``"."`` or ``","``) overrides what the file's own cells say. Raises ``ErtError`` where the file
    has no header of Nsight Compute, no launch, a unit that is unknown, or numbers that may be read two ways.
    """
    with collector_at_rest():
        rows = read_rows(path)
        scanner, tables = rows.scanner, rows.tables
        launches = [launch for table in tables for launch in table.launches]
        if not launches:
            raise _nothing(path, scanner)
        source = _source(path, scanner, tables)
        assembly = assemble(launches, [group for table in tables for group in table.groups], source, decimal_mark)
    return Report(
        kernels=tuple(assembly.kernels),
        sources=(source,),
        warnings=tuple(assembly.warnings),
        lost=tuple(scanner.lost),
        messages=tuple(scanner.messages),
    )


def _source(path: Path, scanner: RowScanner, tables: list[LongTable | WideTable]) -> Source:
    # Launches share their identities: told apart as objects, since there are a million launches.
    identities = {id(launch.identity): launch.identity for table in tables for launch in table.launches}.values()
    return Source(
        label=path.name,
        format="ncu-csv-long" if isinstance(tables[0], LongTable) else "ncu-csv-wide",
        clock_control="none" if any(CLOCKS_FREE.search(line) for line in scanner.messages) else None,
        private=Private(
            path=str(path),
            host_names=tuple(sorted({identity.host_name for identity in identities} - {""})),
            process_names=tuple(sorted({identity.process_name for identity in identities} - {""})),
        ),
    )


def _nothing(path: Path, scanner: RowScanner) -> ErtError:
    """Why the file holds no launch, in the profiler's own words where it said something."""
    said = [line for line in scanner.messages if "==ERROR==" in line or "No kernels were profiled" in line]
    if any(PERMISSION in line for line in said):
        return ErtError(
            f"kernels in {path.name}",
            f"the profiler was not permitted to read the GPU's counters ({PERMISSION})",
            "Run ncu as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0",
        )
    if said:
        remedy = "Mend that, or the filters of ncu (--kernel-name, --nvtx-include, --profile-from-start); profile again"
        return ErtError(f"kernels in {path.name}", f"the profiler says: {said[-1]}", remedy)
    if scanner.layouts:
        return ErtError(
            f"kernels in {path.name}",
            "it has a header of Nsight Compute and no row",
            "Export the raw page, which lacks nothing: ncu -i report.ncu-rep --csv --page raw --print-units base",
        )
    return ErtError(
        f"a profile of Nsight Compute in {path.name}",
        'it has no header of such a file (a line that begins with "ID","Process ID")',
        "Export with: ncu -i report.ncu-rep --csv --page raw --print-units base",
    )
