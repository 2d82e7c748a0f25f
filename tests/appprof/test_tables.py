"""The terminal's tables: figures are whole at any width, and units are those of the work."""

import io

import example_models
import pytest
from example_profiles import application, cell, flop, model_of, traffic
from rich.console import Console

from appprof.analysis import analyse
from appprof.exports import as_markdown
from appprof.metrics_events import WARP
from appprof.phrases import count_words, instruction_words, kernel_time_words, percent, rate_words, signed
from appprof.result import make_result
from appprof.tables import kernels_table, work_table
from ert_numba.units import si

MACHINE = example_models.h200_model()


def drawn(table, width):
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize("make", [work_table, kernels_table])
def test_no_figure_is_cut(make, width):
    result = make_result(analyse(model_of("h200/gemm_raw.csv"), MACHINE))
    text = drawn(make(result, width), width)
    assert max(map(len, text.splitlines())) <= width
    lines = [line for line in text.splitlines() if "…" in line]
    for row, line in zip(result.kernels, lines, strict=True):
        assert line.startswith(row.short[:10])
        assert "…" not in line[line.index("…") + 1 :]
        assert (si(row.bytes["DRAM"], "B") if make is work_table else percent(row.gives_back_share)) in line


def test_brackets_are_explained_where_they_stand():
    result = make_result(analyse(model_of("h200/gemm_raw.csv"), MACHINE))
    assert "only a part passed this counter" in drawn(work_table(result, 140), 140)
    assert "only a part" not in drawn(work_table(result, 80), 80)


def test_integer_work_is_no_flop():
    row = cell(flop=(flop("int8.tensor.wgmma", 1e12),), traffic=traffic(DRAM=1e6))
    mixed = cell("b", flop=(flop("int8.tensor.wgmma", 1e12), flop("fp32.vector", 1e9)), traffic=traffic(DRAM=1e6))
    found = {one.kernel: rate_words(one) for one in make_result(analyse(application(row, mixed), MACHINE)).kernels}
    assert found["k"] == "1.00 POP/s"
    assert found["b"].endswith("FLOP/s")


def test_an_unknown_time_is_not_0():
    result = make_result(analyse(application(cell(seconds=None, shortest_seconds=None, longest_seconds=None))))
    assert kernel_time_words(result) == "unknown"
    assert "kernel time unknown, 1 launch\n" in as_markdown(result)


def test_numbers_as_a_person_writes_them():
    assert [percent(value) for value in (0.0842, 0.742, 1.05, 149.46)] == ["8.4%", "74%", "105%", "149x"]
    assert [count_words(number, "launch", "launches") for number in (1, 7, 12_345)] == [
        "1 launch", "7 launches", "12,345 launches"
    ]  # fmt: skip


def test_changes_as_a_person_writes_them():
    found = [signed(change) for change in (None, 0.0, -1e-5, 0.051, -0.4, 22.3)]
    assert found == ["?", "0.0%", "0.0%", "+5.1%", "-40.0%", "23x"]


def test_the_command_for_instructions_is_told_where_much_is_near_no_roof():
    def words(*cells):
        return instruction_words(make_result(analyse(application(*cells), MACHINE)))

    levels = {"L1_tag": 1e6, "L2_sm": 1e6, "DRAM": 1e6}
    moves, works = cell("moves", traffic=traffic(**levels)), cell("works", traffic=traffic(**{**levels, "DRAM": 4e9}))
    assert "50% of the kernel time is near no roof" in words(moves, works)
    assert "smsp__inst_executed.sum" in words(moves, works)
    assert words(works) == ""
    assert words(cell("moves", traffic=traffic(**levels), events={WARP: 1e6})) == ""
