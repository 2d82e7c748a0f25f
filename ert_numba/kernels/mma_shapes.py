"""Every ``mma.sync`` and ``wgmma`` shape that a kernel may time, one row each, and what SASS it becomes where.

What one ``mma.sync`` becomes differs by architecture (ptxas 13): FP8 is QMMA on sm_89 and sm_120 but two FP16 HMMA with
conversions on sm_90 and sm_100, so its rate there is no FP8 ceiling and the row says so.
"""

from __future__ import annotations

import msgspec


class MmaShape(msgspec.Struct, frozen=True, kw_only=True):
    """One ``mma.sync`` form.

    ``a``, ``b``, ``c`` count registers of a thread; ``kind`` is the PTX type of the accumulator's registers and
    ``one`` the bits of an operand register full of ones. At one compute capability one row of a key holds. ``emulated``
    maps those on which the instruction is made of others to what it becomes. ``sparse``: two of every four elements of
    A are there, so ``k`` counts twice what A's registers hold, and so does the work, as data sheets have it.
    """

    key: str  # ceiling key
    precision: str
    m: int
    n: int
    k: int
    a: int
    b: int
    c: int
    ptx: str
    operand: str = "b32"
    kind: str = "f32"
    one: int
    sass: str
    at_least: tuple[int, int]
    before: tuple[int, int] = (99, 0)
    emulated: dict[str, tuple[str, int]] = {}  # "9.0": (SASS pattern, instructions for one mma)
    tiles: int = 16
    quads: int = 1  # products of one warp's instruction: Volta's shape is done by each of four quarter warps
    sparse: bool = False

    @property
    def name(self) -> str:
        """Tells the rows apart."""
        return f"sp.{self.ptx}" if self.sparse else self.ptx

    @property
    def instruction(self) -> str:
        """The whole PTX instruction."""
        return f"mma.{'sp::ordered_metadata.' if self.sparse else ''}sync.aligned.{self.ptx}"

    @property
    def operations(self) -> int:
        """FLOP or OP of one warp's instruction."""
        return 2 * self.m * self.n * self.k * self.quads

    @property
    def growth(self) -> int:
        """What one product of ones adds to an accumulator."""
        return self.k // 2 if self.sparse else self.k

    def supports(self, capability: tuple[int, int]) -> bool:
        return self.at_least <= capability < self.before

    def emulation(self, capability: tuple[int, int]) -> tuple[str, int] | None:
        return self.emulated.get("{}.{}".format(*capability))


_FP16_ONE, _BF16_ONE, _TF32_ONE, _E4M3_ONE, _E5M2_ONE = 0x3C003C00, 0x3F803F80, 0x3F800000, 0x38383838, 0x3C3C3C3C
_S8_ONE = 0x01010101
PAIRS = 0x44444444  # metadata: of every four elements the first two, or of TF32's pairs the first
_FP8_AS_FP16 = dict.fromkeys(("9.0", "10.0", "10.3", "11.0"), ("HMMA", 2))

