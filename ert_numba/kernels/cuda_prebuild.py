"""Compile many kernels at once into the kernel cache: making PTX holds Python's lock, so each worker is a process.

The workers are ``python -m ert_numba.kernels.cuda_prebuild`` with their share of recipes on stdin, so the caller's own
main module is never run again, and nothing of CUDA need be alive here or there.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ert_numba.errors import ErtError
from ert_numba.kernels.cuda_code import Declared
from ert_numba.kernels.cuda_toolchain import Parameter, Recipe, compile_batch, compile_recipe, is_cached
from ert_numba.kernels.spec import CompiledCodeMismatch

_SHARE = 3  # recipes that are worth the start of a process


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A recipe as it travels: the factory by name."""

    module: str
    make: str
    parameters: dict[str, Parameter]
    types: tuple[str, ...]
    declared: tuple[Declared, ...]
    architecture_specific: bool


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """What one worker compiles."""

    orders: tuple[Order, ...]
    capability: tuple[int, int]
    cache: str


def prebuild(recipes: Iterable[Recipe], capability: tuple[int, int], cache: Path, workers: int | None = None) -> None:
    """Fill the cache with what it lacks; what fails here fails again, with its reason, where it is asked for."""
    missing = list({repr(row): row for row in recipes if not is_cached(row, capability, cache)}.values())
    count = min(workers or os.cpu_count() or 1, -(-len(missing) // _SHARE))
    if count < 2:
        return
    shares = [missing[index::count] for index in range(count)]
    running = [_start(share, capability, cache) for share in shares]
    for process in running:
        process.wait()


def _start(recipes: Sequence[Recipe], capability: tuple[int, int], cache: Path) -> subprocess.Popen[bytes]:
    orders = tuple(
        Order(
            module=row.make.__module__,
            make=row.make.__name__,
            parameters=row.parameters,
            types=row.types,
            declared=row.declared,
            architecture_specific=row.architecture_specific,
        )
        for row in recipes
    )
    batch = msgspec.msgpack.encode(Batch(orders=orders, capability=capability, cache=str(cache)))
    command = [sys.executable, "-m", "ert_numba.kernels.cuda_prebuild"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    process.stdin.write(batch)
    process.stdin.close()
    return process


def work_through(batch: Batch) -> None:
    """Compile a batch into its cache: at once, or one by one where one of it fails."""
    recipes = [_recipe(order) for order in batch.orders]
    try:
        compile_batch(recipes, batch.capability, Path(batch.cache))
    except (ErtError, CompiledCodeMismatch):
        for recipe in recipes:
            with contextlib.suppress(ErtError, CompiledCodeMismatch):
                compile_recipe(recipe, batch.capability, Path(batch.cache))


def _recipe(order: Order) -> Recipe:
    return Recipe(
        make=getattr(importlib.import_module(order.module), order.make),
        parameters=order.parameters,
        types=order.types,
        declared=order.declared,
        architecture_specific=order.architecture_specific,
    )


if __name__ == "__main__":
    work_through(msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Batch))
