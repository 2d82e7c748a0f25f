"""Vector peaks: independent chains of multiply-adds (or adds) in registers.

``x = x*b + x`` reads two registers; at one warp instruction a clock and partition Hopper shows what its predecessors
hide, so the loop body is long (hundreds of instructions of straight-line code) and all warps of the SM run. Integers
take ``x = x*b + n`` with the next chain's ``n``: of ``x*b + x`` ptxas makes a product by a power of ``b + 1``, and
``x*x + b`` settles on a fixed point modulo 2^32. Without FMA they multiply and add in chains apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import numpy as np
from numba import cuda  # a global: the simulator swaps it
from numpy.typing import NDArray

from ert_numba.catalog.precisions import BY_KEY
from ert_numba.kernels.cuda_code import Declared
from ert_numba.kernels.cuda_driver import LaunchShape
from ert_numba.kernels.cuda_program import CudaProgram, CudaState, blocks, build_code, capability
from ert_numba.kernels.cuda_toolchain import Recipe
from ert_numba.kernels.ptx import asm_operation
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import AxisValue, DeviceInfo, Point, Skipped, Work


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """One instruction under test. ``{x}``, ``{n}`` and ``{b}`` stand for a chain, the next one and the operand.

    With an ``other`` instruction every second chain takes that one, and the next chain is the next of its kind.

    ``start`` and ``still`` make the measured run (values that stay as they are, so power does not limit the clock),
    ``start`` and ``moving`` the check; packed formats hold the pair in one word.
    """

    precision: str
    path: str
    instruction: str
    add: str
    register: str
    type: str
    sass: str
    operations: int  # FLOP or OP of one thread's instruction
    chains: int
    body: int
    start: float
    still: float
    moving: float
    at_least: tuple[int, int] = (7, 0)
    other: str = ""
    other_sass: str = ""

    def step(self, k: int, chains: int) -> str:
        """The PTX of the ``k``-th instruction of a body."""
        text, apart = (self.other, 2) if self.other and k % 2 else (self.instruction, 2 if self.other else 1)
        return text.format(x=f"x{k % chains}", n=f"x{(k + apart) % chains}", b="b")


# Body and chains: the best of a sweep on an H200; see results/nvidia-h200/variants.json.
FORMS: tuple[Form, ...] = (
    Form(precision="fp64", path="vector.fma", instruction="fma.rn.f64 {x}, {x}, {b}, {x};", add="add.rn.f64",
         register="f64", type="float64", sass="DFMA", operations=2, chains=8, body=128,
         start=1.0, still=2.0**-60, moving=2.0**-8),
    Form(precision="fp64", path="vector.add", instruction="add.rn.f64 {x}, {x}, {b};", add="add.rn.f64",
         register="f64", type="float64", sass="DADD", operations=1, chains=8, body=128,
         start=1.0, still=2.0**-60, moving=2.0**-8),
    Form(precision="fp32", path="vector.fma", instruction="fma.rn.f32 {x}, {x}, {b}, {x};", add="add.rn.f32",
         register="f32", type="float32", sass="FFMA", operations=2, chains=8, body=1024,
         start=1.0, still=2.0**-30, moving=2.0**-8),
    Form(precision="fp32", path="vector.add", instruction="add.rn.f32 {x}, {x}, {b};", add="add.rn.f32",
         register="f32", type="float32", sass="FADD", operations=1, chains=8, body=512,
         start=1.0, still=2.0**-30, moving=2.0**-8),
    Form(precision="fp16", path="vector.fma", instruction="fma.rn.f16x2 {x}, {x}, {b}, {x};", add="add.rn.f16x2",
         register="b32", type="uint32", sass="HFMA2", operations=4, chains=8, body=1024,
         start=1.0, still=2.0**-14, moving=2.0**-6),
    Form(precision="fp16", path="vector.add", instruction="add.rn.f16x2 {x}, {x}, {b};", add="add.rn.f16x2",
         register="b32", type="uint32", sass="H(ADD|FMA)2", operations=2, chains=8, body=512,
         start=1.0, still=2.0**-14, moving=2.0**-4),
    Form(precision="bf16", path="vector.fma", instruction="fma.rn.bf16x2 {x}, {x}, {b}, {x};", add="add.rn.bf16x2",
         register="b32", type="uint32", sass="HFMA2", operations=4, chains=8, body=1024,
         start=1.0, still=2.0**-20, moving=2.0**-4, at_least=(9, 0)),
    Form(precision="bf16", path="vector.add", instruction="add.rn.bf16x2 {x}, {x}, {b};", add="add.rn.bf16x2",
         register="b32", type="uint32", sass="H(ADD|FMA)2", operations=2, chains=8, body=512,
         start=1.0, still=2.0**-20, moving=1.0, at_least=(9, 0)),
    Form(precision="int32", path="vector.fma", instruction="mad.lo.s32 {x}, {x}, {b}, {n};", add="add.s32",
         register="b32", type="uint32", sass="IMAD", operations=2, chains=8, body=128,
         start=1, still=5, moving=5),
    # Multiplies among some chains, adds among the others: ptxas would make one IMAD of a product and its sum.
    Form(precision="int32", path="vector.add", instruction="mul.lo.s32 {x}, {x}, {n};", add="add.s32",
         register="b32", type="uint32", sass="IMAD", other="add.s32 {x}, {x}, {n};", other_sass="IADD3?",
         operations=1, chains=8, body=1024, start=1, still=5, moving=5),
)  # fmt: skip


def make_chain_kernel(form: str, chains: int, body: int) -> Callable[..., None]:
    """``body`` instructions a repetition, dealt in turn to ``chains`` accumulators; their sum is the result."""
    from numba.core import types
    from numba.core.types import int64

    row = next(row for row in FORMS if f"{row.precision}.{row.path}" == form)
    lines = ["{", f".reg .{row.register} x<{chains}>, b;", ".reg .s32 i;", ".reg .pred p;"]
    lines += [f"mov.{row.register} b, $3;", f"mov.{row.register} x0, $2;"]
    lines += [f"{row.add} x{k}, x{k - 1}, $2;" for k in range(1, chains)]
    lines += ["mov.s32 i, $1;", "LOOP_${:uid}:"]
    lines += [row.step(k, chains) for k in range(body)]
    lines += ["sub.s32 i, i, 1;", "setp.gt.s32 p, i, 0;", "@p bra LOOP_${:uid};"]
    lines += [f"{row.add} x0, x0, x{k};" for k in range(1, chains)]
    lines += [f"mov.{row.register} $0, x0;", "}"]
    chain_loop = asm_operation("\n".join(lines), row.type, ("int32", row.type, row.type))
    width = 8 if row.type == "float64" else 4
    store = asm_operation(f"st.global.b{8 * width} [$0], $1;", None, ("int64", row.type))

    kind = getattr(types, row.type)

    # spread is 0, which the compiler cannot know: with one value a warp, ptxas for sm_120 takes the uniform pipe.
    def kernel(results, repetitions, start, operand, spread):  # type: ignore[no-untyped-def]
        own = start + kind(cuda.threadIdx.x * spread)
        store(results + int64(width) * int64(cuda.grid(1)), chain_loop(repetitions, own, operand))

    return kernel


def recipe(form: Form, chains: int, body: int) -> Recipe:
    kinds = [(form.instruction, form.sass)] + ([(form.other, form.other_sass)] if form.other else [])
    return Recipe(
        make=make_chain_kernel,
        parameters={"form": f"{form.precision}.{form.path}", "chains": chains, "body": body},
        types=("int64", "int32", form.type, form.type, "int32"),
        declared=tuple(
            Declared(ptx=text.split()[0].replace(".", r"\."), count=body // len(kinds), sass=sass)
            for text, sass in kinds
        ),
    )


def point_recipe(point: Point, device: DeviceInfo) -> Recipe:
    return recipe(_form(point), int(point.axes["chains"]), int(point.axes["body"]))


class ChainProgram(CudaProgram):
    """One form with its launch shape."""

    def __init__(self, form: Form, point: Point, device: DeviceInfo) -> None:
        self.form, self.chains, self.body = form, int(point.axes["chains"]), int(point.axes["body"])
        shape = LaunchShape(int(point.axes["blocks"]), int(point.axes["block_threads"]))
        super().__init__(build_code(point_recipe(point, device), device), shape)

    def values(self, state: CudaState, repetitions: int) -> tuple[int | float, ...]:
        return self._values(state, repetitions, self.form.still)

    def _values(self, state: CudaState, repetitions: int, operand: float) -> tuple[int | float, ...]:
        start = encode(self.form, self.form.start)
        return (state.results.address, repetitions, start, encode(self.form, operand), 0)

    def check(self, state: CudaState) -> bool:
        form, repetitions = self.form, 2
        state.function.launch(self.shape, self._values(state, repetitions, form.moving))
        words = state.results.download(_WORD[form.type], self.shape.blocks * self.shape.threads)
        found = decode(form, words)
        gold = emulate(form, self.chains, self.body * repetitions, form.moving)
        return bool(np.all(np.abs(found - gold) <= BY_KEY[form.precision].relative_tolerance * abs(gold)))


_WORD: dict[str, Any] = {"float64": np.float64, "float32": np.float32, "uint32": np.uint32}


def rounded(form: Form, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values as the format holds them, to nearest even."""
    if form.precision == "bf16":
        bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)
    return values.astype({"fp64": np.float64, "fp32": np.float32, "fp16": np.float16}[form.precision]).astype(
        np.float64
    )


