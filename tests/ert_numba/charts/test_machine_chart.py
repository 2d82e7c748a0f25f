import itertools
import json
import math
from functools import cache

import example_models
import msgspec
import pytest
from vega_specs import check_log_axes, layers, marked, plain

from ert_numba.charts.machine_chart import machine_chart, machine_roofs, widest_scope
from ert_numba.charts.roofline import NARROW, WIDE
from ert_numba.errors import ErtError
from ert_numba.machine import MachineModel

HOSTILE = "</script><script>alert(1)</script>\n\"'`${x}\u2028é"
SIZES = [WIDE, NARROW]


def changed(model, **fields):
    return msgspec.structs.replace(model, **fields)


MODELS = {
    "cpu": example_models.cpu_model(),
    "h200": example_models.h200_model(),
    "compute only": changed(
        example_models.cpu_model(),
        proof=(),
        ceilings=tuple(c for c in example_models.cpu_model().ceilings if c.kind == "compute"),
    ),
    "bandwidth only": changed(
        example_models.cpu_model(),
        proof=(),
        ceilings=tuple(c for c in example_models.cpu_model().ceilings if c.kind == "bandwidth"),
    ),
    "one ceiling": changed(example_models.cpu_model(), proof=(), ceilings=example_models.cpu_model().ceilings[:1]),
}


@cache
def spec_of(name, size=WIDE):
    return plain(machine_chart(MODELS[name], size))


def drawn_lines(spec):
    """The two ends of each visible solid roof, by its ceiling's key."""
    ends = {}
    for row in marked(spec, "line", strokeCap="round"):
        ends.setdefault(row["key"], []).append((row["x"], row["y"]))
    return ends


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", MODELS)
def test_the_specification_is_valid_and_its_axes_are_safe(name, size):
    spec = spec_of(name, size)
    check_log_axes(spec)
    assert (spec["width"], spec["height"]) == (size.width, size.height)


@pytest.mark.parametrize("name", MODELS)
def test_every_end_of_a_roof_is_on_a_ceiling_of_the_model(name):
    model = MODELS[name]
    flats = [row.value for row in model.roofs("compute")]
    slopes = [row.value for row in model.roofs("bandwidth")]
    for key, ends in drawn_lines(spec_of(name)).items():
        row = model.ceiling(key)
        assert len(ends) == 2
        for x, y in ends:
            assert y == pytest.approx(row.value if row.kind == "compute" else x * row.value)
        if row.kind == "compute" and slopes:
            assert ends[0][0] == pytest.approx(row.value / max(slopes))
        if row.kind == "bandwidth" and flats and row.level != "HOST":
            assert ends[1][1] == pytest.approx(max(flats))


def test_every_possible_compute_ceiling_and_each_level_once():
    for name in ("cpu", "h200"):
        model, keys = MODELS[name], set(drawn_lines(spec_of(name)))
        assert {row.key for row in model.roofs("compute")} <= keys
        levels = [model.ceiling(key).level for key in keys if model.ceiling(key).kind == "bandwidth"]
        assert sorted(levels) == sorted({row.level for row in model.roofs("bandwidth")})


def test_a_level_is_drawn_at_its_fastest_access():
    model = example_models.cpu_model()
    triad = msgspec.structs.replace(model.ceiling("L1.triad"), value=500e9, high=510e9)
    others = tuple(row for row in model.ceilings if row.key != "L1.triad")
    keys = {roof.key for roof in machine_roofs(changed(model, ceilings=(*others, triad)))}
    assert "L1.triad" in keys
    assert "L1.read" not in keys


def test_an_impossible_ceiling_is_never_drawn():
    model = MODELS["cpu"]
    impossible = model.ceiling("fp16.vector.fma")
    assert impossible.impossible
    spec = spec_of("cpu")
    assert impossible.key not in json.dumps(spec)
    (_low, high) = next(u["encoding"]["y"]["scale"]["domain"] for u, _ in layers(spec))
    assert high < impossible.value


def test_limits_are_dashed_and_at_their_value():
    model = MODELS["cpu"]
    dashed = marked(spec_of("cpu"), "line", strokeDash=[3, 3])
    assert {"L1.read", "fp64.vector.fma"} <= {row["key"] for row in dashed}
    for row in dashed:
        ceiling = model.ceiling(row["key"])
        assert row["y"] == pytest.approx(ceiling.limit if ceiling.kind == "compute" else row["x"] * ceiling.limit)


