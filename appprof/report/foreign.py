"""Files that people hand over and that are no Nsight Compute report: each recognised by its beginning, by name."""

from __future__ import annotations

import re

import msgspec

from ert_numba.errors import ErtError

NCU = "Give a report of Nsight Compute (.ncu-rep) or its export: ncu -i report.ncu-rep --csv --page raw"


class Foreign(msgspec.Struct, frozen=True):
    """``start`` is searched in the first 4 KiB; ``suffix`` narrows it to files of that ending where it is given."""

    what: str
    start: re.Pattern[bytes]
    remedy: str = NCU
    suffix: str = ""


RAW_PAGE = "Export its launches: ncu -i report.ncu-rep --csv --page raw --print-units base > report.csv"
SUMMARY = "a summary of ncu (--print-summary), which has the extremes and means of many launches, not the launches"

FOREIGN: tuple[Foreign, ...] = (
    Foreign(
        "a compressed Nsight Compute report (.ncu-repz) in another container than zstd, the one that is known",
        re.compile(rb"", re.DOTALL),
        "Export it where ncu is installed: ncu -i report.ncu-repz --csv --page raw --print-units base > report.csv",
        ".ncu-repz",
    ),
    Foreign(
        "a report of Nsight Systems that only nsys itself can open",
        re.compile(rb""),
        "It holds times and no counters; profile with ncu for a roofline",
        ".nsys-rep",
    ),
    Foreign(SUMMARY, re.compile(rb'^"(?:Process ID|Domain)",.*"Invocations",', re.MULTILINE), RAW_PAGE),
    Foreign(
        "the source page of ncu, which has values of instructions, not of launches",
        re.compile(rb'^"(?:Address|#|Line|Line No)",(?:"[^"]*",)?"Source"', re.MULTILINE),
        RAW_PAGE,
    ),
    Foreign(
        "what ncu prints without --csv, rounded for the eye",
        re.compile(
            rb"^ +Section: .*\n +-{9}|^ +Metric Name +Metric Unit +Metric Value|^Launch Settings\n-{9}", re.MULTILINE
        ),
        RAW_PAGE,
    ),
    Foreign("an SQLite database (an export of Nsight Systems?)", re.compile(rb"\ASQLite format 3\0")),
    Foreign(
        "a pointer of Git LFS, not the file itself",
        re.compile(rb"\Aversion https://git-lfs"),
        "Fetch the file with: git lfs pull",
    ),
    Foreign("a zip archive", re.compile(rb"\APK\x03\x04"), "Unpack it and name the report inside"),
    Foreign("an archive of 7-Zip", re.compile(rb"\A7z\xbc\xaf"), "Unpack it and name the report inside"),
    Foreign("an xz archive", re.compile(rb"\A\xfd7zXZ"), "Unpack it with: xz -d"),
    Foreign("a bzip2 archive", re.compile(rb"\ABZh[1-9]1AY"), "Unpack it with: bzip2 -d"),
    Foreign("a web page", re.compile(rb"\A\s*<(?:!doctype html|html)", re.IGNORECASE)),
    Foreign("an Excel or RTF document", re.compile(rb"\A(?:\xd0\xcf\x11\xe0|\{\\rtf)"), "Save it as CSV"),
    Foreign(
        "an export of nvprof, whose counters have other names and meanings",
        re.compile(
            rb'^==\d+== NVPROF|^==\d+== Profil|^"Device","Kernel","Invocations"|^"Type","Time\(%\)"', re.MULTILINE
        ),
        "nvprof ended with Volta: profile again with ncu",
    ),
    Foreign(
        "a summary of nsys stats, which holds times and no counters",
        re.compile(rb"^\"?(?:Time ?\(%\)|Start \(ns\)|Total Time \(ns\))\"?,", re.MULTILINE),
        "Profile with ncu for counters",
    ),
    Foreign(
        "an export of AMD's rocprof, whose counters are those of another vendor",
        re.compile(
            rb'^"?(?:Index|Correlation_Id|Dispatch_ID|Kernel_Name|KernelName)"?,.*'
            rb"(?:KernelName|Kernel_Name|gpu-id|Agent_Id|GPU_ID)",
            re.MULTILINE,
        ),
        "Rooflines of AMD GPUs: rocprofiler-compute",
    ),
    Foreign(
        "a trace of PyTorch or Chrome, which holds times and no counters",
        re.compile(
            rb'\A\s*(?:\{.*"(?:traceEvents|schemaVersion|deviceProperties)"|\[\s*\{\s*"(?:ph|name|cat|ts)")', re.DOTALL
        ),
        "Profile with ncu for counters",
    ),
    Foreign("a JSON document", re.compile(rb'\A\s*[\[{]\s*["{\[\]}]'), NCU),
    Foreign("output of Linux perf", re.compile(rb"\APERFILE2|^# Overhead ", re.MULTILINE)),
)


def refuse_foreign(name: str, head: bytes) -> None:
    """Raise what a known foreign file is; return where no row knows it."""
    for row in FOREIGN:
        if name.lower().endswith(row.suffix) and row.start.search(head):
            raise ErtError(f"a profile of Nsight Compute in {name}", f"it is {row.what}", row.remedy)
