"""From a kernel's recipe to checked machine code, with or without a GPU, and a cache of the result.

numba.cuda makes PTX (NVVM), nvJitLink makes the cubin: both come from pip. numba's own ``cache=True`` misses or returns
stale code for kernels that close over intrinsics, so the cache here is keyed by everything that makes the code: the
text of this package's kernel sources, the factory, its parameters, the architecture and the tools' versions.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ert_numba import files
from ert_numba.errors import ErtError
from ert_numba.kernels.cuda_code import Declared, check_ptx, check_sass, disassemble, split_functions

_PACKAGES = ("numba", "numba-cuda", "llvmlite", "cuda-bindings")
_LIBRARIES = ("nvvm", "nvJitLink")
Parameter = int | float | str | bool


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """What one kernel is made of: ``make(**parameters)`` returns the function that numba compiles."""

    make: Callable[..., Callable[..., None]]
    parameters: dict[str, Parameter]
    types: tuple[str, ...]  # numba's names of the arguments' types
    declared: tuple[Declared, ...]
    architecture_specific: bool = False  # needs sm_90a rather than sm_90

    @property
    def entry(self) -> str:
        """The kernel's name in a profiler: ``ert_chain_fp32_vector_fma_8_1024``."""
        words = [self.make.__name__.removeprefix("make_").removesuffix("_kernel")]
        words += [str(value) for value in self.parameters.values()]
        return "ert_" + re.sub(r"\W", "_", "_".join(words))


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """Machine code of one kernel; ``code`` is what the checks of PTX and SASS found."""

    architecture: str
    entry: str
    types: tuple[str, ...]
    ptx: str
    cubin: bytes
    code: str


class ToolchainError(ErtError):
    """A kernel did not compile or link: a package is missing or too old for the architecture."""


def compile_recipe(recipe: Recipe, capability: tuple[int, int], cache: Path | None = None) -> Compiled:
    """Compiled and checked code for a compute capability, from the cache folder where it holds it."""
    architecture = _architecture(recipe, capability)
    path = cache / f"{_key(recipe, architecture)}.msgpack" if cache else None
    if path and path.is_file():
        try:
            return msgspec.msgpack.decode(path.read_bytes(), type=Compiled)
        except msgspec.DecodeError:  # cut short by a full disk: made again below
            path.unlink(missing_ok=True)
    (compiled,) = compile_alike([recipe], capability)
    if path:
        files.keep(path, msgspec.msgpack.encode(compiled))
    return compiled


def compile_batch(recipes: Sequence[Recipe], capability: tuple[int, int], cache: Path) -> None:
    """Fill the cache with recipes, each architecture's by one disassembly: its start is most of what a check costs.

    Raises for the whole batch where one of it fails; :func:`compile_recipe` tells which.
    """
    for specific in (False, True):
        alike = [row for row in recipes if row.architecture_specific is specific]
        for recipe, compiled in zip(alike, compile_alike(alike, capability), strict=True):
            path = cache / f"{_key(recipe, compiled.architecture)}.msgpack"
            files.keep(path, msgspec.msgpack.encode(compiled))


def is_cached(recipe: Recipe, capability: tuple[int, int], cache: Path) -> bool:
    return (cache / f"{_key(recipe, _architecture(recipe, capability))}.msgpack").is_file()


def cache_folder() -> Path:
    """Where compiled kernels are kept between runs."""
    return files.cache_folder("kernels")


def _architecture(recipe: Recipe, capability: tuple[int, int]) -> str:
    return f"sm_{capability[0]}{capability[1]}" + ("a" if recipe.architecture_specific else "")


def compile_alike(recipes: Sequence[Recipe], capability: tuple[int, int]) -> list[Compiled]:
    """Compiled and checked code of recipes for one architecture, with names that differ."""
    if not recipes:
        return []
    architecture = _architecture(recipes[0], capability)
    ptx = [make_ptx(recipe, capability) for recipe in recipes]
    cubins = [link([text], architecture) for text in ptx]
    sass = disassemble(cubins[0] if len(cubins) == 1 else link(ptx, architecture))
    functions = None if sass is None else split_functions(sass)
    return [
        Compiled(
            architecture=architecture,
            entry=recipe.entry,
            types=recipe.types,
            ptx=text,
            cubin=cubin,
            code=_checked(recipe, text, functions),
        )
        for recipe, text, cubin in zip(recipes, ptx, cubins, strict=True)
    ]


