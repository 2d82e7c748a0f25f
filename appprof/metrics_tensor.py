"""The tensor-core operation counters, one row a counter and chip. All count operations: two for a multiply-add.

Names form a tree: ``src_X`` holds all ``op_P_src_X``, each of which holds its two sparsity halves. One amount is seen
at three or four depths; adding depths counts it as often (an FP16 product on an H200: four counters, one amount).
Source: NVIDIA's offline metric lists (7.0 to 12.1) and the tensor section of Nsight Compute 2025; every row of 9.0 but
INT1 and the sparse halves was checked on an H200 against products of known size.
"""

from __future__ import annotations

import msgspec

Capability = tuple[int, int]
PREFIX = "sm__ops_path_tensor_"
SPARSITY = {False: "_sparsity_off", True: "_sparsity_on"}

# Machine-model path of the instruction in a counter's name.
INSTRUCTION_PATHS = {
    "hmma": "tensor.mma.sync",
    "imma": "tensor.mma.sync",
    "bmma": "tensor.mma.sync",
    "hgmma": "tensor.wgmma",
    "igmma": "tensor.wgmma",
    "bgmma": "tensor.wgmma",
    "utchmma": "tensor.tcgen05",
    "utcimma": "tensor.tcgen05",
    "utcqmma": "tensor.tcgen05",
    "utcomma": "tensor.tcgen05",
}
# Precision of what is multiplied, by the counter's own word for it.
PRECISIONS = {
    "bf16_dst_fp32": "bf16",
    "fp16": "fp16",
    "fp16_dst_fp16": "fp16",
    "fp16_dst_fp32": "fp16",
    "fp16_bf16_tf32_dst_fp32": "fp16",  # TU102 multiplies FP16 alone
    "tf32_dst_fp32": "tf32",
    "fp64": "fp64",
    "fp8": "fp8",
    "fp8_dst_fp16": "fp8",
    "fp8_dst_fp32": "fp8",
    "fp4_dst_fp32": "fp4",
    "fp4_fp6_dst_fp16": "fp4_fp6",
    "fp4_fp6_dst_fp32": "fp4_fp6",
    "fp4_fp6_fp8_dst_fp16": "fp4_fp6_fp8",
    "fp4_fp6_fp8_dst_fp32": "fp4_fp6_fp8",
    "int8": "int8",
    "int4": "int4",
    "int1": "int1",
}


class TensorCounter(msgspec.Struct, frozen=True):
    """``source`` is what is multiplied; ``split``: has sparsity halves; ``within``: the counter that holds this one.

    ``path`` is the machine-model path, ``"tensor"`` where the counter holds several instructions.
    """

    source: str
    instruction: str = ""
    split: bool = False
    within: str = ""
    path: str = "tensor"

    @property
    def name(self) -> str:
        return PREFIX + (f"op_{self.instruction}_" if self.instruction else "") + f"src_{self.source}"

    @property
    def precision(self) -> str:
        return PRECISIONS[self.source]

    def half(self, sparse: bool) -> str:
        return self.name + SPARSITY[sparse]


def _only(path: str, *sources: str, split: bool = False) -> tuple[TensorCounter, ...]:
    """Counters without an instruction in their name, on a chip where one instruction alone can move them."""
    return tuple(TensorCounter(source, split=split, path=path) for source in sources)


def _of(instruction: str, *sources: str, split: bool = True, within: str | None = None) -> tuple[TensorCounter, ...]:
    """Counters of one instruction; each lies within ``src_<its source>`` unless ``within`` names another."""
    path = INSTRUCTION_PATHS[instruction]
    return tuple(
        TensorCounter(source, instruction, split, PREFIX + (within or f"src_{source}"), path) for source in sources
    )


def _sums(*sources: str) -> tuple[TensorCounter, ...]:
    return tuple(TensorCounter(source) for source in sources)


MMA = "tensor.mma.sync"
_HMMA = ("bf16_dst_fp32", "fp16_dst_fp16", "fp16_dst_fp32", "tf32_dst_fp32")
_AMPERE = (*_only(MMA, *_HMMA, "int8", "int4", split=True), *_only(MMA, "fp64", "int1"))
_FP4_TO_8 = ("fp4_fp6_fp8_dst_fp16", "fp4_fp6_fp8_dst_fp32")
_FP8, _FP4_6 = ("fp8_dst_fp16", "fp8_dst_fp32"), ("fp4_fp6_dst_fp16", "fp4_fp6_dst_fp32")
_HOPPER = (
    *_sums("bf16_dst_fp32", "fp16", "tf32_dst_fp32", "int8", "int1"),
    *_of("hgmma", "bf16_dst_fp32", "fp16", "tf32_dst_fp32"),
    *_of("igmma", "int8"),
    *_of("bgmma", "int1", split=False),
    *_of("hmma", "bf16_dst_fp32", "tf32_dst_fp32"),
    TensorCounter("fp16", "hmma", False, PREFIX + "src_fp16", MMA),
    *_of("hmma", "fp16_dst_fp16", "fp16_dst_fp32", within="op_hmma_src_fp16"),
    *_of("imma", "int8"),
    *_of("bmma", "int1", split=False),
    # An FP8 mma.sync is no FP8 instruction on 9.0 (it converts and runs as FP16): wgmma alone is left.
    *_only("tensor.wgmma", "fp8", split=True),
    *_only(MMA, "fp64"),
)
_BLACKWELL = (
    *_sums(*_HMMA, "int8", "fp4_dst_fp32"),
    *_of("utchmma", *_HMMA),
    *_of("utcomma", "fp4_dst_fp32"),
    *_of("hmma", *_HMMA),
    *_of("imma", "int8"),
    *_only(MMA, "fp64"),
)
_GB100 = (*_BLACKWELL, *_sums(*_FP4_TO_8), *_of("utcimma", "int8"), *_of("utcqmma", *_FP4_TO_8))
_GB110 = (*_BLACKWELL, *_sums(*_FP8, *_FP4_6), *_of("utcqmma", *_FP8, *_FP4_6))
_GB202 = (
    *_sums(*_HMMA, "int8"),
    *_of("hmma", *_HMMA),
    *_of("imma", "int8"),
    *_only(MMA, *_FP8, *_FP4_6, "fp4_dst_fp32", split=True),
    *_only(MMA, "fp64"),
)
_VOLTA = _only(MMA, "fp16_dst_fp16", "fp16_dst_fp32")

TENSOR_COUNTERS: dict[Capability, tuple[TensorCounter, ...]] = {
    (7, 0): _VOLTA,
    (7, 2): (*_VOLTA, *_only(MMA, "int8")),
    (7, 5): _only(MMA, "fp16_bf16_tf32_dst_fp32", "fp16_dst_fp16", "int1", "int4", "int8"),
    (8, 0): _AMPERE,
    (8, 6): _AMPERE,
    (8, 7): _AMPERE,
    (8, 9): (*_AMPERE, *_only(MMA, "fp8", split=True)),
    (9, 0): _HOPPER,
    (10, 0): _GB100,
    (10, 3): _GB110,
    (11, 0): _GB100,
    (12, 0): _GB202,
    (12, 1): _GB202,
}

TENSOR_NAMES = frozenset(
    name
    for rows in TENSOR_COUNTERS.values()
    for row in rows
    for name in (row.name, *((row.half(False), row.half(True)) if row.split else ()))
)