def emulate(form: Form, chains: int, steps: int, operand: float) -> float:
    """The kernel's result by rounding after every instruction, in float64 (integers exactly)."""
    if form.precision == "int32":
        return _emulate_integers(form, chains, steps, int(operand))
    start = np.float64(form.start)
    x = np.empty(chains)
    x[0] = start
    for k in range(1, chains):
        x[k] = rounded(form, np.array([x[k - 1] + start]))[0]
    for first in range(0, steps, chains):
        live = slice(0, min(chains, steps - first))
        x[live] = rounded(form, x[live] * operand + x[live] if form.path == "vector.fma" else x[live] + operand)
    total = x[:1]
    for k in range(1, chains):
        total = rounded(form, total + x[k])
    return float(total[0])


def _emulate_integers(form: Form, chains: int, steps: int, operand: int) -> float:
    x = [int(form.start) * (k + 1) for k in range(chains)]
    for step in range(steps):
        k = step % chains
        if not form.other:
            x[k] = (x[k] * operand + x[(k + 1) % chains]) % 2**32
        else:
            following = x[(k + 2) % chains]
            x[k] = (x[k] + following if k % 2 else x[k] * following) % 2**32
    return float(sum(x) % 2**32)


def encode(form: Form, value: float) -> int | float:
    """A kernel argument: the number itself, or both halves of a packed pair."""
    if form.precision in ("fp64", "fp32"):
        return float(value)
    if form.precision == "int32":
        return int(value)
    half = (
        int(np.float16(value).view(np.uint16))
        if form.precision == "fp16"
        else int(np.float32(value).view(np.uint32)) >> 16
    )
    return half | half << 16


