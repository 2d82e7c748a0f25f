"""One judgement in the form that its reader wants: page, Vega-Lite, picture, CSV or Markdown."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import msgspec

from appprof.analysis import Analysis
from appprof.diff import Diff
from appprof.result import Result
from ert_numba.errors import ErtError
from ert_numba.files import write_text_new

PICTURES = ("json", "svg", "png")
FORMS = ("html", *PICTURES, "csv", "md")


def prepare(ending: str, *, is_read_beside: bool = False) -> None:
    """Begin beside the reading what a page will need: Vega's script takes a second or two, whatever the profile.

    Where other processes read already, this one has the time to load what draws: altair takes a third of a second.
    """
    if ending in ("", "html"):
        from ert_numba.charts.vega import prepare_vega

        prepare_vega()
        if is_read_beside:
            import_module("appprof.charts.page")


class Written(msgspec.Struct, frozen=True):
    """Where it went; or, without a path, the ``text`` for standard output."""

    ending: str
    path: Path | None = None
    text: str = ""


def write(
    analysis: Analysis,
    result: Result,
    output: Path | None,
    ending: str,
    *,
    instructions: bool = False,
    dark: bool = False,
    choose_name: bool = True,
) -> Written:
    """Write ``analysis`` in the form ``ending`` to the new file ``output``.

    ``instructions`` draws the instruction roofline where the form holds one picture; a page holds both.

    Without an output, text forms come back as text and all others get a new name in the current folder; with
    ``choose_name=False`` and no output nothing is written. Raises ErtError.
    """
    form = ending or "html"
    if form not in FORMS:
        raise ErtError(
            f"the file {output}", f"the form {form!r}", f"Choose among {', '.join(FORMS)}, or end the name in one"
        )
    texts: dict[str, Callable[[], str]] = {"csv": lambda: _csv(result), "md": lambda: _markdown(result)}
    if output is None and (form in texts or not choose_name):
        return Written(form, text=texts[form]() if form in texts else "")
    name = "instruction-roofline" if instructions and form in PICTURES else "roofline"
    path = output if output is not None else free_name(Path(f"{analysis.model.run}-{name}.{form}"))
    if form in texts:
        return Written(form, write_text_new(path, texts[form]()))
    if form == "html":
        from appprof.charts.page import write_page

        return Written(form, write_page(path, analysis))
    from appprof.charts.instruction_chart import instruction_chart
    from appprof.charts.roofline_chart import roofline_chart
    from ert_numba.charts.export import write_image, write_vega_lite

    chart = instruction_chart(analysis) if instructions else roofline_chart(analysis)
    return Written(form, write_vega_lite(path, chart) if form == "json" else write_image(path, chart, dark, form))


def free_name(path: Path) -> Path:
    """The path, or where something stands there already, the first number behind its stem that is free."""
    found, number = path, 1
    while found.exists():
        number += 1
        found = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return found


def _csv(result: Result) -> str:
    from appprof.exports import as_csv

    return as_csv(result)


def _markdown(result: Result) -> str:
    from appprof.exports import as_markdown

    return as_markdown(result)


def write_diff(diff: Diff, output: Path) -> Path:
    """A comparison as a page or as Markdown, by the output's ending. Raises ErtError."""
    ending = output.suffix.lower()
    if ending == ".html":
        from appprof.charts.diff_page import write_diff_page

        return write_diff_page(output, diff)
    if ending == ".md":
        from appprof.exports import diff_as_markdown

        return write_text_new(output, diff_as_markdown(diff))
    raise ErtError(
        f"the file {output}", f"the ending {ending!r}" if ending else "no ending", "End the name in .html or .md"
    )
