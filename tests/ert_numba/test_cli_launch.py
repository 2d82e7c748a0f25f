"""``launch`` where no GPU is: one message, exit code 3, nothing on stdout."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from ert_numba.cli import app
from ert_numba.device import gpu
from ert_numba.device.gpu import NoGpu


def test_no_gpu_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(ordinal: int) -> None:
        raise NoGpu("a GPU", "no NVIDIA driver: libcuda was not found", "Install it; nvidia-smi must work")

    pytest.importorskip("numba_cuda")
    monkeypatch.setattr(gpu, "probe_gpu", nothing)
    done = CliRunner().invoke(app, ["launch"])
    assert done.exit_code == 3
    assert "nvidia-smi must work" in done.stderr
    assert done.stdout == ""
