from __future__ import annotations

import math

import msgspec
import pytest
from document_strategies import machine_models, sweeps
from example_models import cpu_model, cpu_sweep, h200_model
from hypothesis import given

from ert_numba.records import Cache, Limit, Work
from ert_numba.store.checks import faults_of_machine, faults_of_sweep

replace = msgspec.structs.replace


def sweep_with(**fields):
    sweep = cpu_sweep()
    return replace(sweep, samples=(replace(sweep.samples[0], **{"clock_hz": ()} | fields),))


def model_with(part, **fields):
    rows = getattr(cpu_model(), part)
    return replace(cpu_model(), **{part: (replace(rows[0], **fields),)})


def device_with(**fields):
    return replace(cpu_sweep(), device=replace(cpu_sweep().device, **fields))


@given(sweep=sweeps)
def test_a_good_sweep_has_no_fault(sweep):
    assert list(faults_of_sweep(sweep)) == []


@given(model=machine_models)
def test_a_good_model_has_no_fault(model):
    assert list(faults_of_machine(model)) == []


def test_the_examples_have_no_fault():
    assert list(faults_of_sweep(cpu_sweep())) == []
    assert list(faults_of_machine(cpu_model())) == []
    assert list(faults_of_machine(h200_model())) == []


@pytest.mark.parametrize(
    ("sweep", "field"),
    [
        (sweep_with(seconds=()), "seconds is empty"),
        (sweep_with(seconds=(1.0, 0.0)), "seconds[1] is 0.0"),
        (sweep_with(seconds=(-1.0,)), "seconds[0] is -1.0"),
        (sweep_with(seconds=(math.nan,)), "seconds[0] is nan"),
        (sweep_with(seconds=(1.0,), clock_hz=(0.0,)), "clock_hz[0] is 0.0"),
        (sweep_with(seconds=(1.0,), clock_hz=(1e9, 2e9)), "clock_hz has 2 values beside 1"),
        (sweep_with(work=Work()), "work declares nothing"),
        (sweep_with(work=Work(flop=1.0, bytes_moved=-1.0)), "work.bytes_moved is -1.0"),
        (sweep_with(steal_seconds=-0.1), "steal_seconds is -0.1"),
        (sweep_with(warmups=-1), "warmups is -1"),
        (replace(cpu_sweep(), wall_seconds=-1.0), "wall_seconds is -1.0"),
        (device_with(kind="tpu"), "device.kind is 'tpu', where one of cpu, gpu"),
        (device_with(units=0), "device.units is 0"),
        (device_with(memory_bytes=-1), "device.memory_bytes is -1"),
        (device_with(maximum_clock_hz=0.0), "device.maximum_clock_hz is 0.0"),
        (device_with(caches=(Cache(level="L1", bytes=0, source="sysfs"),)), "device.caches[0] (L1): bytes is 0"),
        (device_with(limits=(Limit(key="k", per_cycle=-2.0, source="s"),)), "device.limits[0] (k): per_cycle is -2.0"),
    ],
)
def test_a_fault_of_a_sweep_is_named(sweep, field):
    (fault,) = faults_of_sweep(sweep)
    assert field in fault
    if "device" not in field and "wall" not in field:
        assert f"samples[0] ({cpu_sweep().samples[0].point.key})" in fault


@pytest.mark.parametrize(
    ("model", "field"),
    [
        (model_with("ceilings", value=1.0), "low"),
        (model_with("ceilings", high=2.0), "lies above high 2.0"),
        (model_with("ceilings", low=0.0), "low is 0.0"),
        (model_with("ceilings", kind="speed"), "kind is 'speed'"),
        (model_with("ceilings", traffic_ratio=0.0), "traffic_ratio is 0.0"),
        (model_with("ceilings", limit=-1.0), "limit is -1.0"),
        (model_with("ceilings", clock_hz=(3e9, 2e9)), "clock_hz[0] 3000000000.0 lies above"),
        (model_with("knees", capacity_bytes=math.nan), "capacity_bytes is nan"),
        (model_with("knees", nominal_bytes=0), "nominal_bytes is 0"),
        (model_with("proof", intensity=0.0), "intensity is 0.0"),
    ],
)
def test_a_fault_of_a_model_is_named(model, field):
    (fault,) = faults_of_machine(model)
    assert field in fault
    assert "[0] (" in fault


def test_a_key_that_stands_twice_is_a_fault():
    row = cpu_model().ceilings[0]
    (fault,) = faults_of_machine(replace(cpu_model(), ceilings=(row, row)))
    assert row.key in fault
    assert "twice" in fault
