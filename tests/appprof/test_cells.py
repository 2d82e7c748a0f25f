"""Launches counted and added as columns give what a loop over single launches gives: to the bit, order and all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from example_models import PROVENANCE
from example_profiles import DATA
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_csv import write_long_csv

from appprof.application import ApplicationModel, Cell, Evidence, LevelBytes, PathFlop
from appprof.cells import FACTS
from appprof.counts.record import Counts
from appprof.counts.resolve import count
from appprof.gather import gather
from appprof.metric_terms import PER_CYCLE, RATE, SUM
from appprof.report.profile import Device, KernelProfile, NvtxRange, Report, Source
from appprof.report.read import read_file

SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on"
TENSOR = "sm__ops_path_tensor_"
TENSOR_PIPE, TMA = "sm__inst_executed_pipe_tensor", "l1tex__m_{}_bytes_pipe_tma.sum"
RATES = ("sm__cycles_elapsed.avg.per_second", "smsp__cycles_elapsed.avg.per_second", "lts__cycles_elapsed.avg")
# Metrics that decide something together.
THEMES: tuple[tuple[str, ...], ...] = (
    ("gpu__time_duration.sum",),
    ("sm__cycles_elapsed.avg", "sm__cycles_elapsed.avg.per_second"),
    tuple(SASS.format(op) + SUM for op in ("ffma", "fadd", "dmul")),
    (*(SASS.format(op) + form for op in ("ffma", "fadd", "hadd") for form in (RATE, PER_CYCLE)), *RATES),
    (SASS.format("ffma").replace("smsp", "derived__smsp") + "_x2", *RATES),
    (SASS.format("hfma") + SUM, TENSOR_PIPE + SUM),
    (TENSOR_PIPE + SUM, TENSOR_PIPE + "_op_hmma_type_hfma2" + SUM),
    (TENSOR_PIPE + SUM,),
    ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", SASS.format("hadd") + SUM),
    tuple(f"{TENSOR}{name}{SUM}" for name in ("src_fp16", "op_hmma_src_fp16", "op_hgmma_src_fp16_sparsity_off")),
    tuple(f"{TENSOR}op_hmma_src_fp16_dst_{to}_sparsity_off{form}" for to in ("fp16", "fp32") for form in (SUM, RATE)),
    (f"{TENSOR}src_fp16_dst_fp32{SUM}", f"{TENSOR}src_fp16_dst_fp16{SUM}", f"{TENSOR}src_int8{SUM}"),
    ("l1tex__t_bytes.sum", "lts__t_sectors_srcunit_tex.sum"),
    ("l1tex__t_bytes.sum", "lts__t_sectors_srcunit_tex.sum", TMA.format("xbar2l1tex_read")),
    ("l1tex__t_bytes.sum", TMA.format("xbar2l1tex_read"), TMA.format("l1tex2xbar_write")),
    ("dram__bytes_read.sum", "dram__bytes_write.sum", "l1tex__m_xbar2l1tex_read_bytes.sum.per_second"),
    ("smsp__inst_executed.sum", "smsp__thread_inst_executed_per_inst_executed.ratio"),
    ("launch__waves_per_multiprocessor", "lts__t_sector_hit_rate.pct", "lts__cycles_elapsed.avg.per_second"),
)  # fmt: skip
VALUES = st.one_of(
    st.sampled_from([0.0, 0.0, 1.0, 3.0, 1e-6, 0.1, 64.0, 1e9 + 1, 2.0**53 - 1, 1e16]), st.floats(1e-9, 1e12)
)
KERNELS = ("k", "volta_h884gemm", "volta_s884gemm", "cutlass_wgmma_k")
DEVICE_CHIPS = ((9, 0), (8, 0), (7, 0), (12, 0), None)
SOURCE = Source(label="a", format="ncu-csv-long")


@st.composite
def profiles(draw: st.DrawFn) -> list[KernelProfile]:
    """Launches of a few sets of metrics, so that many share a plan, of a few kernels, so that many share a cell."""
    device = Device(index=0, compute_capability=draw(st.sampled_from(DEVICE_CHIPS)))
    themes = st.lists(st.sampled_from(THEMES), min_size=1, max_size=5)
    sets = [
        list(dict.fromkeys(name for theme in draw(themes) for name in theme)) for _ in range(draw(st.integers(1, 3)))
    ]
    roundings = [{name: draw(VALUES) for name in draw(st.lists(st.sampled_from(names), max_size=4))} for names in sets]
    found = []
    for number in range(draw(st.integers(1, 12))):
        which = draw(st.integers(0, len(sets) - 1))
        found.append(
            KernelProfile(
                kernel=draw(st.sampled_from(KERNELS)), id=number, device=device, source=SOURCE,
                stream=draw(st.sampled_from([None, 7])), grid=draw(st.sampled_from([None, (1, 1, 1)])),
                nvtx=draw(st.sampled_from([(), (NvtxRange(name="step"),)])),
                values={name: draw(VALUES) for name in sets[which]},
                rounding=roundings[draw(st.integers(0, len(sets) - 1))],
                missing=draw(st.sampled_from([{}, {"gpu__time_duration.sum": "n/a"}])),
            )
        )  # fmt: skip
    return found


def gathered(kernels: list[KernelProfile]) -> ApplicationModel:
    (model,) = gather(Report(kernels=tuple(kernels), sources=(SOURCE,)), "run", PROVENANCE)
    return model


class Loop:
    """One cell, by the book: launches added one after the other."""

    def __init__(self, kernel: KernelProfile, counts: Counts) -> None:
        self.kernel, self.counts, self.launches = kernel, counts, 0
        self.seconds = self.rounding = self.longest = 0.0
        self.shortest = float("inf")
        self.flop: dict[Any, list[Any]] = {}
        self.traffic = [[0.0, 0.0] for _ in counts.traffic]
        self.events = dict.fromkeys([row.key for row in counts.events], 0.0)
        self.clocks = dict.fromkeys(counts.clocks_hz, 0.0)
        self.facts: dict[str, list[float]] = {}

    def add(self, counts: Counts) -> None:
        self.launches += 1
        weight = 1.0
        if counts.seconds is not None:
            weight = counts.seconds.value
            self.seconds += weight
            self.rounding += counts.seconds.rounding
            self.shortest, self.longest = min(self.shortest, weight), max(self.longest, weight)
        for flop in counts.flop:
            row = self.flop.setdefault((flop.precision, flop.path, flop.sparse), [0.0, None, 0.0, flop.bound])
            row[0] += flop.value
            row[1] = flop.fused if row[1] is None else row[1] + (flop.fused or 0.0)
            row[2] += flop.rounding
            row[3] = row[3] if row[3] != "exact" else flop.bound
        for amount, traffic in zip(self.traffic, counts.traffic, strict=True):
            amount[0] += traffic.value
            amount[1] += traffic.rounding
        for event in counts.events:
            self.events[event.key] += event.value
        for unit, clock in counts.clocks_hz.items():
            self.clocks[unit] += clock * weight
        for name in FACTS:
            if name in counts.facts:
                fact = self.facts.setdefault(name, [0.0, 0.0])
                fact[0] += counts.facts[name] * weight
                fact[1] += weight

    def cell(self) -> Cell:
        kernel, counts, timed = self.kernel, self.counts, self.counts.seconds is not None
        weight = self.seconds if timed else self.launches
        return Cell(
            kernel=kernel.kernel, kind=kernel.kind, ranges=tuple(row.name for row in kernel.nvtx), stream=kernel.stream,
            process=kernel.process_id, source=kernel.source.label, device=kernel.device.index, grid=kernel.grid,
            block=kernel.block, launches=self.launches, seconds=self.seconds if timed else None,
            seconds_rounding=self.rounding, shortest_seconds=self.shortest if timed else None,
            longest_seconds=self.longest if timed else None, flop_status=counts.flop_status,
            flop_reason=counts.flop_reason,
            flop=tuple(PathFlop(precision=key[0], path=key[1], sparse=key[2], value=row[0], fused=row[1],
                                rounding=row[2], bound=row[3]) for key, row in self.flop.items()),
            traffic=tuple(LevelBytes(level=row.level, definition=row.definition, value=amount[0], rounding=amount[1],
                                     bound=row.bound, withheld=row.withheld)
                          for row, amount in zip(counts.traffic, self.traffic, strict=True)),
            clocks_hz={unit: total / weight for unit, total in self.clocks.items() if total > 0},
            facts={name: total / seconds for name, (total, seconds) in self.facts.items()},
            events=self.events, absent=counts.absent,
        )  # fmt: skip


def by_the_book(kernels: list[KernelProfile]) -> tuple[list[Cell], list[str], list[Evidence]]:
    """Cells, warnings and evidence."""
    cells: dict[Any, Loop] = {}
    warnings: dict[str, None] = {}
    evidence: dict[tuple[str, tuple[str, ...], str], int] = {}
    for kernel in kernels:
        counts = count(kernel)
        key = (
            kernel.kernel, kernel.kind, kernel.nvtx, kernel.stream, kernel.process_id, kernel.source.label,
            kernel.device.index, kernel.grid, kernel.block, counts.seconds is None, counts.flop_status,
            tuple((row.definition, row.bound, not row.withheld) for row in counts.traffic),
            tuple(row.what for row in counts.absent), frozenset(counts.clocks_hz),
            tuple(row.key for row in counts.events),
        )  # fmt: skip
        if key not in cells:
            cells[key] = Loop(kernel, counts)
        cells[key].add(counts)
        warnings |= dict.fromkeys(counts.warnings)
        seen = [("time", counts.seconds.origin)] if counts.seconds is not None else []
        seen += [(row.key, row.origin) for row in counts.flop]
        seen += [(row.definition, row.origin) for row in counts.traffic]
        seen += [(row.key.replace("_", " "), row.origin) for row in counts.events]
        for what, origin in seen:
            row = (what, origin.metrics, origin.form)
            evidence[row] = evidence.get(row, 0) + 1
    rows = [Evidence(what=what, metrics=metrics, form=form, launches=launches)
            for (what, metrics, form), launches in sorted(evidence.items())]  # fmt: skip
    return [cell.cell() for cell in cells.values()], list(warnings), rows


@settings(max_examples=300, deadline=None)
@given(profiles())
def test_columns_agree_with_single_launches(kernels: list[KernelProfile]) -> None:
    model = gathered(kernels)
    cells, warnings, evidence = by_the_book(kernels)
    assert list(model.cells) == cells
    assert list(model.warnings) == warnings
    assert list(model.evidence) == evidence
    for mine, theirs in zip(model.cells, cells, strict=True):  # == knows no order of keys
        assert list(mine.clocks_hz) == list(theirs.clocks_hz)
        assert list(mine.events) == list(theirs.events)


@pytest.mark.parametrize(
    "path", sorted((*DATA.glob("h200/*.csv"), *DATA.glob("h200/*.ncu-rep"))), ids=lambda path: path.name
)
def test_real_reports_give_what_a_loop_gives(path: Path) -> None:
    kernels = list(read_file(path).kernels) * 3
    model = gathered(kernels)
    cells, warnings, evidence = by_the_book(kernels)
    assert list(model.cells) == cells
    assert (list(model.warnings), list(model.evidence)) == (warnings, evidence)


def test_a_long_file_gives_what_a_loop_gives(tmp_path: Path) -> None:
    kernels = list(read_file(write_long_csv(tmp_path / "long.csv", 600, "scaled", kernels=9)).kernels)
    cells, _, evidence = by_the_book(kernels)
    model = gathered(kernels)
    assert list(model.cells) == cells
    assert list(model.evidence) == evidence
    assert sum(cell.launches for cell in cells) == 600


def test_sums_are_those_of_a_loop_to_the_last_bit(make_kernel: Any) -> None:
    """Values that add up to another number in any other order, or pair by pair."""
    values = [0.1, 1e16, -0.0, 3.3e-5, 1.0, 7e15 + 1, 0.7] * 40
    kernels = [make_kernel({"gpu__time_duration.sum": 0.1 + index, "dram__bytes.sum": abs(value)})
               for index, value in enumerate(values)]  # fmt: skip
    total = 0.0
    for value in values:
        total += abs(value)
    (cell,) = gathered(kernels).cells
    assert cell.traffic[0].value == total != sum(sorted(map(abs, values)))


def test_numbers_of_the_model_are_pythons_own(make_kernel: Any) -> None:
    (cell,) = gathered([make_kernel({"gpu__time_duration.sum": 1e-6, "dram__bytes.sum": 7.0})]).cells
    assert type(cell.seconds) is type(cell.traffic[0].value) is float
    assert type(cell.launches) is int
