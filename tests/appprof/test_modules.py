"""Modules out of NVTX ranges: which names are taken for one, and which are not."""

import pytest
from example_profiles import application, cell, flop, model_of, traffic
from typer.testing import CliRunner

from appprof import api
from appprof.analysis import analyse
from appprof.charts.page import profile_page
from appprof.cli import app
from appprof.diff import diff
from appprof.modules import OUTSIDE, kind_of, module_of
from appprof.result import make_result
from ert_numba.errors import ErtError

FMA = (flop("fp32.vector", 1e9, fused=1e9),)


@pytest.mark.parametrize(
    ("ranges", "path"),
    [
        (("forward", "model.layers.0", "model.layers.0.mlp"), "model.layers.0.mlp"),
        (("model.layers.0.mlp", "aten::linear, op_id = 12"), "model.layers.0.mlp"),  # emit_nvtx inside a hook's range
        (("{'Module': 'layers.3.self_attn', 'TrainableParams': {'weight': [4, 4]}}",), "layers.3.self_attn"),
        (('{"Module": "lm_head"}',), "lm_head"),
        (("layer:encoder conv1",), "encoder conv1"),
        (("layer4.1.conv2",), "layer4.1.conv2"),
        (("{'Module': ''}", "backward"), None),
        (("forward",), None),
        (("AddmmBackward0, seq = 7",), None),
        (("torch.float16",), None),
        (("train.py",), None),
        (("1.5",), None),
        (("step 3.2 of 10",), None),
        ((), None),
    ],
)
def test_what_names_a_module(ranges, path):
    assert module_of(ranges) == path


def test_a_pattern_of_the_users_own_takes_the_place_of_the_rules():
    assert module_of(("block[3]", "model.mlp"), r"^block\[(\d+)\]") == "3"
    assert module_of(("Block3",), "Block.") == "Block3"
    assert module_of(("model.mlp",), "Block.") is None
    assert module_of(("Block",), "Block(x)?") is None  # a group that matched nothing names nothing
    with pytest.raises(ErtError, match="no regular expression"):
        analyse(application(cell()), module_pattern="(")


def test_indices_open():
    assert kind_of("model.layers.11.mlp.0") == "model.layers.*.mlp.*"
    assert kind_of("layer4.conv2") == "layer4.conv2"


def network():
    """Two layers of two modules, a kernel of each, and one outside."""
    cells = [
        cell(f"k{layer}{part}", seconds=(1 + layer) * 1e-3, flop=FMA, traffic=traffic(DRAM=1e6),
             ranges=("forward", f"m.layers.{layer}", f"m.layers.{layer}.{part}"))
        for layer in (0, 1) for part in ("attn", "mlp")
    ]  # fmt: skip
    return application(*cells, cell("adam", seconds=0.5e-3, ranges=("optimizer",), traffic=traffic(DRAM=1e6)))


def test_sums_by_module_and_by_kind_of_module():
    groups = make_result(analyse(network())).groups
    modules = {row.name: row.seconds for row in groups["module"]}
    assert modules == {"m.layers.1.attn": 2e-3, "m.layers.1.mlp": 2e-3, "m.layers.0.attn": 1e-3, "m.layers.0.mlp": 1e-3,
                       OUTSIDE: 0.5e-3}  # fmt: skip
    kinds = {row.name: row for row in groups["module-kind"]}
    assert {name: row.seconds for name, row in kinds.items()} == {
        "m.layers.*.attn": 3e-3, "m.layers.*.mlp": 3e-3, OUTSIDE: 0.5e-3
    }  # fmt: skip
    assert kinds["m.layers.*.mlp"].flop == 2e9
    assert kinds["m.layers.*.mlp"].intensity["DRAM"] == 1000
    assert "By module" in profile_page(analyse(network()))


def test_without_modules_there_is_no_table_of_them():
    groups = make_result(analyse(model_of("h200/gemm_raw.csv"))).groups
    assert "range" in groups
    assert "module" not in groups
    assert "module-kind" not in groups


def test_the_command_and_the_api_take_a_pattern(tmp_path):
    path = api.save(network(), tmp_path / "application.json")
    found = CliRunner().invoke(app, ["roofline", str(path), "--by", "module", "--module-pattern", r"layers\.(\d)",
                                     "--format", "csv", "-o", str(tmp_path / "x.csv")])  # fmt: skip
    assert found.exit_code == 0
    assert "By module" in found.stdout
    assert api.analyse(path, module_pattern=r"layers\.(\d)").groups["module"][0].name == "1"


def test_two_profiles_are_compared_by_module():
    one = analyse(network())
    changes = {row.name: row.time_change for row in diff(one, one).groups["module"]}
    assert changes["m.layers.1.mlp"] == 0


def test_a_way_to_group_that_tells_nothing_apart_says_so(tmp_path, h200):
    words = ["roofline", str(h200 / "micro.ncu-rep"), "--by", "module,range", "--format", "csv", "-o"]
    found = CliRunner().invoke(app, [*words, str(tmp_path / "x.csv")])
    assert found.exit_code == 0
    assert "By module: it tells no launches apart; the README has the hooks" in found.stderr
    assert "By range: it tells no launches apart; a report has NVTX ranges" in found.stderr
    assert "By module" not in found.stdout
