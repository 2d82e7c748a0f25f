"""Which counter bears witness to the work that a kernel of the suite declares: one row a ceiling, by chip. Pure.

The counters were checked against the declared work on an H200 (results/nvidia-h200/counters.json).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from appprof.counts.ask import ask_for, byte_metrics
from appprof.metrics import FACTS, GB202, SOC, Capability
from appprof.metrics_tensor import TENSOR_COUNTERS

WORK_TOLERANCE, BYTES_TOLERANCE, HIT_TOLERANCE = 0.01, 0.03, 0.01
SHARED_WORD_BYTES = 4


class Witness(msgspec.Struct, frozen=True, kw_only=True):
    """How one ceiling's work is counted: by exactly one of ``flop``, ``definition`` and ``metrics``.

    ``flop`` is a key of ``appprof.counts.record.Flop``, ``definition`` one of ``BYTE_DEFINITIONS``, ``metrics`` are
    full names whose weighted sum it is. What is declared: the field ``declared`` of ``Work``, times ``each``.
    """

    what: str  # "FLOP", "OP" or "B"
    declared: str
    each: float = 1.0
    flop: str = ""
    definition: str = ""
    metrics: tuple[tuple[str, float], ...] = ()
    sparse: bool = False  # the half of ``flop`` whose operands were 2:4 sparse; counters hold the zeros too
    past_l1: bool = False  # the L1 hit rate must be near 0
    note: str = ""

    @property
    def tolerance(self) -> float:
        return BYTES_TOLERANCE if self.what == "B" else WORK_TOLERANCE


def _moved(definition: str, **fields: object) -> Witness:
    return Witness(what="B", declared="bytes_moved", definition=definition, **fields)  # type: ignore[arg-type]


L1_READ, L2_READ = _moved("L1.wb"), _moved("L2.in", past_l1=True)
_SHARED = (("smsp__sass_data_bytes_mem_shared_op_ld.sum", 1.0),)
HIT_RATE = FACTS["l1_hit_percent"][0]

MEMORY: dict[str, Witness] = {
    "SHARED.read": Witness(what="B", declared="bytes_moved", metrics=_SHARED),
    "SHARED.latency": Witness(what="B", declared="accesses", each=SHARED_WORD_BYTES, metrics=_SHARED),
    "L1.read": L1_READ,
    "curve.read.ca": L1_READ,
    # One thread's load takes a whole cycle of the write-back stage: its bytes show at the tag stage.
    "L1.latency": _moved("L1.tag"),
    "curve.latency": _moved("L1.tag"),
    # What reaches the SMs. The slices send up to 10 % less: some reads are merged on the way.
    "L2.read.private": L2_READ,
    "L2.read.shared": L2_READ,
    "curve.read.private": L2_READ,
    "curve.read.shared": L2_READ,
    "L2.latency": _moved("L2.sm"),
    "DRAM.latency": _moved("L2.sm", note="by sectors: the unit of device memory may be larger"),
    "DRAM.random": _moved("L2.sm", note="by sectors: the unit of device memory may be larger"),
    "DRAM.copy": _moved("DRAM"),
    "DRAM.triad": _moved("DRAM"),
}
DRAM_WAYS = {"DRAM.read": "read", "DRAM.strided": "read", "DRAM.write": "write"}

_HALVES = tuple((f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum", 2.0) for op in ("hadd", "hfma"))
_PACKED = "the counter does not tell FP16 from BF16"
VECTOR: dict[str, Witness] = {
    **{
        f"{precision}.vector.{way}": Witness(what="FLOP", declared="flop", flop=f"{precision}.vector")
        for precision in ("fp64", "fp32")
        for way in ("fma", "add")
    },
    **{
        f"{precision}.vector.fma": Witness(what="FLOP", declared="flop", flop="fp16.vector", note=_PACKED)
        for precision in ("fp16", "bf16")
    },
    **{
        f"{precision}.vector.add": Witness(
            what="FLOP", declared="flop", metrics=_HALVES, note=f"additions that issue as HFMA2 count once; {_PACKED}"
        )
        for precision in ("fp16", "bf16")
    },
    "int32.vector.fma": Witness(
        what="OP",
        declared="flop",
        metrics=(("sm__sass_thread_inst_executed_op_integer_pred_on.sum", 2.0),),
        note="the counter holds the loop's own integer instructions too",
    ),
    "int32.vector.add": Witness(
        what="OP",
        declared="flop",
        metrics=(("sm__sass_thread_inst_executed_op_integer_pred_on.sum", 1.0),),
        note="the counter holds the loop's own integer instructions too",
    ),
}
# An FP8 mma.sync of Hopper converts and runs as FP16.
CONVERTED: dict[tuple[Capability, str, str], str] = {((9, 0), "fp8", "tensor.mma.sync"): "fp16"}

NO_KERNEL = {
    ".cublas": "the kernels are the library's own, of names and shapes that this package does not choose",
    "HOST.": "copies over the host link are done by copy engines, which no kernel counter sees",
    "launch.": "its kernels do nothing that could be counted",
}


def witness_of(ceiling: str, chip: Capability) -> Witness | str:
    """What counts the work of a ceiling's kernel on a chip, or the reason why nothing does."""
    if ceiling in VECTOR:
        return VECTOR[ceiling]
    if ceiling.startswith("DRAM.") and chip in SOC and MEMORY.get(ceiling, L1_READ).definition != "L2.sm":
        return "this chip has no memory of its own, and no counter of it"
    if ceiling in DRAM_WAYS:
        counter = f"dram__bytes_{'op_' if chip in GB202 else ''}{DRAM_WAYS[ceiling]}.sum"
        return Witness(what="B", declared="bytes_moved", metrics=((counter, 1.0),))
    if ceiling in MEMORY:
        return MEMORY[ceiling]
    return _tensor(ceiling, chip)


