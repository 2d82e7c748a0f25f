"""The page of two profiles, and its Markdown: complete, escaped, and the same figures."""

import html
import re

import vega_specs
from example_profiles import application, cell, flop, traffic

from appprof.analysis import analyse
from appprof.charts.diff_page import diff_page, times_chart
from appprof.diff import diff
from appprof.exports import as_markdown, diff_as_markdown
from appprof.result import make_result

HOSTILE = "</script><img/src=x>|`k`"


def side(**seconds):
    cells = [cell(name, seconds=value, traffic=traffic(DRAM=1e8), ranges=("FLOP not here" if name == "a" else "b",))
             for name, value in seconds.items()]  # fmt: skip
    return analyse(application(*cells))


def compared():
    return diff(side(a=1e-3, b=2e-3, **{HOSTILE: 1e-3}, old=5e-6), side(a=1.5e-3, b=1e-3, **{HOSTILE: 1e-3}, new=1.0))


def test_the_picture_has_two_dots_a_kernel_and_one_for_new_and_gone():
    spec = vega_specs.plain(times_chart(compared().kernels))
    vega_specs.check_log_axes(spec)
    dots = vega_specs.marked(spec, "point")
    assert len(dots) == 3 * 2 + 2
    assert {row["seconds"] for row in dots if row["kernel"] == "a"} == {1e-3, 1.5e-3}
    colours = {row["kernel"]: row["colour"] for row in dots}
    assert colours["a"] != colours["b"]


def test_the_page_holds_the_figures_and_hostile_names_as_text():
    page = diff_page(compared())
    body = page[page.index("<main>") : page.index("</main>")]
    text = html.unescape(re.sub(r"<[^>]+>", " ", body))
    assert "<img" not in body
    assert page.count("</script") == 2
    for figure in ("1.00 ms", "1.50 ms", "+50.0%", "-50.0%", "new", "gone", "FLOP not here"):
        assert figure in text
    assert text.index("new") < text.index("+50.0%")  # a second that was not there before


def test_markdown_escapes_what_would_break_the_table():
    for text in (diff_as_markdown(compared()), as_markdown(make_result(side(**{HOSTILE: 1e-3})))):
        line = next(line for line in text.splitlines() if "img" in line)
        assert line.startswith("| `</script><img/src=x>\\|'k'` |")


def test_groups_keep_their_names():
    found = make_result(side(a=1e-3))
    assert [row.name for row in found.groups["precision"]] == ["no FLOP"]


def test_a_bound_that_moved_stands_with_both_shares():
    work = (flop("fp32.vector", 1e9, fused=1e9),)
    before = application(cell("a", flop=work, traffic=traffic(DRAM=0.9 * 4.81e12 * 1e-3)))
    after = application(cell("a", flop=work, traffic=traffic(DRAM=0.1 * 4.81e12 * 1e-3)))
    page = diff_page(diff(analyse(before), analyse(after)))
    assert "<small>90% → 10% of the roof</small>" in page
    assert "+800.0%" in page  # FLOP for each byte
    assert "of the roof</small>" not in diff_page(diff(analyse(before), analyse(before)))
