import json

import example_models
import pytest

from ert_numba.charts.export import write_image, write_vega_lite
from ert_numba.charts.machine_chart import machine_chart
from ert_numba.charts.theme import COLOURS
from ert_numba.errors import ErtError


@pytest.fixture(scope="module")
def chart():
    return machine_chart(example_models.cpu_model())


def test_vega_lite_is_strict_json_and_the_same_each_time(tmp_path, chart):
    first = write_vega_lite(tmp_path / "a.vl.json", chart).read_bytes()
    again = machine_chart(example_models.cpu_model())
    assert first == write_vega_lite(tmp_path / "b.vl.json", again).read_bytes()
    spec = json.loads(first, parse_constant=pytest.fail)
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/v6")
    assert list(spec) == sorted(spec)


def test_svg_holds_the_labels_as_text_in_the_asked_colours(tmp_path, chart):
    light = write_image(tmp_path / "light.svg", chart).read_text(encoding="utf-8")
    dark = write_image(tmp_path / "dark.SVG", chart, dark=True).read_text(encoding="utf-8")
    assert "FP64 FMA  117 GFLOP/s" in light
    assert "L1 read  435 GB/s" in light
    paper = next(row for row in COLOURS if row.name == "paper")
    assert f'fill="{paper.light}"' in light
    assert f'fill="{paper.dark}"' in dark
    assert paper.light not in dark


def test_png_has_two_pixels_a_point(tmp_path, chart):
    data = write_image(tmp_path / "chart.png", chart).read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(data[16:20], "big") > 2 * 800


def test_a_form_that_is_named_counts_whatever_the_ending(tmp_path, chart):
    assert write_image(tmp_path / "stdout", chart, form="svg").read_text(encoding="utf-8").startswith("<svg")
    assert write_image(tmp_path / "chart.svg", chart, form="png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["chart.pdf", "chart", "chart.svg.txt"])
def test_other_endings_are_refused_before_anything_is_drawn(tmp_path, name):
    with pytest.raises(ErtError, match=r"\.svg or \.png"):
        write_image(tmp_path / name, object())
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path, chart):
    taken = tmp_path / "chart.svg"
    taken.write_text("mine", encoding="utf-8")
    for write in (write_vega_lite, write_image):
        with pytest.raises(ErtError, match="exists"):
            write(taken, chart)
    assert taken.read_text(encoding="utf-8") == "mine"
