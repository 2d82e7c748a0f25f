"""Numbers of a CSV as people's locales write them: which mark is the decimal one is decided once for a whole file.

Nsight Compute groups by thousands in some cells and not in others, and takes the marks of the user's locale. A lone
``117.344`` may be 117 or 117,344: a factor of 1000 that nothing later would reveal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from ert_numba.errors import ErtError

DIGIT_SHAPE = bytes.maketrans(b"123456789", b"000000000")
SWAP_MARKS = bytes.maketrans(b",.", b".,")
GROUP_SPACES = re.compile(rb"(?<=\d)(?:\xc2\xa0|\xe2\x80\xaf|\xe2\x80\x89|\xe2\x80\x99|'| )(?=\d{3})")
NUMBER_BYTES = b"0123456789.,+-\n"

# A comma that groups by thousands stands behind one to three digits and before exactly three.
BROKEN_GROUPS = tuple(
    shape.encode()
    for shape in (
        *("\n,", "-,", "+,", ",,", ",.", ",\n", ",0\n", ",00\n", ",0.", ",00.", ",0,", ",00,", ",0000", "0000,"),
        *("\n0,0", "-0,0", "+0,0"),  # checked on the digits themselves: no group begins with 0
    )
)
SHAPES, ZEROS = BROKEN_GROUPS[:-3], BROKEN_GROUPS[-3:]

CELL = {
    ".": re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?(?:[eE][+-]?\d+)?"),
    ",": re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d*)?(?:[eE][+-]?\d+)?"),
}


class Reading(msgspec.Struct, frozen=True):
    """How the numbers of some cells may be read: ``point`` and ``comma`` say which decimal mark makes sense of all.

    ``whole``: the mark that must group because a whole number was written with it (``","``, ``"."`` or empty).
    """

    point: bool
    comma: bool
    marked: bool
    whole: str = ""


class Decision(msgspec.Struct, frozen=True):
    decimal_mark: str  # "." or ","
    warning: str = ""


def without_group_spaces(blob: bytes) -> bytes:
    """Drop blanks and apostrophes that group digits."""
    return GROUP_SPACES.sub(b"", blob) if blob.translate(None, NUMBER_BYTES) else blob


def read_marks(blob: bytes, is_whole: bool) -> Reading:
    """Evidence of one column, ``blob`` being its numeric cells joined by line ends.

    ``is_whole`` says that the column can hold whole numbers only (a sum of events in its base unit).
    """
    if b"," not in blob and b"." not in blob:
        return Reading(point=True, comma=True, marked=False)
    framed = b"\n" + blob + b"\n"
    swapped = framed.translate(SWAP_MARKS)
    point, comma = _groups_by_comma(framed), _groups_by_comma(swapped)
    whole = ""
    if is_whole and point and comma:
        fraction = re.search(rb"([.,])(?!000\n)\d\d\d\n", framed)
        whole = fraction[1].decode() if fraction else ""
    return Reading(point=point, comma=comma, marked=True, whole=whole)


def _groups_by_comma(framed: bytes) -> bool:
    """Whether every line makes sense with commas as group marks and the point as the decimal mark."""
    if b"," not in framed:
        return b".." not in framed.translate(None, b"0123456789+-")
    marks = framed.translate(None, b"0123456789+-")
    if b".," in marks or b".." in marks or any(start in framed for start in ZEROS):
        return False
    shape = framed.translate(DIGIT_SHAPE)
    return not any(broken in shape for broken in SHAPES)


def decide(readings: Iterable[Reading], example: str, asked: str | None = None) -> Decision:
    """The decimal mark of a file. ``asked`` is the user's word; ``example`` a cell that shows the doubt."""
    marked = [reading for reading in readings if reading.marked]
    if asked is not None or not marked:
        return Decision(asked or ".")
    point = all(reading.point for reading in marked)
    comma = all(reading.comma for reading in marked)
    if point != comma:
        return Decision("." if point else ",")
    if not point:
        raise ErtError(
            "one way of writing numbers in the file",
            "some cells only make sense with a decimal point, others only with a decimal comma",
            "Export again with LC_ALL=C and --print-units base, or name the mark with --decimal-mark",
        )
    wholes = {reading.whole for reading in marked} - {""}
    if len(wholes) == 1:
        return Decision("." if wholes == {","} else ",")
    return _guess(example)


def _guess(example: str) -> Decision:
    """Every marked cell has one mark and three digits behind it, as ``1,000``: ncu writes no three decimals."""
    mark = next((char for char in example if char in ",."), "")
    if not re.fullmatch(r"\d{1,3}[.,]000", example) or not mark:
        raise ErtError(
            "numbers of one meaning",
            f"{example!r} may be a number with a fraction or one that is grouped by thousands, and nothing tells",
            "Export again with LC_ALL=C and --print-units base, or name the mark with --decimal-mark",
        )
    whole = example.replace(mark, "")
    return Decision(
        "." if mark == "," else ",",
        f"{example!r} was read as {whole}: Nsight Compute writes two or six decimals, not three; "
        "--decimal-mark overrides this",
    )


def plain(blob: bytes, decimal_mark: str) -> bytes:
    """Cells without group marks and with a decimal point."""
    return blob.replace(b",", b"") if decimal_mark == "." else blob.replace(b".", b"").replace(b",", b".")


def number(text: str, decimal_mark: str) -> str | None:
    """One cell as ``float`` reads it, or None where it is no number in this way of writing."""
    compact = without_group_spaces(text.strip().encode()).decode()
    if CELL[decimal_mark].fullmatch(compact) is None:
        return None
    return plain(compact.encode(), decimal_mark).decode()
