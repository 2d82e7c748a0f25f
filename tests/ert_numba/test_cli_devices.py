"""``devices``: what it says of machines that hide or lack something."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_line import call, program, refused
from fake_backend import FakeMachine
from made_up_sysfs import allow, server

from ert_numba.device import cpu as cpu_module
from ert_numba.device import gpu, topology


@pytest.fixture
def machine(monkeypatch):
    return FakeMachine(monkeypatch)


@pytest.fixture
def hidden(tmp_path, monkeypatch):
    """This host as a container sees it that shows neither sysfs nor quotas: (sysfs, cgroup) to fill."""
    from ert_numba.device.cpu import probe_cpu
    from ert_numba.device.topology import probe

    sysfs, cgroup = tmp_path / "sys", tmp_path / "cgroup"
    for folder in (sysfs, cgroup):
        folder.mkdir()
    monkeypatch.setattr(topology, "_own_cgroups", lambda folder: [folder])
    monkeypatch.setattr(topology, "probe", lambda: probe(sysfs, cgroup))
    monkeypatch.setattr(cpu_module, "probe_cpu", lambda found: probe_cpu(found, sysfs, cgroup))
    return sysfs, cgroup


def test_no_sysfs(hidden):
    code, out, _ = call("devices", "--backend", "cpu")
    assert code == 0
    assert "physical cores" in out
    code, out, _ = call("devices", "--backend", "cpu", "--json")
    assert code == 0
    assert json.loads(out)["sockets"] == 1


def test_half_a_core(hidden, monkeypatch):
    allow(monkeypatch, server(hidden[0]))
    (hidden[1] / "cpu.max").write_text("50000 100000\n")
    code, out, _ = call("devices", "--backend", "cpu", "--json")
    assert code == 0
    device = json.loads(out)
    assert device["units"] == 1
    assert any("0.5 processors" in note for note in device["notes"])


@pytest.mark.parametrize(("gpus", "said"), [(1, False), (4, True)])
def test_devices_says_how_to_reach_the_other_gpus(gpus, said, monkeypatch):
    FakeMachine(monkeypatch, kind="gpu")
    monkeypatch.setattr(gpu, "count_gpus", lambda: gpus)
    code, _, notes = call("devices", "--backend", "cpu")
    assert code == 0
    assert (f"GPU 0 of {gpus}: --device chooses another, sweep --device all measures each" in notes) is said


def test_devices_says_what_can_be_measured_and_what_not(machine):
    code, out, _ = call("devices", "--backend", "cpu")
    assert code == 0
    for text in ("fp64.vector.fma", "AMX", "Cannot be measured", "Physical limits"):
        assert text in out


def test_cuda_without_a_driver(tmp_path):
    if Path("/dev/nvidiactl").exists():
        pytest.skip("there is a driver")
    refused("devices", "--backend", "cuda")
    refused("sweep", "--backend", "cuda", "--results", tmp_path)
    assert list(tmp_path.iterdir()) == []
    code, _, notes = call("devices", "--json")
    assert code == 0
    assert "cuda: not measured" in notes


def test_one_processor_allowed():
    first = min(os.sched_getaffinity(0))
    result = program("devices", "--backend", "cpu", "--json", preexec_fn=lambda: os.sched_setaffinity(0, {first}))
    assert result.returncode == 0
    device = json.loads(result.stdout)
    assert (device["units"], device["threads"], device["sockets"]) == (1, 1, 1)
    assert all(row["shared_by"] == 1 for row in device["caches"])
