from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ert_numba.errors import ErtError
from ert_numba.machine import MachineModel
from ert_numba.store.documents import encode, load, save
from ert_numba.store.import_ert import import_ert

FOLDER = Path(__file__).parents[2] / "data" / "ert"
FILES = sorted(FOLDER.glob("*.json"))
PYTHON3 = FOLDER / "python3_empty_key.json"
GPU = FOLDER / "shared_metadata_gpu.json"
OLD = FOLDER / "beside_each_part.json"
SEVERAL = FOLDER / "several_precisions.json"


def rates(model: MachineModel) -> dict[str, float]:
    return {row.key: row.value for row in model.ceilings}


def roofline(gflops, gbytes, **more):
    return {"empirical": {"gflops": {"data": gflops}, "gbytes": {"data": gbytes}} | more}


@pytest.fixture
def imported(tmp_path):
    def call(document) -> MachineModel:
        path = tmp_path / "roofline.json"
        path.write_text(json.dumps(document))
        return import_ert(path)

    return call


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_value_is_a_claim_and_the_model_can_be_saved(path, tmp_path):
    model = import_ert(path)
    assert model.ceilings
    for row in model.ceilings:
        assert not row.verified
        assert not row.impossible
        assert row.low == row.value == row.high
        assert "no interval" in row.note
    assert any("guess" in row.note for row in model.ceilings if row.kind == "bandwidth")
    assert "slowest plateau is called DRAM" in " ".join(model.notes)
    assert load(save(model, tmp_path / "machine.json"), MachineModel) == model


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_host_user_or_path_gets_through(path):
    text = encode(import_ert(path)).decode()
    assert path.stem == "several_precisions" or "node042" in path.read_text()
    for private in ("node042", "example.org", "192.0.2", "someone", "/home", str(FOLDER)):
        assert private not in text


def test_rates_are_in_units_of_1e9():
    assert rates(import_ert(PYTHON3)) == {
        "fp64.vector.fma": 232.4e9,
        "L1.update": 1860.4e9,
        "DRAM.update": 1106.7e9,
    }
    assert {row.unit for row in import_ert(PYTHON3).ceilings} == {"FLOP/s", "B/s"}


def test_the_generation_before_precisions_has_none():
    model = import_ert(OLD)
    assert list(rates(model)) == ["unknown.vector.fma", "L1.update", "L2.update", "L3.update", "DRAM.update"]
    peak = model.ceilings[0]
    assert peak.precision is None
    assert "no precision is named" in peak.note
    assert peak.conditions == {
        "flop_per_element": 16,
        "openmp_threads": 6,
        "mpi_processes": 4,
        "compiler_flags": "-O3 -xAVX",
    }
    assert model.provenance.versions["ERT"] == "0.8.0"
    assert (model.run, model.device.kind) == ("2014-05-13T1655-ert", "cpu")


def test_shared_metadata_and_a_gpu():
    model = import_ert(GPU)
    assert model.device.kind == "gpu"
    assert model.ceiling("fp32.vector.fma").conditions["gpu_blocks"] == 640
    assert model.ceiling("fp32.vector.fma").conditions["gpu_threads"] == 256
    assert model.ceiling("L1.update").conditions["gpu_threads"] == 1024
    assert model.ceiling("L1.update").conditions["compiler_flags"] == "-O3 -march=native"


def test_metadata_under_the_empty_key():
    model = import_ert(PYTHON3)
    assert model.device.architecture == "aarch64"
    assert model.ceiling("fp64.vector.fma").conditions == {
        "flop_per_element": 64,
        "openmp_threads": 2,
        "compiler_flags": "-O3 -march=native",
    }
    assert model.ceiling("L1.update").conditions["flop_per_element"] == 4
    assert model.provenance.versions["ERT"] == "1.1.0"
    assert "Measured 2021-04-21 (UTC)." in model.notes


def test_what_a_person_typed_in_is_a_limit_where_it_bounds_one_ceiling_and_else_a_note():
    model = import_ert(GPU)
    assert {limit.key: limit.per_second for limit in model.device.limits} == {
        "fp32.vector.fma": 14e12,
        "DRAM.update": 900e9,
    }
    notes = " ".join(model.notes)
    assert "fp32.vector.fma lies above the 14000 GFLOP/s" in notes
    assert "'L2' 2500 GB/s; it bounds no one ceiling" in notes
    assert "'GFLOPs' 7800 GFLOP/s; it bounds no one ceiling" in " ".join(import_ert(SEVERAL).notes)
    assert import_ert(SEVERAL).device.limits == ()


def test_several_precisions_keep_a_key_each_and_nothing_is_lost():
    model = import_ert(SEVERAL)
    assert rates(model) == {
        "fp64.vector.fma": 7068.9e9,
        "fp32.vector.fma": 14137.8e9,
        "fp16.vector.fma": 28275.6e9,
        "unknown.vector.fma": 345.2e9,
        "fp64.vector.fma.2": 7000e9,
        "L2.update": 2996.8e9,
        "STREAM-HBM.update": 828.8e9,
    }
    assert model.ceiling("STREAM-HBM.update").level == "STREAM-HBM"
    assert [row.what for row in model.skipped] == ["L1"]  # its 0 is no measurement


