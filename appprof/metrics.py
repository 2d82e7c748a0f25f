"""The table of Nsight Compute metrics that this package uses, one row a metric and no logic beside look-ups.

A chip's new name for an old thing is a new row here and nothing anywhere else. Names are given without their rollup
(``dram__bytes``); ``.sum``, ``.sum.per_second`` and ``.sum.per_cycle_elapsed`` are three forms of one counter and are
tried in this order by ``appprof.counts``. What a counter means was read in the section files of Nsight Compute 2025
and checked on an H200 where a comment says so; which chip has it, in NVIDIA's own offline metric lists.
"""

from __future__ import annotations

import msgspec

from appprof.metrics_events import EVENT_COUNTERS
from appprof.metrics_tensor import TENSOR_NAMES

Capability = tuple[int, int]
ALL: tuple[Capability, ...] = (
    (7, 0), (7, 2), (7, 5), (8, 0), (8, 6), (8, 7), (8, 9), (9, 0), (10, 0), (10, 3), (11, 0), (12, 0), (12, 1),
)  # fmt: skip
SOC: tuple[Capability, ...] = ((7, 2), (8, 7), (11, 0), (12, 1))  # no memory of their own, no DRAM counter
DISCRETE = tuple(chip for chip in ALL if chip not in SOC)
FROM_HOPPER = tuple(chip for chip in ALL if chip >= (9, 0))
TURING_TO_ADA = tuple(chip for chip in ALL if (7, 5) <= chip <= (8, 9))


class VectorOp(msgspec.Struct, frozen=True, kw_only=True):
    """One instruction of the ordinary pipes. ``weight``: FLOP for each thread that executes it."""

    op: str
    precision: str
    weight: int
    fused: bool = False
    packed_half: bool = False  # weight counts both lanes: an upper bound for scalar half code
    chips: tuple[Capability, ...] = ALL

    @property
    def names(self) -> tuple[str, ...]:
        """The counter's spellings, preferred first; both count the same thread instructions."""
        return tuple(f"{unit}__sass_thread_inst_executed_op_{self.op}_pred_on" for unit in ("smsp", "sm"))

    @property
    def doubled(self) -> tuple[tuple[str, int], ...]:
        """Per-cycle values of the roofline charts, multiplied already: (name, factor). ``derived__sm__`` is a peak."""
        stem = f"derived__smsp__sass_thread_inst_executed_op_{self.op}_pred_on"
        return ((f"{stem}_x2", 2), (f"{stem}_x4", 4))


PACKED_FP32 = ((10, 0), (10, 3))
VECTOR_OPS: tuple[VectorOp, ...] = (
    VectorOp(op="dadd", precision="fp64", weight=1),
    VectorOp(op="dmul", precision="fp64", weight=1),
    VectorOp(op="dfma", precision="fp64", weight=2, fused=True),
    VectorOp(op="fadd", precision="fp32", weight=1),
    VectorOp(op="fmul", precision="fp32", weight=1),
    VectorOp(op="ffma", precision="fp32", weight=2, fused=True),
    VectorOp(op="fadd2", precision="fp32", weight=2, chips=PACKED_FP32),
    VectorOp(op="fmul2", precision="fp32", weight=2, chips=PACKED_FP32),
    VectorOp(op="ffma2", precision="fp32", weight=4, fused=True, chips=PACKED_FP32),
    VectorOp(op="hadd", precision="fp16", weight=2, packed_half=True),
    VectorOp(op="hmul", precision="fp16", weight=2, packed_half=True),
    VectorOp(op="hfma", precision="fp16", weight=4, fused=True, packed_half=True),  # 4: exact on an H200
)


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """What "bytes at a level" may mean. Two of one level differ up to three times: each has a roof of its own."""

    key: str
    level: str
    counts: str  # for a person
    machine_roof: str  # the measured ceiling that moves the same bytes; empty: none does


BYTE_DEFINITIONS: dict[str, Definition] = {
    row.key: row
    for row in (
        Definition(
            key="SHARED.sass",
            level="SHARED",
            counts="bytes that instructions asked of shared memory",
            machine_roof="SHARED.read",
        ),
        Definition(
            key="L1.tag",
            level="L1",
            counts="bytes of loads, stores and texture fetches at L1's tag stage; no shared memory, no TMA",
            machine_roof="L1.read",
        ),
        Definition(
            key="L1.wb",
            level="L1",
            counts="128 B for each cycle that L1 returns data, and for each store of a warp whatever its width",
            machine_roof="L1.read",
        ),
        Definition(
            key="L2.sm",
            level="L2",
            counts="bytes that the SMs read from L2 and wrote to it, TMA included",
            machine_roof="L2.read",
        ),
        Definition(
            key="L2.out",
            level="L2",
            counts="bytes from L2 to the SMs alone; stores are not in it",
            machine_roof="L2.read",
        ),
        Definition(
            key="L2.in",
            level="L2",
            counts="bytes from L2 as they reach L1; stores are not in it",
            machine_roof="L2.read",
        ),
        Definition(
            key="L2.all",
            level="L2",
            counts="every request to the L2 slices, also of the fabric between them and of fills",
            machine_roof="",
        ),
        Definition(
            key="DRAM",
            level="DRAM",
            counts="bytes read from device memory and written to it",
            machine_roof="DRAM.read",
        ),
        Definition(
            key="HOST",
            level="HOST",
            counts="bytes that crossed to the host's memory through L2",
            machine_roof="HOST.read",
        ),
    )
}


