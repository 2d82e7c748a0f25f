"""Which roof stands over which quantity, from which source, at which clock."""

import example_models
import msgspec
import pytest
from example_profiles import H200, application, cell, model_of

from appprof.application import Chip
from appprof.roofs import CATALOGUE, MACHINE, REPORT, make_roofs
from ert_numba.errors import NotComparable
from ert_numba.machine import Ceiling

CLOCKS = {"sm": 0.99e9}  # half of the clock that the example's ceilings were measured at, nearly


def book(machine=None, chip=H200, **fields):
    return make_roofs(application(cell(), chip=chip, **fields), machine)


def ceiling(key, value, **fields):
    return msgspec.structs.replace(example_models.compute(key, value, None), **fields)


def test_each_instruction_has_the_roof_of_its_own_path():
    model = example_models.h200_model()
    found = {path: book(model).compute("fp16", path, False, {}) for path in ("tensor.wgmma", "tensor.mma.sync")}
    assert {path: roof.value for path, roof in found.items()} == {"tensor.wgmma": 957e12, "tensor.mma.sync": 640e12}
    assert book(model).compute("fp16", "tensor.wgmma", True, {}).value == 1610e12
    assert book(model).compute("fp32", "vector", False, {}).value == 65.2e12
    # An instruction that the counters do not tell: the fastest of them, and never a sparse one.
    assert book(model).compute("fp16", "tensor", False, {}).value == 957e12
    assert book(model).compute("fp8", "tensor.wgmma", False, {}).value == 1820e12


def test_a_sparse_roof_never_stands_in_for_a_dense_one():
    machine = msgspec.structs.replace(
        example_models.h200_model(), ceilings=(ceiling("fp16.tensor.wgmma", 1e15, sparse=True),)
    )
    assert book(machine, chip=Chip()).compute("fp16", "tensor.wgmma", False, {}) is None


@pytest.mark.parametrize("key", ["fp64.vector.fma", "fp16.tensor.wgmma"])
def test_compute_roofs_follow_the_sm_clock(key):
    machine = msgspec.structs.replace(
        example_models.h200_model(), ceilings=(ceiling(key, 100e12, clock_hz=(1.9e9, 2.06e9), limit=120e12),)
    )
    precision, path = key.removesuffix(".fma").split(".", 1)
    roof = book(machine).compute(precision, path, False, CLOCKS)
    assert roof.value == pytest.approx(50e12)
    assert roof.at_maximum == 100e12
    assert "0.990 GHz" in roof.note or "990" in roof.note


def test_l1_follows_the_sm_clock_and_l2_and_dram_do_not():
    at = {"clock_hz": (1.98e9, 1.98e9)}
    machine = msgspec.structs.replace(
        example_models.h200_model(),
        ceilings=(example_models.memory("L1.read", 30e12, **at), example_models.memory("L2.read.private", 9e12, **at),
                  example_models.memory("DRAM.read", 4.6e12, **at)),
    )  # fmt: skip
    roofs = book(machine)
    values = [roofs.bandwidth(name, CLOCKS).value for name in ("L1.tag", "L1.wb", "L2.sm", "L2.out", "DRAM")]
    assert values == pytest.approx([15e12, 15e12, 9e12, 9e12, 4.6e12])
    assert roofs.bandwidth("L2.all", CLOCKS) is None  # no kernel of ours moves these bytes


def test_without_a_clock_nothing_is_rescaled_and_the_note_says_so():
    machine = example_models.h200_model()
    roof = book(machine).compute("fp32", "vector", False, {})
    assert roof.value == 65.2e12
    assert "not brought to the profile's clock" in roof.note


def test_impossible_ceilings_and_single_cores_are_no_roofs():
    rows = (ceiling("fp32.vector.fma", 9e15, impossible=True), ceiling("fp32.vector.fma@core", 1e12, scope="core"))
    machine = msgspec.structs.replace(example_models.h200_model(), ceilings=rows)
    assert book(machine).compute("fp32", "vector", False, {}).source == CATALOGUE


