"""The pictures of moves and of instructions in a real browser: chosen, searched, silent."""

import example_models
import pytest
from chromium import PROGRAM, chromium
from example_profiles import application, cell, flop, model_of, traffic

from appprof.analysis import analyse
from appprof.charts.diff_page import write_diff_page
from appprof.charts.page import write_page
from appprof.diff import diff
from appprof.metrics_events import GLOBAL, GLOBAL_SECTORS, WARP

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]
MACHINE = example_models.h200_model()
DRAWN = """new Promise(done => {
  const look = () => document.documentElement.dataset.charts
    ? done(document.documentElement.dataset.charts) : requestAnimationFrame(look);
  look();
})"""
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))"


@pytest.fixture
def tab(tmp_path):
    with chromium(tmp_path / "profile") as page:
        page.look(1280)
        yield page


def opened(tab, path):
    tab.open(path)
    assert tab.run(DRAWN) == "wide"


def test_a_level_is_chosen_by_the_keyboard(tab, tmp_path):
    def side(seconds):
        work = (flop("fp32.vector", 1e9, fused=1e9),)
        cells = (cell(name, seconds=seconds, flop=work, traffic=traffic(DRAM=moved, L2_sm=2e9)) for name, moved in
                 (("a", 1e8), ("b", 1e9)))  # fmt: skip
        return analyse(application(*cells, cell("c", seconds=1e-3, flop=work, traffic=traffic(L2_sm=1e9))), MACHINE)

    opened(tab, write_diff_page(tmp_path / "diff.html", diff(side(1e-3), side(2e-3))))
    labels = "document.querySelector('#chart-moves svg').outerHTML.split('aria-label').length"
    dram = tab.run(labels)
    tab.run("document.querySelector('input[name=level]:checked').focus()")
    for kind in ("rawKeyDown", "keyUp"):
        tab.call("Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)
    assert tab.run("document.querySelector('input[name=level]:checked').value") == "L2"
    tab.run(SETTLED)
    assert tab.run(labels) > dram  # the third kernel has bytes at L2 alone
    assert tab.complaints == []


def test_a_profile_without_flop_is_searched_too(tab, tmp_path):
    events = {WARP: 8e8, GLOBAL: 1e7, GLOBAL_SECTORS: 1e8}
    cells = (cell(name, traffic=traffic(L1_tag=3e9, DRAM=1e9), events=events) for name in ("histogram", "scatter"))
    opened(tab, write_page(tmp_path / "page.html", analyse(application(*cells), MACHINE)))
    bright = ("[...document.querySelectorAll('#chart-instructions .mark-symbol path')]"
              ".filter(path => Number(path.getAttribute('opacity')) > 0.5).length")  # fmt: skip
    assert tab.run(bright) == 2 * 3
    tab.run("(box => { box.value = 'hist'; box.dispatchEvent(new Event('input', {bubbles: true})); })(search)")
    tab.run(SETTLED)
    assert tab.run(bright) == 3
    assert tab.run("document.getElementById('count').value") == "1 of 2 kernels"
    assert tab.complaints == []


def test_a_real_profile_searches_both_pictures(tab, tmp_path):
    opened(tab, write_page(tmp_path / "page.html", analyse(model_of("h200/gemm_raw.csv"), MACHINE)))
    bright = ("[...document.querySelectorAll('#chart-instructions .mark-symbol path')]"
              ".filter(path => Number(path.getAttribute('opacity')) > 0.5).length")  # fmt: skip
    before = tab.run(bright)
    tab.run("(box => { box.value = 'nvjet'; box.dispatchEvent(new Event('input', {bubbles: true})); })(search)")
    tab.run(SETTLED)
    assert tab.run(bright) == 6 < before
    assert tab.complaints == []
    assert all(request.startswith("file:") for request in tab.requests)
