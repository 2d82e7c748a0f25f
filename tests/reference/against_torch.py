"""cuBLASLt as this package calls it against PyTorch, in turns: ``python tests/reference/against_torch.py``.

Needs a GPU and torch. Both end in the same library, so ours must be no slower than ``torch.matmul``, ``_int_mm`` and
``_scaled_mm`` of the same shape on the same kind of data. Prints a line a type, shape and kind of data: TFLOP/s (or
TOP/s) of both, medians of ``TURNS`` turns, and ours over theirs.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import torch

from ert_numba.backends import cuda_backend
from ert_numba.kernels import cublas_gemm
from ert_numba.kernels.cublas_gemm import GEMM_TYPES, SHAPES, SLOW_SHAPES, GemmProgram, GemmType
from ert_numba.kernels.cuda_driver import Event, stream, synchronize, use_device
from ert_numba.records import Point

TURNS = 7
TURN_SECONDS = 30e-3
_TORCH = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "s8": torch.int8,
    "e4m3": torch.float8_e4m3fn,
}  # fmt: skip


def of_torch(kind: GemmType, shape: tuple[int, int, int], random: bool) -> Callable[[], Any]:
    """The product as a user of torch writes it, rows times columns, as cuBLASLt likes them."""
    m, n, k = shape
    torch.backends.cuda.matmul.allow_tf32 = kind.precision == "tf32"
    wide = torch.float32 if kind.inputs in ("s8", "e4m3") else _TORCH[kind.inputs]
    sides = []
    for rows in (m, n):
        made = (
            torch.randn(rows, k, device="cuda", dtype=wide)
            if random
            else torch.zeros(rows, k, device="cuda", dtype=wide)
        )
        sides.append((made * 40 if kind.inputs == "s8" else made).to(_TORCH[kind.inputs]))
    a, b = sides[0], sides[1].t()
    if kind.inputs == "s8":
        return lambda: torch._int_mm(a, b)
    if kind.inputs == "e4m3":
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)
    return lambda: a @ b


def seconds_each(enqueue: Callable[[int], None], count: int) -> float:
    start, stop = Event(), Event()
    start.record()
    enqueue(count)
    stop.record()
    return stop.seconds_since(start) / count


def compare(kind: GemmType, shape: tuple[int, int, int], random: bool) -> str:
    m, n, k = shape
    axes = {"m": m, "n": n, "k": k, "data": "random" if random else "zeros"}
    program = GemmProgram(Point(kernel="cublas_gemm", ceiling=kind.key, axes=axes))
    state = program.prepare(0)
    right = program.check(state)
    with torch.cuda.stream(torch.cuda.ExternalStream(int(stream()))):
        theirs = of_torch(kind, shape, random)

        def run_theirs(count: int) -> None:
            for _ in range(count):
                theirs()

        def run_ours(count: int) -> None:
            program.run(state, count)

        sides = (run_ours, run_theirs)
        for run in sides:
            run(2)
        synchronize()
        count = max(1, round(TURN_SECONDS / seconds_each(run_ours, 3)))
        turns = [[seconds_each(run, count) for run in sides] for _ in range(TURNS)]
    ours, torchs = (2.0 * m * n * k / statistics.median(side) / 1e12 for side in zip(*turns, strict=True))
    name = f"{kind.key:24} {m}x{n}x{k:<6} {axes['data']:7}"
    return f"{name} right={right} ours {ours:8.2f} torch {torchs:8.2f} ratio {ours / torchs:.4f}  {program.code}"


def main() -> None:
    use_device(0)
    print(cuda_backend(0).device.name, "torch", torch.__version__, cublas_gemm.current_lt().version())
    for kind in GEMM_TYPES:
        for shape in SLOW_SHAPES if kind.precision in ("fp64", "fp32") else SHAPES:
            for random in (False, True):
                print(compare(kind, shape, random), flush=True)
                torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
