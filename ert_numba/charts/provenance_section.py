"""The part of a machine's page on where its figures come from: the run, the software, what was asked of the sweep."""

from __future__ import annotations

from collections.abc import Callable

from ert_numba.charts.document import bullets, esc
from ert_numba.charts.words import origin, pair, when
from ert_numba.machine import MachineModel
from ert_numba.records import AxisValue, Sweep
from ert_numba.units import capacity, si

_LONGEST_SIZE = 18  # digits: more is no size in bytes


def provenance_section(model: MachineModel, sweep: Sweep | None) -> str:
    """What is known, by name; where the sweep is given, its extent too."""
    source = model.provenance
    private = (("Host", source.host_name), ("User", source.user), ("Command line", source.command_line))
    rows: list[tuple[str, str]] = [
        ("Run", model.run),
        (origin(model).capitalize(), when(model)),
        ("Made by", source.tool),
        ("System", source.system),
        ("Versions", ", ".join(f"{name} {source.versions[name]}" for name in sorted(source.versions))),
        ("Settings", settings_words(model.settings)),
        ("Device", ", ".join(f"{name}: {text}" for name, text in sorted(model.device.properties.items()))),
        ("Features", ", ".join(model.device.features)),
        ("Sweep", f"{len(sweep.samples)} samples in {sweep.wall_seconds:.0f} s" if sweep is not None else ""),
        *((name, text or "") for name, text in private),
    ]
    pairs = "".join(f"<dt>{esc(name)}</dt><dd>{esc(text)}</dd>" for name, text in rows if text)
    return f'<h2>Provenance</h2><dl class="pairs">{pairs}</dl>{bullets(model.device.notes)}'


def settings_words(settings: dict[str, AxisValue]) -> str:
    """What was asked of a sweep, as ``all precisions; memory levels L1, L2; 4 threads; budget 32 s; seed 1``.

    What was left to the sweep is not said, and of what it chooses among, that it was all.
    """
    known = [words(settings[name]) for name, words in _WORDS.items() if name in settings]
    others = [pair(name, settings[name]) for name in sorted(settings) if name not in _WORDS]
    return "; ".join(filter(None, (*known, *others)))


def _sizes(value: AxisValue) -> str:
    words = [capacity(int(word)) if word.isdecimal() and len(word) <= _LONGEST_SIZE else word for word in _items(value)]
    return f"working sets {', '.join(words)}" if words else ""


def _items(value: AxisValue) -> list[str]:
    return [word for word in str(value).split(",") if word]


def _among(what: str) -> Callable[[AxisValue], str]:
    return lambda value: f"{what} {', '.join(_items(value))}" if _items(value) else f"all {what}"


def _switch(name: str) -> Callable[[AxisValue], str]:
    return lambda value: name if value else ""


_WORDS: dict[str, Callable[[AxisValue], str]] = {
    "quick": _switch("quick"),
    "full": _switch("full"),
    "precisions": _among("precisions"),
    "levels": _among("memory levels"),
    "sizes": _sizes,
    "threads": lambda value: f"{value} thread{'' if value == 1 else 's'}" if value else "",
    "budget_seconds": lambda value: f"budget {si(value, 's') if isinstance(value, float) else f'{value} s'}",
    "seed": lambda value: f"seed {value}",
    "gpu": lambda value: f"GPU {value}",
    "gpus": lambda value: f"one of {value} GPUs",
}
