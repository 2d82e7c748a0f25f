"""Every CUDA kernel, compiled for every architecture that has it: PTX and machine code are what the kernel declares.

No GPU takes part: NVVM and nvJitLink compile, nvdisasm reads.
"""

from __future__ import annotations

import functools

import pytest

pytest.importorskip("numba_cuda")
pytest.importorskip("cuda.bindings.nvjitlink")

from ert_numba.kernels import cuda_clock, cuda_code, cuda_fill, cuda_toolchain, registry_cuda
from ert_numba.kernels.spec import Request
from ert_numba.records import Cache, DeviceInfo, Point

ARCHITECTURES = ((7, 5), (8, 0), (8, 9), (9, 0), (10, 0))


def device(capability: tuple[int, int]) -> DeviceInfo:
    """A GPU of the architecture, as the probe would describe one."""
    return DeviceInfo(
        kind="gpu",
        name="made up",
        vendor="NVIDIA",
        architecture="sm_{}{}".format(*capability),
        units=100,
        threads=100 * 2048,
        memory_bytes=80 << 30,
        caches=(
            Cache(level="L1", bytes=192 << 10, instances=100, source="driver"),
            Cache(level="L2", bytes=40 << 20, shared_by=100, source="driver"),
        ),
    )


@functools.cache
def compiled(capability: tuple[int, int], specific: bool) -> dict[str, cuda_toolchain.Compiled]:
    """Every kernel of an architecture by name; all at once, since each start of nvdisasm takes most of a second."""
    alike = [row for row in recipes(capability) if row.architecture_specific is specific]
    return {row.entry: row for row in cuda_toolchain.compile_alike(alike, capability)}


def recipes(capability: tuple[int, int]) -> list[cuda_toolchain.Recipe]:
    one = device(capability)
    offered = [item for spec in registry_cuda.CUDA_KERNELS for item in spec.points(one, Request(full=True))]
    return registry_cuda.recipes([item for item in offered if isinstance(item, Point)], one)


def cases() -> list[object]:
    return [
        pytest.param(recipe, capability, id="{}-{}{}".format(recipe.entry, *capability))
        for capability in ARCHITECTURES
        for recipe in recipes(capability)
    ]


@pytest.mark.parametrize(("recipe", "capability"), cases())
def test_compiled_code_is_the_declared_one(recipe: cuda_toolchain.Recipe, capability: tuple[int, int]) -> None:
    found = compiled(capability, recipe.architecture_specific)[recipe.entry]
    assert found.cubin[:4] == b"\x7fELF"
    assert f".entry {found.entry}(" in found.ptx
    assert ".local" not in found.ptx
    if recipe.declared:
        assert "SASS loop" in found.code, found.code


def test_names_differ_so_that_kernels_can_be_linked_together() -> None:
    for capability in ARCHITECTURES:
        names = [recipe.entry for recipe in recipes(capability)]
        assert len(names) == len(set(names))


def test_code_is_alike_whether_linked_alone_or_together() -> None:
    """The check reads kernels linked together; what runs was linked alone."""
    some = recipes((9, 0))[:6]
    alone = [cuda_code.disassemble(cuda_toolchain.compile_recipe(recipe, (9, 0)).cubin) for recipe in some]
    ptx = [cuda_toolchain.make_ptx(recipe, (9, 0)) for recipe in some]
    together = cuda_code.split_functions(cuda_code.disassemble(cuda_toolchain.link(ptx, "sm_90")) or "")
    for recipe, text in zip(some, alone, strict=True):
        one = cuda_code.split_functions(text or "")[recipe.entry]
        assert cuda_code.loop_bodies(one) == cuda_code.loop_bodies(together[recipe.entry])
        assert cuda_code.opcodes(one) == cuda_code.opcodes(together[recipe.entry])


def test_float_kernels_hold_no_double_arithmetic() -> None:
    """A plain Python float would turn a whole expression into FP64: half the rate, silently."""
    from ert_numba.kernels import cuda_fma

    form = next(row for row in cuda_fma.FORMS if row.precision == "fp32")
    ptx = cuda_toolchain.make_ptx(cuda_fma.recipe(form, 4, 16), (9, 0))
    assert ".f64" not in ptx


