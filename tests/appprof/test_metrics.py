"""What must hold of every row of the metric tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from appprof import metrics, metrics_tensor
from appprof.collect_command import collect_command, command_for
from appprof.counts.ask import QUANTITIES, ask_for, ask_for_all
from appprof.counts.record import Absent
from appprof.metrics_tensor import TENSOR_COUNTERS


@pytest.fixture(scope="module")
def gh100(h200: Path) -> set[str]:
    return set((h200 / "metric_names_gh100.txt").read_text().split())


def test_every_tensor_counter_of_a_chip_is_in_its_table(gh100: set[str]) -> None:
    rows = TENSOR_COUNTERS[9, 0]
    names = {name for row in rows for name in (row.name, *((row.half(False), row.half(True)) if row.split else ()))}
    listed = {name for name in gh100 if name.startswith("sm__ops_path_tensor_") and not name.endswith("_realtime")}
    assert names == listed


@pytest.mark.parametrize("chip", sorted(TENSOR_COUNTERS))
def test_every_tensor_counter_lies_within_one_that_exists(chip: tuple[int, int]) -> None:
    rows = TENSOR_COUNTERS[chip]
    names = [row.name for row in rows]
    assert len(set(names)) == len(names)
    assert {row.within for row in rows} - {""} <= set(names)
    assert {row.precision for row in rows}


def test_every_chip_has_its_rows() -> None:
    assert set(TENSOR_COUNTERS) == set(metrics.ALL)
    for chip in metrics.DISCRETE:
        assert ask_for("DRAM", chip)


def test_metrics_in_the_table_exist_on_the_chips_it_names(gh100: set[str]) -> None:
    here = (9, 0)
    names = {name for row in metrics.VECTOR_OPS if here in row.chips for name in row.names}
    names |= {name for row in metrics.BYTE_COUNTERS if here in row.chips for name in row.names}
    names -= {name for name in names if name.startswith(("derived__", "syslts__"))}
    names |= {*metrics.TMA_BYTES, metrics.TENSOR_INSTRUCTIONS, metrics.TENSOR_HALF_FMA}
    names |= {name.split(".")[0] for pair in metrics.TIMES for name in pair if name}
    assert names <= gh100


def test_no_counter_serves_two_definitions() -> None:
    names = [name for row in metrics.BYTE_COUNTERS for name in row.names]
    assert len(set(names)) == len(names)
    assert {row.definition for row in metrics.BYTE_COUNTERS} == set(metrics.BYTE_DEFINITIONS)
    assert all(key.partition(".")[0] == row.level for key, row in metrics.BYTE_DEFINITIONS.items())


def test_fused_instructions_do_twice_the_work() -> None:
    weights = {row.op: row.weight for row in metrics.VECTOR_OPS}
    for op, weight in weights.items():
        if "fma" in op:
            assert weight == 2 * weights[op.replace("fma", "add")] == 2 * weights[op.replace("fma", "mul")]


def test_the_command_asks_for_names_of_the_chip_alone(gh100: set[str]) -> None:
    assert {name.split(".")[0] for name in ask_for_all((9, 0))} <= gh100
    assert len(ask_for_all((9, 0))) == len(set(ask_for_all((9, 0))))


@pytest.mark.parametrize("chip", [*metrics.ALL, None])
def test_the_command_of_every_chip(chip: tuple[int, int] | None) -> None:
    command = collect_command(chip, program=("./my app", "--n", "1"))
    assert command.startswith("ncu --clock-control none --metrics gpu__time_duration.sum,")
    assert command.endswith("-o profile './my app' --n 1")
    assert ("dram__" in command) == (chip not in metrics.SOC)
    assert ("fadd2" in command) == (chip in ((10, 0), (10, 3)))
    assert ("_sparsity_on" in command) == (chip is not None and chip >= (8, 0))
    assert "dram__bytes_op_read" not in command
    assert all(ask_for(quantity, chip) or (quantity == "DRAM" and chip in metrics.SOC) for quantity in QUANTITIES)


def test_the_command_fills_the_gap_and_takes_the_time_along() -> None:
    command = command_for([Absent(what="DRAM", reason="", ask=ask_for("DRAM", (8, 0)))], (8, 0))
    assert command is not None
    assert "--metrics gpu__time_duration.sum,dram__bytes.sum,dram__cycles_elapsed.avg.per_second " in command
    assert command_for([Absent(what="DRAM", reason="")], (8, 7)) is None


def test_used_metrics_are_known_by_any_rollup() -> None:
    assert metrics.is_used("dram__bytes.sum.per_second")
    assert metrics.is_used("sm__ops_path_tensor_src_fp64.sum")
    assert not metrics.is_used("smsp__warps_launched.sum")
    assert metrics_tensor.TENSOR_NAMES
