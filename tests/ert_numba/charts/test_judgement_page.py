"""The page of a judgement: what stands in it, that hostile names stay text, and how it looks in a real browser."""

import html
import re

import msgspec
import pytest
from chromium import PROGRAM, chromium
from made_up_benchmarks import USER, made_up_run

from ert_numba.charts.judgement_page import judgement_page
from ert_numba.judge.suite import judge

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
JUDGED = judge(
    made_up_run("a"),
    made_up_run("b", seed=2, driver="590.1", times={"DRAM.read": 1.03, USER: 1.03}, without=("launch.graph",)),
)
# Settles in any case: a page that cannot draw must fail, not hang.
DRAWN = """new Promise(done => {
  setTimeout(() => done("nothing drawn"), 60000);
  const look = () => document.documentElement.dataset.charts
    ? done(document.documentElement.dataset.charts) : requestAnimationFrame(look);
  look();
})"""


def hostile():
    rows = tuple(
        msgspec.structs.replace(row, key=f"{HOSTILE}{i}", name=f"{HOSTILE}{i}", reason=HOSTILE, cause=HOSTILE)
        for i, row in enumerate(JUDGED.benchmarks)
    )
    return msgspec.structs.replace(JUDGED, run_a=HOSTILE, run_b=HOSTILE, device=HOSTILE, benchmarks=rows)


def body(page: str) -> str:
    return page[page.index("<main>") : page.index("</main>")]


def test_every_benchmark_has_its_row_with_its_verdict():
    text = body(judgement_page(JUDGED))
    found = re.findall(r'<th scope="row">(.*?)(?:<small>.*?)?</th><td><span class="flag \w+">(.*?)</span>', text)
    names = {USER: "bench_model.py::test_softmax[fp16-4096]"}
    expected = {(names.get(row.key, row.key), row.verdict) for row in JUDGED.benchmarks}
    assert {(html.unescape(name), verdict) for name, verdict in found} == expected
    assert "driver 580.159 to 590.1" in text
    assert "the roof moved" in text


def test_without_a_judged_benchmark_the_table_says_why():
    page = judgement_page(judge(made_up_run("a", starts=1), made_up_run("b", starts=1)))
    assert "<figure>" not in page
    assert "bench --starts 5" in page


def test_hostile_names_are_text():
    page = judgement_page(hostile())
    assert page.count("</script>") == judgement_page(JUDGED).count("</script>")
    assert "<img" not in body(page)


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.mark.browser
@pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "layout"), [(1280, "wide"), (390, "narrow")])
def test_it_draws_offline_without_a_complaint(tab, tmp_path, width, layout, dark):
    path = tmp_path / "page.html"
    path.write_text(judgement_page(hostile()), encoding="utf-8")
    tab.requests.clear()
    tab.complaints.clear()
    tab.look(width, dark=dark)
    tab.open(path)
    assert tab.run(DRAWN) == layout
    assert tab.complaints == []
    assert set(tab.requests) == {path.as_uri()}
    assert tab.run("document.title").startswith("</script>")
    assert tab.run("document.querySelectorAll('#chart-changes svg .mark-symbol.role-mark path').length") == 20
    assert tab.run("document.documentElement.scrollWidth") <= width
