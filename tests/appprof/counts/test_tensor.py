"""The tree of tensor counters: whatever part of it a file holds, each operation is counted once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appprof.counts.tensor import plan_tensor
from appprof.metrics_tensor import TENSOR_COUNTERS, Capability, TensorCounter

CHIPS = sorted(TENSOR_COUNTERS)


def leaves(counters: tuple[TensorCounter, ...]) -> list[tuple[str, TensorCounter, bool]]:
    """(name, counter, sparse) of the counters that hold no other."""
    holders = {row.within for row in counters}
    found = []
    for row in counters:
        if row.name in holders:
            continue
        if row.split:
            found += [(row.half(sparse), row, sparse) for sparse in (False, True)]
        else:
            found.append((row.name, row, False))
    return found


def tree(counters: tuple[TensorCounter, ...], work: dict[str, float]) -> dict[str, float]:
    """All counters of a chip, from the operations at its leaves."""
    values = {name: work[name] for name, _, _ in leaves(counters)}
    for name, row, _ in leaves(counters):
        above = row.name if row.split else row.within
        while above:
            values[above] = values.get(above, 0.0) + work[name]
            above = next(counter.within for counter in counters if counter.name == above)
    return {f"{name}.sum": value for name, value in values.items()}


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(CHIPS))
def test_any_subset_counts_nothing_twice(data: st.DataObject, chip: Capability) -> None:
    counters = TENSOR_COUNTERS[chip]
    names = [name for name, _, _ in leaves(counters)]
    work = dict(
        zip(names, data.draw(st.lists(st.integers(0, 1000), min_size=len(names), max_size=len(names))), strict=True)
    )
    values = tree(counters, {name: float(value) for name, value in work.items()})
    kept = data.draw(st.sets(st.sampled_from(sorted(values))))
    present = {name: value for name, value in values.items() if name in kept}
    found = plan_tensor(present, chip, True).flop(present, {}, 1.0)
    assert all(row.value >= 0 for row in found)
    for precision in {row.precision for row in counters}:
        total = sum(row.value for row in found if row.precision == precision)
        truth = sum(work[name] for name, row, _ in leaves(counters) if row.precision == precision)
        assert total <= truth
        if precision not in plan_tensor(present, chip, True).lacking:
            assert total == truth


@pytest.mark.parametrize("chip", CHIPS)
def test_the_whole_tree_gives_every_leaf_its_own(chip: Capability) -> None:
    counters = TENSOR_COUNTERS[chip]
    work = {name: float(2**at) for at, (name, _, _) in enumerate(leaves(counters))}
    values = tree(counters, work)
    plan = plan_tensor(values, chip, True)
    assert plan.lacking == ()
    found = sorted((row.value, row.precision, row.path, row.sparse) for row in plan.flop(values, {}, 1.0))
    assert found == sorted((work[name], row.precision, row.path, sparse) for name, row, sparse in leaves(counters))


def test_four_counters_of_one_amount_are_one_amount() -> None:
    name = "sm__ops_path_tensor_"
    work = 138_412_032_000.0
    values = {
        f"{name}src_fp16.sum": work,
        f"{name}op_hmma_src_fp16.sum": work,
        f"{name}op_hmma_src_fp16_dst_fp32.sum": work,
        f"{name}op_hmma_src_fp16_dst_fp32_sparsity_off.sum": work,
    }
    (row,) = plan_tensor(values, (9, 0), True).flop(values, {}, 1.0)
    assert (row.value, row.path, row.sparse) == (work, "tensor.mma.sync", False)


def test_what_one_lacking_part_leaves_is_that_part() -> None:
    name = "sm__ops_path_tensor_op_hgmma_src_fp16"
    values = {f"{name}.sum": 10.0, f"{name}_sparsity_off.sum": 4.0}
    found = plan_tensor(values, (9, 0), True).flop(values, {}, 1.0)
    assert sorted((row.value, row.sparse) for row in found) == [(4.0, False), (6.0, True)]


def test_an_aggregate_alone_does_not_tell_the_instruction() -> None:
    values = {"sm__ops_path_tensor_src_fp16.sum": 10.0}
    (row,) = plan_tensor(values, (9, 0), True).flop(values, {}, 1.0)
    assert (row.value, row.path) == (10.0, "tensor")


@pytest.mark.parametrize(
    ("form", "value"), [(".sum", 100.0), (".sum.per_second", 50.0), (".sum.per_cycle_elapsed", 25.0)]
)
def test_three_forms_of_one_counter(form: str, value: float) -> None:
    values = {f"sm__ops_path_tensor_src_fp64{form}": value, "sm__cycles_elapsed.avg": 4.0}
    (row,) = plan_tensor(values, (9, 0), True).flop(values, {}, 2.0)
    assert row.value == 100.0


def test_an_unknown_chip_is_guessed_by_its_counters() -> None:
    values = {"sm__ops_path_tensor_op_hgmma_src_fp16.sum": 10.0}
    (row,) = plan_tensor(values, None, True).flop(values, {}, 1.0)
    assert row.path == "tensor.wgmma"
    assert not plan_tensor({"dram__bytes.sum": 1.0}, None, True).counted