MMA_SHAPES: tuple[MmaShape, ...] = (
    # Volta's shape compiles later too, to no Tensor Core instruction at all. No nvdisasm of today reads sm_70.
    MmaShape(key="fp16.tensor.mma.sync", precision="fp16", m=8, n=8, k=4, a=2, b=2, c=8, one=_FP16_ONE, sass="",
             ptx="m8n8k4.row.col.f32.f16.f16.f32", at_least=(7, 0), before=(7, 5), tiles=8, quads=4),
    MmaShape(key="fp16.tensor.mma.sync.acc16", precision="fp16", m=8, n=8, k=4, a=2, b=2, c=4, one=_FP16_ONE, sass="",
             kind="b32", ptx="m8n8k4.row.col.f16.f16.f16.f16", at_least=(7, 0), before=(7, 5), tiles=8, quads=4),
    MmaShape(key="fp16.tensor.mma.sync", precision="fp16", m=16, n=8, k=8, a=2, b=1, c=4, one=_FP16_ONE, sass="HMMA",
             ptx="m16n8k8.row.col.f32.f16.f16.f32", at_least=(7, 5), before=(8, 0)),
    MmaShape(key="fp16.tensor.mma.sync", precision="fp16", m=16, n=8, k=16, a=4, b=2, c=4, one=_FP16_ONE, sass="HMMA",
             ptx="m16n8k16.row.col.f32.f16.f16.f32", at_least=(8, 0)),
    MmaShape(key="fp16.tensor.mma.sync.acc16", precision="fp16", m=16, n=8, k=8, a=2, b=1, c=2, one=_FP16_ONE,
             sass="HMMA", kind="b32", ptx="m16n8k8.row.col.f16.f16.f16.f16", at_least=(7, 5),
             before=(8, 0)),
    MmaShape(key="fp16.tensor.mma.sync.acc16", precision="fp16", m=16, n=8, k=16, a=4, b=2, c=2, one=_FP16_ONE,
             sass="HMMA", kind="b32", ptx="m16n8k16.row.col.f16.f16.f16.f16", at_least=(8, 0)),
    MmaShape(key="bf16.tensor.mma.sync", precision="bf16", m=16, n=8, k=16, a=4, b=2, c=4, one=_BF16_ONE, sass="HMMA",
             ptx="m16n8k16.row.col.f32.bf16.bf16.f32", at_least=(8, 0)),
    MmaShape(key="tf32.tensor.mma.sync", precision="tf32", m=16, n=8, k=8, a=4, b=2, c=4, one=_TF32_ONE, sass="HMMA",
             ptx="m16n8k8.row.col.f32.tf32.tf32.f32", at_least=(8, 0)),
    MmaShape(key="fp64.tensor.mma.sync", precision="fp64", m=8, n=8, k=4, a=1, b=1, c=2, one=0, operand="f64",
             kind="f64", sass="DMMA", ptx="m8n8k4.row.col.f64.f64.f64.f64", at_least=(8, 0), before=(9, 0), tiles=8),
    MmaShape(key="fp64.tensor.mma.sync", precision="fp64", m=16, n=8, k=16, a=8, b=4, c=4, one=0, operand="f64",
             kind="f64", sass="DMMA", ptx="m16n8k16.row.col.f64.f64.f64.f64", at_least=(9, 0), before=(10, 0),
             tiles=4),
    MmaShape(key="fp64.tensor.mma.sync", precision="fp64", m=8, n=8, k=4, a=1, b=1, c=2, one=0, operand="f64",
             kind="f64", sass="DMMA", ptx="m8n8k4.row.col.f64.f64.f64.f64", at_least=(10, 0), tiles=8),
    MmaShape(key="int8.tensor.mma.sync", precision="int8", m=8, n=8, k=16, a=1, b=1, c=2, one=_S8_ONE, kind="s32",
             sass="IMMA", ptx="m8n8k16.row.col.s32.s8.s8.s32", at_least=(7, 5), before=(8, 0)),
    MmaShape(key="int8.tensor.mma.sync", precision="int8", m=16, n=8, k=32, a=4, b=2, c=4, one=_S8_ONE, kind="s32",
             sass="IMMA", ptx="m16n8k32.row.col.s32.s8.s8.s32", at_least=(8, 0)),
    MmaShape(key="fp8_e4m3.tensor.mma.sync", precision="fp8_e4m3", m=16, n=8, k=32, a=4, b=2, c=4, one=_E4M3_ONE,
             sass="QMMA", ptx="m16n8k32.row.col.f32.e4m3.e4m3.f32", at_least=(8, 9), emulated=_FP8_AS_FP16),
    MmaShape(key="fp8_e5m2.tensor.mma.sync", precision="fp8_e5m2", m=16, n=8, k=32, a=4, b=2, c=4, one=_E5M2_ONE,
             sass="QMMA", ptx="m16n8k32.row.col.f32.e5m2.e5m2.f32", at_least=(8, 9), emulated=_FP8_AS_FP16),
    MmaShape(key="fp16.tensor.mma.sync.sparse", precision="fp16", m=16, n=8, k=32, a=4, b=4, c=4, one=_FP16_ONE,
             sass=r"HMMA\.SP", ptx="m16n8k32.row.col.f32.f16.f16.f32", at_least=(8, 0), sparse=True),
    MmaShape(key="bf16.tensor.mma.sync.sparse", precision="bf16", m=16, n=8, k=32, a=4, b=4, c=4, one=_BF16_ONE,
             sass=r"HMMA\.SP", ptx="m16n8k32.row.col.f32.bf16.bf16.f32", at_least=(8, 0), sparse=True),
    MmaShape(key="tf32.tensor.mma.sync.sparse", precision="tf32", m=16, n=8, k=16, a=4, b=4, c=4, one=_TF32_ONE,
             sass=r"HMMA\.SP", ptx="m16n8k16.row.col.f32.tf32.tf32.f32", at_least=(8, 0), sparse=True),
    MmaShape(key="int8.tensor.mma.sync.sparse", precision="int8", m=16, n=8, k=64, a=4, b=4, c=4, one=_S8_ONE,
             kind="s32", sass=r"IMMA\.SP", ptx="m16n8k64.row.col.s32.s8.s8.s32", at_least=(8, 0), sparse=True),
    # Where FP8 is emulated, its sparse form becomes a hundred instructions that choose operands: not offered there.
    MmaShape(key="fp8_e4m3.tensor.mma.sync.sparse", precision="fp8_e4m3", m=16, n=8, k=64, a=4, b=4, c=4,
             one=_E4M3_ONE, sass=r"QMMA\.SP", ptx="m16n8k64.row.col.f32.e4m3.e4m3.f32", at_least=(8, 9),
             before=(9, 0), sparse=True),
    MmaShape(key="fp8_e4m3.tensor.mma.sync.sparse", precision="fp8_e4m3", m=16, n=8, k=64, a=4, b=4, c=4,
             one=_E4M3_ONE, sass=r"QMMA\.SP", ptx="m16n8k64.row.col.f32.e4m3.e4m3.f32", at_least=(12, 0),
             sparse=True),
)  # fmt: skip