class ByteCounter(msgspec.Struct, frozen=True):
    """One way to count the bytes of a definition: the sum of ``names``, times ``weight``. Earlier rows are preferred.

    ``has_peak``: whether ``<name>.sum.peak_sustained`` is a roof of these very bytes. ``halves``: the names are
    directions, one of which alone is a lower bound.
    """

    definition: str
    names: tuple[str, ...]
    weight: int = 1
    chips: tuple[Capability, ...] = ALL
    has_peak: bool = False
    halves: bool = False


SECTOR_BYTES, LINE_BYTES = 32, 128
GB202: tuple[Capability, ...] = ((12, 0),)
OLD_L1: tuple[Capability, ...] = ((7, 0), (7, 2))
_HOST = ("lts__t_sectors_aperture_sysmem_op_read", "lts__t_sectors_aperture_sysmem_op_write")
BYTE_COUNTERS: tuple[ByteCounter, ...] = (
    ByteCounter("SHARED.sass", ("sm__sass_data_bytes_mem_shared",)),
    ByteCounter("SHARED.sass", ("smsp__sass_data_bytes_mem_shared",)),
    # The tag stage's own peak is four times what the data path behind it moves: no roof of these bytes.
    ByteCounter("L1.tag", ("l1tex__t_bytes",)),
    ByteCounter("L1.wb", ("l1tex__lsu_writeback_active_mem_lgds",), LINE_BYTES, FROM_HOPPER, has_peak=True),
    ByteCounter("L1.wb", ("l1tex__lsu_writeback_active_mem_lg",), LINE_BYTES, TURING_TO_ADA, has_peak=True),
    ByteCounter("L1.wb", ("derived__l1tex__lsu_writeback_bytes_mem_lgds",), 1, FROM_HOPPER, has_peak=True),
    ByteCounter("L1.wb", ("derived__l1tex__lsu_writeback_bytes_mem_lg",), 1, TURING_TO_ADA, has_peak=True),
    ByteCounter("L1.wb", ("l1tex__lsu_writeback_active",), LINE_BYTES, OLD_L1, has_peak=True),
    ByteCounter("L2.sm", ("lts__t_sectors_srcunit_tex",), SECTOR_BYTES),
    ByteCounter("L2.out", ("lts__lts2xbar_cycles_active",), SECTOR_BYTES, has_peak=True),
    ByteCounter("L2.out", ("derived__lts__lts2xbar_bytes",), has_peak=True),
    ByteCounter("L2.in", ("l1tex__m_xbar2l1tex_read_bytes",)),
    ByteCounter("L2.all", ("lts__t_bytes",), has_peak=True),
    ByteCounter("L2.all", ("lts__t_sectors",), SECTOR_BYTES, has_peak=True),
    ByteCounter("DRAM", ("dram__bytes",), 1, DISCRETE, has_peak=True),
    ByteCounter("DRAM", ("dram__bytes_read", "dram__bytes_write"), 1, DISCRETE, halves=True),
    # Compute capability 12.0 renamed the halves; dram__bytes kept its name.
    ByteCounter("DRAM", ("dram__bytes_op_read", "dram__bytes_op_write"), 1, GB202, halves=True),
    ByteCounter("DRAM", ("dram__sectors",), SECTOR_BYTES, DISCRETE, has_peak=True),
    ByteCounter("DRAM", ("dram__sectors_read", "dram__sectors_write"), SECTOR_BYTES, DISCRETE, halves=True),
    ByteCounter("DRAM", ("dram__sectors_op_read", "dram__sectors_op_write"), SECTOR_BYTES, GB202, halves=True),
    ByteCounter("DRAM", ("fbpa__dram_read_bytes", "fbpa__dram_write_bytes"), 1, DISCRETE, halves=True),
    ByteCounter("HOST", _HOST, SECTOR_BYTES, halves=True),
    ByteCounter("HOST", tuple(f"sys{name}" for name in _HOST), SECTOR_BYTES, halves=True),
)

# (metric, divided by): seconds of the launch, preferred first. gpc's is the maximum over an average: slightly high.
TIMES: tuple[tuple[str, str | None], ...] = (
    ("gpu__time_duration.sum", None),
    ("gpu__time_duration.max", None),
    ("gpu__time_duration.avg", None),
    ("gpu__time_duration", None),  # reports of 2018 and 2019
    ("sm__cycles_elapsed.avg", "sm__cycles_elapsed.avg.per_second"),
    ("smsp__cycles_elapsed.avg", "smsp__cycles_elapsed.avg.per_second"),
    ("gpc__cycles_elapsed.max", "gpc__cycles_elapsed.avg.per_second"),
)

