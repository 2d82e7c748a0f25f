"""The door: packed files, files that are something else, and bytes that are nothing."""

from __future__ import annotations

import contextlib
import gzip
import math
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appprof import api
from appprof.report.read import read_file
from ert_numba.errors import ErtError

zstandard = pytest.importorskip("zstandard")
PACKERS = {".gz": gzip.compress, ".zst": lambda data: zstandard.ZstdCompressor().compress(data)}


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("name", ["micro.ncu-rep", "micro_raw.csv", "micro_stdout.csv"])
def test_packed_files_are_read_as_they_are(h200: Path, tmp_path: Path, suffix: str, name: str) -> None:
    packed = tmp_path / (name + suffix)
    packed.write_bytes(PACKERS[suffix]((h200 / name).read_bytes()))
    expected = read_file(h200 / name)
    assert [kernel.values for kernel in read_file(packed).kernels] == [kernel.values for kernel in expected.kernels]


def test_a_repz_that_is_a_packed_report_is_read(h200: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.ncu-repz"
    path.write_bytes(PACKERS[".zst"]((h200 / "micro.ncu-rep").read_bytes()))
    assert len(read_file(path).kernels) == 5


def test_nvidias_library_takes_the_same_packing_for_its_own(h200: Path, tmp_path: Path) -> None:
    """Its documentation names the suffix and no container: that it opens this one is the evidence for it."""
    ncu_report = pytest.importorskip("ncu_report")
    path = tmp_path / "r.ncu-repz"
    path.write_bytes(PACKERS[".zst"]((h200 / "micro.ncu-rep").read_bytes()))
    (actions,) = list(ncu_report.load_report(str(path)))
    names = [action.name(action.NameBase_MANGLED) for action in actions]
    assert names == [kernel.mangled for kernel in read_file(path).kernels]


@pytest.mark.parametrize("data", [b"PK\x03\x04rest", b"something else entirely", b"\x00\x01\x02"])
def test_a_repz_of_another_kind_says_what_to_run(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "r.ncu-repz"
    path.write_bytes(data)
    with pytest.raises(ErtError, match=r"ncu-repz.*ncu -i"):
        read_file(path)


def test_cut_archives_are_refused(h200: Path, tmp_path: Path) -> None:
    for suffix, pack in PACKERS.items():
        path = tmp_path / f"cut{suffix}"
        data = pack((h200 / "micro_raw.csv").read_bytes() * 40)
        for cut in (1, 100, len(data) // 2, len(data) - 20):
            path.write_bytes(data[:-cut])
            with pytest.raises(ErtError, match="cannot be unpacked"):
                read_file(path)
        path.write_bytes(data[:10] + os.urandom(200))
        with pytest.raises(ErtError):
            read_file(path)


@pytest.mark.parametrize("suffix", PACKERS)
def test_archives_one_behind_the_other_are_one(h200: Path, tmp_path: Path, suffix: str) -> None:
    text = (h200 / "micro_raw_base.csv").read_bytes()
    path = tmp_path / f"parts{suffix}"
    path.write_bytes(b"".join(PACKERS[suffix](text[at : at + 9000]) for at in range(0, len(text), 9000)))
    assert len(read_file(path).kernels) == 5


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.setattr("appprof.report.opened.UNPACKED_FREE", 1 << 16)
    monkeypatch.setattr("appprof.report.opened.UNPACKED_RATIO", 100)
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(PACKERS[suffix](b"x\n" * (4 << 20)))
    with pytest.raises(ErtError, match="unpacks to more than"):
        read_file(path)


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appprof.report.csv_rows.LINE_LIMIT", 1 << 20)
    path = tmp_path / "line.csv"
    path.write_bytes(b"x" * (2 << 20))
    with pytest.raises(ErtError, match="line of more than"):
        read_file(path)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"SQLite format 3\0rest", "SQLite"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS"),
        (b"PK\x03\x04rest", "zip"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b'==42== NVPROF is profiling process 42\n"Device","Kernel","Invocations","Metric Name"\n', "nvprof"),
        (b'"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"\n', "nvprof"),
        (b"Time (%),Total Time (ns),Instances,Avg (ns),Name\n50.0,1,1,1,k\n", "nsys stats"),
        (b'"Index","KernelName","gpu-id","queue-id"\n0,"k",0,0\n', "rocprof"),
        (b'"Correlation_Id","Dispatch_Id","Agent_Id","Kernel_Name"\n', "rocprof"),
        (b'{"schemaVersion": 1, "traceEvents": []}', "trace of PyTorch"),
        (b'[\n {"ph": "X", "name": "k"}]', "trace of PyTorch"),
        (b'{"a": 1}', "JSON"),
        (b"Launch Settings\n---------- -----\nLaunch Attribute Value\n", "without --csv"),
        (b"[5] a@h\n  k (1, 1, 1)x(1, 1, 1), Context 1\n  Metric Name   Metric Unit  Metric Value\n", "without --csv"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0", "binary"),
        (b"", "empty"),
        (b" \n\n ", "empty"),
        (b"hello, world\n", "no header"),
    ],
)
def test_what_is_no_profile_is_named(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "thing"
    path.write_bytes(data)
    with pytest.raises(ErtError, match=what):
        read_file(path)


def test_paths_that_are_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    paths = [(tmp_path, "folder"), (tmp_path / "none", "no such file"), (Path(os.devnull), "device or a pipe")]
    for path, what in (*paths, (pipe, "device or a pipe"), (Path("a\0b"), "cannot be read")):
        with pytest.raises(ErtError, match=what):
            read_file(path)
        with pytest.raises(ErtError, match=what):
            api.read(path)


def test_foreign_files_of_the_fault_collection(faults: Path) -> None:
    for name in ("F07_no_nvtx.sqlite", "F15a_list_root.json", "F16_metadata_only.json"):
        with pytest.raises(ErtError):
            read_file(faults / name)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_csv_is_read_or_refused(h200: Path, faults: Path, tmp_path: Path, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from([*sorted(faults.glob("*.csv")), h200 / "micro_stdout.csv"]))
    content = bytearray(source.read_bytes())
    for _ in range(data.draw(st.integers(1, 10))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 20))] = data.draw(
            st.one_of(
                st.binary(max_size=4),
                st.sampled_from([b'"', b'","', b"\n", b"\0", b"\xff\xfe", b"1e999", b"n/a", b"("]),
            )
        )
    path = tmp_path / "damaged.csv"
    path.write_bytes(content)
    with contextlib.suppress(ErtError):
        report = read_file(path)
        assert all(math.isfinite(value) for kernel in report.kernels for value in kernel.values.values())


def test_a_header_in_another_order_with_short_rows(tmp_path: Path) -> None:
    """Found by a fuzzer."""
    path = tmp_path / "order.csv"
    path.write_text(
        '"Kernel Name","Metric Value","Metric Unit","Metric Name","ID"\n"k"\n"k","5","byte","dram__bytes.sum","0"\n'
    )
    (kernel,) = read_file(path).kernels
    assert kernel.values == {"dram__bytes.sum": 5.0}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any"
    path.write_bytes(data)
    with contextlib.suppress(ErtError):
        read_file(path)
