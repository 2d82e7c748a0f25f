"""A user's kernel under a machine model: what is a wrong use, which roof, what is impossible."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from example_models import cpu_device, cpu_model, h200_model
from hypothesis import given
from hypothesis import strategies as st

from ert_numba.benchmarks.user_roofs import Declared, declared, place, require_same_device
from ert_numba.errors import ErtError, NotComparable
from ert_numba.machine import MachineModel, attainable
from ert_numba.records import Work


def use(kind: str = "cpu", **changed: Any) -> Declared:
    wanted = {"flop": 0.0, "bytes": 0.0, "precision": None, "level": "DRAM", "access": None, "scope": "all"}
    return declared(kind, **{**wanted, **changed})


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({}, "0 FLOP and 0 bytes"),
        ({"bytes": -1.0}, "bytes of one call: -1.0"),
        ({"flop": -2.0, "bytes": 8.0}, "flop of one call: -2.0"),
        ({"bytes": float("nan")}, "nan"),
        ({"bytes": float("inf")}, "inf"),
        ({"bytes": "many"}, "'many'"),
        ({"flop": 2.0}, "no precision"),
        ({"flop": 2.0, "precision": "fp65"}, "'fp65'"),
        ({"bytes": 8.0, "level": "L9"}, "'L9'"),
        ({"bytes": 8.0, "level": "SHARED"}, "'SHARED'"),  # a level of a GPU
        ({"bytes": 8.0, "scope": "socket"}, "'socket'"),
    ],
)
def test_wrong_uses_say_what_was_wrong(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ErtError) as raised:
        use(**wrong)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("right", "unit"),
    [
        ({"flop": 2.0, "precision": "fp64"}, "FLOP/s"),
        ({"flop": 2.0, "precision": "int8"}, "OP/s"),
        ({"flop": 2, "bytes": 8, "precision": "fp64.vector.fma"}, "FLOP/s"),
        ({"bytes": 8.0}, "B/s"),
    ],
)
def test_units(right: dict[str, Any], unit: str) -> None:
    assert use(**right).unit == unit


def test_its_work_is_that_of_one_call() -> None:
    assert use(flop=2.0, bytes=8.0, precision="fp64").work == Work(flop=2.0, bytes_counted=8.0, bytes_moved=8.0)


def best(model: MachineModel, kind: str, **match: Any) -> Any:
    rows = [row for row in model.roofs(kind) if all(getattr(row, name) == value for name, value in match.items())]
    return max(rows, key=lambda row: row.value)


@given(flop=st.floats(1.0, 1e15), moved=st.floats(1.0, 1e15))
def test_the_roof_is_the_lower_of_the_two(flop: float, moved: float) -> None:
    model = cpu_model()
    placed = place(use(flop=flop, bytes=moved, precision="fp64"), model)
    memory, peak = best(model, "bandwidth", level="DRAM"), best(model, "compute", precision="fp64")
    assert placed.roof.attainable == attainable(flop / moved, peak.value, memory.value)
    assert placed.utmost == attainable(flop / moved, peak.high, memory.high)
    assert placed.utmost >= placed.roof.attainable
    assert (placed.roof.bandwidth_key, placed.roof.compute_key) == (memory.key, peak.key)
    assert placed.roof.model == model.run


def test_bytes_alone_have_the_levels_roof_and_flop_alone_the_precisions() -> None:
    model = cpu_model()
    memory = place(use(bytes=8.0, level="L1"), model).roof
    assert memory.attainable == best(model, "bandwidth", level="L1").value
    assert memory.compute_key is None
    peak = place(use(flop=8.0, precision="fp32"), model).roof
    assert peak.attainable == best(model, "compute", precision="fp32").value
    assert peak.bandwidth_key is None


def test_an_access_and_a_key_name_their_own_ceilings() -> None:
    model = h200_model()
    assert place(use("gpu", bytes=8.0, access="copy"), model).roof.bandwidth_key == "DRAM.copy"
    placed = place(use("gpu", flop=8.0, precision="fp64.vector.fma"), model)
    assert placed.roof.compute_key == "fp64.vector.fma"


def test_impossible_sparse_and_sustained_ceilings_are_no_roofs_of_a_precision() -> None:
    model = h200_model()
    row = best(model, "compute", precision="fp16", sparse=False)
    worse = [
        msgspec.structs.replace(row, key="fp16.tensor.wgmma.sparse", sparse=True, value=9 * row.value),
        msgspec.structs.replace(row, key="fp16.tensor.cublas.sustained", variant="sustained", value=8 * row.value),
        msgspec.structs.replace(row, key="fp16.tensor.odd", impossible=True, value=7 * row.value),
    ]
    more = msgspec.structs.replace(model, ceilings=(*model.ceilings, *worse))
    assert place(use("gpu", flop=8.0, precision="fp16"), more).roof.compute_key == row.key
    asked = use("gpu", flop=8.0, precision="fp16.tensor.cublas.sustained")
    assert place(asked, more).roof.compute_key == "fp16.tensor.cublas.sustained"


def test_where_only_reads_were_measured_a_kernel_that_writes_may_pass_the_roof() -> None:
    """One core of a CPU: the sweep has ``DRAM.read@core`` and no more."""
    model = cpu_model()
    memory = best(model, "bandwidth", level="DRAM")
    core = msgspec.structs.replace(memory, key="DRAM.read@core", access="read", scope="core", value=30e9)
    model = msgspec.structs.replace(model, ceilings=(*model.ceilings, core))
    assert place(use(bytes=8.0, scope="core"), model).reads_alone
    assert place(use(flop=1.0, bytes=16.0, precision="fp64", scope="core"), model).reads_alone
    assert not place(use(bytes=8.0, scope="core", access="read"), model).reads_alone  # its author says it only reads
    assert not place(use(flop=1e6, bytes=8.0, precision="fp64", scope="core"), model).reads_alone  # FLOP bind
    assert not place(use(bytes=8.0), model).reads_alone


@pytest.mark.parametrize("lacking", [{"bytes": 8.0, "access": "gather"}, {"flop": 8.0, "precision": "fp8_e4m3"}])
def test_a_roof_that_the_model_lacks_is_an_error(lacking: dict[str, Any]) -> None:
    with pytest.raises(ErtError, match="has none"):
        place(use(**lacking), cpu_model())


def test_a_model_of_another_device_is_refused_by_both_values() -> None:
    model = cpu_model()
    require_same_device(model, model.device)
    other = msgspec.structs.replace(cpu_device(), name="Another CPU")
    with pytest.raises(NotComparable, match="Another CPU"):
        require_same_device(model, other)
    fewer = msgspec.structs.replace(model.device, units=model.device.units + 1)
    with pytest.raises(NotComparable, match="number of cores"):
        require_same_device(model, fewer)
    recent = msgspec.structs.replace(model.device, properties={**model.device.properties, "model": "25/17/1"})
    with pytest.raises(NotComparable, match="its model"):
        require_same_device(model, recent)
