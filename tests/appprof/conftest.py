"""Where the files are, and small files built in the shapes of Nsight Compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from appprof.report.profile import Device, KernelProfile, Source

DATA = Path(__file__).parents[1] / "data" / "ncu"
LONG = (
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
    "Device", "CC", "Section Name", "Metric Name", "Metric Unit", "Metric Value",
)  # fmt: skip


def quoted(cells: Sequence[str]) -> str:
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


@pytest.fixture(scope="session")
def faults() -> Path:
    return DATA / "faults"


@pytest.fixture(scope="session")
def h200() -> Path:
    return DATA / "h200"


@pytest.fixture
def long_csv(tmp_path: Path) -> Callable[..., Path]:
    """Writes a long CSV: one tuple (id, kernel, metric, unit, value) a row."""

    def write(*rows: tuple[str, str, str, str, str], name: str = "long.csv", chip: str = "9.0") -> Path:
        lines = [quoted(LONG)]
        for number, kernel, metric, unit, value in rows:
            identity = (number, "7", "app", "127.0.0.1", kernel, "1", "7", "(128, 1, 1)", "(64, 1, 1)", "0", chip)
            lines.append(quoted((*identity, "Command line profiler metrics", metric, unit, value)))
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def make_kernel() -> Callable[..., KernelProfile]:
    """A record with the given values, on a chip of the given compute capability."""

    def make(
        values: dict[str, float], chip: tuple[int, int] | None = (9, 0), kernel: str = "k", **fields: object
    ) -> KernelProfile:
        source = Source(label="made.csv", format="ncu-csv-long")
        device = Device(index=0, compute_capability=chip)
        return KernelProfile(kernel=kernel, id=0, device=device, values=values, source=source, **fields)  # type: ignore[arg-type]

    return make
