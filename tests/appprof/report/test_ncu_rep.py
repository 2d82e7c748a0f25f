"""The reader of ``.ncu-rep``: against NVIDIA's own library where installed, and on every kind of broken file."""

from __future__ import annotations

import contextlib
import gzip
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_up_reports import block, field, framed, metric, report, varint

from appprof.report.devices import PREFIX
from appprof.report.ncu_rep import read_ncu_rep
from appprof.report.profile import DEFAULT_DOMAIN, KernelProfile
from ert_numba.errors import ErtError

REPORTS = [
    "micro.ncu-rep", "micro_roofline_set.ncu-rep", "options/kernel.ncu-rep.gz", "options/sections.ncu-rep.gz",
    "options/range.ncu-rep.gz", "options/graph.ncu-rep.gz", "options/two.ncu-rep.gz",
]  # fmt: skip
WORKLOADS = {0: "kernel", 1: "range", 2: "cmdlist", 3: "graph"}  # as the library numbers them
UNITS = {"ns": ("s", 1e9), "byte": ("B", 1), "hz": ("Hz", 1), "byte/s": ("B/s", 1), "byte/cycle": ("B/cycle", 1)}


@pytest.fixture
def written(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(data: bytes) -> Path:
        path = tmp_path / "made.ncu-rep"
        path.write_bytes(data)
        return path

    return write


@pytest.fixture(params=REPORTS)
def both(request: pytest.FixtureRequest, h200: Path, tmp_path: Path) -> list[tuple[KernelProfile, Any]]:
    """Results as our reader has them, each beside that of NVIDIA's library."""
    ncu_report = pytest.importorskip("ncu_report")
    path = h200 / request.param
    if path.suffix == ".gz":
        unpacked = tmp_path / path.stem
        unpacked.write_bytes(gzip.decompress(path.read_bytes()))
        path = unpacked
    actions = [action for one in ncu_report.load_report(str(path)) for action in one]
    return list(zip(read_ncu_rep(path).kernels, actions, strict=True))


def test_every_metric_equals_that_of_nvidias_library(both: list[tuple[KernelProfile, Any]]) -> None:
    compared = 0
    for kernel, action in both:
        if kernel.kind == "kernel":
            assert kernel.mangled == action.name(action.NameBase_MANGLED)
            assert kernel.kernel == (action.name(action.NameBase_DEMANGLED) or kernel.mangled)
        assert WORKLOADS[action.workload_type()] == kernel.kind
        for metric_name in action.metric_names():
            theirs = action.metric_by_name(metric_name)
            unit, divisor = UNITS.get(theirs.unit(), (theirs.unit(), 1))
            value = theirs.value()
            if metric_name.startswith(PREFIX):
                assert kernel.device.attributes[metric_name] == value, metric_name
            elif isinstance(value, str):
                assert kernel.texts[metric_name] == value, metric_name
            elif metric_name in kernel.values:
                assert kernel.values[metric_name] == value / divisor, metric_name
                # The library calls derived rates plain bytes.
                assert kernel.units[metric_name] in (unit, "") or metric_name.startswith("derived"), metric_name
            else:
                assert kernel.instances[metric_name], metric_name
            if metric_name in kernel.instances:
                parts = [_value(theirs, at) for at in range(theirs.num_instances())]
                assert list(kernel.instances[metric_name]) == parts, metric_name
            compared += 1
    assert compared == sum(len(list(action.metric_names())) for _, action in both) > 400


def _value(metric: Any, at: int) -> float | str:
    return metric.as_string(at) if metric.kind() == metric.ValueKind_STRING else metric.value(at)


def test_ranges_and_rules_equal_those_of_nvidias_library(both: list[tuple[KernelProfile, Any]]) -> None:
    for kernel, action in both:
        theirs, state = [], action.nvtx_state()
        for number in state.domains() if state is not None else ():
            domain = state.domain_by_id(number)
            name = "" if domain.name() == DEFAULT_DOMAIN else domain.name()
            theirs += [(name, "start_end", one) for one in domain.start_end_ranges()]
            theirs += [(name, "push_pop", one) for one in domain.push_pop_ranges()]
        assert sorted((row.domain, row.kind, row.name) for row in kernel.nvtx) == sorted(theirs)
        rules = [row for row in action.rule_results_as_dicts() if row["rule_message"]["message"]]
        assert len(kernel.advice) == len(rules)
        for said, row in zip(kernel.advice, rules, strict=True):
            assert said.startswith(row["rule_identifier"])
            assert row["rule_message"]["message"].split("@")[0] in said


def test_what_the_report_says_of_the_run(h200: Path) -> None:
    found = read_ncu_rep(h200 / "micro.ncu-rep")
    source, kernel = found.sources[0], found.kernels[0]
    assert (source.tool_version, source.created) == ("2025.3.1.0", "2026-11-29T14:06:18Z")
    assert (source.clock_control, source.cache_control, source.replay_mode) == ("none", "all", "kernel")
    assert kernel.clock_locked is False
    assert kernel.process_id == 444
    assert (kernel.grid, kernel.block, kernel.context, kernel.stream) == ((1056, 1, 1), (256, 1, 1), 1, 7)
    device = kernel.device
    assert (device.name, device.compute_capability, device.sm_count) == ("NVIDIA H200", (9, 0), 132)
    assert (device.maximum_sm_clock_hz, device.maximum_memory_clock_hz) == (1.98e9, 3.201e9)
    assert (device.memory_bus_bits, device.l2_bytes, device.memory_bytes) == (6016, 62914560, 150109880320)
    assert all(other.device is device for other in found.kernels)


def test_a_file_cut_anywhere_gives_what_is_whole(h200: Path, written: Callable[[bytes], Path]) -> None:
    data = (h200 / "micro.ncu-rep").read_bytes()
    whole = read_ncu_rep(h200 / "micro.ncu-rep").kernels
    seen = set()
    for cut in range(0, len(data), 1009):
        try:
            found = read_ncu_rep(written(data[:cut]))
        except ErtError:
            seen.add(0)
            continue
        assert found.lost, cut
        assert [kernel.values for kernel in found.kernels] == [kernel.values for kernel in whole[: len(found.kernels)]]
        seen.add(len(found.kernels))
    assert seen >= {0, 1, 2, 3, 4}


def test_a_truncated_file_says_after_which_result(h200: Path, written: Callable[[bytes], Path]) -> None:
    data = (h200 / "micro.ncu-rep").read_bytes()
    found = read_ncu_rep(written(data[: len(data) * 3 // 4]))
    assert any(line.startswith(f"truncated after result {len(found.kernels)} of ") for line in found.lost)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_flipped_bytes_cost_results_and_never_crash(h200: Path, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray((h200 / "micro.ncu-rep").read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "flipped.ncu-rep"
    path.write_bytes(content)
    try:
        found = read_ncu_rep(path)
    except ErtError:
        return
    assert len(found.kernels) <= 5


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400))
def test_any_bytes_behind_the_signature_are_read_or_refused(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / "junk.ncu-rep"
    for start in (b"NVR\0", b"NVR\0" + framed(b""), report()):
        path.write_bytes(start + junk)
        with contextlib.suppress(ErtError):
            read_ncu_rep(path)


def test_ranges_graphs_and_command_lists_keep_their_kind(written: Callable[[bytes], Path]) -> None:
    one = field(5, 7)
    nvtx = field(
        10,
        field(1, field(1, 1) + field(2, "phase"))
        + field(2, field(1, 9) + field(2, field(1, 1) + field(3, field(1, "forward")) + field(3, field(1, "layer")))),
    )
    results = {
        2: [field(7, "k") + field(13, metric(0, one))],
        7: [field(4, metric(0, one)) + nvtx],
        8: [field(4, metric(0, one)) + field(18, "list")],
        9: [field(4, metric(0, one)) + field(11, 3) + field(12, 13)],
    }
    kernels = read_ncu_rep(written(report(block(["dram__bytes.sum"], results, sources=3)))).kernels
    assert [(kernel.kind, kernel.kernel) for kernel in kernels] == [
        ("kernel", "k"), ("range", "range layer"), ("cmdlist", "list"), ("graph", "graph"),
    ]  # fmt: skip
    assert [(row.name, row.domain, row.thread) for row in kernels[1].nvtx] == [
        ("forward", "phase", 9), ("layer", "phase", 9),
    ]  # fmt: skip
    assert (kernels[3].context, kernels[3].stream) == (3, 13)
    assert all(kernel.values == {"dram__bytes.sum": 7.0} for kernel in kernels)


def test_ranges_of_the_launching_thread_alone_where_it_has_any(written: Callable[[bytes], Path]) -> None:
    def thread(number: int, name: str) -> bytes:
        return field(2, field(1, number) + field(2, field(3, field(1, name))))

    state = field(21, thread(5, "forward") + thread(6, "backward"))
    results = [field(1, number) + field(7, "k") + field(13, metric(0, field(5, 1))) + state for number in (6, 8)]
    first, second = read_ncu_rep(written(report(block(["x.sum"], {2: results})))).kernels
    assert [row.name for row in first.nvtx] == ["backward"]
    assert [row.name for row in second.nvtx] == ["forward", "backward"]


def test_names_of_later_blocks_follow_those_of_earlier_ones(written: Callable[[bytes], Path]) -> None:
    first = block(["a.sum"], {2: [field(7, "k") + field(13, metric(0, field(5, 1)))]})
    second = block(["b.sum"], {2: [field(7, "k") + field(13, metric(1, field(4, 2)))]})
    kernels = read_ncu_rep(written(report(first, second))).kernels
    assert [kernel.values for kernel in kernels] == [{"a.sum": 1.0}, {"b.sum": 2.0}]
    assert [kernel.occurrence for kernel in kernels] == [0, 1]


def test_all_types_of_values_and_lists_without_one(written: Callable[[bytes], Path]) -> None:
    values = [
        metric(0, field(1, "word")),
        metric(1, varint(2 << 3 | 5) + struct.pack("<f", 0.5)),
        metric(2, field(3, 0.25)),
        metric(3, field(3, float("nan"))),
        metric(4, b"", field(5, 3), field(5, 4)),
        metric(5, b""),
        metric(6, field(5, 285_600)),
    ]
    names = ["text", "float", "double", "nan", "list", "nothing", "gpu__time_duration.sum"]
    result = field(7, "k") + b"".join(field(13, value) for value in values)
    (kernel,) = read_ncu_rep(written(report(block(names, {2: [result]})))).kernels
    assert kernel.values == {"float": 0.5, "double": 0.25, "gpu__time_duration.sum": 285_600e-9}
    assert kernel.texts == {"text": "word"}
    assert kernel.instances == {"list": (3.0, 4.0)}
    assert kernel.missing.keys() == {"nan", "nothing"}


def test_a_damaged_result_costs_itself_alone(written: Callable[[bytes], Path]) -> None:
    good = field(7, "k") + field(13, metric(0, field(5, 1)))
    nameless = field(7, "k") + field(13, metric(99, field(5, 1)))
    overlong = field(7, "k") + varint(13 << 3 | 2) + varint(1 << 40)
    endless = field(7, "k") + b"\xff" * 11
    found = read_ncu_rep(written(report(block(["a.sum"], {2: [good, nameless, overlong, endless, good]}))))
    assert [kernel.id for kernel in found.kernels] == [0, 4]
    assert len(found.lost) == 3
    assert "result 2 of 5 is damaged" in found.lost[0]


def test_a_result_without_metrics_is_told(written: Callable[[bytes], Path]) -> None:
    found = read_ncu_rep(written(report(block(["a.sum"], {2: [field(7, "k")]}))))
    assert "holds no metric" in found.lost[0]


@pytest.mark.parametrize(
    "data",
    [
        b"NVR\0",
        b"NVR\0\xff\xff\xff\xff",
        report(framed(field(2, (1 << 64) - 1) + field(5, 0))),
        report(framed(field(5, (1 << 64) - 1))),
        report(framed(b"") * 100_000),
        report(framed(field(9, b"x"))),
        report(framed(b"\xff" * 50)),
        report(framed(field(2, 1_000_000) + field(5, 4_000_000)) + b"\0" * 10_000),
    ],
)
def test_hostile_frames_are_refused(written: Callable[[bytes], Path], data: bytes) -> None:
    with pytest.raises(ErtError):
        read_ncu_rep(written(data))


@pytest.mark.parametrize("behind", [bytes(4000), b"\x05\0\0\0\xff\xff\xff\xff\xff", framed(field(3, 7))])
def test_damage_behind_results_costs_what_lies_behind_it(written: Callable[[bytes], Path], behind: bytes) -> None:
    good = block(["a.sum"], {2: [field(7, "k") + field(13, metric(0, field(5, 1)))]})
    found = read_ncu_rep(written(report(good, good) + behind))
    assert len(found.kernels) == 2
    assert found.lost[0].startswith("damaged behind result 2: ")


def test_zeros_without_end_are_no_blocks(written: Callable[[bytes], Path]) -> None:
    with pytest.raises(ErtError, match="without a header"):
        read_ncu_rep(written(report() + bytes(1 << 20)))


@pytest.mark.parametrize("value", [float("inf"), 1e300, -1.0, 1e-300])
def test_what_no_counter_can_show_is_missing(written: Callable[[bytes], Path], value: float) -> None:
    result = field(7, "k") + field(13, metric(0, field(3, value))) + field(13, metric(1, field(5, 7)))
    (kernel,) = read_ncu_rep(written(report(block(["dram__bytes.sum", "b.sum"], {2: [result]})))).kernels
    assert kernel.values == {"b.sum": 7.0}
    assert kernel.missing.keys() == {"dram__bytes.sum"}


@pytest.mark.parametrize("count", [float("nan"), float("inf"), 132.0])
def test_device_attributes_that_are_no_numbers_are_left_out(written: Callable[[bytes], Path], count: float) -> None:
    attribute = field(3, field(1, PREFIX + "multiprocessor_count") + field(2, field(3, count)))
    session = field(6, field(1, 0) + field(2, "NVIDIA H200") + attribute)
    result = field(7, "k") + field(13, metric(0, field(5, 1)))
    (kernel,) = read_ncu_rep(written(report(block(["a.sum"], {2: [result]}, session)))).kernels
    assert kernel.device.name == "NVIDIA H200"
    assert kernel.device.sm_count == (132 if count == 132.0 else None)


def test_started_ranges_scopes_and_registered_names(written: Callable[[bytes], Path]) -> None:
    domain = field(1, field(1, 3) + field(2, "phase") + field(3, field(1, 9) + field(2, "of a table")))
    registered = field(2, field(5, field(1, 3) + field(3, 9)))
    pushed = field(2, field(1, 5) + field(2, field(1, 3) + field(3, field(1, "") + registered)))
    other = field(2, field(1, 6) + field(2, field(3, field(1, "elsewhere"))))
    started = field(3, field(1, 3) + field(3, field(1, 1) + field(2, "epoch") + field(5, 6)))
    states = {scope: field(21, domain + pushed + other + started + field(5, scope)) for scope in (0, 1)}
    results = [field(1, 5) + field(7, "k") + field(13, metric(0, field(5, 1))) + states[scope] for scope in (0, 1)]
    thread, process = read_ncu_rep(written(report(block(["x.sum"], {2: results})))).kernels
    assert [(row.name, row.domain, row.kind) for row in thread.nvtx] == [
        ("epoch", "phase", "start_end"), ("of a table", "phase", "push_pop"),
    ]  # fmt: skip
    assert [row.name for row in process.nvtx] == ["epoch", "of a table", "elsewhere"]


def test_text_that_is_no_utf8_is_kept_as_escapes(written: Callable[[bytes], Path]) -> None:
    result = field(7, b"k\xff<int>") + field(13, metric(0, field(5, 1)))
    (kernel,) = read_ncu_rep(written(report(block(["a.sum"], {2: [result]})))).kernels
    assert kernel.kernel == "k\\xff<int>"


@pytest.mark.parametrize(
    ("command", "version", "clocks"),
    [
        ("ncu --clock-control=none app", "2025.3.1.0 (build 1)", "none"),
        ("ncu --set full app 'unclosed", "2025.3.1.0 (build 1)", "base"),
        ("ncu app", "2026.1.0.0 (build 1)", "boost"),
        ("ncu app", "", None),
        ("ncu app", "9" * 5000 + ".1.0", None),
        ("ncu app", "²⁰²⁵.1.0", None),
        ("", "2025.3.1.0", None),
    ],
)
def test_clock_control_by_option_or_by_the_versions_default(
    written: Callable[[bytes], Path], command: str, version: str, clocks: str | None
) -> None:
    session = field(8, field(1, "Nsight Compute Target") + field(2, version)) + field(11, command)
    result = field(7, "k") + field(13, metric(0, field(5, 1)))
    found = read_ncu_rep(written(report(block(["a.sum"], {2: [result]}, session))))
    assert found.sources[0].clock_control == clocks
