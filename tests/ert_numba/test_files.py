from __future__ import annotations

import errno
import os
import resource
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ert_numba import files
from ert_numba.errors import ErtError
from ert_numba.files import (
    check_new,
    check_writable,
    read_whole,
    replace_text,
    run_folder,
    write_bytes_new,
    write_text_new,
)
from ert_numba.records import slug

NOON = datetime(2026, 11, 29, 15, 47, 30, tzinfo=UTC)


def failing(number: int):
    def call(*_args, **_kwargs):
        raise OSError(number, os.strerror(number))

    return call


@given(data=st.binary(max_size=1000))
def test_bytes_arrive_as_they_are_and_nothing_else_stays(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("write")
    path = write_bytes_new(folder / "file", data)
    assert path.read_bytes() == data
    assert list(folder.iterdir()) == [path]
    assert read_whole(path, "to read", 1000) == data if data.strip() else True


def test_text_is_utf8_and_obeys_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        path = write_text_new(tmp_path / "text", "Gerät ½\n")
    finally:
        os.umask(old)
    assert path.read_bytes() == "Gerät ½\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_what_exists_is_never_overwritten(tmp_path, kind):
    path = tmp_path / "there"
    if kind == "file":
        path.write_text("old")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "nowhere")
    for attempt in (lambda: write_text_new(path, "new"), lambda: check_new(path)):
        with pytest.raises(ErtError, match="exists already"):
            attempt()
    assert os.listdir(tmp_path) == ["there"]
    assert kind != "file" or path.read_text() == "old"


def test_a_file_that_appears_during_the_save_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_and_sync = files._write_and_sync

    def overtaken(temporary, data):
        write_and_sync(temporary, data)
        path.write_text("theirs")

    monkeypatch.setattr(files, "_write_and_sync", overtaken)
    with pytest.raises(ErtError, match="exists already"):
        write_text_new(path, "ours")
    assert path.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("without_links", [False, True])
def test_of_many_writers_one_wins_and_the_file_is_whole(tmp_path, monkeypatch, without_links):
    if without_links:
        monkeypatch.setattr(os, "link", failing(errno.EPERM))

    def attempt(number: int) -> bool:
        try:
            write_bytes_new(tmp_path / "file", bytes([number]) * 100_000)
        except ErtError:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        won = list(pool.map(attempt, range(32)))
    assert sum(won) == 1
    assert (tmp_path / "file").read_bytes() == bytes([won.index(True)]) * 100_000
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_links_will_do(tmp_path, monkeypatch, number):
    monkeypatch.setattr(os, "link", failing(number))
    path = write_text_new(tmp_path / "file", "data")
    assert path.read_text() == "data"
    with pytest.raises(ErtError, match="exists already"):
        write_text_new(path, "more")
    assert os.listdir(tmp_path) == ["file"]
    monkeypatch.setattr(os, "replace", failing(errno.EIO))
    with pytest.raises(ErtError):
        write_text_new(tmp_path / "other", "data")
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("number", "found"),
    [
        (errno.ENOSPC, "disk or the quota is full"),
        (errno.EDQUOT, "disk or the quota is full"),
        (errno.EIO, os.strerror(errno.EIO)),
    ],
)
def test_a_disk_that_fills_up_during_the_save_leaves_no_file(tmp_path, monkeypatch, number, found):
    monkeypatch.setattr(os, "fsync", failing(number))
    with pytest.raises(ErtError, match=found):
        write_bytes_new(tmp_path / "file", bytes(1000))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ErtError, match=found):
        check_writable(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_stops_half_way_leaves_no_file(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(ErtError, match="no file that large"):
            write_bytes_new(tmp_path / "file", bytes(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_during_the_save_leaves_no_file(tmp_path, monkeypatch):
    def interrupted(_descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_bytes_new(tmp_path / "file", b"data")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("where", "found"),
    [("absent/file", "does not exist"), ("plain/file", "is a file, not a folder"), ("x" * 300, "too long")],
)
def test_a_place_that_cannot_be(tmp_path, where, found):
    (tmp_path / "plain").write_text("")
    with pytest.raises(ErtError, match=found) as caught:
        write_text_new(tmp_path / where, "data")
    assert str(tmp_path / where) in caught.value.asked
    assert caught.value.remedy


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_written_is_found_out_before_measuring(tmp_path, monkeypatch, number):
    # Root may write anywhere, so the refusal is made up.
    monkeypatch.setattr(files, "_write_and_sync", failing(number))
    with pytest.raises(ErtError, match=r"may not write there|read-only"):
        check_writable(tmp_path)


def test_a_results_folder_is_made_where_none_is(tmp_path):
    assert check_writable(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert list((tmp_path / "a" / "b").iterdir()) == []
    (tmp_path / "plain").write_text("")
    for folder in ("plain", "plain/below"):
        with pytest.raises(ErtError, match="not a folder"):
            check_writable(tmp_path / folder)


def test_a_run_has_a_name_of_its_own(tmp_path):
    first, second, third = (run_folder(tmp_path, "some-cpu", "cpu", NOON) for _ in range(3))
    assert first == tmp_path / "some-cpu" / "2026-11-29T1547-cpu"
    assert (second.name, third.name) == ("2026-11-29T1547-cpu-2", "2026-11-29T1547-cpu-3")
    assert all(folder.is_dir() for folder in (first, second, third))


def test_the_time_in_a_name_is_utc(tmp_path):
    east = NOON.astimezone(timezone(timedelta(hours=9)))
    assert run_folder(tmp_path, "d", "cpu", east).name == "2026-11-29T1547-cpu"


def test_runs_that_start_together_share_no_folder(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        folders = list(pool.map(lambda _: run_folder(tmp_path, "d", "cpu", NOON), range(64)))
    assert len(set(folders)) == 64


@given(device=st.text(max_size=300), name=st.text(max_size=300))
def test_a_run_stays_inside_its_results(device, name, tmp_path_factory):
    results = tmp_path_factory.mktemp("results")
    folder = run_folder(results, device, name, NOON)
    assert folder.parent.parent == results
    assert folder.resolve().is_relative_to(results.resolve())
    assert folder.is_dir()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AMD EPYC 9R14 / 2 x 96-Core", "amd-epyc-9r14-2-x-96-core"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "intel-r-xeon-r-cpu-2-20ghz"),
        ("Müller Gerät №5", "muller-gerat-no5"),
        ("../../etc/passwd", "etc-passwd"),
        ("龍芯", "fallback"),
        ("", "fallback"),
        ("a" * 200, "a" * 80),
        ("NVIDIA H200", "nvidia-h200"),
    ],
)
def test_a_name_as_a_folder(name, expected):
    assert slug(name, "fallback") == expected


@given(text=st.text())
def test_a_slug_is_a_safe_file_name(text):
    name = slug(text, "fallback")
    assert 1 <= len(name) <= 80
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert not name.startswith("-")
    assert slug(name, "fallback") == name


def test_a_whole_file_within_its_limit(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_whole(path, "to read", 100) == b"x" * 100
    with pytest.raises(ErtError, match="larger than"):
        read_whole(path, "to read", 99)


def test_a_page_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    assert replace_text(path, "old") == path
    assert replace_text(path, "new ½").read_text(encoding="utf-8") == "new ½"

    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr("ert_numba.files.os.fsync", full)
    with pytest.raises(ErtError, match="full"):
        replace_text(path, "half")
    assert path.read_text(encoding="utf-8") == "new ½"
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]
