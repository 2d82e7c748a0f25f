"""Names short enough to read, distinct where kernels are, and harmless whatever they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appprof.words import LONGEST_NAME, one_line, path_words, resource_words, short_name, unique_short_names


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("k(int, float)", "k"),
        ("void k<int, float>(T1 *)", "k<int, float>"),
        ("unnamed>::k(float *)", "k"),
        ("void (anonymous namespace)::foo<int>()", "foo<int>"),
        ("_3cdynamic_3e::k[abi:v2,cw51cXTLSUwv1sDUaKth](Array<float, (int)1, A, mutable>)", "k[v2]"),
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"),
        ("void at::native::vectorized_elementwise_kernel<4>(int, float)", "vectorized_elementwise_kernel<4>"),
        ("operator<<(int)", "operator<<"),
        ("void app::<unnamed>::axpy<float, (int)8, (bool)1>(T1 *, unsigned long)", "axpy<float, 8, 1>"),
        ('range reg: "x", y', 'range reg: "x", y'),
        ("graph graph launch", "graph graph launch"),
        ("", "(no name)"),
        (" \n\t", "(no name)"),
    ],
)
def test_short_names(name, short):
    assert short_name(name) == short


@given(st.text(max_size=3000))
def test_any_text_becomes_one_short_line(name):
    short = short_name(name)
    assert 0 < len(short) <= LONGEST_NAME
    assert short.splitlines() == [short]
    assert not any(letter in short for letter in "\x00\x1b\u202e\u2028\u2066")
    assert one_line(one_line(name)) == one_line(name)


@given(st.lists(st.sampled_from(["void k<int>(int)", "k<int>", "k<int>(float)", "j", "a::j", "x" * 99, "x" * 98])))
def test_short_names_tell_kernels_apart(names):
    kinds = list(dict.fromkeys(names))
    found = unique_short_names(kinds)
    assert list(found) == kinds
    assert len(set(found.values())) == len(kinds)


def test_paths_and_resources_in_words():
    assert path_words("fp16.tensor.wgmma") == "FP16 tensor (wgmma)"
    assert path_words("fp8.tensor.wgmma.sparse") == "FP8 tensor (wgmma), 2:4 sparse"
    assert path_words("fp32.vector") == "FP32"
    assert resource_words("DRAM") == "the bandwidth of device memory"
    assert resource_words("tensor") == "the tensor cores"
