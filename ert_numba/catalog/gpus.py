"""What one SM of a product can do in one clock, one row a product: it annotates measurements and never gates them.

Keyed by product, not by compute capability: 8.9 holds the L40S and the RTX 4090, whose tensor rates with FP32
accumulation differ by two. A rate that no source states has no entry; an unknown GPU is measured all the same.
"""

from __future__ import annotations

import re

import msgspec

_XLA = "openxla/xla xla/stream_executor/cuda/cuda_core_info_table.cc"
_CUDA_TABLE = "CUDA programming guide, throughput of native arithmetic instructions"
_NCU = "Nsight Compute, peak_sustained of the GH100 pipes"
_HOPPER = "NVIDIA H100 white paper"
_ISSUE = "one warp instruction a clock and scheduler, four schedulers an SM"
_A100 = "NVIDIA A100 white paper"
_TURING = "NVIDIA Turing white paper"
_GA102 = "NVIDIA GA102 white paper v2"
_ADA = "NVIDIA Ada white paper v2.1, appendix A"
_BLACKWELL = "NVIDIA RTX Blackwell white paper, table 3"


class Rate(msgspec.Struct, frozen=True):
    """``per_cycle``: FLOP, OP or bytes of one SM in one SM clock for the ceiling ``key``."""

    key: str
    per_cycle: float
    source: str


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """``names`` matches the driver's name of the whole product. ``l1_bytes`` is the joint L1 and shared memory of an
    SM, as the CUDA programming guide's table of compute capabilities has it. ``sm_count`` and ``maximum_clock_hz``
    are those of the product's largest variant: for a profile that names its compute capability alone.
    """

    product: str
    names: str
    capability: tuple[int, int]
    l1_bytes: int | None = None
    sm_count: int | None = None
    maximum_clock_hz: float | None = None
    l2_bytes_per_second: float | None = None
    l2_source: str = ""
    rates: tuple[Rate, ...] = ()


def _rates(source: str, **per_cycle: float) -> tuple[Rate, ...]:
    return tuple(Rate(key, value, source) for name, value in per_cycle.items() for key in _KEYS[name])


# A datasheet's "tensor" rate bounds every way to the unit; on Hopper mma.sync has a lower one of its own.
_KEYS: dict[str, tuple[str, ...]] = {
    "fp64": ("fp64.vector.fma",),
    "fp64_add": ("fp64.vector.add",),
    "fp32": ("fp32.vector.fma",),
    "fp32_add": ("fp32.vector.add",),
    "fp16": ("fp16.vector.fma",),
    "fp16_add": ("fp16.vector.add",),
    "bf16": ("bf16.vector.fma",),
    "bf16_add": ("bf16.vector.add",),
    "int32": ("int32.vector.fma",),
    "int32_add": ("int32.vector.add",),
    "tensor_fp64": ("fp64.tensor.mma.sync", "fp64.tensor.cublas"),
    "tensor_fp16": ("fp16.tensor.mma.sync", "fp16.tensor.cublas"),
    "tensor_fp16_acc16": ("fp16.tensor.mma.sync.acc16",),
    "tensor_bf16": ("bf16.tensor.mma.sync", "bf16.tensor.cublas"),
    "tensor_tf32": ("tf32.tensor.mma.sync", "tf32.tensor.cublas"),
    "tensor_int8": ("int8.tensor.mma.sync", "int8.tensor.cublas"),
    "tensor_fp8": ("fp8_e4m3.tensor.mma.sync", "fp8_e5m2.tensor.mma.sync", "fp8_e4m3.tensor.cublas"),
    "wgmma_fp16": ("fp16.tensor.wgmma", "fp16.tensor.wgmma.acc16", "fp16.tensor.cublas"),
    "wgmma_bf16": ("bf16.tensor.wgmma", "bf16.tensor.cublas"),
    "wgmma_tf32": ("tf32.tensor.wgmma", "tf32.tensor.cublas"),
    "wgmma_int8": ("int8.tensor.wgmma", "int8.tensor.cublas"),
    "wgmma_fp8": ("fp8_e4m3.tensor.wgmma", "fp8_e5m2.tensor.wgmma", "fp8_e4m3.tensor.cublas"),
    "wgmma_fp16_sparse": ("fp16.tensor.wgmma.sparse",),
    "wgmma_bf16_sparse": ("bf16.tensor.wgmma.sparse",),
    "wgmma_tf32_sparse": ("tf32.tensor.wgmma.sparse",),
    "wgmma_int8_sparse": ("int8.tensor.wgmma.sparse",),
    "wgmma_fp8_sparse": ("fp8_e4m3.tensor.wgmma.sparse",),
    "mma_fp16_sparse": ("fp16.tensor.mma.sync.sparse",),
    "mma_bf16_sparse": ("bf16.tensor.mma.sync.sparse",),
    "mma_tf32_sparse": ("tf32.tensor.mma.sync.sparse",),
    "mma_int8_sparse": ("int8.tensor.mma.sync.sparse",),
    "mma_fp16": ("fp16.tensor.mma.sync", "fp16.tensor.mma.sync.acc16"),
    "mma_bf16": ("bf16.tensor.mma.sync",),
    "mma_tf32": ("tf32.tensor.mma.sync",),
    "mma_int8": ("int8.tensor.mma.sync",),
    "datacentre_fp16": ("fp16.tensor.cublas",),
    "datacentre_bf16": ("bf16.tensor.cublas",),
    "datacentre_tf32": ("tf32.tensor.cublas",),
    "datacentre_int8": ("int8.tensor.cublas",),
    "datacentre_fp8": ("fp8_e4m3.tensor.cublas",),
    "shared": ("SHARED.read",),
    "l1": ("L1.read",),
}

