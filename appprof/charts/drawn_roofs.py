"""The roofs of a profile as the picture draws them: those that kernels stand under strong, all others grey."""

from __future__ import annotations

from collections.abc import Iterable

from appprof.roofs import MACHINE, SOURCE_WORDS, Roof
from appprof.words import LEVEL_LABELS, brief_path, path_words
from ert_numba.charts import roofline as blocks
from ert_numba.charts import theme
from ert_numba.units import si

_MARK = {"machine": "measured", "report": "vendor's peak", "catalogue": "theoretical"}
# Formats that say little in a picture of floating-point work, unless kernels used them.
_QUIET = ("int1", "int4")


def drawn_roofs(found: Iterable[Roof], used_roofs: Iterable[str]) -> list[blocks.Roof]:
    """One slope a level and one flat roof a path; sparse ones only where sparse work ran."""
    used = set(used_roofs)
    roofs = [_roof(roof, roof.key in used) for roof in found if _worth_drawing(roof, used)]
    seen: set[str] = set()
    # Of two definitions of one level the picture takes the first; the other stands in the table of roofs.
    return [
        roof for roof in roofs
        if roof.flat or not (roof.short in seen or seen.add(roof.short))  # type: ignore[func-returns-value]
    ]  # fmt: skip


def _worth_drawing(roof: Roof, used: set[str]) -> bool:
    if roof.unit == "B/s":
        return roof.key != "HOST"
    return roof.key in used or not (roof.key.endswith(".sparse") or roof.key.startswith(_QUIET))


def _roof(roof: Roof, used: bool) -> blocks.Roof:
    flat = roof.unit != "B/s"
    level = roof.key.split(".")[0]
    words = path_words(roof.key) if flat else LEVEL_LABELS[level]
    colour = theme.level_colour(level)
    if flat:
        colour = theme.unit_colour("tensor" if ".tensor" in roof.key else "vector") if used else theme.LIGHT["muted"]
    return blocks.Roof(
        key=roof.key,
        label=f"{words}  {si(roof.value, roof.unit)}" + ("" if used or not flat else " (unused)"),
        short=brief_path(roof.key) if flat else words,
        value=roof.value,
        colour=colour,
        flat=flat,
        strong=used or not flat,
        limit=roof.limit if used and roof.source == MACHINE else None,
        dashed=roof.source != MACHINE,
        tooltip={
            "roof": f"{words}, {_MARK[roof.source]}",
            "value": si(roof.value, roof.unit),
            "source": f"{SOURCE_WORDS[roof.source]}: {roof.name}",
            "at its own clock": si(roof.at_maximum, roof.unit) if roof.at_maximum else "the same",
            "limit": si(roof.limit, roof.unit) if roof.limit else "not known",
            "remark": roof.note or "none",
        },
    )