def _checked(recipe: Recipe, ptx: str, functions: dict[str, str] | None) -> str:
    found = [check_ptx(ptx, declared) for declared in recipe.declared]
    if functions is None:
        return "; ".join([*found, "SASS unchecked: no nvdisasm that reads it"])
    return "; ".join([*found, *(check_sass(functions[recipe.entry], row) for row in recipe.declared if row.sass)])


def make_ptx(recipe: Recipe, capability: tuple[int, int]) -> str:
    """PTX with the entry named alike in every process: numba's mangled name carries a counter of the process."""
    from numba import cuda
    from numba.core import types

    arguments = tuple(getattr(types, name) for name in recipe.types)
    wanted: tuple[Any, ...] = (*capability, "a") if recipe.architecture_specific else capability
    ptx = cuda.compile_ptx(recipe.make(**recipe.parameters), arguments, cc=wanted)[0]
    mangled = re.search(r"\.visible \.entry (\w+)\(", ptx)
    if mangled is None:
        raise ToolchainError("PTX of a kernel", "no entry in numba's output", "Report it with `pip list`")
    ptx = ptx.replace(mangled[1], recipe.entry)
    return re.sub(r"^\.common \.global .*NumbaEnv.*\n", "", ptx, flags=re.MULTILINE)


def link(modules: Sequence[str], architecture: str) -> bytes:
    """One cubin from modules of PTX by nvJitLink, which needs neither a driver nor a GPU."""
    from cuda.bindings import nvjitlink

    handle = nvjitlink.create(1, [f"-arch={architecture}"])
    try:
        for number, ptx in enumerate(modules):
            text = ptx.encode()
            nvjitlink.add_data(handle, nvjitlink.InputType.PTX, text, len(text), f"ert_numba_{number}")
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
    except nvjitlink.nvJitLinkError as error:
        log = bytearray(nvjitlink.get_error_log_size(handle))
        nvjitlink.get_error_log(handle, log)
        message = log.decode(errors="replace").strip("\x00\n ") or str(error)
        raise ToolchainError(f"machine code for {architecture}", message, _LINK_REMEDY) from error
    finally:
        nvjitlink.destroy(handle)
    return bytes(cubin)


_LINK_REMEDY = "nvidia-nvjitlink must be as new as nvidia-nvvm: `pip install -U 'ert-numba[cuda13]'`"


@functools.cache
def tool_versions() -> dict[str, str]:
    """What stands between Python source and cubin: packages by version, NVIDIA's libraries by size and time of file.

    The libraries may be a wheel's or a toolkit's, and tell no version finer than CUDA's own.
    """
    versions = {name: _identity(name) for name in _LIBRARIES}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _identity(library: str) -> str:
    from cuda import pathfinder

    try:
        path = pathfinder.load_nvidia_dynamic_lib(library).abs_path
    except (pathfinder.DynamicLibNotFoundError, RuntimeError):
        return "not found"
    found = Path(path or "").stat() if path else None
    return f"{found.st_size} {found.st_mtime_ns}" if found else "unknown file"


@functools.cache
def _sources() -> str:
    """Of every module that a factory may take anything from; a new one must match one of the patterns."""
    here = Path(__file__).parent
    files = [path for pattern in ("cuda_*.py", "mma_*.py", "ptx*.py") for path in sorted(here.glob(pattern))]
    texts = [path.read_bytes() for path in files]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def _key(recipe: Recipe, architecture: str) -> str:
    parts = {
        "sources": _sources(),
        "make": f"{recipe.make.__module__}.{recipe.make.__qualname__}",
        "parameters": recipe.parameters,
        "types": recipe.types,
        "declared": recipe.declared,
        "architecture": architecture,
        "versions": tool_versions(),
    }
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:32]