def test_every_clock_stamp_reads_the_sm_its_cycles_and_the_time() -> None:
    ptx = cuda_toolchain.make_ptx(cuda_clock.STAMP, (9, 0))
    assert all(name in ptx for name in ("%smid", "%clock64", "%globaltimer"))


def test_a_folded_kernel_is_refused() -> None:
    """``x*b + x`` in integers is folded by ptxas: the check must see it."""
    from ert_numba.kernels.cuda_code import Declared
    from ert_numba.kernels.spec import CompiledCodeMismatch

    recipe = cuda_toolchain.Recipe(
        make=_make_foldable, parameters={}, types=("int64", "int32", "uint32"),
        declared=(Declared(ptx=r"mad\.lo\.s32", count=512, sass="IMAD"),),
    )  # fmt: skip
    with pytest.raises(CompiledCodeMismatch, match="SASS"):
        cuda_toolchain.compile_recipe(recipe, (9, 0))


def _make_foldable() -> object:
    from ert_numba.kernels.ptx import asm_operation

    chains, steps = 8, 64
    lines = ["{", f".reg .b32 x<{chains}>, i;", ".reg .pred p;", "mov.b32 x0, $2;", "mov.b32 i, $1;"]
    lines += [f"add.s32 x{k}, x{k - 1}, $2;" for k in range(1, chains)]
    lines += ["LOOP_${:uid}:", *(f"mad.lo.s32 x{k}, x{k}, $2, x{k};" for _ in range(steps) for k in range(chains))]
    lines += ["sub.s32 i, i, 1;", "setp.gt.s32 p, i, 0;", "@p bra LOOP_${:uid};"]
    lines += [f"add.s32 x0, x0, x{k};" for k in range(1, chains)]
    loop = asm_operation("\n".join([*lines, "mov.b32 $0, x0;", "}"]), "uint32", ("int32", "uint32"))
    store = asm_operation("st.global.u32 [$0], $1;", None, ("int64", "uint32"))

    def kernel(results, repetitions, factor):  # type: ignore[no-untyped-def]
        store(results, loop(repetitions, factor))

    return kernel


def test_wgmma_compiles_for_hoppers_own_architecture_alone() -> None:
    from ert_numba.kernels import cuda_wgmma
    from ert_numba.kernels.mma_shapes import WGMMA_SHAPES

    found = cuda_toolchain.compile_recipe(cuda_wgmma.recipe(WGMMA_SHAPES[0], 4), (9, 0))
    assert found.architecture == "sm_90a"
    assert ".target sm_90a" in found.ptx
    with pytest.raises(cuda_toolchain.ToolchainError, match="sm_90"):
        cuda_toolchain.link([found.ptx], "sm_90")


def test_fp8_by_mma_sync_is_named_emulated_where_it_is() -> None:
    from ert_numba.kernels.mma_shapes import MMA_SHAPES

    fp8 = next(row for row in MMA_SHAPES if row.precision == "fp8_e4m3")
    assert fp8.emulation((9, 0)) == ("HMMA", 2)
    assert fp8.emulation((8, 9)) is None


def test_one_shape_of_a_key_at_every_architecture() -> None:
    from ert_numba.kernels.mma_shapes import MMA_SHAPES

    for capability in ((7, 0), *ARCHITECTURES, (8, 6), (10, 3), (12, 0)):
        keys = [row.key for row in MMA_SHAPES if row.supports(capability)]
        assert len(keys) == len(set(keys))
        assert "fp16.tensor.mma.sync" in keys


def test_voltas_instruction_is_2048_flop_a_warp() -> None:
    from ert_numba.kernels.mma_shapes import MMA_SHAPES

    assert {row.operations for row in MMA_SHAPES if row.supports((7, 0))} == {2048}


def test_fill_kernel_stores_sixteen_bytes() -> None:
    assert "st.global.v4.u32" in cuda_toolchain.compile_recipe(cuda_fill.RECIPE, (9, 0)).ptx


def test_disassembly_is_there_for_these_tests() -> None:
    """Else the checks of machine code above would check nothing."""
    assert cuda_code.disassemble(cuda_toolchain.compile_recipe(cuda_fill.RECIPE, (9, 0)).cubin)
