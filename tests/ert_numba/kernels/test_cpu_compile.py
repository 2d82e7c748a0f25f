"""Counting instructions in listings of both families, and the rules of the count."""

from __future__ import annotations

import pytest

from ert_numba.catalog.vector_isas import BY_KEY, VECTOR_ISAS
from ert_numba.kernels.cpu_compile import check_absent, check_count, check_counts, count
from ert_numba.kernels.spec import CompiledCodeMismatch

LINES = {
    "avx512": {
        "fma_pattern": ["vfmadd231pd\t%zmm1, %zmm2, %zmm3", "vfmadd213ph\t(%rax), %zmm2, %zmm3"],
        "load_pattern": [
            "vmovupd\t64(%rax,%rcx,8), %zmm1",
            "vaddpd\t-64(%rbp), %zmm0, %zmm1",
            "vmovaps\t(%rax), %zmm9",
        ],
        "store_pattern": ["vmovapd\t%zmm1, (%rdi)", "vmovups\t%zmm31, 128(%rdi,%rax)"],
        "nontemporal_pattern": ["vmovntpd\t%zmm1, (%rdi)", "vmovntps\t%zmm17, 64(%rdi)"],
        "spill_pattern": ["vmovaps\t%zmm1, 64(%rsp)", "vmovaps\t(%rsp), %zmm1", "vfmadd231pd\t128(%rsp), %zmm1, %zmm2"],
    },
    "avx2": {
        "fma_pattern": ["vfmadd132ps\t%ymm1, %ymm2, %ymm3"],
        "load_pattern": ["vmovapd\t(%rax), %ymm1", "vmulpd\t32(%rax), %ymm2, %ymm1"],
        "store_pattern": ["vmovapd\t%ymm1, (%rdi)"],
        "nontemporal_pattern": ["vmovntps\t%ymm1, (%rdi)"],
        "spill_pattern": ["vmovups\t%ymm1, -64(%rsp)"],
    },
    "sse2": {
        "multiply_pattern": ["mulpd\t%xmm1, %xmm2", "vmulps\t%xmm1, %xmm2, %xmm3"],
        "load_pattern": ["movapd\t(%rax), %xmm1", "addpd\t16(%rax), %xmm1", "vmovups\t(%rax), %xmm1"],
        "store_pattern": ["movapd\t%xmm1, (%rdi)", "movups\t%xmm1, 16(%rdi)"],
        "nontemporal_pattern": ["movntps\t%xmm1, (%rdi)"],
        "spill_pattern": ["movaps\t%xmm1, 16(%rsp)"],
    },
    "neon": {
        "fma_pattern": ["fmla\tv1.2d, v2.2d, v3.2d", "fmla\tv1.8h, v2.8h, v3.8h"],
        "load_pattern": ["ldr\tq1, [x0]", "ldur\tq1, [x0, #-16]"],
        "store_pattern": ["str\tq1, [x0, #16]", "stur\tq1, [x0, #-16]"],
        "nontemporal_pattern": ["stnp\td0, d1, [x11, #-16]"],
        "spill_pattern": ["str\tq1, [sp, #16]", "ldr\tq2, [sp]"],
    },
}
FOREIGN = [
    "vmovupd\t64(%rax), %xmm1",
    "vmovsd\t(%rax), %xmm1",
    "movsd\t(%rax), %xmm1",
    "movss\t%xmm1, (%rax)",
    "addsd\t(%rax), %xmm1",
    "movq\t(%rax), %xmm0",
    "movlps\t%xmm1, (%rax)",
    "movhpd\t(%rax), %xmm1",
    "vmovapd\t.LCPI0_0(%rip), %zmm1",
    "vbroadcastsd\t(%rax), %zmm1",
    "vfmadd231sd\t%xmm1, %xmm2, %xmm3",
    "fmadd\td1, d2, d3, d4",
    "ldr\td1, [x0]",
    "str\tx19, [sp, #-16]!",
    "movq\t%rax, (%rdi)",
]


@pytest.mark.parametrize("isa", VECTOR_ISAS, ids=lambda row: row.key)
def test_each_pattern_finds_its_instructions_and_no_others(isa):
    names = [name for name in isa.__struct_fields__ if name.endswith("_pattern") and name != "register_pattern"]
    for name, lines in LINES[isa.key].items():
        for line in lines:
            assert count(getattr(isa, name), "\t" + line) == 1, line
            if name not in ("load_pattern", "multiply_pattern", "fma_pattern"):
                others = [other for other in names if other != name]
                assert all(count(getattr(isa, other), "\t" + line) in (0, other == "fma_pattern") for other in others)
    for line in FOREIGN:
        if isa.key == "sse2" and "vmovupd" in line:
            continue  # a full register there
        for name in names:
            assert count(getattr(isa, name), "\t" + line) == 0, (line, name)


@pytest.mark.parametrize("isa", VECTOR_ISAS, ids=lambda row: row.key)
def test_a_narrower_register_is_none_of_full_width(isa):
    wider = {"avx512": "%zmm", "avx2": "%ymm", "sse2": "%xmm"}
    for other in ("avx512", "avx2"):
        if isa.key != other and isa.key in wider:
            for name, lines in LINES[other].items():
                assert all(count(getattr(isa, name), "\t" + line) == 0 for line in lines)


def test_a_pair_of_whole_vectors_is_two_and_a_pair_of_halves_one():
    neon = BY_KEY["neon"]
    assert count(neon.load_pattern, "\tldp\tq16, q17, [x12, #32]") == 2
    assert count(neon.store_pattern, "\tstp\tq16, q17, [x12]") == 2
    assert count(neon.nontemporal_pattern, "\tstnp\tq0, q1, [x11]") == 2
    assert count(neon.nontemporal_pattern, "\tstnp\td0, d1, [x11]") == 1
    assert count(neon.spill_pattern, "\tstp\td9, d8, [sp, #16]") == 0


def test_comments_are_no_instructions():
    assert count(r"\bmulpd\b", "\tmovq\t%rax, %rbx\t# mulpd %xmm1, %xmm2") == 0


LISTING = "\n".join(["\tld"] * 6 + ["\tst"] * 3)


def test_a_whole_multiple_is_right_and_anything_else_is_not():
    assert check_count("load", r"\bld\b", LISTING, 6) == "6 load = 1 x 6"
    assert check_count("load", r"\bld\b", LISTING, 2) == "6 load = 3 x 2"
    assert check_count("load", r"\bld\b", LISTING, 5, beside=1) == "5 load = 1 x 5"
    for declared in (4, 5, 7, 12):
        with pytest.raises(CompiledCodeMismatch, match="6 load instructions"):
            check_count("load", r"\bld\b", LISTING, declared)


def test_several_kinds_keep_their_proportion():
    assert check_counts(LISTING, ("load", r"\bld\b", 2), ("store", r"\bst\b", 1)) == "6 load = 3 x 2, 3 store = 3 x 1"
    with pytest.raises(CompiledCodeMismatch, match="proportion"):
        check_counts(LISTING, ("load", r"\bld\b", 3), ("store", r"\bst\b", 3))


def test_what_must_be_absent():
    check_absent("spill", "rsp", LISTING)
    with pytest.raises(CompiledCodeMismatch, match="3 store"):
        check_absent("store", r"\bst\b", LISTING)
