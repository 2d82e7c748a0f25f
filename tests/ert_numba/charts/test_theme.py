import itertools
import math

import altair as alt
import example_models
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vega_specs import colours

from ert_numba.catalog.memory_levels import MEMORY_LEVELS
from ert_numba.catalog.precisions import PRECISIONS
from ert_numba.charts import theme
from ert_numba.charts.machine_chart import machine_chart
from ert_numba.charts.sweep_chart import sweep_chart
from ert_numba.errors import ErtError

TEXT = ("ink", "muted")
FILLS = tuple(row.name for row in theme.COLOURS if row.name not in ("paper", "rule", "grid"))
# Machado, Oliveira and Fernandes, IEEE TVCG 15(6), 2009, severity 1, on linear RGB.
DEFICIENCIES = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}


def linear(colour: str) -> list[float]:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour: str) -> float:
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: list[float]) -> tuple[float, float, float]:
    to_xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(a * b for a, b in zip(row, rgb, strict=True)) for row in to_xyz]
    f = [math.cbrt(max(v / w, 1e-6)) for v, w in zip(xyz, (0.9505, 1.0, 1.089), strict=True)]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_marks_and_text_stand_out_from_the_paper(mode):
    table = {row.name: getattr(row, mode) for row in theme.COLOURS}
    for name in FILLS:
        assert contrast(table[name], table["paper"]) >= (4.5 if name in TEXT else 3.0), name


def test_each_light_colour_names_one_role():
    assert len({row.light for row in theme.COLOURS}) == len(theme.COLOURS)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_levels_of_a_device_differ_for_the_colour_blind(mode, deficiency, kind):
    partner = {row.light: getattr(row, mode) for row in theme.COLOURS}
    matrix = DEFICIENCIES[deficiency]
    seen = {}
    for row in MEMORY_LEVELS:
        if row.device_kind == kind:
            rgb = linear(partner[theme.level_colour(row.key)])
            seen[row.key] = lab([sum(a * b for a, b in zip(line, rgb, strict=True)) for line in matrix])
    for one, other in itertools.combinations(seen, 2):
        assert math.dist(seen[one], seen[other]) > 10, (one, other)


def test_every_row_of_the_catalogue_has_a_look():
    for row in MEMORY_LEVELS:
        assert theme.level_colour(row.key) in theme.LIGHT.values()
        assert theme.level_colour(row.key) != theme.LIGHT["muted"]
    stems = {row.key.split("_")[0] for row in PRECISIONS}
    assert len({theme.precision_colour(row.key) for row in PRECISIONS}) == len(stems)
    shapes = [theme.level_shape(row.key) for row in MEMORY_LEVELS if row.device_kind == "cpu"]
    assert len(set(shapes)) == len(shapes)


def test_what_no_row_names_is_drawn_muted_under_its_own_name():
    assert theme.level_colour("L9") == theme.LIGHT["muted"]
    assert theme.level_label("cpu", "L9") == "L9"
    assert theme.precision_colour("posit16") == theme.LIGHT["muted"]
    assert theme.access_row("gather").label == "gather"
    assert theme.path_label("tensor.tcgen05") == "tensor tcgen05"


def test_dark_exchanges_every_colour_and_nothing_else():
    for chart in (
        machine_chart(example_models.cpu_model()),
        sweep_chart(example_models.cpu_sweep(), example_models.cpu_model()),
    ):
        spec = chart.to_dict()
        assert colours(spec) <= set(theme.LIGHT.values())
        dark = theme.recoloured(spec)
        assert colours(dark) <= {row.dark for row in theme.COLOURS}
        back = {row.dark: row.light for row in theme.COLOURS}
        assert theme.recoloured(dark, lambda colour: colour) == dark
        assert colours(spec) == {back[colour] for colour in colours(dark)}


@given(st.lists(st.floats(min_value=1e-25, max_value=1e25), min_size=1), st.floats(1, 10), st.floats(1, 10))
def test_a_domain_holds_all_values_and_is_positive(values, below, above):
    low, high = theme.log_domain(values, "numbers", below, above)
    assert 0 < low <= min(values) / below * (1 + 1e-12)
    assert high >= max(values) * above * (1 - 1e-12)
    assert low >= min(values) / below * 0.85
    assert high <= max(values) * above * 1.15


@pytest.mark.parametrize("values", [[], [0.0], [-1.0, math.nan, math.inf]])
def test_a_domain_of_nothing_is_an_error(values):
    with pytest.raises(ErtError, match="no positive value"):
        theme.log_domain(values, "rates")


def test_a_domain_passes_over_what_a_log_axis_cannot_show():
    assert theme.log_domain([0.0, -3.0, math.nan, 2.0, 40.0], "rates") == (2.0, 40.0)


def test_ticks_lie_inside_and_are_round():
    assert theme.decades((0.02, 300)) == [0.1, 1.0, 10.0, 100.0]
    assert theme.log_ticks((2.1e9, 9.9e9)) == [3e9, 4e9, 5e9, 6e9, 7e9, 8e9, 9e9]
    assert theme.log_ticks((2e10, 6e11)) == [2e10, 5e10, 1e11, 2e11, 5e11]
    assert theme.log_ticks((1e9, 1e13)) == [1e9, 1e10, 1e11, 1e12, 1e13]
    assert theme.octaves((4096, 70000), 2) == [4096, 16384, 65536]


@pytest.mark.parametrize(
    ("axis", "value", "text"),
    [
        (theme.rate_axis("t", "B/s", [1e10]), 1e10, "10 GB/s"),
        (theme.rate_axis("t", "FLOP/s", [1e12]), 1e12, "1 TFLOP/s"),
        (theme.rate_axis("t", "FLOP/s", [500.0]), 500.0, "500 FLOP/s"),
        (theme.rate_axis("t", "s", [2e-9]), 2e-9, "2 ns"),
        (theme.rate_axis("t", "", [1e15]), 1e15, "1 P"),
        (theme.capacity_axis("t", [512.0]), 512.0, "512 B"),
        (theme.capacity_axis("t", [32768.0]), 32768.0, "32 KiB"),
        (theme.capacity_axis("t", [2.0**20]), 2.0**20, "1 MiB"),
        (theme.capacity_axis("t", [2.0**38]), 2.0**38, "256 GiB"),
    ],
)
def test_axes_speak_human_units(axis, value, text):
    import vl_convert

    scale = theme.log_scale((value / 2, value * 2))
    chart = theme.rows([{"x": value}]).mark_point().encode(alt.X("x:Q", axis=axis, scale=scale))
    assert f">{text}<" in vl_convert.vegalite_to_svg(chart.to_dict(), vl_version="6.4")


def test_foreign_text_becomes_one_short_line():
    assert theme.one_line("a\nb\x00c\u2028d") == "a b c d"
    assert len(theme.one_line("x" * 500)) == 60