def test_the_reports_own_roofs_at_the_clock_of_each_unit():
    model = model_of("h200/micro_roofline_set.ncu-rep")
    roofs = make_roofs(model)
    triad = model.cells[4].clocks_hz
    dram, crossbar = roofs.bandwidth("DRAM", triad), roofs.bandwidth("L2.out", triad)
    assert (dram.source, crossbar.source) == (REPORT, REPORT)
    assert dram.value == pytest.approx(4.811e12, rel=1e-3)
    assert crossbar.value == pytest.approx(10.28e12, rel=1e-3)
    # The crossbar's L2 clock stands while the SM clock falls by 9 %.
    assert roofs.bandwidth("L2.out", model.cells[3].clocks_hz).value == pytest.approx(10.27e12, rel=1e-3)
    assert roofs.compute("fp16", "tensor.mma.sync", False, model.cells[3].clocks_hz).value == pytest.approx(
        360448 * 1.796898e9, rel=1e-5
    )


def test_measured_before_reported_before_theoretical_and_limits_beside():
    model = model_of("h200/micro_roofline_set.ncu-rep")
    roof = make_roofs(model, example_models.h200_model()).bandwidth("DRAM", model.cells[4].clocks_hz)
    assert (roof.source, roof.value) == (MACHINE, 4.63e12)
    # The report's peak is of this very counter at this very clock; the machine model's limit, 4.814, is of the bus.
    assert roof.limit == pytest.approx(1504 * model.cells[4].clocks_hz["dram"])
    assert "in the report" in roof.limit_name


def test_the_catalogue_with_the_devices_attributes():
    roofs = book()
    assert roofs.compute("fp16", "tensor.wgmma", False, {"sm": 1.5e9}).value == 4096 * 132 * 1.5e9
    assert roofs.bandwidth("DRAM", {}).value == pytest.approx(4.814e12, rel=1e-3)
    assert roofs.compute("fp16", "tensor.wgmma", True, {}).value == 8192 * 132 * 1.98e9  # sparse has rows of its own
    assert roofs.compute("fp64", "tensor.mma.sync", True, {}) is None  # no such row, never twice the dense
    assert book(chip=Chip(name="NVIDIA Unheard Of", compute_capability=(9, 0))).compute(
        "fp32", "vector", False, {}) is None  # fmt: skip


def test_an_unnamed_product_is_judged_by_an_assumption_that_is_stated():
    roofs = book(chip=Chip(compute_capability=(9, 0)))
    assert "132 SMs at 1.980 GHz" in roofs.notes[0]
    assert "assumed" in roofs.compute("fp32", "vector", False, {}).note


@pytest.mark.parametrize(
    "chip",
    [
        Chip(name="NVIDIA A100", compute_capability=(8, 0)),
        Chip(name="NVIDIA H100 PCIe", compute_capability=(9, 0)),
        Chip(compute_capability=(8, 0)),
        Chip(name="NVIDIA H200", compute_capability=(9, 0), sm_count=66),
    ],
)
def test_a_machine_model_of_another_gpu_is_refused_and_forced_with_a_mark(chip):
    model = application(cell(), chip=chip)
    with pytest.raises(NotComparable):
        make_roofs(model, example_models.h200_model())
    assert make_roofs(model, example_models.h200_model(), force=True).notes[0].startswith("FORCED")


def test_a_cpu_is_refused_even_by_force():
    with pytest.raises(NotComparable):
        make_roofs(application(cell()), example_models.cpu_model(), force=True)


def test_the_cheapest_launch():
    assert book(example_models.h200_model()).launch_seconds == (2.2e-6, "launch")
    assert book().launch_seconds is None
    free = Ceiling(key="launch.null", kind="overhead", value=1e-9, low=1e-9, high=1e-9, unit="s", impossible=True)
    machine = msgspec.structs.replace(example_models.h200_model(), ceilings=(free,))
    assert book(machine).launch_seconds is None


def test_reads_and_writes_together_have_no_limit_between_l2_and_the_sms():
    for machine in (None, example_models.h200_model()):
        assert book(machine).bandwidth("L2.sm", {}).limit is None
        assert book(machine).bandwidth("L2.out", {}).limit == pytest.approx(10.27e12, rel=2e-3)