class WgmmaShape(msgspec.Struct, frozen=True, kw_only=True):
    """One ``wgmma.mma_async.m64n256`` form of sm_90a: operands in shared memory, accumulators in registers.

    ``sparse``, as in :class:`MmaShape`, takes A from registers: A and B together would ask shared memory for 144 bytes
    a clock, more than its 128.
    """

    key: str
    precision: str
    k: int
    c: int = 128  # accumulator registers of a thread
    kind: str = "f32"
    ptx: str
    tail: str  # the immediates after the scale-d predicate
    one: int
    sass: str
    sparse: bool = False

    @property
    def name(self) -> str:
        """Tells the rows apart."""
        return f"sp.{self.ptx}" if self.sparse else self.ptx

    @property
    def instruction(self) -> str:
        """The whole PTX instruction."""
        return f"wgmma.mma_async.{'sp.' if self.sparse else ''}sync.aligned.m64n256k{self.k}.{self.ptx}"

    @property
    def operations(self) -> int:
        return 2 * 64 * 256 * self.k

    @property
    def growth(self) -> int:
        """What one product of ones adds to an accumulator."""
        return self.k // 2 if self.sparse else self.k


_FLOAT16_TAIL, _FLOAT_TAIL, _INTEGER_TAIL = ", 1, 1, 0, 0", ", 1, 1", ""
_SPARSE16_TAIL = ", 1, 1, 0"  # A in registers has no transpose

WGMMA_SHAPES: tuple[WgmmaShape, ...] = (
    WgmmaShape(key="fp16.tensor.wgmma", precision="fp16", k=16, ptx="f32.f16.f16", tail=_FLOAT16_TAIL, one=_FP16_ONE,
               sass="HGMMA"),
    WgmmaShape(key="fp16.tensor.wgmma.acc16", precision="fp16", k=16, c=64, kind="b32", ptx="f16.f16.f16",
               tail=_FLOAT16_TAIL, one=_FP16_ONE, sass="HGMMA"),
    WgmmaShape(key="bf16.tensor.wgmma", precision="bf16", k=16, ptx="f32.bf16.bf16", tail=_FLOAT16_TAIL, one=_BF16_ONE,
               sass="HGMMA"),
    WgmmaShape(key="tf32.tensor.wgmma", precision="tf32", k=8, ptx="f32.tf32.tf32", tail=_FLOAT_TAIL, one=_TF32_ONE,
               sass="HGMMA"),
    WgmmaShape(key="fp8_e4m3.tensor.wgmma", precision="fp8_e4m3", k=32, ptx="f32.e4m3.e4m3", tail=_FLOAT_TAIL,
               one=_E4M3_ONE, sass="QGMMA"),
    WgmmaShape(key="fp8_e5m2.tensor.wgmma", precision="fp8_e5m2", k=32, ptx="f32.e5m2.e5m2", tail=_FLOAT_TAIL,
               one=_E5M2_ONE, sass="QGMMA"),
    WgmmaShape(key="int8.tensor.wgmma", precision="int8", k=32, kind="s32", ptx="s32.s8.s8", tail=_INTEGER_TAIL,
               one=_S8_ONE, sass="IGMMA"),
    WgmmaShape(key="fp16.tensor.wgmma.sparse", precision="fp16", k=32, ptx="f32.f16.f16", tail=_SPARSE16_TAIL,
               one=_FP16_ONE, sass=r"HGMMA\.SP", sparse=True),
    WgmmaShape(key="bf16.tensor.wgmma.sparse", precision="bf16", k=32, ptx="f32.bf16.bf16", tail=_SPARSE16_TAIL,
               one=_BF16_ONE, sass=r"HGMMA\.SP", sparse=True),
    WgmmaShape(key="tf32.tensor.wgmma.sparse", precision="tf32", k=16, ptx="f32.tf32.tf32", tail=_FLOAT_TAIL,
               one=_TF32_ONE, sass=r"HGMMA\.SP", sparse=True),
    WgmmaShape(key="fp8_e4m3.tensor.wgmma.sparse", precision="fp8_e4m3", k=64, ptx="f32.e4m3.e4m3", tail=_FLOAT_TAIL,
               one=_E4M3_ONE, sass=r"QGMMA\.SP", sparse=True),
    WgmmaShape(key="int8.tensor.wgmma.sparse", precision="int8", k=64, kind="s32", ptx="s32.s8.s8", tail=_INTEGER_TAIL,
               one=_S8_ONE, sass=r"IGMMA\.SP", sparse=True),
)  # fmt: skip
