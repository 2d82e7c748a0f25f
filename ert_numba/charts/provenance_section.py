"""The part of a machine's page on where its figures come from: the run, the software, what was asked of the sweep."""

from __future__ import annotations

from ert_numba.charts.document import bullets, esc
from ert_numba.charts.words import origin, when
from ert_numba.machine import MachineModel
from ert_numba.records import Sweep
from ert_numba.stated import settings_words


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
