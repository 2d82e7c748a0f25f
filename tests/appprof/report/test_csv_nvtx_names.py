"""Names of NVTX ranges, which ncu writes into its CSV without doubling their quotes: read, or lost and told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from appprof.report.csv_layout import NVTX_PUSH_POP
from appprof.report.ncu_csv import read_ncu_csv
from ert_numba.errors import ErtError

WHO = (
    "ID", "Process ID", "Process Name", "Host Name", NVTX_PUSH_POP, "Kernel Name", "Context", "Stream", "Device", "CC",
)  # fmt: skip
LONG = ("Section Name", "Metric Name", "Metric Unit", "Metric Value")
WIDE = ("dram__bytes.sum", "gpu__time_duration.sum", "lts__t_bytes.sum")
VALUES = {"dram__bytes.sum": 7000.0, "gpu__time_duration.sum": 5e-9, "lts__t_bytes.sum": 9000.0}
CELLS = {
    "dram__bytes.sum": ("byte", "7000"),
    "gpu__time_duration.sum": ("ns", "5"),
    "lts__t_bytes.sum": ("byte", "9000"),
}
NAMES = st.text('ab "",,:;()\\', max_size=14)


def line(*cells: str) -> str:
    return ",".join(f'"{cell}"' for cell in cells)


def cell_of(names: list[str]) -> str:
    return "5  " + "  ".join(f'""<default domain>:{name}:none:none:none:none:none:none""' for name in names) + " "


def long_csv(ranges: list[list[str]]) -> str:
    rows = [line(*WHO, *LONG)]
    for number, names in enumerate(ranges):
        who = (str(number), "7", "app", "h", cell_of(names) if names else "", f"k{number}", "1", "7", "0", "9.0")
        rows += [line(*who, "s", metric, *CELLS[metric]) for metric in WIDE]
    return "\n".join(rows) + "\n"


def wide_csv(ranges: list[list[str]]) -> str:
    rows = [line(*WHO, *WIDE), line(*[""] * len(WHO), *(CELLS[metric][0] for metric in WIDE))]
    for number, names in enumerate(ranges):
        who = (str(number), "7", "app", "h", cell_of(names) if names else "", f"k{number}", "1", "7", "0", "9.0")
        rows.append(line(*who, *(CELLS[metric][1] for metric in WIDE)))
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("make", [long_csv, wide_csv])
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ranges=st.lists(st.lists(NAMES, max_size=3), min_size=1, max_size=4))
@example(ranges=[['x", "y'], ['"'], []])
@example(ranges=[['lone " quote'], ['","'], ["plain"]])
def test_no_value_moves_into_another_column(tmp_path: Path, make: object, ranges: list[list[str]]) -> None:
    path = tmp_path / "made.csv"
    path.write_text(make(ranges), encoding="utf-8")  # type: ignore[operator]
    try:
        report = read_ncu_csv(path)
    except ErtError:  # no row is left
        return
    for kernel in report.kernels:
        assert kernel.kernel == f"k{kernel.id}"
        assert kernel.values.items() <= VALUES.items()
        assert (kernel.context, kernel.stream, kernel.device.compute_capability) == (1, 7, (9, 0))
    whole = [kernel for kernel in report.kernels if kernel.values == VALUES]
    assert len(whole) == len(ranges) or report.lost


@pytest.mark.parametrize("make", [long_csv, wide_csv])
def test_names_with_quotes_and_colons_are_read(tmp_path: Path, make: object) -> None:
    names = [["forward", 'layer "q", a:b'], ['5" disk'], ["plain"], []]
    path = tmp_path / "made.csv"
    path.write_text(make(names), encoding="utf-8")  # type: ignore[operator]
    report = read_ncu_csv(path)
    assert [[row.name for row in kernel.nvtx] for kernel in report.kernels] == names
    assert [kernel.values for kernel in report.kernels] == [VALUES] * 4
    assert report.lost == ()
