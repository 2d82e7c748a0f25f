"""The page in a real browser: offline, without a complaint, with its marks drawn, in every look that it has."""

import itertools

import example_models
import msgspec
import pytest
from chromium import PROGRAM, chromium

from ert_numba.charts.page import write_page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
# Settles in any case: a page that cannot draw must fail, not hang.
DRAWN = """new Promise(done => {
  setTimeout(() => done("nothing drawn"), 60000);
  const look = () => document.documentElement.dataset.charts
    ? done(document.documentElement.dataset.charts) : requestAnimationFrame(look);
  look();
})"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    model = example_models.cpu_model()
    device = msgspec.structs.replace(model.device, name=HOSTILE)
    return write_page(folder / "page.html", msgspec.structs.replace(model, device=device), example_models.cpu_sweep())


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "layout"), [(1280, "wide"), (390, "narrow")])
def test_it_draws_offline_without_a_complaint(page, path, width, layout, dark):
    page.requests.clear()
    page.complaints.clear()
    page.look(width, dark=dark)
    page.open(path)
    assert page.run(DRAWN) == layout
    assert page.complaints == []
    assert set(page.requests) == {path.as_uri()}
    assert page.run("document.title").startswith("</script>")
    model, sweep = example_models.cpu_model(), example_models.cpu_sweep()
    dots = "#chart-{} svg .mark-symbol.role-mark path"
    assert page.run(f"document.querySelectorAll('{dots.format('roofline')}').length") == len(model.proof)
    assert page.run(f"document.querySelectorAll('{dots.format('working-sets')}').length") == len(sweep.samples)
    texts = page.run("[...document.querySelectorAll('#chart-roofline svg text')].map(text => text.textContent)")
    assert any("435 GB/s" in text for text in texts)
    assert page.run("document.documentElement.scrollWidth") <= width


def test_colours_follow_the_scheme_and_paper_is_always_light(page, path):
    ink = "getComputedStyle(document.querySelector('#chart-roofline svg text')).fill"
    seen = {}
    for name, dark, media in (("light", False, ""), ("dark", True, ""), ("print", True, "print")):
        page.look(1280, dark=dark, media=media)
        page.open(path)
        page.run(DRAWN)
        seen[name] = page.run(ink), page.run("getComputedStyle(document.documentElement).backgroundColor")
    assert seen["light"] != seen["dark"]
    assert seen["print"] == seen["light"]


def test_labels_of_the_roofs_do_not_overlap_or_leave_the_picture(page, tmp_path):
    page.look(1280)
    page.open(write_page(tmp_path / "h200.html", example_models.h200_model()))
    page.run(DRAWN)
    boxes = page.run(
        "[...document.querySelectorAll('#chart-roofline svg .mark-text.role-mark text')]"
        ".filter(text => !text.getAttribute('transform').includes('rotate'))"
        ".map(text => text.getBoundingClientRect()).map(box => [box.left, box.top, box.right, box.bottom])"
    )
    frame = page.run(
        "(box => [box.left, box.right])(document.querySelector('#chart-roofline svg').getBoundingClientRect())"
    )
    assert len(boxes) >= 10
    boxes.sort(key=lambda box: box[1])
    for above, below in itertools.pairwise(boxes):
        assert below[1] >= above[3] - 3  # a line box is a little taller than its letters
    assert all(frame[0] <= box[0] and box[2] <= frame[1] for box in boxes)