def decode(form: Form, words: NDArray[Any]) -> NDArray[np.float64]:
    """Every number in the kernel's results; packed words give two."""
    if form.precision == "fp16":
        return words.view(np.float16).astype(np.float64)
    if form.precision == "bf16":
        return (words.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return words.astype(np.float64)


def _points(device: DeviceInfo, request: Request) -> Iterable[Point | Skipped]:
    for form in FORMS:
        key = f"{form.precision}.{form.path}"
        if not request.wants_precision(form.precision):
            continue
        if capability(device) < form.at_least:
            needed = "sm_{}{}".format(*form.at_least)
            yield Skipped(
                what=key, reason=f"{form.instruction.split()[0]} needs {needed}, this is {device.architecture}"
            )
            continue
        axes: dict[str, AxisValue] = {
            "blocks": blocks(device, 1024),
            "block_threads": 1024,
            "chains": form.chains,
            "body": form.body,
        }
        yield Point(kernel="cuda_fma", ceiling=key, axes=axes)


def _form(point: Point) -> Form:
    return next(row for row in FORMS if f"{row.precision}.{row.path}" == point.ceiling)


def work(point: Point) -> Work:
    threads = int(point.axes["blocks"]) * int(point.axes["block_threads"])
    return Work(flop=float(threads * int(point.axes["body"]) * _form(point).operations))


def _build(point: Point, device: DeviceInfo) -> ChainProgram:
    return ChainProgram(_form(point), point, device)


SPEC = KernelSpec(name="cuda_fma", device_kind="gpu", kind="compute", points=_points, work=work, build=_build)
