"""Faults that only a GPU can show, each in a process of its own: what was measured is saved, the exit code says why.

A fault that needs other hardware (a MIG slice, a driver of another age, memory that fails) is made up elsewhere:
``tests/ert_numba/device``, ``measure/test_device_lost``, ``kernels/test_cuda_driver``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cuda.bindings.driver")

from ert_numba import api
from ert_numba.device.gpu import NoGpu, count_gpus, probe_gpu
from ert_numba.kernels.cuda_driver import Buffer, synchronize, use_device
from ert_numba.machine import MachineModel

pytestmark = pytest.mark.gpu
SMALL = ("--backend", "cuda", "--quick", "--levels", "SHARED,DRAM", "--precisions", "fp32")


@pytest.fixture(scope="module", autouse=True)
def gpus() -> int:
    try:
        return count_gpus()
    except NoGpu as reason:
        pytest.skip(str(reason))


def start(prelude: str, results: Path, *words: str, **options: Any) -> subprocess.Popen[str]:
    """The command line after ``prelude`` has changed what it finds."""
    program = textwrap.dedent(prelude) + "\nfrom ert_numba.__main__ import main\nmain()"
    command = [sys.executable, "-c", program, "sweep", *words, "--results", str(results)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """(exit code, notes)"""
    _, notes = process.communicate(timeout=120)
    assert "Traceback" not in notes, notes
    return process.returncode, notes


def saved(results: Path) -> MachineModel:
    """The only run: its samples were saved, and its model is that of these samples."""
    (folder,) = {path.parent for path in results.rglob("sweep.json")}
    model = api.load(folder)
    assert api.fit(folder) == model
    return model


def works(ordinal: int = 0) -> bool:
    use_device(ordinal)
    buffer = Buffer(1 << 20)
    buffer.fill(7)
    synchronize()
    return bool((buffer.download("uint32") == 7).all())


TELL = """
    from ert_numba.measure.timers_cuda import CudaBench
    call, calls = CudaBench.call, []
    def told(self, repetitions):
        calls.append(1)
        if len(calls) == {at}:
            print("in a kernel", flush=True)
            repetitions *= 500  # seconds of it: long enough for the signal to find it there
        return call(self, repetitions)
    CudaBench.call = told
"""


def test_ctrl_c_in_a_kernel_saves_what_was_measured(tmp_path: Path) -> None:
    process = start(TELL.format(at=60), tmp_path, *SMALL)
    assert process.stdout is not None
    assert process.stdout.readline() == "in a kernel\n"
    process.send_signal(signal.SIGINT)
    code, notes = finish(process)
    assert code == 130, notes
    assert "sweep --resume" in notes
    model = saved(tmp_path)
    assert model.partial
    assert model.ceilings
    assert any(row.reason == "interrupted before its turn" for row in model.skipped)
    assert works()


def test_a_kernel_that_leaves_its_memory_costs_the_rest_and_not_what_was_measured(tmp_path: Path) -> None:
    process = start(
        """
        from ert_numba.kernels.cuda_store import StoreProgram
        values = StoreProgram.values
        StoreProgram.values = lambda self, state, n: (64, *values(self, state, n)[1:])
        """,
        tmp_path,
        *SMALL,
    )
    code, notes = finish(process)
    assert code == 3, notes
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in notes
    model = saved(tmp_path)
    assert model.partial
    assert model.ceiling("SHARED.latency") is not None
    assert model.ceiling("DRAM.write") is None
    lost = [row for row in model.skipped if "the device was lost" in row.reason]
    assert {"DRAM.write", "fp32.vector.fma"} <= {row.what for row in lost}
    assert works(), "another process goes on"


HOLD = """
    import sys
    from ert_numba.kernels.cuda_driver import Buffer, call, use_device
    from cuda.bindings import driver
    use_device(0)
    free, total = call(driver.cuMemGetInfo)
    held = Buffer(free - {left})
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def neighbour() -> Iterator[subprocess.Popen[str]]:
    """A process that leaves 2 GB of the GPU's memory."""
    program = textwrap.dedent(HOLD.format(left=2 * 10**9))
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.communicate("")


def test_memory_that_another_process_holds(neighbour: subprocess.Popen[str], tmp_path: Path) -> None:
    code, notes = finish(start("", tmp_path, *SMALL))
    assert code == 0, notes
    model = saved(tmp_path)
    assert model.ceiling("SHARED.read") is not None
    assert model.ceiling("DRAM.read") is None
    missing = [row.reason for row in model.skipped if "DRAM.read" in row.what]
    assert missing
    assert all("OUT_OF_MEMORY" in reason and "nvidia-smi" in reason for reason in missing)
    if any("power cap" in key for key in model.device.properties):  # NVML is there to tell
        assert any("another process held this GPU" in note for note in model.notes)
        assert any("other process" in note for note in model.device.notes)


def test_without_nvml_everything_is_measured_and_its_absence_said(tmp_path: Path) -> None:
    code, notes = finish(start("import sys\nsys.modules['pynvml'] = None", tmp_path, *SMALL))
    assert code == 0, notes
    model = saved(tmp_path)
    read = model.ceiling("DRAM.read")
    assert read is not None
    assert read.clock_hz is not None, "the clock is read inside the kernel"
    assert "throttle" not in read.conditions
    assert any("No NVML" in note for note in model.device.notes)
    assert model.device.limit("HOST.h2d_pinned") is None


def test_without_cublas_the_rest_is_measured(tmp_path: Path) -> None:
    prelude = """
        from cuda import pathfinder
        find = pathfinder.load_nvidia_dynamic_lib
        def hidden(name):
            if name == "cublasLt":
                raise pathfinder.DynamicLibNotFoundError("cublasLt: no such library")
            return find(name)
        pathfinder.load_nvidia_dynamic_lib = hidden
    """
    code, notes = finish(start(prelude, tmp_path, *SMALL))
    assert code == 0, notes
    model = saved(tmp_path)
    assert model.ceiling("fp32.vector.fma") is not None
    assert model.ceiling("fp32.vector.cublas") is None
    (missing,) = [row for row in model.skipped if "cublas" in row.what]
    assert "pip install nvidia-cublas" in missing.reason


def test_every_gpu_of_the_host_gets_a_run(gpus: int, tmp_path: Path) -> None:
    code, notes = finish(start("", tmp_path, *SMALL, "--device", "all"))
    assert code == 0, notes
    models = [api.load(path.parent) for path in sorted(tmp_path.rglob("machine.json"))]
    assert len(models) == gpus
    assert len({model.device.properties["uuid hash"] for model in models}) == gpus
    for model in models if gpus > 1 else []:
        shared = model.ceiling("DRAM.read@neighbours")
        assert shared is not None
        assert "alone" in shared.note
        assert any(f"with {gpus} GPUs at work" in note for note in model.notes)


def test_cuda_visible_devices_chooses(gpus: int, tmp_path: Path) -> None:
    last = gpus - 1
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": str(last)}
    code, notes = finish(start("", tmp_path, *SMALL, "--device", "all", env=environment))
    assert code == 0, notes
    assert saved(tmp_path).device.properties["uuid hash"] == probe_gpu(last).properties["uuid hash"]
