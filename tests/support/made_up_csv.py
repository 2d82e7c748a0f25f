"""Long CSV files as Nsight Compute prints them, of any length: invented numbers, the layout of real files.

Columns, section names, messages and the way of writing numbers are those of ``tests/data/ncu/h200/micro_stdout.csv``
(``plain``) and of the details pages of 2024 and later (``ragged``: columns of rules behind the value, metric rows that
end in one bare comma, rows of rules, and lines of the program in between).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

HEAD = (
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
    "Device", "CC", "Section Name", "Metric Name", "Metric Unit", "Metric Value",
)  # fmt: skip
RULES = ("Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup")
OPERATIONS = ("dadd", "dfma", "dmul", "fadd", "ffma", "fmul", "hfma")
VARIANTS = ("plain", "ragged", "scaled")
CLOCK_HZ = 1.755e9
_TYPES = ("float", "double", "__half", "c10::BFloat16", "int", "long long", "unsigned int")
_STEMS = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::{f}Functor<{t}>, at::detail::Array<char*, {n}>>"
    "(int, at::native::{f}Functor<{t}>, at::detail::Array<char*, {n}>)",
    "void cutlass::Kernel2<cutlass_80_tensorop_{f}gemm_{n}x128_32x3_nn_align8>(cutlass_80_tensorop_{f}gemm::Params)",
    "sm90_xmma_gemm_{f}_tilesize{n}x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
    "void cudnn::bn_fw_tr_1C11_kernel_NHWC<{t}, {f}, {n}, 512, true, 1>(cudnnTensorStruct, {t} const*, "
    "cudnnTensorStruct)",
    "triton_poi_fused_{f}_add_mul_{n}",
    "void (anonymous namespace)::softmax_warp_forward<{t}, {t}, {t}, {n}, false, false>({t}*, {t} const*, int, int, "
    "int, bool const*, int, bool) [{f}]",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<{t}, at::native::func_wrapper_t<{t}, "
    "at::native::{f}_kernel_impl<{t}, {t}, {t}>(at::TensorIterator&)::{{lambda({t}, {t})#1}}>, unsigned int, {t}, {n}>>"
    "(at::native::ReduceOp<{t}>)",
)  # fmt: skip
_RULE = '"SpeedOfLight","","","","SOLBottleneck","OPT","The grid is too ""small"", 0.1 waves","global","90.1"'
_WORDS = ("Add", "Mul", "Exp", "Sum", "Copy", "Gelu", "Norm", "Tanh", "Where", "Cast")


def write_long_csv(path: Path, launches: int, variant: str = "plain", kernels: int = 200, seed: int = 1) -> Path:
    """A file of ``launches`` times 15 metrics, more rows where ``ragged``; ``scaled`` has units to fit each value."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines(launches, variant, kernels, seed))
    return path


def lines(launches: int, variant: str = "plain", kernels: int = 200, seed: int = 1) -> Iterator[str]:
    """The file, some rows at a time."""
    chance = random.Random(seed)
    ragged, scaled = variant == "ragged", variant == "scaled"
    programs = [_Kernel(number, chance) for number in range(kernels)]
    weights = [1.0 / (rank + 1) for rank in range(kernels)]
    yield "==PROF== Connected to process 775 (/usr/bin/python3.12)\n"
    if ragged:
        yield "epoch 1: loss 2.302585\n"
    yield ",".join(f'"{name}"' for name in (*HEAD, *(RULES if ragged else ()))) + "\n"
    end = '",\n' if ragged else '"\n'
    for number, kernel in enumerate(chance.choices(programs, weights, k=launches)):
        before = kernel.cells(number, chance)
        measured = kernel.measured(chance, scaled)
        yield "".join([f'{before}"{name}","{unit}","{value}{end}' for name, unit, value in measured])
        if ragged and number % 3 == 0:
            yield f"{before.rsplit(',', 2)[0]},{_RULE}\n"
        if ragged and number % 50 == 49:
            yield f'==PROF== Profiling "k{number}" - {number}: 0%....50%....100% - 9 passes\n'
            yield f"step {number}, loss: 0.25\n"


