"""The page in a real browser: offline, silent, searched, filtered, sorted and pointed at."""

import example_models
import pytest
from chromium import PROGRAM, chromium
from example_profiles import model_of

from appprof.analysis import analyse
from appprof.charts.page import write_page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]
DRAWN = """new Promise(done => {
  const look = () => document.documentElement.dataset.charts
    ? done(document.documentElement.dataset.charts) : requestAnimationFrame(look);
  look();
})"""
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))"
ROWS = "[...document.querySelectorAll('#kernels tbody tr')].filter(row => !row.hidden).map(row => row.dataset.id)"
BRIGHT = (
    "[...document.querySelectorAll('#chart-roofline .mark-symbol path')]"
    ".filter(path => Number(path.getAttribute('opacity')) > 0.5).length"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(path, analyse(model_of("h200/gemm_raw.csv"), example_models.h200_model()))
    with chromium(tmp_path_factory.mktemp("profile")) as tab:
        tab.path = path
        yield tab


@pytest.fixture
def opened(page):
    """The page, wide and fresh; whatever it does, it must neither complain nor ask the network for anything."""
    page.requests.clear()
    page.complaints.clear()
    page.look(1280)
    page.open(page.path)
    assert page.run(DRAWN) == "wide"
    yield page
    assert page.complaints == []
    assert set(page.requests) == {page.path.as_uri()}


def test_all_dots_are_there(opened):
    assert opened.run(BRIGHT) == 7 + 7 + 3  # L2 and DRAM of seven products, L1 of those that no TMA fed
    assert opened.run(ROWS) == [str(rank) for rank in range(1, 8)]


def test_search_levels_and_range_filter_table_and_picture(opened):
    opened.run("(box => { box.value = 'NVJET'; box.dispatchEvent(new Event('input', {bubbles: true})); })(search)")
    opened.run(SETTLED)
    assert opened.run(ROWS) == ["4", "5", "7"]
    assert opened.run(BRIGHT) == 6
    assert opened.run("document.getElementById('count').value") == "3 of 7 kernels"
    opened.run("document.querySelector('[data-level=DRAM]').click()")
    opened.run(SETTLED)
    assert opened.run(BRIGHT) == 3
    opened.run("(box => { box.value = 'fp8'; box.dispatchEvent(new Event('input', {bubbles: true})); })"
               "(document.getElementById('range'))")  # fmt: skip
    opened.run(SETTLED)
    assert opened.run(ROWS) == ["7"]


def test_the_table_sorts_by_any_column_from_the_keyboard(opened):
    def press(name):
        opened.run(f"[...document.querySelectorAll('#kernels thead button')].find(b => b.textContent === '{name}')"
                   ".focus()")  # fmt: skip
        for kind in ("rawKeyDown", "char", "keyUp"):
            opened.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
                        windowsVirtualKeyCode=13)  # fmt: skip

    press("FLOP/s")
    values = opened.run(
        "[...document.querySelectorAll('#kernels tbody tr')].map(row => Number(row.cells[4].dataset.v))"
    )
    assert values == sorted(values, reverse=True)
    press("AI L1")
    shown = opened.run("[...document.querySelectorAll('#kernels tbody tr')].map(row => row.cells[5].dataset.v)")
    assert shown[3:] == [""] * 4  # what is not known stands last, whichever way
    press("AI L1")
    shown = opened.run("[...document.querySelectorAll('#kernels tbody tr')].map(row => row.cells[5].dataset.v)")
    assert shown[3:] == [""] * 4
    assert [float(value) for value in shown[:3]] == sorted(float(value) for value in shown[:3])
    assert opened.run("document.querySelector('[aria-sort]').textContent") == "AI L1"


def test_pointing_at_a_dot_shows_its_figures(opened):
    box = opened.run(
        "(box => [box.x + box.width / 2, box.y + box.height / 2])"
        "((path => { path.scrollIntoView({block: 'center'}); return path.getBoundingClientRect(); })"
        "(document.querySelector('#chart-roofline .mark-symbol path')))"
    )
    for x in (box[0] - 3, box[0]):
        opened.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=box[1])
    opened.run(SETTLED)
    text = opened.run("document.getElementById('vg-tooltip-element')?.textContent ?? ''")
    assert "TFLOP/s" in text
    assert "FLOP/byte" in text


def test_zoom_hides_the_margin_and_a_double_click_brings_it_back(opened):
    faint = (
        "[...document.querySelectorAll('#chart-roofline .mark-text text')]"
        ".filter(text => text.textContent.includes('PFLOP/s') && Number(text.getAttribute('opacity')) < 0.5).length"
    )
    spot = opened.run(
        "(box => { document.querySelector('#chart-roofline').scrollIntoView(); return "
        "(box => [box.x + 500, box.y + 120])(document.querySelector('#chart-roofline').getBoundingClientRect()); })()"
    )
    assert opened.run(faint) == 0
    opened.call("Input.dispatchMouseEvent", type="mouseWheel", x=spot[0], y=spot[1], deltaX=0, deltaY=-200, modifiers=2)
    opened.run(SETTLED)
    assert opened.run(faint) > 0
    for count in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            opened.call("Input.dispatchMouseEvent", type=kind, x=spot[0], y=spot[1], button="left", clickCount=count)
    opened.run(SETTLED)
    assert opened.run(faint) == 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_narrow_page_does_not_scroll_sideways(page, dark):
    page.look(390, dark=dark)
    page.open(page.path)
    assert page.run(DRAWN) == "narrow"
    assert page.run("document.documentElement.scrollWidth") <= 390
    assert page.complaints == []
