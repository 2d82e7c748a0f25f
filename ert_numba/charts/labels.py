"""How much room a label takes, and how labels in one row or column keep apart. Pure."""

from __future__ import annotations

from collections.abc import Sequence

GLYPH = 0.55  # mean advance of the theme's fonts, in units of the font size; generous for digits and capitals


def spread(wished: Sequence[float], pitch: float, height: float) -> list[float]:
    """Ascending places at least ``pitch`` apart inside 0..height, nearest to the ascending wishes by least squares.

    Pool adjacent violators: a block of labels that touch is centred on the mean of its wishes.
    """
    blocks: list[tuple[float, int]] = []  # mean of (wish - place inside all), members
    for index, wish in enumerate(wished):
        mean, members = wish - index * pitch, 1
        while blocks and blocks[-1][0] > mean:
            before, more = blocks.pop()
            mean, members = (before * more + mean * members) / (more + members), more + members
        blocks.append((mean, members))
    starts = [mean for mean, members in blocks for _ in range(members)]
    last = height - (len(wished) - 1) * pitch
    return [min(max(start, 0.0), last) + index * pitch for index, start in enumerate(starts)]


def text_width(text: str, font: int) -> float:
    """Pixels that a text takes at most, near enough to keep labels apart."""
    return GLYPH * font * sum(1.6 if ord(letter) > 0x2E80 else 1.0 for letter in text)
