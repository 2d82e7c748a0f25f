"""What ncu 2025.3.1 printed of a report, in each of its options and in four locales, against that report itself.

The program names a stream, and its NVTX ranges hold quotes, commas and colons, which ncu writes as they are.
"""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from appprof.report.csv_layout import BODY_ITEM, SECTION, find_layout, row_cells
from appprof.report.details_labels import metric_of
from appprof.report.names import normalise
from appprof.report.profile import KernelProfile, Report
from appprof.report.read import read_file
from ert_numba.errors import ErtError

OPTIONS = Path(__file__).parents[2] / "data" / "ncu" / "h200" / "options"
EXPORTS = sorted(
    path.name for path in OPTIONS.glob("*.*.csv.gz") if "sum-" not in path.name and ".source" not in path.name
)
LIVE = {"live_fr_FR": 4, "live_graph": 2, "live_range": 3, "live_nosuch": 4, "live_wide_values": 4}
# Instances have two decimals, or three digits, and no rounding of their own; of this metric, in thousands.
INSTANCES_WITHIN, COARSE = 0.006, "derived__pct_occupancy_per_shared_mem_size"


def report_of(export: str) -> Report:
    return read_file(OPTIONS / f"{export.split('.', 1)[0]}.ncu-rep.gz")


def pairs_of(export: str) -> list[tuple[KernelProfile, KernelProfile]]:
    """Launches of the export beside those of the report; ncu sorts an imported report by process."""
    exported, reported = read_file(OPTIONS / export), report_of(export)
    assert (exported.lost, exported.warnings) == ((), ())
    ordered = sorted(reported.kernels, key=lambda kernel: (kernel.process_id or 0, kernel.id))
    return list(zip(exported.kernels, ordered, strict=True))


@pytest.mark.parametrize("export", EXPORTS)
def test_who_and_where_a_launch_is(export: str) -> None:
    for one, other in pairs_of(export):
        if "mangled" in export:
            assert one.kernel == other.mangled or one.kind != "kernel"
        else:
            assert normalise(one.kernel) == normalise(other.kernel)
        assert (one.kind, one.process_id, one.context, one.stream) == (
            other.kind, other.process_id, other.context, other.stream,
        )  # fmt: skip
        assert (one.grid, one.block) == (other.grid, other.block)
        assert (one.device.index, one.device.compute_capability) == (0, (9, 0))
        assert [(row.name, row.domain, row.kind) for row in one.nvtx] == [
            (row.name, row.domain, row.kind) for row in other.nvtx
        ]


@pytest.mark.parametrize("export", EXPORTS)
def test_every_value_is_that_of_the_report(export: str) -> None:
    compared: Counter[str] = Counter()
    for one, other in pairs_of(export):
        for name, value in one.values.items():
            if ": " in name:  # a label that no row knows
                continue
            bound = one.rounding.get(name, 0.0) * 1.000001 + 1e-12 * abs(value)
            assert abs(value - other.values[name]) <= bound, name
            compared["values"] += 1
        for name, why in one.missing.items():
            assert name not in other.values or "below" in why, name
        for name, text in one.texts.items():
            assert ": " in name or other.texts.get(name) == text, name
        for name, found in one.instances.items():
            if ": " not in name and name != COARSE:
                assert len(found) == len(expected := other.instances.get(name, (other.values.get(name),))), name
                assert all(map(_alike, found, expected)), (name, found[:3], expected[:3])
                compared["instances"] += 1
        if ".raw" in export:
            assert other.values.keys() <= one.values.keys() | one.missing.keys()
    assert compared["values"] >= 20
    assert bool(compared["instances"]) == ("inst-" in export or "det-all-names" in export)


def _alike(one: float | str | None, other: float | str | None) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=INSTANCES_WITHIN, abs=INSTANCES_WITHIN)
    return one == other or str(one) in (f"{other}.0", str(other))


