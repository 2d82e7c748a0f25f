import base64
import hashlib
import html
import itertools
import json
import re
from html.parser import HTMLParser

import example_models
import msgspec
import pytest

from ert_numba.charts.document import esc, safe_json, table
from ert_numba.charts.page import machine_page, write_page
from ert_numba.charts.words import ceiling_words
from ert_numba.errors import ErtError
from ert_numba.fit.ceilings import fit_sweep
from ert_numba.records import Provenance, Skipped
from ert_numba.units import capacity, si

CPU, H200 = example_models.cpu_model(), example_models.h200_model()
HOSTILE = "</script></title><img src=x onerror=alert(1)><script>alert(2)</script>\"'&\u2028"


class Outline(HTMLParser):
    """Tags with their attributes, the text of the page, the content of its scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self.scripts, self._inside = [], "", [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._inside = tag if tag in ("script", "style") else self._inside
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._inside = "" if tag == self._inside else self._inside

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        elif not self._inside:
            self.text += data + "\n"


@pytest.fixture(scope="module")
def page():
    return machine_page(CPU, example_models.cpu_sweep())


@pytest.fixture(scope="module")
def outline(page):
    return Outline(page)


def test_every_figure_stands_in_the_tables(outline):
    for row in CPU.ceilings:
        for text in (ceiling_words(row, "cpu"), row.key, si(row.value, row.unit), si(row.limit or row.value, row.unit)):
            assert text in outline.text
    for knee in CPU.knees:
        assert capacity(knee.capacity_bytes) in outline.text
    for skipped in CPU.skipped:
        assert skipped.reason in outline.text
    for note in CPU.notes:
        assert note in outline.text


def test_doubts_are_flagged(outline):
    flags = re.findall(r"^(impossible|noisy|unverified|differs)$", outline.text, re.MULTILINE)
    assert flags.count("impossible") == 1
    assert flags.count("noisy") == sum(row.noisy for row in CPU.ceilings)
    assert flags.count("differs") == 2
    assert "1 impossible (above the physical limit" in outline.text
    assert "a loop folded to a formula" in outline.text


def test_the_noise_of_a_fit_is_told_once():
    model = fit_sweep(example_models.cpu_sweep())
    noisy = sum(row.noisy for row in model.ceilings)
    assert noisy
    text = Outline(machine_page(model)).text
    doubts = text[text.index("Read this first") : text.index("Roofline")]
    assert len(re.findall(rf"\b{noisy}\b.*\bnoisy\b", doubts)) == 1
    assert doubts.count("noisy") == 1


def test_what_was_not_measured_stands_by_its_reason():
    alike = [Skipped(what=f"L{level}.write_nt", reason="non-temporal stores leave the caches") for level in (1, 2)]
    rows = (alike[0], Skipped(what="REMOTE", reason="one memory node"), alike[1])
    text = machine_page(msgspec.structs.replace(CPU, skipped=rows))
    section = text[text.index("Not measured, and why") :].split("</table>")[0]
    assert Outline(section).text.split("\n")[1:-1] == [
        "What", "Reason",
        "L1.write_nt, L2.write_nt", "non-temporal stores leave the caches",
        "REMOTE", "one memory node",
    ]  # fmt: skip


def test_conditions_and_write_allocate_are_said(outline):
    assert "huge pages, streams 4, threads 2" in outline.text
    assert "moves 2 times the bytes counted: 54.8 GB/s" in outline.text


def test_a_partial_or_imported_model_says_so():
    rows = tuple(msgspec.structs.replace(row, verified=False) for row in CPU.ceilings)
    text = Outline(machine_page(msgspec.structs.replace(CPU, partial=True, ceilings=rows))).text
    assert "ended before it was complete" in text
    assert "unverified (read from elsewhere" in text
    assert "Imported 2026-11-29" in text
    assert "Measured" not in text.split("Knees")[0]


def test_nothing_is_fetched(page, outline):
    for tag, attributes in outline.tags:
        assert tag not in ("link", "img", "iframe", "object", "base")
        assert not {"src", "href", "action"} & set(attributes)
    assert "@import" not in page.split("<script")[0]
    assert "url(" not in page.split("<script")[0]


def test_the_policy_allows_this_script_alone(outline):
    (policy,) = [a["content"] for tag, a in outline.tags if a.get("http-equiv") == "Content-Security-Policy"]
    kinds = [attributes.get("type") for tag, attributes in outline.tags if tag == "script"]
    assert kinds == ["application/json", "module"]
    digest = base64.b64encode(hashlib.sha256(outline.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe-eval" not in policy


def test_charts_are_embedded_once_for_both_widths(outline):
    content = json.loads(outline.scripts[0])
    assert set(content["charts"]) == {"roofline", "working-sets", "limits"}
    for wide, narrow in content["charts"].values():
        assert "datasets" not in wide
        assert "datasets" not in narrow
    names = set(re.findall(r"data-[0-9a-f]{32}", json.dumps(content["charts"])))
    assert names == set(content["datasets"])


def test_style_sheets_decide_every_colour(page, outline):
    used = set(re.findall(r"var\(--([a-z]+)\)", outline.scripts[0])) | set(
        re.findall(r"var\(--([a-z]+)\)", page[:20000])
    )
    styles = page[: page.index("</style>")]
    assert used <= set(re.findall(r"--([a-z]+):#", styles))
    assert not re.findall(r"#[0-9a-f]{6}", outline.scripts[0])
    assert "prefers-color-scheme:dark" in styles


def test_it_is_fit_for_keyboard_and_ear(outline):
    charts = [attributes for tag, attributes in outline.tags if attributes.get("class") == "chart"]
    assert len(charts) == 3
    assert all(attributes["role"] == "img" and len(attributes["aria-label"]) > 40 for attributes in charts)
    regions = [attributes for tag, attributes in outline.tags if attributes.get("class") == "wide"]
    assert len(regions) >= 5
    assert all(attributes["tabindex"] == "0" and attributes["aria-label"] for attributes in regions)
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def hostile_model():
    device = msgspec.structs.replace(
        CPU.device, name=HOSTILE, vendor=HOSTILE, architecture=HOSTILE, properties={HOSTILE: HOSTILE}, notes=(HOSTILE,),
        features=(HOSTILE,),
    )  # fmt: skip
    rows = tuple(
        msgspec.structs.replace(
            row, key=HOSTILE + row.key, note=HOSTILE, conditions={HOSTILE: HOSTILE}, variant=HOSTILE
        )
        for row in CPU.ceilings
    )
    knees = tuple(
        msgspec.structs.replace(k, level=HOSTILE, shape=HOSTILE, witness=HOSTILE, note=HOSTILE) for k in CPU.knees
    )
    skipped = tuple(msgspec.structs.replace(row, what=HOSTILE, reason=HOSTILE) for row in CPU.skipped)
    provenance = Provenance(
        created=HOSTILE, tool=HOSTILE, versions={HOSTILE: HOSTILE}, system=HOSTILE, host_name=HOSTILE
    )
    return msgspec.structs.replace(
        CPU, device=device, ceilings=rows, knees=knees, skipped=skipped, notes=(HOSTILE,), run=HOSTILE,
        settings={HOSTILE: HOSTILE}, provenance=provenance,
    )  # fmt: skip


def test_hostile_text_stays_text(outline):
    model = hostile_model()
    sweep = msgspec.structs.replace(example_models.cpu_sweep(), device=model.device)
    page = machine_page(model, sweep)
    seen = Outline(page)
    assert page.lower().count("</script") == 2
    assert not [
        tag for tag, attributes in seen.tags if tag == "img" or any(name.startswith("on") for name in attributes)
    ]
    assert {tag for tag, _ in seen.tags} <= {tag for tag, _ in outline.tags}
    assert HOSTILE.replace("\u2028", "") in seen.text.replace("\u2028", "")


def test_private_provenance_shows_only_where_it_was_asked_for():
    private = msgspec.structs.replace(CPU.provenance, host_name="node17", user="ada", command_line="ert-numba sweep")
    assert "node17" in machine_page(msgspec.structs.replace(CPU, provenance=private))
    assert "Host" not in Outline(machine_page(CPU)).text


def test_a_sweep_without_working_sets_leaves_its_chart_out():
    sweep = msgspec.structs.replace(example_models.cpu_sweep(), samples=())
    assert 'id="chart-working-sets"' not in machine_page(CPU, sweep)


def test_a_model_without_ceilings_is_a_clear_error_and_leaves_no_file(tmp_path):
    with pytest.raises(ErtError, match="no ceilings"):
        write_page(tmp_path / "page.html", msgspec.structs.replace(CPU, ceilings=()))
    assert not list(tmp_path.iterdir())


def test_a_page_is_written_once_and_never_over_another(tmp_path):
    path = write_page(tmp_path / "page.html", H200)
    assert path.read_text(encoding="utf-8") == machine_page(H200)
    with pytest.raises(ErtError, match="exists"):
        write_page(path, H200)


def test_json_cannot_end_its_script():
    assert safe_json({"b": "</script>\u2028", "a": 1}) == '{"a":1,"b":"\\u003c/script>\\u2028"}'
    with pytest.raises(ValueError, match="JSON"):
        safe_json({"x": float("nan")})


def test_columns_that_no_row_fills_are_left_out():
    text = table("t", ("a", "b", "c"), [["1", "", "x"], ["2", "", ""]], frozenset({2}))
    assert re.findall(r"<th scope=\"col\"[^>]*>(.)</th>", text) == ["a", "c"]
    assert text.count("<td") == 2


def test_escaping_covers_attributes():
    assert html.unescape(esc(HOSTILE)) == HOSTILE
    assert not set("<>\"'") & set(esc(HOSTILE))
