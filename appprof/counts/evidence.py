"""Did the tensor cores run, and was all their work counted? What a file shows beside the operation counters."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from appprof.counts.record import Flop, Origin
from appprof.metrics import (
    HALF_FMA_CHIPS,
    TENSOR_HALF_FMA,
    TENSOR_INSTRUCTIONS,
    TENSOR_KERNEL_NAMES,
    TENSOR_SHARES,
    VOLTA,
    VOLTA_STEP_FLOP,
    Capability,
)

if TYPE_CHECKING:
    from appprof.metric_terms import Array

KERNEL_NAME = re.compile(TENSOR_KERNEL_NAMES)
INSTRUCTIONS, HALF_FMA = f"{TENSOR_INSTRUCTIONS}.sum", f"{TENSOR_HALF_FMA}.sum"
SHARES = tuple(f"{name}.avg.pct_of_peak_sustained_{span}" for name in TENSOR_SHARES for span in ("active", "elapsed"))
# A share of the tensor pipe's peak below this is noise of a kernel's prologue.
SHARE_PERCENT = 1.0
LEAST_HALF_FLOP_OF_A_WARP = 2 * 32
VOLTA_PATH = ("fp16", "tensor.mma.sync", False)
VOLTA_ORIGIN = Origin(metrics=(INSTRUCTIONS,), form="instructions x factor")


class Evidence(msgspec.Struct, frozen=True):
    """``ran``: matrix instructions were executed, as ``why`` shows. ``idle``: none was, by count. Neither: unknown."""

    ran: bool
    idle: bool
    why: str = ""


IDLE, NOTHING = Evidence(ran=False, idle=True), Evidence(ran=False, idle=False)
NAMED = Evidence(ran=True, idle=False, why="its name is that of a tensor-core kernel")


def tensor_evidence(kernel: str, chip: Capability | None, values: Mapping[str, float], half_flop: float) -> Evidence:
    """What the instruction count, the pipe's share and, last, the kernel's name say.

    ``half_flop`` are the ordinary packed-half FLOP, which some chips execute in the tensor pipe.
    """
    count = values.get(INSTRUCTIONS)
    if count is not None:
        matrix = count - values.get(HALF_FMA, 0.0)
        if matrix <= 0:
            return IDLE
        if HALF_FMA in values or not _may_be_halves(chip, count, half_flop):
            return Evidence(ran=True, idle=False, why=f"{INSTRUCTIONS} counted {matrix:.0f} instructions")
    elif not half_flop:
        shares = [(name, values[name]) for name in SHARES if values.get(name, 0.0) > SHARE_PERCENT]
        if shares:
            return Evidence(ran=True, idle=False, why=f"{shares[0][0]} is {shares[0][1]:.1f} %")
    return NAMED if _named_for_tensor(kernel) else NOTHING


def _may_be_halves(chip: Capability | None, count: Any, half_flop: Any) -> Any:
    """Whether packed-half instructions of the ordinary kind explain the tensor pipe's count of warp instructions."""
    could = chip is None or chip in HALF_FMA_CHIPS
    return could and count <= half_flop / LEAST_HALF_FLOP_OF_A_WARP


@lru_cache(maxsize=10_000)
def _named_for_tensor(kernel: str) -> bool:
    return KERNEL_NAME.search(kernel) is not None


def tensor_use(
    kernels: Sequence[str], chip: Capability | None, values: Mapping[str, Array], half_flop: Array
) -> tuple[Array, Array]:
    """:func:`tensor_evidence` of many launches: which ran matrix instructions, and which by count ran none."""
    count = values.get(INSTRUCTIONS)
    none = (half_flop * 0).astype(bool)
    ran, idle = none, none
    if count is not None:
        matrix = count - values.get(HALF_FMA, 0.0)
        idle = matrix <= 0
        halves = none if HALF_FMA in values else none | _may_be_halves(chip, count, half_flop)
        ran = ~idle & ~halves
    else:
        for name in SHARES:
            if name in values:
                ran = ran | ((half_flop == 0) & (values[name] > SHARE_PERCENT))
    open_ones = (~(ran | idle)).nonzero()[0].tolist()
    if any(_named_for_tensor(kernels[index]) for index in open_ones):
        ran = ran.copy()
        ran[[index for index in open_ones if _named_for_tensor(kernels[index])]] = True
    return ran, idle


def volta_flop(kernel: str, chip: Capability | None, values: Mapping[str, float]) -> tuple[Flop, str] | None:
    """Tensor FLOP of Volta out of its instruction count, and what is doubtful; None on every other chip.

    There alone the FLOP of a counted step are fixed: 512 where it accumulates in FP32, 1,024 in FP16.
    """
    if not _counts_on_volta(chip, values):
        return None
    factor, certain = _volta_step(kernel)
    value = values[INSTRUCTIONS] * factor
    precision, path, sparse = VOLTA_PATH
    flop = Flop(
        precision=precision,
        path=path,
        sparse=sparse,
        value=value,
        bound="exact" if certain else "lower",
        origin=VOLTA_ORIGIN,
    )
    if certain or not value:
        return flop, ""
    upper = values[INSTRUCTIONS] * VOLTA_STEP_FLOP["fp16"]
    return flop, f"tensor FLOP are {value:.0f} if it accumulates in FP32 (assumed) and {upper:.0f} if in FP16"


def volta_flop_of_all(
    kernels: Sequence[str], chip: Capability | None, values: Mapping[str, Array]
) -> tuple[Array, list[bool]] | None:
    """The values of :func:`volta_flop` for many launches, and of which they are exact."""
    if not _counts_on_volta(chip, values):
        return None
    steps = [_volta_step(kernel) for kernel in kernels]
    return values[INSTRUCTIONS] * [factor for factor, _ in steps], [certain for _, certain in steps]


def _counts_on_volta(chip: Capability | None, names: Collection[str]) -> bool:
    return chip in VOLTA and INSTRUCTIONS in names


def _volta_step(kernel: str) -> tuple[int, bool]:
    """FLOP of a step, and whether the kernel's name tells them."""
    half = "h884" in kernel
    return VOLTA_STEP_FLOP["fp16" if half else "fp32"], half or "s884" in kernel