def test_labels_of_the_details_page_are_those_of_their_metrics() -> None:
    """The same rows by label and by name: a label is its own metric, or no metric at all."""
    rows = []
    for name in ("sections.details.det-all.csv.gz", "sections.details.det-all-names.csv.gz"):
        head, *lines = gzip.decompress((OPTIONS / name).read_bytes()).decode().splitlines()
        layout = find_layout(head)
        assert layout is not None
        cells = [row_cells(line, layout) for line in lines]
        at = [layout.columns[column] for column in (SECTION, "Metric Name", BODY_ITEM)]
        rows.append([[row[place] for place in at] for row in cells if row is not None])
    known = 0
    for (section, label, item), (_, name, _) in zip(*rows, strict=True):
        found = metric_of(section, label, item)
        assert found == name or ": " in found, label
        known += found == name != label
    assert known > 100


def test_ranges_with_quotes_commas_and_colons_in_their_names() -> None:
    kernels = read_file(OPTIONS / "kernel.raw.nvtxrename.csv.gz").kernels
    assert [[(row.name, row.domain, row.kind, row.thread) for row in kernel.nvtx] for kernel in kernels] == [
        [],
        [("forward", "", "push_pop", 555), ('layer 1, a:b "q"', "", "push_pop", 555)],
        [("forward", "", "push_pop", 555), ('reg: "x", y', "phase", "push_pop", 555)],
        [("epoch", "", "start_end", None), ("step 2", "phase", "start_end", None)],
        [("epoch", "", "start_end", None), ("backward", "", "push_pop", 614)],
    ]
    assert [kernel.kernel.split("<")[0] for kernel in kernels] == [*["void app::"] * 3, "plain_c", "void app::"]


def test_kernels_that_are_no_cpp_have_the_name_of_their_entry() -> None:
    kernel = read_file(OPTIONS / "kernel.ncu-rep.gz").kernels[3]
    assert (kernel.kernel, kernel.mangled) == ("plain_c", "plain_c")


def test_ranges_and_graphs_are_no_kernels() -> None:
    assert [(one.kind, one.kernel) for one in read_file(OPTIONS / "range.ncu-rep.gz").kernels] == [
        ("range", "range forward"), ("range", 'range reg: "x", y'), ("range", "range"),
    ]  # fmt: skip
    graph, kernel = read_file(OPTIONS / "graph.ncu-rep.gz").kernels
    assert (graph.kind, graph.kernel, graph.stream, graph.grid) == ("graph", "graph graph launch", 13, None)
    assert (kernel.kind, kernel.kernel, kernel.grid) == ("kernel", "plain_c", (8192, 1, 1))
    assert {one.clock_locked for one in (graph, kernel)} == {False}


def test_the_rules_say_the_same_in_both_formats() -> None:
    exported = read_file(OPTIONS / "sections.details.csv.gz").kernels
    reported = read_file(OPTIONS / "sections.ncu-rep.gz").kernels
    assert [sorted(kernel.advice) for kernel in exported] == [sorted(kernel.advice) for kernel in reported]
    assert sum(len(kernel.advice) for kernel in reported) > 10


@pytest.mark.parametrize(("name", "launches"), LIVE.items())
def test_what_ncu_prints_while_it_profiles(name: str, launches: int) -> None:
    report = read_file(OPTIONS / f"{name}.csv.gz")
    assert len(report.kernels) == launches
    assert (report.lost, report.warnings) == ((), ())
    assert {kernel.units["gpu__time_duration.sum"] for kernel in report.kernels} == {"s"}
    assert all(1e-6 < kernel.values["gpu__time_duration.sum"] < 1e-3 for kernel in report.kernels)


def test_a_metric_that_the_chip_has_not_is_missing() -> None:
    for kernel in read_file(OPTIONS / "live_nosuch.csv.gz").kernels:
        assert kernel.missing == {"nosuch__metric.sum": "n/a"}


def test_a_french_terminal() -> None:
    values = read_file(OPTIONS / "live_fr_FR.csv.gz").kernels[0].values
    assert values["dram__bytes.sum.per_second"] == 1_608_834_355_828.22
    assert values["sm__throughput.avg.pct_of_peak_sustained_elapsed"] == 19.49
    assert values["gpu__time_duration.sum"] == 5216e-9


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("live_none.csv.gz", "No kernels were profiled"),
        ("kernel.source.csv.gz", "source page"),
        ("kernel.details.sum-per-kernel.csv.gz", "summary"),
        ("kernel.text-details.txt.gz", "without --csv"),
    ],
)
def test_outputs_that_hold_no_launches(name: str, says: str) -> None:
    with pytest.raises(ErtError, match=says):
        read_file(OPTIONS / name)
