"""Vega's script by another process: the same as by this one, and made here where that process fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ert_numba.charts import vega


@pytest.fixture(autouse=True)
def _nothing_begun(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("ERT_NUMBA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(vega, "_begun", [])
    vega.vega_script.cache_clear()
    yield
    vega.vega_script.cache_clear()


def made_here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have vl-convert of this process note that it was called, and answer at once."""
    vl_convert = pytest.importorskip("vl_convert")
    calls: list[str] = []

    def bundle(vl_version: str) -> str:
        calls.append(vl_version)
        return "made here"

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    return calls


def test_another_process_makes_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = made_here(monkeypatch)
    vega.prepare_vega()
    vega.prepare_vega()
    script = vega.vega_script()
    assert not calls
    assert len(vega._begun) == 1
    assert "window.vegaEmbed" in script
    assert len(script) > 500_000


def test_it_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = made_here(monkeypatch)
    assert vega.vega_script() == "made here"
    vega.vega_script.cache_clear()
    vega.prepare_vega()
    assert vega.vega_script() == "made here"
    assert (len(calls), vega._begun) == (1, [])


@pytest.mark.parametrize("damage", [b"", b"x", b"made", b"\xff\n\xff"])
def test_a_damaged_copy_is_made_again(monkeypatch: pytest.MonkeyPatch, damage: bytes) -> None:
    calls = made_here(monkeypatch)
    vega.vega_script()
    place = vega._place()
    assert place is not None
    place.write_bytes(place.read_bytes()[:70] + damage if damage else damage)
    vega.vega_script.cache_clear()
    assert vega.vega_script() == "made here"
    assert len(calls) == 2
    vega.vega_script.cache_clear()
    assert vega.vega_script() == "made here"
    assert len(calls) == 2


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners here")
def test_a_copy_of_another_user_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = made_here(monkeypatch)
    vega.vega_script()
    vega.vega_script.cache_clear()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    vega.vega_script()
    assert len(calls) == 2


def test_no_place_to_keep_it_is_no_harm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = made_here(monkeypatch)
    (tmp_path / "cache").write_text("a file, not a folder")
    assert vega.vega_script() == "made here"
    vega.vega_script.cache_clear()
    assert vega.vega_script() == "made here"
    assert len(calls) == 2


@pytest.mark.parametrize("command", ["raise SystemExit(3)", "pass"])
def test_a_process_that_fails_is_no_harm(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    calls = made_here(monkeypatch)
    monkeypatch.setattr(vega, "_MAKE", command)
    vega.prepare_vega()
    assert vega.vega_script() == "made here"
    assert calls == [vega.VEGA_LITE]


def test_a_process_that_cannot_start_is_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = made_here(monkeypatch)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    vega.prepare_vega()
    assert vega.vega_script() == "made here"
    assert calls == [vega.VEGA_LITE]


@pytest.mark.skipif(shutil.which("ps") is None, reason="there is no ps")
def test_a_run_that_ends_early_leaves_no_process() -> None:
    code = "from ert_numba.charts import vega; vega.prepare_vega(); print(vega._begun[0].pid)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    found = subprocess.run(
        ["ps", "-o", "stat=", "-p", done.stdout.strip()], capture_output=True, text=True, check=False
    )
    assert found.stdout.strip() in ("", "Z"), "still running"
