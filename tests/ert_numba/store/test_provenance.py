from __future__ import annotations

import getpass
import platform
import socket
import sys
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest

from ert_numba.store import provenance
from ert_numba.store.provenance import collect


@pytest.fixture
def private(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "secret-host")
    monkeypatch.setattr(platform, "node", lambda: "secret-node")
    monkeypatch.setattr(platform, "version", lambda: "#1 built by secret-builder")
    monkeypatch.setattr(getpass, "getuser", lambda: "secret-user")
    monkeypatch.setattr(sys, "orig_argv", ["/home/secret-user/python", "-m", "ert_numba", "sweep", "a b"])
    monkeypatch.setenv("SECRET", "secret-variable")


@pytest.mark.usefixtures("private")
def test_nothing_private_unless_asked():
    text = msgspec.json.encode(collect()).decode()
    assert "secret" not in text
    assert "/" not in text


@pytest.mark.usefixtures("private")
def test_full_provenance_names_host_user_and_command():
    full = collect(full=True)
    assert (full.host_name, full.user) == ("secret-host", "secret-user")
    assert full.command_line == "/home/secret-user/python -m ert_numba sweep 'a b'"


@pytest.mark.parametrize("error", [KeyError("uid"), OSError("no such user")])
def test_a_user_id_without_a_name(monkeypatch, error):
    def nameless():
        raise error

    monkeypatch.setattr(getpass, "getuser", nameless)
    assert collect(full=True).user is None


def test_versions_of_what_is_installed():
    versions = collect(versions={"driver": "580.65"}).versions
    assert versions["python"] == platform.python_version()
    assert versions["driver"] == "580.65"
    assert {"numba", "llvmlite", "numpy", "scipy"} <= versions.keys()


def test_a_package_that_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setattr(provenance, "PACKAGES", ("numpy", "surely-no-such-package"))
    assert collect().versions.keys() == {"python", "numpy"}


def test_the_time_is_utc_to_the_second():
    moment = datetime(2026, 11, 29, 15, 47, 30, 999, tzinfo=UTC)
    assert collect(now=moment.astimezone(timezone(timedelta(hours=-7)))).created == "2026-11-29T15:47:30Z"


def test_the_tool_names_itself():
    assert collect().tool.startswith("ert_numba ")
    assert collect(tool="appprof").tool.startswith("appprof ")
