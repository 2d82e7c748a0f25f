"""What is fuzzed: each target takes any bytes and may raise nothing but ``ErtError``."""

from __future__ import annotations

import atexit
import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
from example_models import PROVENANCE
from example_profiles import model_of

from appprof import analysis
from appprof.application import ApplicationModel
from appprof.diff import diff
from appprof.exports import as_csv, as_markdown, diff_as_markdown
from appprof.gather import gather
from appprof.report.read import read_report
from appprof.result import make_result
from appprof.tables import kernels_table, work_table
from ert_numba.errors import ErtError, NotComparable
from ert_numba.machine import MachineModel
from ert_numba.store import documents
from ert_numba.store.import_ert import import_ert

KNOWN = model_of("faults/F08_tensor_kernel_ffma_zero.csv")
MEMORY = Path("/dev/shm")
WIDTH = 100


def ncu_rep(data: bytes) -> None:
    _profile(data, ".ncu-rep")


def ncu_csv(data: bytes) -> None:
    _profile(data, ".csv")


def document(data: bytes) -> None:
    """A stored document of any type; a profile is judged, everything that was read is written again."""
    path = _file(data, ".json")
    for reader in (documents.load_any, import_ert):
        try:
            found = reader(path)
        except ErtError:
            continue
        documents.encode(found)
        if isinstance(found, ApplicationModel):
            _judge(found)
        elif isinstance(found, MachineModel):
            with contextlib.suppress(NotComparable):
                _judge(KNOWN, found)


def _profile(data: bytes, ending: str) -> None:
    """A profile that was read is judged and written: what its own document forbids must not come out of a reader."""
    try:
        models = gather(read_report([_file(data, ending)]), "fuzz", PROVENANCE)
    except ErtError:
        return
    for model in models:
        documents.encode(model)
        _judge(model)


def _judge(model: ApplicationModel, machine: MachineModel | None = None) -> None:
    """Everything that a command makes of a model but pictures: rows, tables, text, the difference to itself."""
    judged = analysis.analyse(model, machine, machine is not None)
    found = make_result(judged)
    msgspec.json.encode(found)
    work_table(found, WIDTH)
    kernels_table(found, WIDTH)
    as_csv(found)
    as_markdown(found)
    diff_as_markdown(diff(judged, judged))


def _file(data: bytes, ending: str) -> Path:
    """The bytes as a file, in memory where the system allows; written anew each time, and removed at the end."""
    folder = MEMORY if MEMORY.is_dir() else Path(tempfile.gettempdir())
    path = folder / f"fuzz-{os.getpid()}{ending}"
    if not path.exists():
        atexit.register(path.unlink, missing_ok=True)
    path.write_bytes(data)
    return path


TARGETS: dict[str, Callable[[bytes], None]] = {"ncu_rep": ncu_rep, "ncu_csv": ncu_csv, "document": document}
