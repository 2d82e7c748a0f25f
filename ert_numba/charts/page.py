"""The page of one machine: what it can do at a glance, its pictures, and every figure in tables beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from altair.utils.schemapi import debug_mode

from ert_numba.catalog.memory_levels import level_order
from ert_numba.charts import theme
from ert_numba.charts.ceilings_and_knees import ceilings_section, knees_section
from ert_numba.charts.counted_section import counted_doubt, counted_section
from ert_numba.charts.curves import panels
from ert_numba.charts.document import bullets, document, esc, figure, reasons
from ert_numba.charts.export import write_image, write_vega_lite
from ert_numba.charts.limits_chart import limited, limits_chart
from ert_numba.charts.machine_chart import machine_chart, machine_roofs, widest_scope
from ert_numba.charts.provenance_section import provenance_section
from ert_numba.charts.roofline import NARROW
from ert_numba.charts.sweep_chart import sweep_chart
from ert_numba.charts.words import origin, when
from ert_numba.counted import Verdict
from ert_numba.files import write_text_new
from ert_numba.machine import Ceiling, MachineModel
from ert_numba.records import Sweep
from ert_numba.units import capacity, si

__all__ = ["machine_page", "write_image", "write_page", "write_vega_lite"]

Charts = dict[str, tuple[theme.AnyChart, theme.AnyChart]]
"""The charts of a page by name, each wide and narrow."""


def write_page(
    path: Path,
    model: MachineModel,
    sweep: Sweep | None = None,
    charts: Charts | None = None,
    verdict: Verdict | None = None,
) -> Path:
    """Write :func:`machine_page` to a path where nothing stands yet. Raises ErtError."""
    return write_text_new(path, machine_page(model, sweep, charts, verdict))


def page_charts(model: MachineModel, sweep: Sweep | None = None) -> Charts:
    """What there is to draw: ``roofline``, and where known ``working-sets`` and ``limits``.

    Raises ErtError for a model with nothing to draw.
    """
    # Every part is validated by the tests; here that would take as long as building it.
    with debug_mode(False):
        charts: Charts = {"roofline": (machine_chart(model), machine_chart(model, NARROW))}
        if sweep is not None and panels(sweep, model):
            charts["working-sets"] = (sweep_chart(sweep, model), sweep_chart(sweep, model, NARROW))
        if limited(model):
            charts["limits"] = (limits_chart(model), limits_chart(model, NARROW))
    return charts


def machine_page(
    model: MachineModel, sweep: Sweep | None = None, charts: Charts | None = None, verdict: Verdict | None = None
) -> str:
    """One offline HTML page of the model and, where given, of its sweep and of the verdict on its kernels.

    ``charts`` are those of :func:`page_charts`, where the caller has them already. Raises ErtError as that does.
    """
    charts = charts or page_charts(model, sweep)
    parts = [_header(model), *_doubts(model, verdict), _roofline_section(model)]
    if "working-sets" in charts:
        parts.append(_sweep_section(model))
    if "limits" in charts:
        parts.append(_limits_section())
    parts += [
        ceilings_section(model),
        counted_section(model, verdict),
        knees_section(model),
        _skipped(model),
        provenance_section(model, sweep),
    ]
    return document(f"{model.device.name}: measured ceilings", f"<main>{''.join(parts)}</main>", charts)


def _header(model: MachineModel) -> str:
    device = model.device
    clock_text = f", up to {si(device.maximum_clock_hz, 'Hz')}" if device.maximum_clock_hz else ""
    units = f"{device.units} {'SM' if device.kind == 'gpu' else 'core'}{'' if device.units == 1 else 's'}"
    memory = f", {capacity(device.memory_bytes)} of memory" if device.memory_bytes else ""
    known = [text for text in (device.vendor, device.architecture) if text != "unknown"]
    what = f"{', '.join(known)}: {units}{clock_text}{memory}. " if known else ""
    line = f"{what}{origin(model).capitalize()} {when(model)}."
    facts = "".join(
        f"<div><dt>{esc(name)}</dt><dd>{esc(value)}<small>{esc(more)}</small></dd></div>"
        for name, value, more in _facts(model)
    )
    return f'<header><h1>{esc(device.name)}</h1><p class="muted">{esc(line)}</p><dl class="facts">{facts}</dl></header>'


def _facts(model: MachineModel) -> Iterator[tuple[str, str, str]]:
    """The headline figures: the fastest way to compute in each wide format, the bandwidth at both ends, the latency."""
    scope = widest_scope(model)
    best: dict[str, Ceiling] = {}
    for row in sorted(model.roofs("compute", scope), key=lambda row: (row.sparse, -row.value)):
        best.setdefault(row.precision or row.key, row)
    for key in (key for key in ("fp64", "fp32", "fp16", "bf16") if key in best):
        row = best[key]
        yield f"{theme.precision_label(key)} peak", si(row.value, row.unit), theme.path_label(row.path or "")
    fastest: dict[str, Ceiling] = {}
    for row in sorted(model.roofs("bandwidth", scope), key=lambda row: -row.value):
        fastest.setdefault(row.level or row.key, row)
    for level in sorted(fastest, key=lambda level: level_order(model.device.kind, level)):
        row = fastest[level]
        words = theme.access_row(row.access).label if row.access else ""
        yield theme.level_label(model.device.kind, level), si(row.value, row.unit), words


def _doubts(model: MachineModel, verdict: Verdict | None) -> Iterator[str]:
    """What a reader must know before believing a figure, above the figures."""
    lines = [*counted_doubt(model, verdict), *model.notes]
    if model.partial:
        lines.insert(0, "The sweep was ended before it was complete: what is missing was not measured.")
    counts = (  # of the noisy ones the fit's own note speaks
        (sum(row.impossible for row in model.ceilings), "impossible (above the physical limit) and in no picture"),
        (sum(not row.verified for row in model.ceilings), "unverified (read from elsewhere, not measured here)"),
    )
    flagged = [f"{count} {text}" for count, text in counts if count]
    if flagged:
        lines.append(f"Of {len(model.ceilings)} ceilings, {'; '.join(flagged)}: flagged in the tables below.")
    if lines:
        yield f"<h2>Read this first</h2>{bullets(lines)}"


def _roofline_section(model: MachineModel) -> str:
    roofs = machine_roofs(model)
    named = "; ".join(roof.label.replace("  ", " ") for roof in roofs if roof.strong)
    thin = sum(not roof.strong for roof in roofs)
    caption = (
        "A kernel of a given intensity can run no higher than the lowest roof above it. Each slope is the fastest "
        "access of its memory level."
        + (" Dashed lines are physical limits." if any(roof.limit for roof in roofs) else "")
        + (" Long dashes: read from elsewhere, not measured here." if any(roof.dashed for roof in roofs) else "")
        + (" Heavy: the best path of each format; thin: the others, named in the table." if thin else "")
        + (" Dots: kernels of known intensity that were run to prove the model." if model.proof else "")
    )
    return f"<h2>Roofline</h2>{figure('roofline', f'Roofline of the machine: {named}.', caption)}"


def _sweep_section(model: MachineModel) -> str:
    knees = "; ".join(f"{knee.level} ends at {capacity(knee.capacity_bytes)} ({knee.witness})" for knee in model.knees)
    caption = (
        "Dots: the best of all repeats, with a whisker to their median; hollow ones are single points beside the "
        "curves. Horizontal bands: plateaus with their 95 % intervals. Vertical bands: knees with theirs; dotted: the "
        "nominal size. A cache that several cores share ends, for each of them, at its share."
    )
    alternative = f"Bandwidth and latency against the working set. {knees or 'No knee was found'}."
    return f"<h2>Working sets</h2>{figure('working-sets', alternative, caption)}"


def _limits_section() -> str:
    caption = "What the hardware could do at the highest clock seen beside the samples, and how much of it was reached."
    alternative = "Share of the limit that each ceiling reaches; the table below has the figures."
    return f"<h2>Against the physical limits</h2>{figure('limits', alternative, caption)}"


def _skipped(model: MachineModel) -> str:
    if not model.skipped:
        return ""
    return f"<h2>Not measured, and why</h2>{reasons('Not measured', 'What', model.skipped)}"