def _tensor(ceiling: str, chip: Capability) -> Witness | str:
    precision, _, path = ceiling.removesuffix(".acc16").partition(".")
    if not path.startswith("tensor."):
        return "no counter is known for what this kernel does"
    sparse, path = path.endswith(".sparse"), path.removesuffix(".sparse")
    source = "fp8" if precision.startswith("fp8_") else precision
    runs_as = CONVERTED.get((chip, source, path), source)
    if not any(row.precision == runs_as and row.path == path for row in TENSOR_COUNTERS.get(chip, ())):
        return f"no counter of this chip holds the {source} operations of {path.removeprefix('tensor.')} alone"
    integer = source.startswith("int")
    note = f"runs and is counted as {runs_as}" if runs_as != source else ""
    what = "OP" if integer else "FLOP"
    return Witness(what=what, declared="flop", flop=f"{runs_as}.{path}", sparse=sparse, note=note)


def metrics_for(chip: Capability) -> tuple[str, ...]:
    """Full names of everything that the comparison may need on a chip, each once."""
    witnesses = [witness_of(ceiling, chip) for ceiling in (*VECTOR, *DRAM_WAYS, *MEMORY)]
    names = [*ask_for("flop", chip), HIT_RATE]
    for row in witnesses:
        if isinstance(row, Witness):
            names += metrics_of(row, chip)
    return tuple(dict.fromkeys(names))


def metrics_of(witness: Witness, chip: Capability) -> Iterable[str]:
    """The full names that a memory level's witness sums; of FLOP those of the chip's table."""
    if witness.definition:
        return byte_metrics(witness.definition, chip)
    return [name for name, _ in witness.metrics]


def without_kernel(ceiling: str) -> str:
    """Why no kernel of the suite stands for a measured ceiling."""
    return next((why for part, why in NO_KERNEL.items() if part in ceiling), "the suite launched no kernel for it")