class _Kernel:
    """One made-up kernel: who it is, and what a launch of it does on average."""

    def __init__(self, number: int, chance: random.Random) -> None:
        stem = _STEMS[number % len(_STEMS)]
        self.name = stem.format(
            f=f"{chance.choice(_WORDS)}{number}", t=chance.choice(_TYPES), n=2 ** chance.randint(1, 8)
        )
        self.stream, self.context = chance.choice((7, 7, 7, 13, 14)), 1
        self.block = f"({chance.choice((128, 256, 512))}, 1, 1)"
        self.grids = [f"({chance.randint(1, 4000)}, {chance.randint(1, 8)}, 1)" for _ in range(4)]
        self.nanoseconds = 10 ** chance.uniform(3.3, 6)
        self.dram, self.l2, self.l1 = sorted(10 ** chance.uniform(-2, 0.3) * 2000 for _ in range(3))
        self.rates = {name: chance.choice((0, 0, 10 ** chance.uniform(0, 4))) for name in OPERATIONS}
        self.tensor = chance.choice((0, 40)) if "gemm" in self.name else 0

    def cells(self, number: int, chance: random.Random) -> str:
        """The beginning that all rows of a launch share."""
        who = f'"{number}","775","python3.12","127.0.0.1","{self.name}","{self.context}","{self.stream}"'
        return f'{who},"{self.block}","{chance.choice(self.grids)}","0","9.0","Command line profiler metrics",'

    def measured(self, chance: random.Random, scaled: bool) -> list[tuple[str, str, str]]:
        """(metric, unit, value) in the order of the tool's output."""
        time = int(self.nanoseconds * chance.uniform(0.95, 1.3)) // 32 * 32 + 32
        clock = CLOCK_HZ * chance.uniform(0.98, 1.0)
        cycles = time * 1e-9 * clock
        work = chance.uniform(0.98, 1.02)
        rows = [
            ("dram__bytes.sum", "byte", int(self.dram * time * work) // 32 * 32),
            ("gpu__time_duration.sum", "ns", time),
            ("l1tex__t_bytes.sum", "byte", int(self.l1 * time * work) // 32 * 32),
            ("lts__lts2xbar_cycles_active.sum", "cycle", int(self.l2 * time * work / 40)),
            ("lts__t_sectors_srcunit_tex.sum", "sector", int(self.l2 * time * work / 32)),
            ("sm__cycles_elapsed.avg", "cycle", cycles),
            ("sm__cycles_elapsed.avg.per_second", "hz", clock),
            ("sm__inst_executed_pipe_tensor.sum", "inst", int(self.tensor * time * work)),
        ]
        rows += [
            (f"sm__sass_thread_inst_executed_op_{name}_pred_on.sum", "inst", int(rate * time * work))
            for name, rate in self.rates.items()
        ]
        if scaled:
            return [(name, *_scaled(unit, value)) for name, unit, value in rows]
        return [(name, unit, f"{value:,}" if isinstance(value, int) else f"{value:,.2f}") for name, unit, value in rows]


_PREFIXES = {
    "byte": ("byte", "Kbyte", "Mbyte", "Gbyte"),
    "ns": ("ns", "us", "ms", "s"),
    "hz": ("hz", "Khz", "Mhz", "Ghz"),
}


def _scaled(unit: str, value: float) -> tuple[str, str]:
    """The unit that the tool picks by default, and the number in it."""
    if unit not in _PREFIXES:
        return unit, f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
    power = 0
    while value >= 1000 and power < 3:
        value, power = value / 1000, power + 1
    text = f"{value:,}" if not power and isinstance(value, int) else f"{value:,.2f}"
    return _PREFIXES[unit][power], text
