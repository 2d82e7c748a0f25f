"""A file of a megabyte costs less than 10 s of a core and 1 GB, whatever is in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits a process's memory by RLIMIT_DATA")
def test_no_file_costs_more_than_it_may() -> None:
    pytest.importorskip("zstandard")
    paths = os.pathsep.join([str(HERE.parent / "support"), os.environ.get("PYTHONPATH", "")])
    place = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, HERE / "hostile.py"], env=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
