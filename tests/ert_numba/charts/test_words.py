import example_models
import msgspec
import pytest

from ert_numba.charts.words import ceiling_words, clock, interval


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("fp16.tensor.wgmma.sparse", "FP16 tensor, wgmma, 2:4 sparse"),
        ("fp64.vector.add", "FP64 no FMA"),
        ("SHARED.read", "Shared memory read"),
        ("L2.read.shared", "L2 read, shared"),
        ("DRAM.latency", "Device memory latency"),
        ("launch", "launch"),
    ],
)
def test_ceilings_in_words(key, words):
    assert ceiling_words(example_models.h200_model().ceiling(key), "gpu") == words


def test_the_scope_is_said_where_it_is_not_the_whole_machine():
    assert ceiling_words(example_models.cpu_model().ceiling("fp32.vector.fma@core"), "cpu") == "FP32 FMA, one core"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (944e9, 952e9, "944 to 952 GOP/s"),
        (998e9, 1.02e12, "998 GOP/s to 1.02 TOP/s"),
        (117.02e9, 117.04e9, "117.02 to 117.04 GOP/s"),
        (5e9, 5e9, "none stated"),
    ],
)
def test_intervals_show_that_their_ends_differ(low, high, text):
    assert interval(low, high, "OP/s") == text


def test_clocks():
    row = example_models.cpu_model().ceiling("L1.read")
    assert clock(row) == "3.66 to 3.70 GHz"
    assert clock(msgspec.structs.replace(row, clock_hz=(3.701e9, 3.699e9))) == "3.70 GHz"
    assert clock(msgspec.structs.replace(row, clock_hz=None)) is None