def test_unverified_ceilings_are_drawn_dashed():
    model = MODELS["cpu"]
    rows = tuple(msgspec.structs.replace(row, verified=row.key != "L1.read") for row in model.ceilings)
    lines = marked(plain(machine_chart(changed(model, ceilings=rows))), "line", strokeCap="round")
    assert {row["key"] for row in lines if row["dashed"]} == {"L1.read"}


def test_proof_points_are_drawn_as_they_were_measured():
    model = MODELS["cpu"]
    dots = marked(spec_of("cpu"), "point")
    assert sorted((row["x"], row["y"]) for row in dots) == sorted((p.intensity, p.value) for p in model.proof)


def test_what_a_log_axis_cannot_show_is_left_out():
    model = MODELS["cpu"]
    good = model.proof[0]
    bad = [
        msgspec.structs.replace(good, intensity=x, low=y, value=y) for x, y in ((0.0, 1e9), (1.0, math.nan), (-1, 1))
    ]
    spec = plain(machine_chart(changed(model, proof=(good, *bad))))
    check_log_axes(spec)
    assert len(marked(spec, "point")) == 1


def test_tensor_roofs_have_a_colour_of_their_own():
    lines = marked(spec_of("h200"), "line", strokeCap="round")
    tensor = {row["colour"] for row in lines if ".tensor." in row["key"]}
    vector = {row["colour"] for row in lines if ".vector." in row["key"]}
    assert len(tensor) == len(vector) == 1
    assert tensor != vector


def test_the_best_dense_path_of_a_format_and_unit_is_strong():
    strong = {roof.key for roof in machine_roofs(MODELS["h200"]) if roof.flat and roof.strong}
    assert {"fp16.tensor.wgmma", "fp16.vector.fma", "fp64.tensor.mma.sync", "fp64.vector.fma"} <= strong
    assert not strong & {"fp16.tensor.cublas", "fp16.tensor.wgmma.sparse", "fp64.vector.add"}


@pytest.mark.parametrize("size", SIZES)
def test_many_ceilings_leave_each_label_its_room(size):
    spec = spec_of("h200", size)
    low, high = next(unit["encoding"]["y"]["scale"]["domain"] for unit, _ in layers(spec))
    downs = sorted(
        {
            size.height * math.log(high / row["y"]) / math.log(high / low)
            for unit, rows in layers(spec)
            if unit["mark"]["type"] == "text" and not unit["mark"].get("angle")
            for row in rows
        }
    )
    assert len(downs) >= 6
    assert all(later - earlier >= size.font - 0.01 for earlier, later in itertools.pairwise(downs))
    assert downs[0] >= -0.01
    assert downs[-1] <= size.height + 0.01


def test_one_core_is_drawn_where_nothing_wider_was_measured():
    model = MODELS["cpu"]
    core = changed(model, ceilings=tuple(row for row in model.ceilings if row.scope == "core"))
    assert widest_scope(model) == "all"
    assert widest_scope(core) == "core"
    assert {roof.key for roof in machine_roofs(core)} == {"fp64.vector.fma@core", "fp32.vector.fma@core"}


@pytest.mark.parametrize("kept", [lambda row: False, lambda row: row.impossible, lambda row: row.kind == "latency"])
def test_a_model_with_no_ceiling_to_draw_is_a_clear_error(kept):
    model = MODELS["cpu"]
    empty = changed(model, ceilings=tuple(row for row in model.ceilings if kept(row)))
    with pytest.raises(ErtError, match="ceilings"):
        machine_chart(empty)


def test_hostile_names_are_only_text():
    model = MODELS["cpu"]
    hostile = changed(model, device=changed(model.device, name=HOSTILE))
    rows = tuple(
        changed(row, level=HOSTILE, key=HOSTILE + row.key, variant=HOSTILE, note=HOSTILE) if row.kind == "bandwidth"
        else changed(row, precision=HOSTILE, path=HOSTILE, key=HOSTILE + row.key)
        for row in model.ceilings
    )  # fmt: skip
    spec = plain(machine_chart(changed(hostile, ceilings=rows)))
    check_log_axes(spec)
    assert "\n" not in spec["title"]["text"]
    assert len(spec["title"]["text"]) <= 60


def test_the_same_model_gives_the_same_bytes():
    first, second = (json.dumps(machine_chart(example_models.h200_model()).to_dict(), sort_keys=True) for _ in range(2))
    assert first == second


def test_an_empty_made_up_model_says_what_to_do():
    model = MachineModel(run="x", device=example_models.cpu_device(), provenance=example_models.PROVENANCE)
    with pytest.raises(ErtError) as error:
        machine_chart(model)
    assert error.value.found == "the model has no ceilings"
    assert "sweep" in error.value.remedy
