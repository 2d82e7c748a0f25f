"""One offline HTML document with charts in it: no network, no injection, light and dark, readable without scripts.

Everything that came from outside passes :func:`esc` (text) or :func:`safe_json` (data) and nothing else enters.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from ert_numba.charts.theme import COLOURS, AnyChart, recoloured
from ert_numba.charts.vega import vega_script
from ert_numba.records import Skipped, by_reason

_LONG = 240  # letters of a line in a list


def esc(text: object) -> str:
    """Text for HTML, inside and outside of attributes."""
    return html.escape(str(text), quote=True)


def safe_json(value: Any) -> str:
    """JSON that cannot end the script block that it stands in; keys sorted, NaN refused."""
    text = json.dumps(value, allow_nan=False, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def figure(name: str, alternative: str, caption: str) -> str:
    """The place of the chart ``name``; ``alternative`` says in words what it shows."""
    return (
        f'<figure><div class="chart" id="chart-{esc(name)}" role="img" aria-label="{esc(alternative)}">'
        f"<noscript>{esc(alternative)}</noscript></div><figcaption>{esc(caption)}</figcaption></figure>"
    )


def table(name: str, head: Sequence[str], rows: Iterable[Sequence[str]], numbers: frozenset[int] = frozenset()) -> str:
    """A table of HTML cells (escape what they hold) that scrolls by itself, with the keyboard too.

    ``numbers`` are the columns that are set right; the first column heads its row. A column that no row fills is
    left out.
    """
    cells = [list(row) for row in rows]
    filled = [index for index in range(len(head)) if index == 0 or any(row[index] for row in cells)]
    heads = "".join(f'<th scope="col"{_right(index, numbers)}>{esc(head[index])}</th>' for index in filled)
    body = "".join(f"<tr>{''.join(_cell(index, row[index], numbers) for index in filled)}</tr>" for row in cells)
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{esc(name)}"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def reasons(name: str, what: str, rows: Iterable[Skipped]) -> str:
    """A table of what is missing, a row a reason; the many names of one wrap."""
    cells = ([f'<span class="names">{esc(names)}</span>', esc(reason)] for names, reason in by_reason(rows))
    return table(name, (what, "Reason"), cells)


def bullets(lines: Iterable[str]) -> str:
    """A list of lines of text, each folded behind its beginning where it would hide its neighbours; or nothing."""
    items = "".join(f"<li>{_line(line)}</li>" for line in lines)
    return f'<ul class="list">{items}</ul>' if items else ""


def _line(text: str) -> str:
    if len(text) <= _LONG:
        return esc(text)
    cut = text.rfind(" ", 0, _LONG // 2) + 1 or _LONG // 2
    return f"<details><summary>{esc(text[:cut])}…</summary>{esc(text[cut:])}</details>"


def _cell(index: int, cell: str, numbers: frozenset[int]) -> str:
    return f'<th scope="row">{cell}</th>' if index == 0 else f"<td{_right(index, numbers)}>{cell}</td>"


def _right(index: int, numbers: frozenset[int]) -> str:
    return ' class="n"' if index in numbers else ""


def document(
    title: str, body: str, charts: Mapping[str, tuple[AnyChart, AnyChart]], script: str = "", style: str = ""
) -> str:
    """The whole page: ``body`` is HTML that holds a :func:`figure` for each chart, given as (wide, narrow).

    ``script`` and ``style`` are a page's own, trusted as they stand; the script may not name what ``page.js`` does.
    """
    script = f"{vega_script()}\n{_asset('page.js')}\n{script}"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # The hash lets this script run and no other, however it came into the page; Vega sets style attributes.
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    specs = {name: [_page_spec(chart) for chart in pair] for name, pair in charts.items()}
    # Named by their content, so what the wide and the narrow picture share is embedded once.
    datasets = {key: rows for pair in specs.values() for spec in pair for key, rows in spec.pop("datasets", {}).items()}
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{esc(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{esc(title)}</title>\n<style>\n{_variables()}{_asset('page.css')}{style}</style>\n</head>\n"
        f"<body>\n{body}\n"
        f'<script type="application/json" id="charts">{safe_json({"charts": specs, "datasets": datasets})}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def _page_spec(chart: AnyChart) -> Any:
    """The chart as the page draws it: colours by name, so that style sheets decide them, and no title of its own."""
    spec = recoloured(chart.to_dict(validate=False), _VARIABLE.__getitem__)
    spec.pop("title", None)
    spec.pop("$schema", None)
    return spec


_VARIABLE = {row.light: f"var(--{row.name})" for row in COLOURS}


def _variables() -> str:
    light = "".join(f"--{row.name}:{row.light};" for row in COLOURS)
    dark = "".join(f"--{row.name}:{row.dark};" for row in COLOURS)
    # Paper is white: a dark screen prints in light colours.
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


@cache
def _asset(name: str) -> str:
    return resources.files("ert_numba.charts").joinpath(name).read_text(encoding="utf-8")