_HOPPER_RATES = (
    *_rates(_XLA, fp64=128, fp32=256, fp16=512, bf16=512),
    *_rates(_CUDA_TABLE, fp64_add=64, fp32_add=128, fp16_add=256, bf16_add=256, int32=128),
    *_rates(_NCU, wgmma_fp16=4096, wgmma_bf16=4096, wgmma_tf32=2048, wgmma_int8=8192, wgmma_fp8=8192),
    *_rates(_NCU, mma_fp16=8192 / 3, mma_bf16=8192 / 3, mma_tf32=4096 / 3, mma_int8=16384 / 3, tensor_fp64=256),
    *_rates(_HOPPER, wgmma_fp16_sparse=8192, wgmma_bf16_sparse=8192, wgmma_tf32_sparse=4096),
    *_rates(_HOPPER, wgmma_int8_sparse=16384, wgmma_fp8_sparse=16384),
    *_rates(_ISSUE, int32_add=128),
    *_rates(_NCU, shared=128, l1=128),
)

GPUS: tuple[Gpu, ...] = (
    Gpu(product="V100 SXM2", names=r"(Tesla|NVIDIA) V100-(SXM2|SXM3|PCIE).*", capability=(7, 0), l1_bytes=128 << 10,
        sm_count=80, maximum_clock_hz=1.53e9,
        rates=(*_rates(_CUDA_TABLE, fp64=64, fp32=128, fp16=256, int32=128),
               *_rates("NVIDIA V100 datasheet, 125 TFLOP/s", tensor_fp16=1024))),
    Gpu(product="T4", names=r"(Tesla|NVIDIA) T4", capability=(7, 5), l1_bytes=96 << 10,
        rates=(*_rates("NVIDIA T4 datasheet", fp32=128, tensor_fp16=1024, tensor_int8=2048),
               *_rates(_TURING, fp16=256, int32=128, tensor_fp16_acc16=1024))),
    Gpu(product="A100", names=r"NVIDIA A100.*", capability=(8, 0), l1_bytes=192 << 10,
        sm_count=108, maximum_clock_hz=1.41e9,
        rates=(*_rates(_A100, fp64=64, fp32=128, fp16=512, bf16=256, tensor_fp64=128),
               *_rates(_CUDA_TABLE, int32=128),
               *_rates(_A100, tensor_fp16=2048, tensor_fp16_acc16=2048, tensor_bf16=2048, tensor_tf32=1024,
                       tensor_int8=4096),
               *_rates(_A100, mma_fp16_sparse=4096, mma_bf16_sparse=4096, mma_tf32_sparse=2048, mma_int8_sparse=8192),
               *_rates(_ISSUE, int32_add=128))),
    Gpu(product="A10", names=r"NVIDIA A10", capability=(8, 6), l1_bytes=128 << 10,
        rates=_rates("NVIDIA A10 datasheet", fp32=256, tensor_fp16=1024, tensor_bf16=1024)),
    Gpu(product="L4", names=r"NVIDIA L4", capability=(8, 9), l1_bytes=128 << 10,
        rates=_rates("NVIDIA L4 datasheet", fp32=256, tensor_fp16=1024, tensor_bf16=1024, tensor_int8=2048)),
    Gpu(product="L40S", names=r"NVIDIA L40S", capability=(8, 9), l1_bytes=128 << 10,
        rates=_rates("NVIDIA L40S datasheet", fp32=256, tensor_fp16=1024, tensor_bf16=1024, tensor_tf32=512,
                     tensor_int8=2048)),
    Gpu(product="H100", names=r"NVIDIA H100.*", capability=(9, 0), l1_bytes=256 << 10,
        sm_count=132, maximum_clock_hz=1.98e9, rates=_HOPPER_RATES),
    Gpu(product="H200", names=r"NVIDIA H200.*", capability=(9, 0), l1_bytes=256 << 10,
        sm_count=132, maximum_clock_hz=1.98e9,
        l2_bytes_per_second=6016 * 1.709e9,
        l2_source="Nsight Compute: lts__lts2xbar 188 x 32 B at an L2 clock of 1.709 GHz", rates=_HOPPER_RATES),
    Gpu(product="B200", names=r"NVIDIA B200.*", capability=(10, 0), l1_bytes=256 << 10,
        sm_count=148, maximum_clock_hz=1.965e9,
        rates=_rates(_XLA, fp64=128, fp32=256, fp16=256, bf16=256, int32=128, tensor_fp64=128, datacentre_fp16=8192,
                     datacentre_bf16=8192, datacentre_tf32=4096, datacentre_int8=16384, datacentre_fp8=16384)),
    Gpu(product="RTX 3090", names=r"NVIDIA GeForce RTX 3090", capability=(8, 6), l1_bytes=128 << 10,
        rates=_rates(_GA102, fp32=256, tensor_fp16=512, tensor_bf16=512, tensor_fp16_acc16=1024, l1=128)),
    Gpu(product="RTX 4090", names=r"NVIDIA GeForce RTX 4090", capability=(8, 9), l1_bytes=128 << 10,
        rates=_rates(_ADA, fp32=256, tensor_fp16=512, tensor_bf16=512, tensor_fp16_acc16=1024, tensor_int8=2048,
                     tensor_fp8=1024)),
    # FP8 with FP32 accumulation is measured at twice the white paper's 1024 on this chip: no entry.
    Gpu(product="RTX 5090", names=r"NVIDIA GeForce RTX 5090", capability=(12, 0), l1_bytes=128 << 10,
        rates=_rates(_BLACKWELL, fp32=256, tensor_fp16=512, tensor_bf16=512, tensor_fp16_acc16=1024)),
)  # fmt: skip


def gpu_of(name: str, capability: tuple[int, int]) -> Gpu | None:
    """The row of a product by the driver's name (of the parent, for a MIG slice); None where it is not listed."""
    whole = re.sub(r"\s+MIG\s.*$", "", name.strip())
    return next((row for row in GPUS if row.capability == capability and re.fullmatch(row.names, whole)), None)


def largest_of(capability: tuple[int, int]) -> Gpu | None:
    """The largest listed product of a compute capability, to be named as an assumption wherever it is used."""
    rows = [row for row in GPUS if row.capability == capability and row.sm_count and row.maximum_clock_hz]
    return max(rows, key=lambda row: (row.sm_count or 0) * (row.maximum_clock_hz or 0), default=None)
