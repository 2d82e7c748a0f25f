"""Did the tensor cores run, and was all their work counted? What a file shows beside the operation counters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

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

KERNEL_NAME = re.compile(TENSOR_KERNEL_NAMES)
INSTRUCTIONS, HALF_FMA = f"{TENSOR_INSTRUCTIONS}.sum", f"{TENSOR_HALF_FMA}.sum"
SHARES = tuple(f"{name}.avg.pct_of_peak_sustained_{span}" for name in TENSOR_SHARES for span in ("active", "elapsed"))
# A share of the tensor pipe's peak below this is noise of a kernel's prologue.
SHARE_PERCENT = 1.0
LEAST_HALF_FLOP_OF_A_WARP = 2 * 32


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


def _may_be_halves(chip: Capability | None, count: float, half_flop: float) -> bool:
    """Whether packed-half instructions of the ordinary kind explain the tensor pipe's count of warp instructions."""
    could = chip is None or chip in HALF_FMA_CHIPS
    return could and count <= half_flop / LEAST_HALF_FLOP_OF_A_WARP


@lru_cache(maxsize=10_000)
def _named_for_tensor(kernel: str) -> bool:
    return KERNEL_NAME.search(kernel) is not None


def volta_flop(kernel: str, chip: Capability | None, values: Mapping[str, float]) -> tuple[Flop, str] | None:
    """Tensor FLOP of Volta out of its instruction count, and what is doubtful; None on every other chip.

    There alone the FLOP of a counted step are fixed: 512 where it accumulates in FP32, 1,024 in FP16.
    """
    if chip not in VOLTA or INSTRUCTIONS not in values:
        return None
    half, full = "h884" in kernel, "s884" in kernel
    factor = VOLTA_STEP_FLOP["fp16" if half else "fp32"]
    value = values[INSTRUCTIONS] * factor
    flop = Flop(
        precision="fp16",
        path="tensor.mma.sync",
        value=value,
        bound="exact" if half or full else "lower",
        origin=Origin(metrics=(INSTRUCTIONS,), form="instructions x factor"),
    )
    if half or full or not value:
        return flop, ""
    upper = values[INSTRUCTIONS] * VOLTA_STEP_FLOP["fp16"]
    return flop, f"tensor FLOP are {value:.0f} if it accumulates in FP32 (assumed) and {upper:.0f} if in FP16"
