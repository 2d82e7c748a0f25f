"""Counted work on the machine's page: beside its ceilings, of this run alone, failures above everything."""

import html
import re
from pathlib import Path

import msgspec
import pytest

from ert_numba import api
from ert_numba.charts.page import machine_page
from ert_numba.counted import Verdict
from ert_numba.plotting import plot_file
from ert_numba.store.documents import load

RUN = Path(__file__).parents[3] / "results" / "nvidia-h200" / "2026-11-30T1218-gpu"


def text_of(page):
    body = page[page.index("<main>") : page.index("</main>")]
    return html.unescape(re.sub(r"<[^>]+>", " ", body))


@pytest.fixture(scope="module")
def model():
    return api.load(RUN)


@pytest.fixture(scope="module")
def verdict():
    return load(RUN / "verdict.json", Verdict)


def failing(verdict, **fields):
    first = msgspec.structs.replace(verdict.checks[0], counted=1.0, error=-1.0, passed=False)
    return msgspec.structs.replace(verdict, checks=(*verdict.checks[1:], first), **fields)


def test_every_check_is_on_the_page(model, verdict):
    text = text_of(machine_page(model, verdict=verdict))
    assert f"All {len(verdict.checks)} checks passed, counted by Nsight Compute 2025.3.1.0" in text
    for row in verdict.checks:
        assert row.ceiling in text
        assert row.counter in text
    assert "do not trust" not in text
    assert "declared" not in text_of(machine_page(model)).split("Provenance")[0]


def test_a_kernel_that_fails_stands_first_and_above_the_figures(model, verdict):
    text = text_of(machine_page(model, verdict=failing(verdict)))
    assert f"1 of {len(verdict.checks)} checks FAIL" in text
    assert text.index("do not trust these ceilings") < text.index("Roofline")
    section = text[text.index("Declared work and what the hardware counted") :]
    assert section.index(verdict.checks[0].ceiling) < section.index(verdict.checks[1].ceiling)


def test_a_verdict_on_another_run_is_not_shown(model, verdict):
    text = text_of(machine_page(model, verdict=failing(verdict, run="2020-01-01T0000-gpu")))
    assert "on another run, 2020-01-01T0000-gpu" in text
    assert "do not trust" not in text
    assert "checks" not in text


def test_what_has_no_count_is_unknown_and_names_are_text(model, verdict):
    odd = msgspec.structs.replace(verdict.checks[0], counted=None, error=None, passed=False, note="<b>lacking</b>")
    page = machine_page(model, verdict=msgspec.structs.replace(verdict, checks=(odd,)))
    assert "<b>lacking" not in page
    assert "unknown" in text_of(page)


def test_plot_finds_it_beside_the_machine_model(tmp_path):
    page = plot_file(RUN, tmp_path / "machine.html", "html").read_text(encoding="utf-8")
    assert "what the hardware counted" in page
    alone = plot_file(RUN / "machine.json", tmp_path / "alone.html", "html").read_text(encoding="utf-8")
    assert "what the hardware counted" not in alone
