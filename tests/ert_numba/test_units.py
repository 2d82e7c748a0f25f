from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ert_numba.errors import ErtError
from ert_numba.units import capacity, parse_duration, parse_size, si

PREFIXES = {"p": 1e-12, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
POWERS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5, "EiB": 6}


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1.169e11, 3, "117 GFLOP/s"),
        (1e9, 3, "1.00 GFLOP/s"),
        (12.34e9, 3, "12.3 GFLOP/s"),
        (999.4, 3, "999 FLOP/s"),
        (999.5, 3, "1.00 kFLOP/s"),
        (9.995e11, 3, "1.00 TFLOP/s"),
        (1.0004e12, 5, "1.0004 TFLOP/s"),
        (1.17e11, 2, "120 GFLOP/s"),
        (-2.5e-9, 3, "-2.50 nFLOP/s"),
        (1e-15, 3, "0.00100 pFLOP/s"),
        (1e21, 3, "1000 EFLOP/s"),
        (0.0, 3, "0 FLOP/s"),
        (-0.0, 3, "0 FLOP/s"),
        (math.inf, 3, "inf FLOP/s"),
        (math.nan, 3, "nan FLOP/s"),
    ],
)
def test_si(value, digits, text):
    assert si(value, "FLOP/s", digits) == text


def test_no_unit_leaves_no_space():
    assert si(5.0, "") == "5.00"
    assert si(0.0, "") == "0"


@given(value=st.floats(1e-11, 1e17), digits=st.integers(1, 6))
def test_si_says_the_value_to_its_digits(value, digits):
    number, unit = si(value, "X", digits).split(" ")
    assert "e" not in number
    said = float(number) * PREFIXES[unit.removesuffix("X")]
    assert said == pytest.approx(value, rel=0.51 * 10.0 ** (1 - digits))
    assert 1 <= float(number) < 1000
    assert len(number.replace(".", "")) == max(digits, len(number.split(".")[0]))


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (49152, "48 KiB"),
        (1048575, "1 MiB"),
        (1024**2, "1 MiB"),
        (1.5 * 1024**2, "1.5 MiB"),
        (33554432, "32 MiB"),
        (150754820096, "140 GiB"),
        (2**60, "1 EiB"),
        (2**71, "2048 EiB"),
        (math.inf, "inf B"),
        (math.nan, "nan B"),
    ],
)
def test_capacity(size, text):
    assert capacity(size) == text


@given(size=st.integers(1, 2**60))
def test_capacity_says_the_size_to_three_digits(size):
    number, unit = capacity(size).split(" ")
    assert float(number) * 1024 ** POWERS[unit] == pytest.approx(size, rel=0.0051)
    assert "e" not in number
    assert float(number) < 1024


@given(size=st.integers(1, 999), unit=st.sampled_from(["", "K", "M", "G", "T"]))
def test_a_label_can_be_typed_back(size, unit):
    number = parse_size(f"{size}{unit}")
    assert parse_size(capacity(number)) == number


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096),
        ("32K", 32768),
        ("32k", 32768),
        ("32KB", 32768),
        ("32 KiB ", 32768),
        ("1.5MiB", 1572864),
        ("2G", 2**31),
        ("1t", 2**40),
        ("64B", 64),
        ("0", 0),
        ("0.3", 0),
        ("9007199254740993B"[:15], 900719925474099),
    ],
)
def test_parse_size(text, size):
    assert parse_size(text) == size


@given(size=st.integers(0, 10**15 - 1))
def test_a_size_in_bytes_is_exact(size):
    assert parse_size(str(size)) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "K",
        "-1K",
        "1,5M",
        "1e6",
        "32X",
        "5i",
        "5iB",
        "32KK",
        "1..5M",
        "٣K",
        "0x10",
        "nan",
        "inf",
        "9" * 400,
        "1K\n2K",
    ],
)
def test_what_is_no_size(text):
    with pytest.raises(ErtError, match="32K") as caught:
        parse_size(text)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("45", 45.0),
        ("45s", 45.0),
        (" 45 S ", 45.0),
        ("2min", 120.0),
        ("2m", 120.0),
        ("500ms", 0.5),
        ("1.5h", 5400.0),
        ("0", 0.0),
    ],
)
def test_parse_duration(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "-1s", "1d", "1:30", "1e3", "nan", "9" * 400, "1 s s", "１"])
def test_what_is_no_time(text):
    with pytest.raises(ErtError, match="45s"):
        parse_duration(text)


@given(text=st.text(alphabet="0123456789.kmgtKMGTibBsh -eE\n", max_size=12))
def test_any_text_gives_a_finite_number_or_an_error(text):
    for parse in (parse_size, parse_duration):
        try:
            value = parse(text)
        except ErtError:
            continue
        assert 0 <= value < 2**100
        assert re.match(r"\s*\d", text)
