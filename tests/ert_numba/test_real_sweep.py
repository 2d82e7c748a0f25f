"""One small sweep of this very machine, from the probe to the pictures: no figure is judged but by physics."""

from __future__ import annotations

import json

import jsonschema
import pytest

import ert_numba
from ert_numba.kernels.spec import Request
from ert_numba.machine import MachineModel
from ert_numba.records import Sweep
from ert_numba.store.documents import registered
from ert_numba.store.schema import schema_of

REQUEST = Request(precisions=("fp64",), levels=("L1",), threads=1, quick=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ert_numba.sweep(REQUEST, backend="cpu", budget_seconds=2.0, results=tmp_path_factory.mktemp("results"))


def test_files_are_there_and_obey_their_schemas(run):
    for name, kind in (("sweep", Sweep), ("machine", MachineModel)):
        row = next(row for row in registered() if row.type is kind)
        document = json.loads(run.files[name].read_text())
        jsonschema.Draft202012Validator(schema_of(row)).validate(document)
    page = run.files["page"].read_text()
    assert run.model.device.name in page
    assert "http-equiv" in page or "<script" in page


def test_every_sample_was_verified_and_its_code_checked(run):
    assert run.sweep.samples
    for row in run.sweep.samples:
        assert row.verified is True, row.point.key
        assert row.code
        assert row.clock_hz
        assert row.point.axes["threads"] == 1


def test_what_was_asked_is_what_is_there(run):
    keys = {row.key for row in run.model.ceilings}
    fused = run.model.device.limit("fp64.vector.fma") is not None
    assert ("fp64.vector.fma" in keys) == fused
    assert {"fp64.vector.add", "L1.read"} <= keys
    assert all(row.level in (None, "L1") for row in run.model.ceilings)
    assert all(row.precision in (None, "fp64") for row in run.model.ceilings)


def test_every_ceiling_has_an_interval_and_obeys_physics(run):
    for row in run.model.ceilings:
        assert 0 < row.low <= row.value <= row.high, row.key
        assert row.low < row.high
        # The clock may move between two probes of a shared machine; work that was folded away shows as twice the limit.
        assert row.limit is None or row.low < 1.1 * row.limit, f"{row.key}: {row.low:.4g} above {row.limit:.4g}"
        if row.kind == "compute":
            assert row.limit is not None
