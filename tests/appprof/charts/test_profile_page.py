"""The page as text: complete, escaped, small, and the same numbers in its tables as in the data."""

import html
import re

import example_models
import msgspec
import pytest
from example_profiles import DATA, application, cell, flop, model_of, traffic

from appprof.analysis import analyse
from appprof.charts.page import profile_page, write_page
from appprof.result import make_result
from ert_numba.errors import ErtError

MACHINE = example_models.h200_model()
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)> \"'&`\u2028 naïve 核"


def text_of(page):
    """What a reader without scripts sees."""
    body = page[page.index("<main>") : page.index("</main>")]
    return html.unescape(re.sub(r"<[^>]+>", " ", body))


def test_tables_hold_the_numbers_of_the_result():
    analysis = analyse(model_of("h200/gemm_raw.csv"), MACHINE)
    page = profile_page(analysis)
    for row in make_result(analysis).kernels:
        assert f'data-v="{row.seconds:.9g}"' in page
        assert f'data-v="{row.roof_share:.9g}"' in page
        assert html.escape(row.kernel) in page
    assert "What would give back the most" in text_of(page)
    assert "torch.float16" in text_of(page)


def test_hostile_names_are_text():
    hostile = cell(HOSTILE, ranges=(HOSTILE,), flop=(flop("fp32.vector", 1e9, fused=1e9),), traffic=traffic(DRAM=1e8))
    other = cell(HOSTILE + "2", ranges=("b",), stream=2, traffic=traffic(DRAM=1e8))
    model = application(hostile, other, warnings=(HOSTILE,), lost=(HOSTILE,))
    model = msgspec.structs.replace(model, run=HOSTILE, chip=msgspec.structs.replace(model.chip, name=HOSTILE))
    page = profile_page(analyse(model))
    assert page.count("</script") == 2  # its data and its script
    body = page[page.index("<main>") : page.index("</main>")]
    assert "<img" not in body
    assert "<script" not in body
    assert "&lt;img" in body
    assert "naïve 核" in page


@pytest.mark.parametrize("path", sorted(DATA.glob("faults/*.csv")), ids=lambda path: path.name[:3])
def test_every_faulty_input_gives_a_page_that_says_what_is_lacking(path):
    page = profile_page(analyse(model_of(path)))
    assert "What is known" in page
    assert "ncu --clock-control none --metrics" in page


def test_f05_is_named_before_everything_else():
    text = text_of(profile_page(analyse(model_of("faults/F05_achieved_above_peak.csv"))))
    assert text.index("IMPOSSIBLE") < text.index("Roofline")
    assert "It is not classified" in text


def test_zero_flop_kernels_have_their_own_table():
    copy = cell("copy_kernel", traffic=traffic(DRAM=4e9, L2_sm=4e9, L1_tag=4e9))
    busy = cell("busy", flop=(flop("fp32.vector", 1e9, fused=1e9),), traffic=traffic(DRAM=1e8))
    text = text_of(profile_page(analyse(application(copy, busy), MACHINE)))
    part = text[text.index("Kernels that do no FLOP") : text.index("What is known")]
    assert "copy_kernel" in part
    assert "busy" not in part
    assert "86%" in part


def test_a_large_profile_is_a_small_page():
    names = [f"void kernel_{index}<{'x' * 600}>(int)" for index in range(3000)]
    cells = [cell(name, seconds=1e-3 / (index + 1), launches=33, flop=(flop("fp32.vector", 1e9, fused=1e9),),
                  traffic=traffic(DRAM=1e8, L2_sm=2e8, L1_tag=3e8)) for index, name in enumerate(names)]  # fmt: skip
    page = profile_page(analyse(application(*cells), MACHINE))
    assert len(page.encode()) < 2_000_000
    assert "2800 other kernels, added up" in page


def test_nothing_of_the_machine_or_the_user_is_on_it():
    page = profile_page(analyse(model_of("h200/micro.ncu-rep"), MACHINE))
    for word in ("127.0.0.1", "/home", "/work", "python3 micro.py"):
        assert word not in page.split("<main>")[1].split("</main>")[0]


def test_a_page_is_never_written_over_another(tmp_path):
    analysis = analyse(model_of("h200/gemm_raw.csv"))
    path = write_page(tmp_path / "page.html", analysis)
    with pytest.raises(ErtError, match="exists"):
        write_page(path, analysis)


def test_the_legend_of_shares_names_the_marks_that_there_are():
    bare = text_of(profile_page(analyse(application(cell("k", traffic=traffic(DRAM=1e9))))))
    assert "could be given back. ▼ DRAM." in bare
    whole = text_of(profile_page(analyse(model_of("h200/gemm_raw.csv"), MACHINE)))
    assert "▼ DRAM, + arithmetic, − issue of instructions, ○ launching." in whole
