"""The checks of compiled code: what they accept and what they must refuse."""

from __future__ import annotations

import pytest

from ert_numba.kernels.cuda_code import Declared, check_ptx, check_sass, loop_bodies
from ert_numba.kernels.spec import CompiledCodeMismatch

FMA = Declared(ptx=r"fma\.rn\.f32", count=4, sass="FFMA")


def sass(body: list[str], before: list[str] | None = None) -> str:
    """A kernel with one loop, as nvdisasm prints it."""
    lines = [*(before or []), ".L_x_0:", *body, "@P0 BRA `(.L_x_0) ;", "EXIT ;", ".L_x_1:", "BRA `(.L_x_1);"]
    return "\n".join(
        line if line.startswith(".L") else f"        /*{16 * i:04x}*/   {line}" for i, line in enumerate(lines)
    )


def test_a_loop_body_is_what_lies_between_label_and_branch() -> None:
    (body,) = loop_bodies(sass(["FFMA R0, R0, R1, R0 ;"] * 3 + ["IADD3 R2, R2, -0x1, RZ ;"], ["MOV R1, R2 ;"]))
    assert body == {"FFMA": 3, "IADD3": 1, "BRA": 1}


def test_a_predicate_is_not_the_opcode() -> None:
    (body,) = loop_bodies(sass(["@!P1 FFMA R0, R0, R1, R0 ;"]))
    assert body["FFMA"] == 1


def test_whole_multiples_are_unrolling() -> None:
    assert "2 x 4 declared" in check_sass(sass(["FFMA R0, R0, R1, R0 ;"] * 8), FMA)


@pytest.mark.parametrize("count", [1, 3, 5, 9])
def test_other_counts_are_refused(count: int) -> None:
    with pytest.raises(CompiledCodeMismatch, match="not a multiple"):
        check_sass(sass(["FFMA R0, R0, R1, R0 ;"] * count), FMA)


def test_a_loop_without_the_instruction_is_refused() -> None:
    with pytest.raises(CompiledCodeMismatch, match="no loop"):
        check_sass(sass(["FADD R0, R0, R1 ;"] * 4), FMA)


def test_instructions_outside_a_loop_do_not_count() -> None:
    with pytest.raises(CompiledCodeMismatch, match="no loop"):
        check_sass(sass(["IADD3 R2, R2, -0x1, RZ ;"], ["FFMA R0, R0, R1, R0 ;"] * 4), FMA)


def test_spills_in_the_loop_are_refused() -> None:
    with pytest.raises(CompiledCodeMismatch, match="spills"):
        check_sass(sass(["FFMA R0, R0, R1, R0 ;"] * 4 + ["STL [R1], R0 ;"]), FMA)


def test_a_longer_name_is_another_instruction() -> None:
    with pytest.raises(CompiledCodeMismatch):
        check_sass(sass(["FFMA2 R0, R0, R1, R0 ;"] * 4), FMA)


def test_suffixes_are_the_same_instruction() -> None:
    assert check_sass(sass(["FFMA.FTZ R0, R0, R1, R0 ;"] * 4), FMA)


def test_emulation_counts_what_one_instruction_becomes() -> None:
    twice = Declared(ptx="mma", count=4, sass="HMMA", sass_per_ptx=2)
    assert check_sass(sass(["HMMA.16816.F32 R0, R0, R1, R0 ;"] * 8), twice)
    with pytest.raises(CompiledCodeMismatch):
        check_sass(sass(["HMMA.16816.F32 R0, R0, R1, R0 ;"] * 4), twice)


def test_the_largest_loop_must_hold_what_it_should() -> None:
    loads = Declared(ptx="ld", count=1, at_least=4, sass=r"LDG\.E\.128")
    assert check_sass(sass(["LDG.E.128.STRONG.GPU R0, [R2] ;"] * 4), loads)
    with pytest.raises(CompiledCodeMismatch):
        check_sass(sass(["LDG.E.128.STRONG.GPU R0, [R2] ;"] * 3), loads)


def test_ptx_counts_inside_assembly_loops_alone() -> None:
    loop = "LOOP_3:\n" + "fma.rn.f32 x0, x0, b, x0;\n" * 4 + "@p bra LOOP_3;\n"
    assert check_ptx("fma.rn.f32 %f1, %f2, %f3, %f4;\n" + loop, FMA) == "PTX 4 fma.rn.f32"
    with pytest.raises(CompiledCodeMismatch):
        check_ptx(loop.replace("LOOP_3:\n", "LOOP_3:\nfma.rn.f32 x0, x0, b, x0;\n"), FMA)
