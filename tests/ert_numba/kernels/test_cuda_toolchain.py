"""The kernel cache: what shares an entry, and what must not."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

pytest.importorskip("numba_cuda")

from ert_numba.kernels import cuda_fma, cuda_toolchain
from ert_numba.kernels.cuda_launch import RECIPE
from ert_numba.kernels.cuda_prebuild import prebuild
from ert_numba.kernels.cuda_toolchain import compile_recipe, is_cached

FP32 = next(row for row in cuda_fma.FORMS if row.precision == "fp32")


def test_compiled_code_comes_back_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compile_recipe(RECIPE, (9, 0), tmp_path)
    monkeypatch.setattr(cuda_toolchain, "make_ptx", None)  # compiling again would raise
    assert compile_recipe(RECIPE, (9, 0), tmp_path) == first


def test_parameters_architecture_and_versions_have_entries_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = cuda_fma.recipe(FP32, 4, 16)
    compile_recipe(recipe, (9, 0), tmp_path)
    assert is_cached(recipe, (9, 0), tmp_path)
    assert not is_cached(cuda_fma.recipe(FP32, 4, 32), (9, 0), tmp_path)
    assert not is_cached(recipe, (8, 0), tmp_path)
    monkeypatch.setattr(cuda_toolchain, "tool_versions", lambda: {"numba": "other"})
    assert not is_cached(recipe, (9, 0), tmp_path)


def test_an_edited_kernel_source_is_another_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_recipe(RECIPE, (9, 0), tmp_path)
    monkeypatch.setattr(cuda_toolchain, "_sources", lambda: "edited")
    assert not is_cached(RECIPE, (9, 0), tmp_path)


def test_a_damaged_entry_is_made_again(tmp_path: Path) -> None:
    first = compile_recipe(RECIPE, (9, 0), tmp_path)
    (entry,) = tmp_path.glob("*.msgpack")
    entry.write_bytes(entry.read_bytes()[:100])
    assert compile_recipe(RECIPE, (9, 0), tmp_path) == first
    assert msgspec.msgpack.decode(entry.read_bytes(), type=cuda_toolchain.Compiled) == first


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("not a folder")
    assert compile_recipe(RECIPE, (9, 0), blocked / "below").cubin


def test_ptx_is_alike_in_every_process() -> None:
    """numba's own name of an entry counts the kernels of the process."""
    assert cuda_toolchain.make_ptx(RECIPE, (9, 0)) == cuda_toolchain.make_ptx(RECIPE, (9, 0))


def test_workers_fill_the_cache(tmp_path: Path) -> None:
    recipes = [cuda_fma.recipe(FP32, 4, 4 * n) for n in range(1, 5)]
    prebuild(recipes, (9, 0), tmp_path, workers=2)
    assert all(is_cached(recipe, (9, 0), tmp_path) for recipe in recipes)


def test_the_users_folder_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ERT_NUMBA_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cuda_toolchain.cache_folder() == Path("/somewhere/ert_numba/kernels")
    monkeypatch.setenv("ERT_NUMBA_CACHE", "/elsewhere")
    assert cuda_toolchain.cache_folder() == Path("/elsewhere")