# The clock of a unit, preferred first. L1 runs with the SM; L2 and the memory have clocks of their own.
CLOCKS: dict[str, tuple[str, ...]] = {
    "sm": tuple(f"{unit}__cycles_elapsed.avg.per_second" for unit in ("sm", "smsp", "l1tex", "gpc")),
    "l1tex": tuple(f"{unit}__cycles_elapsed.avg.per_second" for unit in ("l1tex", "sm", "smsp", "gpc")),
    "lts": ("lts__cycles_elapsed.avg.per_second",),
    "dram": ("dram__cycles_elapsed.avg.per_second",),
}

TENSOR_INSTRUCTIONS = "sm__inst_executed_pipe_tensor"
# On GA100, GA10B and GH100 half of the packed-half FMA retire in the tensor pipe: no matrix work (H200: exactly half).
TENSOR_HALF_FMA = "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2"
HALF_FMA_CHIPS: tuple[Capability, ...] = ((8, 0), (8, 7), (9, 0))
# FLOP of one warp-level HMMA.884 step on Volta, by what it accumulates in. True there only: later the factor depends on
# the instruction's shape (2,048 to 131,072 on an H200).
VOLTA_STEP_FLOP = {"fp32": 512, "fp16": 1024}
VOLTA: tuple[Capability, ...] = ((7, 0), (7, 2))
# Percentages that show that a tensor pipe ran: evidence, never a count.
TENSOR_SHARES = (
    "sm__inst_executed_pipe_tensor",
    "sm__pipe_tensor_cycles_active",
    "sm__pipe_tensor_op_hmma_cycles_active",
    "sm__pipe_tensor_op_imma_cycles_active",
    "sm__pipe_tensor_op_dmma_cycles_active",
)
TENSOR_KERNEL_NAMES = (
    r"(?:16816|1688|884|16832)(?:gemm|fprop|dgrad|wgrad)|[sh]884|wgmma|hgmma|xmma|nvjet|tensorop|tensor\d+x\d+x\d+"
    r"|fmha|flash_(?:fwd|bwd|attn)|flash::|gmma|tcgen05"
)

# Bytes that the tensor memory accelerator moved past the L1 counters.
TMA_BYTES = ("l1tex__m_xbar2l1tex_read_bytes_pipe_tma", "l1tex__m_l1tex2xbar_write_bytes_pipe_tma")

# Further numbers of a launch: key, full names in order of preference.
FACTS: dict[str, tuple[str, ...]] = {
    "waves_per_sm": ("launch__waves_per_multiprocessor",),
    "sm_count": ("launch__sm_count",),
    "registers_per_thread": ("launch__registers_per_thread",),
    "threads": ("launch__thread_count",),
    "shared_bytes_per_block": ("launch__shared_mem_per_block",),
    "theoretical_occupancy_percent": ("sm__maximum_warps_per_active_cycle_pct",),
    "achieved_occupancy_percent": ("sm__warps_active.avg.pct_of_peak_sustained_active",),
    "l1_hit_percent": ("l1tex__t_sector_hit_rate.pct",),
    "l2_hit_percent": ("lts__t_sector_hit_rate.pct", "lts__t_sector_op_read_hit_rate.pct"),
    "dram_peak_percent": (
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    ),
    "sm_peak_percent": ("sm__throughput.avg.pct_of_peak_sustained_elapsed",),
    "start_nanoseconds": ("gpu__time_start.sum", "gpu__time_start"),
    "replay_passes": ("profiler__replayer_passes",),
}

FORMS = (".sum", ".sum.per_second", ".sum.per_cycle_elapsed")
_USED_BASES = frozenset(
    (
        *(name for row in VECTOR_OPS for name in row.names),
        *(name for row in BYTE_COUNTERS for name in row.names),
        *(name for row in VECTOR_OPS for name, _ in row.doubled),
        *(name.split(".")[0] for pair in TIMES for name in pair if name),
        *(name.split(".")[0] for names in CLOCKS.values() for name in names),
        *(name for row in EVENT_COUNTERS for name in row.names),
        *TMA_BYTES,
        *TENSOR_SHARES,
        *TENSOR_NAMES,
        TENSOR_INSTRUCTIONS,
        TENSOR_HALF_FMA,
    )
)


def is_used(metric: str) -> bool:
    """Whether a number that this package shows may come from the metric."""
    return metric.split(".", 1)[0] in _USED_BASES


def is_whole(metric: str, unit: str) -> bool:
    """Whether the metric counts events, so that a fraction in its base unit is impossible."""
    return metric.endswith(".sum") and "/" not in unit and unit not in ("%", "Hz")
