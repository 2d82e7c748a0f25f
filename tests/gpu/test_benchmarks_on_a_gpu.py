"""The suite and the fixture on hardware: what they say of kernels whose time is known another way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from ert_numba.backends import cuda_backend
from ert_numba.errors import ErtError
from ert_numba.starts import Benchmarked
from ert_numba.store.benchmark_files import read_start

pytestmark = pytest.mark.gpu
REFERENCE = Path(__file__).parents[1] / "reference"


@pytest.fixture(scope="module", autouse=True)
def gpu() -> None:
    try:
        cuda_backend(0)
    except ErtError as error:
        pytest.skip(str(error))


def run_pytest(folder: Path, *words: str) -> dict[str, Any]:
    """A pytest of its own; its file."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(REFERENCE), *sys.path])
    command = [
        sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(folder), "-q", "-p", "no:cacheprovider",
        "-p", "pytest_benchmark.plugin", "-p", "ert_numba.benchmarks.plugin", "--benchmark-json=out.json", *words,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return found


def suite(folder: Path, only: str, *words: str) -> dict[str, tuple[float, Benchmarked]]:
    """By key: seconds of a unit of work, and the record."""
    folder.mkdir()
    run_pytest(folder, "--pyargs", "ert_numba.benchmarks", "-k", only, *words)
    start = read_start(folder / "out.json")
    return {
        row.said.key: (median(row.seconds) / (row.said.work.flop or row.said.work.bytes_counted), row.said)
        for row in start.observed
        if row.said
    }


def test_a_slowed_kernel_is_slower_by_its_extra_instructions_and_others_are_not(tmp_path: Path) -> None:
    only = "fp32.vector.fma or fp64.vector.fma or DRAM.copy"
    plain = suite(tmp_path / "plain", only)
    slowed = suite(tmp_path / "slowed", only, "-p", "slower_kernels")
    assert set(plain) == set(slowed) == {"fp32.vector.fma", "fp64.vector.fma", "DRAM.copy"}
    for seconds, said in plain.values():
        assert said.verified
        assert said.limit is not None
        assert 0.7 * said.limit < 1 / seconds <= 1.005 * said.limit
    changes = {key: slowed[key][0] / plain[key][0] - 1 for key in plain}
    assert changes["fp32.vector.fma"] == pytest.approx(1056 / 1024 - 1, abs=0.004)
    assert changes["fp64.vector.fma"] == pytest.approx(0.0, abs=0.004)
    assert changes["DRAM.copy"] == pytest.approx(0.0, abs=0.01)


USERS = """
import pytest
from ert_numba.errors import ErtError
torch = pytest.importorskip("torch")
cupy = pytest.importorskip("cupy")
from numba import cuda

def test_torch(roofline_benchmark):
    n = 4096
    a = torch.zeros(n, n, device="cuda", dtype=torch.bfloat16)
    roofline_benchmark(lambda: a @ a, flop=2.0 * n**3, precision="bf16")

def test_torch_on_a_stream_of_its_own(roofline_benchmark):
    n = 4096
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a = torch.zeros(n, n, device="cuda", dtype=torch.bfloat16)
        roofline_benchmark(lambda: a @ a, flop=2.0 * n**3, precision="bf16", stream=stream)

def test_a_stream_that_is_not_told(roofline_benchmark):
    n = 4096
    with torch.cuda.stream(torch.cuda.Stream()):
        a = torch.zeros(n, n, device="cuda", dtype=torch.bfloat16)
        with pytest.raises(ErtError, match="Pass the stream"):
            roofline_benchmark(lambda: a @ a, flop=2.0 * n**3, precision="bf16")

def test_cupy(roofline_benchmark):
    x, y = cupy.zeros(1 << 28, cupy.float32), cupy.zeros(1 << 28, cupy.float32)
    roofline_benchmark(lambda: cupy.copyto(y, x), bytes=8.0 * (1 << 28), level="DRAM", access="copy")

def test_numba(roofline_benchmark):
    @cuda.jit
    def scale(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] * 2.0
    x = cuda.device_array(1 << 27, "float64")
    roofline_benchmark(lambda: scale[(1 << 27) // 512, 512](x), flop=1 << 27, bytes=16.0 * (1 << 27), precision="fp64")
"""


def test_kernels_of_torch_cupy_and_numba(tmp_path: Path) -> None:
    """Their rates lie where hardware of this kind puts them: as shares of what our own kernels reach."""
    ours = suite(tmp_path / "roofs", "DRAM.copy or DRAM.read or bf16.tensor.cublas")
    roofs = {key: 1 / seconds for key, (seconds, _) in ours.items()}
    users = tmp_path / "users"
    users.mkdir()
    (users / "test_users.py").write_text(USERS)
    found = {
        row["name"]: row["extra_info"]["ert_numba"]["work"]["flop" if "torch" in row["name"] else "bytes_counted"]
        / row["stats"]["median"]
        for row in run_pytest(users, "test_users.py")["benchmarks"]
    }
    assert set(found) == {"test_torch", "test_torch_on_a_stream_of_its_own", "test_cupy", "test_numba"}
    assert 0.3 < found["test_torch"] / roofs["bf16.tensor.cublas"] < 1.1
    assert found["test_torch_on_a_stream_of_its_own"] == pytest.approx(found["test_torch"], rel=0.1)
    # CuPy's is the driver's copy, which ours equals on an H200.
    assert 0.8 < found["test_cupy"] / roofs["DRAM.copy"] < 1.02
    assert 0.7 < found["test_numba"] / roofs["DRAM.copy"] < 1.1


HOST = """
import pytest
from ert_numba.errors import ErtError

def work():
    return sum(range(1000))

def test_said_to_be_on_the_gpu(roofline_benchmark):
    with pytest.raises(ErtError, match="launched nothing"):
        roofline_benchmark(work, bytes=8000, on="gpu")

def test_host(roofline_benchmark):
    roofline_benchmark(work, bytes=8000, level="DRAM")
"""


def test_a_callable_that_stays_on_the_host_is_no_gpu_kernel(tmp_path: Path) -> None:
    (tmp_path / "test_host.py").write_text(HOST)
    row = run_pytest(tmp_path, "test_host.py")["benchmarks"][0]
    assert row["extra_info"]["ert_numba"]["conditions"]["timer"] == "host clock"