def test_the_precision_comes_from_the_configuration_where_the_name_has_none(imported):
    config = {"CONFIG": {"ERT_PRECISION": ["FP16"]}}
    assert imported(roofline([["GFLOPs", 5]], [], metadata=config)).ceilings[0].precision == "fp16"
    several = {"CONFIG": {"ERT_PRECISION": ["FP64,FP32"]}}
    assert imported(roofline([["GFLOPs", 5]], [], metadata=several)).ceilings[0].precision is None


def test_the_device_has_the_name_that_the_user_gives():
    assert import_ert(PYTHON3, "my machine").device.name == "my machine"


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ([], "Expected `object`, got `array`"),
        ({}, "missing required field `empirical`"),
        ({"schema": "ert_numba.machine", "version": 1}, "missing required field `empirical`"),
        ({"empirical": {"gbytes": {}}}, r"missing required field `gflops` - at `\$\.empirical`"),
        (roofline([["FP64 GFLOPs", "232"]], []), r"Expected `float`, got `str` - at `\$\.empirical\.gflops\.data\[0\]"),
        (roofline([["FP64 GFLOPs"]], []), r"at `\$\.empirical\.gflops\.data\[0\]"),
        (roofline([["FP64 GFLOPs", -1.0]], []), r"empirical\.gflops\.data\[0\] \('FP64 GFLOPs'\) is -1\.0"),
        (roofline([["FP64 GFLOPs", 1e60]], [["L1", 1e62]]), r"empirical\.gbytes\.data\[0\] \('L1'\) is 1e\+62"),
        (roofline([["FP64 GFLOPs", float("nan")]], []), "no whole JSON"),
        (roofline([], []), "holds no rate"),
        (roofline([["GFLOPs", 0]], [["DRAM", 0.0]]), "holds no rate"),
        (roofline([], [["L1", 1.0]] * 1001), "has 1001 rates"),
        (roofline([], [["L1", 1.0]]) | {"spec": {"gflops": {"data": [["x", -5]]}}}, r"spec\.gflops\.data\[0\]"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_the_field(imported, tmp_path, document, found):
    with pytest.raises(ErtError, match=found) as caught:
        imported(document)
    assert str(tmp_path / "roofline.json") in caught.value.found
    assert caught.value.remedy


@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG", b'{"empirical": {', b'{"empirical": {"metadata": {"a":' + b"[" * 100_000]
)
def test_junk_is_an_error(tmp_path, data):
    path = tmp_path / "roofline.json"
    path.write_bytes(data)
    with pytest.raises(ErtError):
        import_ert(path)
    for other in (tmp_path, tmp_path / "absent"):
        with pytest.raises(ErtError):
            import_ert(other)


def test_names_that_would_move_the_cursor_or_fill_the_screen(imported):
    model = imported(roofline([["\x1b[2J GFLOPs", 1.0]], [["L1\n\x07" + "x" * 10_000, 2.0], ["", 3.0], ["\x1b", 0.0]]))
    text = encode(model).decode()
    assert "\\u001b" not in text
    assert len(text) < 6000
    assert model.ceilings[2].level == "unnamed"


def test_a_configuration_that_never_ends_costs_no_more_than_its_length(imported):
    endless = "CONFIG  {" + "'ERT_A': [" * 200_000  # quadratic, this would take minutes
    model = imported(roofline([["GFLOPs", 1.0]], [], metadata={"": [endless]}))
    assert model.ceilings[0].conditions == {}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=12,
)
known_keys = st.sampled_from(
    ["", "CONFIG", "UNAME", "FLOPS", "TIMESTAMP_DB", "ERT_VERSION", "GPU_BLOCKS", "ERT_CFLAGS"]
)
metadata = st.dictionaries(known_keys | st.text(max_size=5), json_values, max_size=5)
entries = st.lists(st.tuples(st.text(max_size=8), st.floats(0, 1e6)), max_size=4)


@settings(max_examples=100)
@given(gflops=entries, gbytes=entries, shared=metadata, own=metadata, spec=entries)
def test_any_metadata_gives_a_valid_model_or_an_error(*, gflops, gbytes, shared, own, spec, tmp_path_factory):
    document = {
        "empirical": {
            "metadata": shared,
            "gflops": {"data": gflops, "metadata": own},
            "gbytes": {"data": gbytes, "metadata": own},
        },
        "spec": {"gflops": {"data": spec}, "gbytes": {"data": spec}},
    }
    path = tmp_path_factory.mktemp("ert") / "roofline.json"
    path.write_text(json.dumps(document))
    try:
        model = import_ert(path)
    except ErtError:
        return
    encode(model)
    measured = sum(value > 0 for _, value in [*gflops, *gbytes])
    assert len(model.ceilings) == measured


@settings(max_examples=200)
@given(place=st.floats(0, 1, exclude_max=True), replacement=st.binary(max_size=3), path=st.sampled_from(FILES))
def test_any_changed_bytes_give_a_model_or_an_error(place, replacement, path, tmp_path_factory):
    data = path.read_bytes()
    at = int(place * len(data))
    copy = tmp_path_factory.mktemp("ert") / "roofline.json"
    copy.write_bytes(data[:at] + replacement + data[at + 1 :])
    try:
        model = import_ert(copy)
    except ErtError:
        return
    encode(model)
