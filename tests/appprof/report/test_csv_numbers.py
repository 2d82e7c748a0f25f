"""Every locale's way of writing a number reads back to the number, or is refused; never a thousand times off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appprof.report.csv_columns import convert, raw_column
from appprof.report.csv_numbers import decide, number, read_marks, shapes_of
from ert_numba.errors import ErtError

LOCALES = {
    "en": (",", "."),
    "de": (".", ","),
    "fr": ("\u202f", ","),
    "se": ("\u00a0", ","),
    "ch": ("'", "."),
    "C": ("", "."),
}


def written(value: float, decimals: int, locale: str) -> str:
    group, mark = LOCALES[locale]
    return f"{value:,.{decimals}f}".replace(",", "\0").replace(".", mark).replace("\0", group)


def mark_of(cells: list[str], whole: bool = False) -> str:
    raw = raw_column(
        "dram__bytes.sum" if whole else "x.avg", "byte" if whole else "", [cell.encode() for cell in cells]
    )
    example = next((cell for cell in cells if "," in cell or "." in cell), "")
    return decide([raw.reading()], example).decimal_mark


@given(st.data(), st.sampled_from(sorted(LOCALES)))
def test_columns_of_every_locale_read_back(data: st.DataObject, locale: str) -> None:
    """Two and six decimals and none, as the tool writes them; one cell above a million makes the file unambiguous."""
    values = data.draw(st.lists(st.floats(0, 1e12), min_size=1, max_size=8))
    places = data.draw(st.lists(st.sampled_from([0, 2, 6]), min_size=len(values), max_size=len(values)))
    cells = [written(value, digits, locale) for value, digits in zip(values, places, strict=True)]
    cells.append(written(1234567.5, 2, locale))
    raw = raw_column("x.avg", "", [cell.encode() for cell in cells])
    column = convert(raw, decide([raw.reading()], "").decimal_mark, [])
    expected = [float(f"{value:.{digits}f}") for value, digits in zip(values, places, strict=True)]
    assert list(column.numbers) == [*expected, 1234567.5]
    assert column.rounding == 0.005 or 6 in places or all(not digits for digits in places)


@given(st.integers(0, 10**15), st.sampled_from(["en", "de"]))
def test_a_whole_counter_is_never_read_as_a_fraction(value: int, locale: str) -> None:
    cell = written(value, 0, locale)
    raw = raw_column("dram__bytes.sum", "byte", [cell.encode()])
    column = convert(raw, decide([raw.reading()], cell).decimal_mark, [])
    assert column.numbers == [float(value)]


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["54,207,744"], "."),
        (["27.595.520"], ","),
        (["65,77"], ","),
        (["65.77"], "."),
        (["0.123"], "."),
        (["0,123"], ","),
        (["1234.567"], "."),
        (["1234,567"], ","),
        (["117.344", "12,34"], ","),
        (["117,344", "12.34"], "."),
        (["1,234.5"], "."),
        (["1.234,5"], ","),
        (["1,000000"], ","),
        (["12", "3"], "."),
    ],
)
def test_cells_that_decide(cells: list[str], mark: str) -> None:
    assert mark_of(cells) == mark


@pytest.mark.parametrize("cell", ["117.344", "1,234", "999.001"])
def test_a_cell_that_does_not_decide_is_refused(cell: str) -> None:
    with pytest.raises(ErtError, match="nothing tells"):
        mark_of([cell])


@pytest.mark.parametrize("cells", [["1,234.5", "1.234,5"], ["1,2", "1.2"], ["1.5", "0,5"]])
def test_cells_of_two_minds_are_refused(cells: list[str]) -> None:
    with pytest.raises(ErtError, match="decimal comma"):
        mark_of(cells)


@pytest.mark.parametrize("word", ["2025.3.1", "1,2,3", "1,234,56.7", "127.0.0.1"])
def test_words_made_of_digits_decide_nothing(word: str) -> None:
    raw = raw_column("x.avg", "", [word.encode(), b"1,5"])
    decision = decide([raw.reading()], "1,5")
    assert decision.decimal_mark == ","
    column = convert(raw, ",", [])
    assert (list(column.numbers), column.texts) == ([None, 1.5], {0: word})


def test_a_guess_is_a_warning() -> None:
    decision = decide([read_marks(b"1,000", shapes_of(b"1,000"), True)], "1,000")
    assert decision.decimal_mark == "."
    assert "read as 1000" in decision.warning


@pytest.mark.parametrize(
    ("text", "mark", "digits"),
    [
        ("1,234.50", ".", "1234.50"),
        ("1.234,50", ",", "1234.50"),
        (" 7 ", ".", "7"),
        ("-1.5", ".", "-1.5"),
        ("1.5e-05", ".", "1.5e-05"),
        ("1,5E+06", ",", "1.5E+06"),
        ("1 234 567", ".", "1234567"),
        ("12,34", ".", None),
        ("1_000", ".", None),
        ("0x10", ".", None),
        ("", ".", None),
        ("١٢", ".", None),
        ("nan", ".", None),
        ("12:30", ".", None),
    ],
)
def test_one_cell(text: str, mark: str, digits: str | None) -> None:
    assert number(text, mark) == digits


def test_scaled_values_are_rounded_once() -> None:
    """536.924416 Mbyte times 1e6 in floating point is not 536924416."""
    raw = raw_column("dram__bytes_read.avg", "Mbyte", [b"536.924416", b"1.081344"])
    column = convert(raw, ".", [])
    assert list(column.numbers) == [536924416.0, 1081344.0]
    assert column.rounding == 0.5
