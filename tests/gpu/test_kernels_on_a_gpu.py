"""Every kernel on a GPU against its gold value, the clock, and faults that only a GPU can show."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("cuda.bindings.driver")

from ert_numba.device.gpu import NoGpu, probe_gpu
from ert_numba.kernels.cuda_driver import Buffer, CudaError, synchronize, use_device
from ert_numba.kernels.registry_cuda import CUDA_KERNELS
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.measure.gpu_sweep import gpu_plan, open_gpu
from ert_numba.measure.launch_gpu import launch_suite
from ert_numba.measure.sweep import measure, plan_points
from ert_numba.measure.timers_cuda import CudaTimer
from ert_numba.records import DeviceInfo, Point

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def device() -> DeviceInfo:
    try:
        found = probe_gpu(0)
    except NoGpu as reason:
        pytest.skip(str(reason))
    use_device(0)
    return found


@pytest.mark.parametrize("spec", CUDA_KERNELS, ids=lambda spec: spec.name)
def test_every_point_matches_its_gold_value(spec: KernelSpec, device: DeviceInfo) -> None:
    for point in spec.points(device, Request(quick=True, full=True)):
        if isinstance(point, Point):
            program = spec.build(point, device)
            assert program.check(program.prepare(0)) in (True, None), point.key


def test_a_wrong_gold_value_is_seen(device: DeviceInfo) -> None:
    """Memory that was changed under a read kernel must fail its check."""
    from ert_numba.kernels.cuda_memory import LOAD

    point = next(row for row in LOAD.points(device, Request()) if isinstance(row, Point) and row.ceiling == "L1.read")
    program = LOAD.build(point, device)
    state = program.prepare(0)
    state.buffers[0].fill(7)
    assert program.check(state) is False


def test_the_clock_is_a_clock(device: DeviceInfo) -> None:
    timer = CudaTimer(device, 0)
    timer.probe.begin()
    timer.probe.hold(5e-3)
    timer.probe.end()
    synchronize()
    clock = timer.probe.clock_hz()
    assert clock is not None
    assert device.maximum_clock_hz is not None
    assert 0.1 * device.maximum_clock_hz < clock < 1.05 * device.maximum_clock_hz


def test_memory_that_is_not_there_is_an_error_that_says_so(device: DeviceInfo) -> None:
    with pytest.raises(CudaError, match="OUT_OF_MEMORY"):
        Buffer(device.memory_bytes * 2)


def test_a_small_sweep_verifies_every_sample(device: DeviceInfo) -> None:
    request = Request(levels=("L1", "SHARED"), precisions=("fp32",), quick=True)
    tracks, _ = plan_points(CUDA_KERNELS, lambda spec: spec.points(device, request), ())
    timer = open_gpu(device, 0, request)
    outcome = measure(tracks, timer, gpu_plan(10.0), lambda progress: None, time.monotonic())
    timer.close()
    assert outcome.samples
    assert all(sample.verified is not False for sample in outcome.samples)
    assert all(sample.code for sample in outcome.samples)


def test_the_suite_launches_what_it_declares(device: DeviceInfo) -> None:
    suite = launch_suite(device, 0, Request(quick=True))
    assert not suite.skipped
    assert all(row.name.startswith("ert_") for row in suite.launches)
    assert all(row.work.flop or row.work.bytes_counted for row in suite.launches)
