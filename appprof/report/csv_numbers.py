"""Numbers of a CSV as people's locales write them: which mark is the decimal one is decided once for a whole file.

Nsight Compute groups by thousands in some cells and not in others, and takes the marks of the user's locale. A lone
``117.344`` may be 117 or 117,344: a factor of 1000 that nothing later would reveal.

One kind of number has a decimal point in every locale: those with exactly six decimals, which the raw page writes for
scaled units and means (seen in German, French and Spanish locales, 2025.3.1). They say nothing of the rest.

Columns are judged by their shapes, the cells with every digit written as 0: a million cells have a dozen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from ert_numba.errors import ErtError

TO_SHAPE = bytes.maketrans(b"123456789", b"000000000")
SWAP_MARKS = bytes.maketrans(b",.", b".,")
GROUP_SPACES = re.compile(rb"(?<=\d)(?:\xc2\xa0|\xe2\x80\xaf|\xe2\x80\x89|\xe2\x80\x99|'| )(?=\d{3})")
NUMBER_BYTES = b"0123456789.,+-\n"
POINT_SHAPE = re.compile(rb"[+-]?(?:0{1,3}(?:,000)+|0+)(?:\.0*)?(?:[eE][+-]?0{1,4})?")
FIXED_SHAPE = re.compile(rb"[+-]?0+\.0{6}")
FRACTION = re.compile(rb"([.,])(?!000\n)\d\d\d\n")
LEADING_ZERO = {b",": (b"\n0,", b"\n-0,"), b".": (b"\n0.", b"\n-0.")}  # a group of thousands never begins with 0
EXPORT_AGAIN = "Export again with LC_ALL=C and --print-units base, or name the mark with --decimal-mark"


class Reading(msgspec.Struct, frozen=True):
    """How the numbers of some cells may be read: ``point`` and ``comma`` say which decimal mark makes sense of all.

    ``marked``: whether any has a mark at all. ``whole``: the mark that must group, because a whole number has it
    (``","``, ``"."`` or empty).
    """

    point: bool
    comma: bool
    marked: bool
    whole: str = ""


class Decision(msgspec.Struct, frozen=True):
    decimal_mark: str  # "." or ","
    warning: str = ""


def shapes_of(blob: bytes) -> frozenset[bytes]:
    return frozenset(blob.translate(TO_SHAPE).split(b"\n"))


def without_group_spaces(blob: bytes) -> bytes:
    """Drop blanks and apostrophes that group digits."""
    return GROUP_SPACES.sub(b"", blob)


def read_marks(blob: bytes, shapes: frozenset[bytes], is_whole: bool) -> Reading:
    """Evidence of one column, ``blob`` being its numeric cells joined by line ends.

    ``is_whole`` says that the column can hold whole numbers only (a sum of events in its base unit).
    """
    if any(map(FIXED_SHAPE.fullmatch, shapes)):
        shapes = frozenset(shape for shape in shapes if not FIXED_SHAPE.fullmatch(shape))
        blob = b"\n".join(cell for cell in blob.split(b"\n") if cell.translate(TO_SHAPE) in shapes)
    if b"," not in blob and b"." not in blob:
        return Reading(point=True, comma=True, marked=False)
    framed = b"\n" + blob + b"\n"
    fits_point = {shape for shape in shapes if POINT_SHAPE.fullmatch(shape)}
    fits_comma = {shape for shape in shapes if POINT_SHAPE.fullmatch(shape.translate(SWAP_MARKS))}
    # What fits neither, as the version 2025.3.1, is a word made of digits and says nothing of numbers.
    numeric = fits_point | fits_comma
    if not any(b"," in shape or b"." in shape for shape in numeric):
        return Reading(point=True, comma=True, marked=False)
    point = fits_point == numeric and not _starts(framed, b",")
    comma = fits_comma == numeric and not _starts(framed, b".")
    fraction = FRACTION.search(framed) if is_whole and point and comma else None
    return Reading(point=point, comma=comma, marked=True, whole=fraction[1].decode() if fraction else "")


def _starts(framed: bytes, group: bytes) -> bool:
    return any(start in framed for start in LEADING_ZERO[group])


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
            EXPORT_AGAIN,
        )
    wholes = {reading.whole for reading in marked} - {""}
    if len(wholes) == 1:
        return Decision("." if wholes == {","} else ",")
    return _guess(example)


def _guess(example: str) -> Decision:
    """Every marked cell has one mark and three digits behind it, as ``1,000``: ncu writes no three decimals."""
    match = re.fullmatch(r"[+-]?\d{1,3}([.,])000", example)
    if match is None:
        raise ErtError(
            "numbers of one meaning",
            f"{example!r} may be a number with a fraction or one that is grouped by thousands, and nothing tells",
            EXPORT_AGAIN,
        )
    return Decision(
        "." if match[1] == "," else ",",
        f"{example!r} was read as {example.replace(match[1], '')}: Nsight Compute writes two or six decimals, not "
        "three; --decimal-mark overrides this",
    )


def mark_of(shapes: Iterable[bytes], decimal_mark: str) -> str | None:
    """The decimal mark of a column in a file of the given one; None where its cells do not agree."""
    fixed = {bool(FIXED_SHAPE.fullmatch(shape)) for shape in shapes if b"." in shape or b"," in shape}
    if True not in fixed:
        return decimal_mark
    return "." if len(fixed) == 1 or decimal_mark == "." else None


def plain(blob: bytes, decimal_mark: str) -> bytes:
    """Cells without group marks and with a decimal point."""
    return blob.replace(b",", b"") if decimal_mark == "." else blob.replace(b".", b"").replace(b",", b".")


def number(text: str, decimal_mark: str) -> str | None:
    """One cell as ``float`` reads it, or None where it is no number in this way of writing."""
    compact = without_group_spaces(text.strip().encode("utf-8", "backslashreplace"))
    shape = compact.translate(TO_SHAPE)
    if FIXED_SHAPE.fullmatch(shape):
        return compact.decode()
    if POINT_SHAPE.fullmatch(shape if decimal_mark == "." else shape.translate(SWAP_MARKS)) is None:
        return None
    return plain(compact, decimal_mark).decode()


def decimals_of(shapes: Iterable[bytes], decimal_mark: str) -> int:
    """The fewest decimals of the cells that have any; 0 where none has."""
    mark = decimal_mark.encode()
    return min(
        (len(shape) - shape.rfind(mark) - 1 for shape in shapes if mark in shape and b"e" not in shape), default=0
    )
