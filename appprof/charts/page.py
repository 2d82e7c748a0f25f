"""The page of one profile: what to do first, the pictures, and every figure in tables beside them; works offline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path

from altair.utils.schemapi import debug_mode

from appprof.analysis import Analysis
from appprof.charts.instruction_section import how_to_count, instructions
from appprof.charts.kernel_table import kernel_table
from appprof.charts.roofline_chart import roofline_chart
from appprof.charts.sections import coverage, evidence, groups, provenance, roofs, unplaced
from appprof.charts.shares_chart import FARTHEST, shares_chart, with_shares
from appprof.diagnosis import Diagnosis
from appprof.phrases import count_words, kernel_time_words, percent
from appprof.result import Result, make_result, what_to_do_first
from appprof.roofline import COMPUTE, LAUNCH
from appprof.roofs import ISSUE
from appprof.words import LEVEL_LABELS, one_line, part, path_words, resource_words
from ert_numba.charts import theme
from ert_numba.charts.document import document, esc, figure
from ert_numba.charts.roofline import NARROW
from ert_numba.errors import ErtError
from ert_numba.files import write_text_new
from ert_numba.units import si

Charts = dict[str, tuple[theme.AnyChart, theme.AnyChart]]
_GLYPHS = {"square": "■", "circle": "●", "triangle-up": "▲", "diamond": "◆", "triangle-down": "▼"}
_MARKS = {COMPUTE: "+ arithmetic", ISSUE: "− issue of instructions", LAUNCH: "○ launching"}
_MOST_RANGES = 200


def write_page(path: Path, analysis: Analysis) -> Path:
    """Write :func:`profile_page` to a path where nothing stands yet. Raises ErtError."""
    return write_text_new(path, profile_page(analysis))


def profile_page(analysis: Analysis) -> str:
    """One offline HTML page; names out of the profile are text in it, and nothing else."""
    result = make_result(analysis)
    charts: Charts = {}
    # Checking each piece against Vega-Lite's schema as it is made takes longer than making it; the tests check.
    with debug_mode(False):
        return _page(analysis, result, charts)


def _page(analysis: Analysis, result: Result, charts: Charts) -> str:
    parts = [
        _header(analysis, result), *_doubts(analysis, result), _roofline(analysis, result, charts), _first(result),
        _shares(analysis, charts), _kernels(result), unplaced(result), instructions(analysis, result, charts),
        coverage(result), how_to_count(result), groups(result), roofs(result), evidence(result), provenance(analysis),
    ]  # fmt: skip
    title = f"{one_line(analysis.model.chip.label)}: hierarchical roofline"
    return document(title, f"<main>{''.join(parts)}</main>", charts, asset("page.js"), asset("page.css"))


def asset(name: str) -> str:
    return resources.files("appprof.charts").joinpath(name).read_text(encoding="utf-8")


def _header(analysis: Analysis, result: Result) -> str:
    model = analysis.model
    files = ", ".join(one_line(source.label) for source in model.sources[:4])
    files += f" and {len(model.sources) - 4} more" if len(model.sources) > 4 else ""
    machine = analysis.book.machine
    against = f"Roofs measured on {machine.device.name}, run {machine.run}." if machine else "No machine model given."
    facts = "".join(
        f"<div><dt>{esc(name)}</dt><dd>{esc(value)}<small>{esc(more)}</small></dd></div>"
        for name, value, more in _facts(analysis, result)
    )
    return (
        f"<header><h1>Where the time goes on {esc(one_line(model.chip.label))}</h1>"
        f'<p class="muted">{esc(files)}. {esc(against)}</p><dl class="facts">{facts}</dl></header>'
    )


def _facts(analysis: Analysis, result: Result) -> Iterator[tuple[str, str, str]]:
    counts = count_words(result.launches, "launch", "launches"), count_words(len(result.kernels), "kernel", "kernels")
    yield "Kernel time", kernel_time_words(result), " of ".join(counts)
    rate, work = analysis.whole.rate, analysis.whole.instructions
    if rate == 0 and work is not None:
        yield "Warp instructions", f"{si(work.rate, '').strip()}/s", "and no FLOP"
    elif rate is not None:
        yield "Performance", si(rate, "FLOP/s"), "over the launches whose FLOP are known"
    gains = [row.gives_back_seconds or 0.0 for row in result.kernels if row.verdict in ("compute", "bandwidth")]
    if gains and result.kernel_seconds:
        gain = f"up to {percent(sum(gains) / result.kernel_seconds)}"
        yield "Possible gain", gain, "of the kernel time, if kernels bound by a roof reached it"
    bounds: dict[str, float] = {}
    for row in result.kernels:
        key = (
            resource_words(row.bound) if row.bound and row.verdict in ("compute", "bandwidth", "issue") else row.verdict
        )
        bounds[key] = bounds.get(key, 0.0) + (row.time_share or 0.0)
    if any(bounds.values()):
        name, share = max(bounds.items(), key=lambda item: item[1])
        yield "Mostly bound by", _short(name), f"{percent(share)} of the time"
    known = result.coverage
    yield "FLOP known of", part(known.flop), "of the time" + (
        f"; some of {part(known.flop_partial)}" if known.flop_partial else "")  # fmt: skip
    yield "DRAM bytes of", part(known.bytes.get("DRAM", 0.0)), "of the time"


def _short(name: str) -> str:
    words = {"the tensor cores": "tensor", "excess": "above roofs", "the bandwidth of device memory": "DRAM",
             "the bandwidth of L2": "L2", "the bandwidth of L1": "L1",
             "the issue of instructions": "issue"}  # fmt: skip
    return words.get(name, name.removesuffix(" arithmetic"))


def _doubts(analysis: Analysis, result: Result) -> Iterator[str]:
    forced = [note for note in analysis.notes if note.startswith("FORCED")]
    yield from (f'<p class="forced" role="alert">{esc(note)}</p>' for note in forced)
    lines = [note for note in analysis.notes if note not in forced]
    lines += [f"Lost: {line}" for line in result.lost]
    lines += [row.sentences[0] for row in result.kernels if row.verdict == "excess" and row.sentences][:8]
    lines += list(result.warnings[:20])
    if lines:
        yield f'<h2>Read this first</h2><ul class="list">{"".join(f"<li>{esc(line)}</li>" for line in lines)}</ul>'


def _first(result: Result) -> str:
    rows = what_to_do_first(result.kernels)
    if not rows:
        return ""
    items = "".join(f"<li>{_emphasised(row.short, row.sentences)}</li>" for row in rows)
    return f'<h2>What would give back the most</h2><ol class="steps">{items}</ol>'


def _emphasised(name: str, sentences: Iterable[str]) -> str:
    return esc(" ".join(sentences)).replace(esc(name), f"<b>{esc(name)}</b>", 1)


def _roofline(analysis: Analysis, result: Result, charts: Charts) -> str:
    if not any(row.intensity for row in result.kernels):
        return (
            "<h2>Roofline</h2><p>No kernel has both FLOP and bytes with a time, so there is no dot to draw. What is "
            "known of bandwidth stands below, and the command that collects the rest under “What is known”.</p>"
        )
    try:
        charts["roofline"] = (roofline_chart(analysis), roofline_chart(analysis, NARROW))
    except ErtError as error:
        return f'<h2>Roofline</h2><p class="muted">Not drawn: {esc(error.found)}.</p>'
    named = "; ".join(
        f"{row.rank} {row.short}: {verdict_of(row.verdict, row.bound)}" for row in result.kernels[:10] if row.intensity
    )
    caption = (
        "Each kernel has a dot for each memory level, linked, all at the height of its performance; a dot's area is "
        "the kernel's time, its number the rank in the table. "
        "Hollow dots stand for all other kernels together, or lie beyond the picture (the tooltip has the figures). "
        "Roofs stand at the mean clock of the run: solid ones were measured, dashed ones are the vendor's or "
        "theoretical, grey ones no kernel used. "
        "Ctrl and wheel zoom, dragging moves, a double click undoes both; a click on a dot leads to its row."
    )
    return f"<h2>Roofline</h2>{_controls(result)}{figure('roofline', f'Hierarchical roofline. {named}.', caption)}"


def _kernels(result: Result) -> str:
    words = (
        "AI: arithmetic intensity in FLOP/byte, of the definition below it. A dash says in its tip what is missing; "
        "? is not known. A name opens the full one, what the numbers say, and what was counted."
    )
    # Without a picture of FLOP the search has its place here.
    controls = "" if any(row.intensity for row in result.kernels) else _controls(result)
    return f'<h2>Kernels</h2><p class="muted">{words}</p>{controls}{kernel_table(result.kernels)}'


def verdict_of(verdict: str, bound: str | None) -> str:
    return f"{verdict} ({resource_words(bound)})" if bound else verdict


def _controls(result: Result) -> str:
    levels = dict.fromkeys(level for row in result.kernels for level in row.intensity)
    hues = {row.light: row.name for row in theme.COLOURS}
    boxes = "".join(
        f'<label><input type="checkbox" data-level="{esc(level)}" checked> <span class="glyph" aria-hidden="true" '
        f'style="color:var(--{hues[theme.level_colour(level)]})">{_GLYPHS.get(theme.level_shape(level), "●")}</span> '
        f"{esc(LEVEL_LABELS[level])}</label>"
        for level in ("SHARED", "L1", "L2", "DRAM", "HOST") if level in levels
    )  # fmt: skip
    choice = f"<fieldset><legend>Levels</legend>{boxes}</fieldset>" if boxes else ""
    ranges = list(dict.fromkeys(one_line(name) for row in result.kernels for name in row.ranges))[:_MOST_RANGES]
    paths = dict.fromkeys(max(row.flop_by_path, key=row.flop_by_path.__getitem__)
                          for row in result.kernels if row.flop_by_path)  # fmt: skip
    return (
        '<div class="controls" hidden><label>Search kernels <input type="search" id="search" autocomplete="off">'
        f"</label>{_select('range', 'Range', [(name, name) for name in ranges])}"
        f"{_select('precision', 'Precision', [(key, path_words(key)) for key in paths])}"
        f'{choice}<output id="count"></output></div>'
    )


def _select(name: str, label: str, choices: list[tuple[str, str]]) -> str:
    if len(choices) < 2:
        return ""
    options = "".join(f'<option value="{esc(value)}">{esc(text[:80])}</option>' for value, text in choices)
    return f'<label>{label} <select id="{name}"><option value="">all</option>{options}</select></label>'


def _legend(drawn: Iterable[Diagnosis]) -> str:
    """The marks that there are: shapes by level, then what is no level."""
    resources = [resource for row in drawn for resource in row.summary.resources]
    keys, kinds = {resource.key for resource in resources}, {resource.kind for resource in resources}
    levels = [f"{_GLYPHS.get(theme.level_shape(level), '●')} {LEVEL_LABELS[level]}" for level in LEVEL_LABELS
              if level in keys]  # fmt: skip
    return ", ".join([*levels, *(words for kind, words in _MARKS.items() if kind in kinds)])


def _shares(analysis: Analysis, charts: Charts) -> str:
    drawn = with_shares(analysis.kernels)
    if not drawn:
        return ""
    charts["shares"] = (shares_chart(analysis.kernels), shares_chart(analysis.kernels, NARROW))
    hidden = [row for row in analysis.kernels if row not in drawn]
    words = f" {len(hidden)} kernels are left out: no time, no roof, or beyond {FARTHEST:.0%}." if hidden else ""
    caption = (
        "One line a kernel, longest in time first: how much of each roof it reaches, which is how much of its time "
        "that resource alone needs. Grey: up to the nearest roof; what lies between it and 100 % could be given back. "
        f"{_legend(drawn)}.{words}"
    )
    alternative = "Share of each roof that each kernel reaches; the table of kernels has the figures."
    return f"<h2>How near the roofs</h2>{figure('shares', alternative, caption)}"
