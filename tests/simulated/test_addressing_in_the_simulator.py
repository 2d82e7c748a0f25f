"""The memory kernels in numba's CUDA simulator: every word is read or written exactly as often as the gold value says.

The simulator knows no PTX, so the loops take stand-ins for the instructions, which read and write arrays; what is under
test is which address each thread names, and when. It must be chosen before numba.cuda is imported: hence a process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba_cuda")

CASES = Path(__file__).with_name("simulated_cases.py")
NAMES = (
    "ring_private", "ring_shared", "ring_tail", "read", "copy", "strided", "random", "knee", "layer", "touch", "index",
    "shared",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_simulated(name: str) -> None:
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, str(CASES), name], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
