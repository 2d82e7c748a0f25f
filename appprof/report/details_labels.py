"""The words that the details page writes for a metric: (section, label, body item) to the metric's own name.

The same label means different metrics in different sections. A label that no row knows keeps its section before it,
so that it can never be taken for another metric.
"""

from __future__ import annotations

import re

SPEED_OF_LIGHT = "GPU Speed Of Light"  # the section's name begins so in every version
MEMORY = "Memory Workload Analysis"
LAUNCH = "Launch Statistics"
OCCUPANCY = "Occupancy"
DISTRIBUTION = "GPU and Memory Workload Distribution"
METRIC_NAME = re.compile(r"[A-Za-z0-9_]+__[A-Za-z0-9_.]+")

# (start of the section's name, label) -> metric
LABELS: dict[tuple[str, str], str] = {
    (SPEED_OF_LIGHT, "Duration"): "gpu__time_duration.sum",
    (SPEED_OF_LIGHT, "Elapsed Cycles"): "gpc__cycles_elapsed.max",
    (SPEED_OF_LIGHT, "SM Frequency"): "gpc__cycles_elapsed.avg.per_second",
    (SPEED_OF_LIGHT, "DRAM Frequency"): "dram__cycles_elapsed.avg.per_second",
    (SPEED_OF_LIGHT, "SM Active Cycles"): "sm__cycles_active.avg",
    (SPEED_OF_LIGHT, "Memory Throughput"): "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    (SPEED_OF_LIGHT, "DRAM Throughput"): "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    (SPEED_OF_LIGHT, "Compute (SM) Throughput"): "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    (MEMORY, "Memory Throughput"): "dram__bytes.sum.per_second",
    (MEMORY, "L1/TEX Hit Rate"): "l1tex__t_sector_hit_rate.pct",
    (MEMORY, "L2 Hit Rate"): "lts__t_sector_hit_rate.pct",
    (LAUNCH, "Waves Per SM"): "launch__waves_per_multiprocessor",
    (LAUNCH, "# SMs"): "launch__sm_count",
    (LAUNCH, "Registers Per Thread"): "launch__registers_per_thread",
    (LAUNCH, "Threads"): "launch__thread_count",
    (OCCUPANCY, "Theoretical Occupancy"): "sm__maximum_warps_per_active_cycle_pct",
    (OCCUPANCY, "Achieved Occupancy"): "sm__warps_active.avg.pct_of_peak_sustained_active",
    (DISTRIBUTION, "Average DRAM Active Cycles"): "dram__cycles_active.avg",
    (DISTRIBUTION, "Average L2 Active Cycles"): "lts__cycles_active.avg",
}

# Lines of the roofline charts. Half precision is left out: its factor was 2 in 2023 and is 4 since 2025, and the label
# does not tell which.
OPERATIONS = re.compile(
    r"Predicated-On ([FD])(FMA|ADD|MUL) (Operations Per Cycle|Thread Instructions Executed Per Cycle)"
)
ACHIEVED: dict[str, str] = {
    "SM Frequency": "smsp__cycles_elapsed.avg.per_second",
    "DRAM Bandwidth": "dram__bytes.sum.per_second",
}


def metric_of(section: str, name: str, body_item: str = "") -> str:
    """The metric that a row of the long layout speaks of; ``"section: label"`` where no row of the table knows it."""
    # --print-metric-name gives the name itself, alone or behind the label.
    spelled = METRIC_NAME.search(name)
    if spelled is not None and (spelled[0] == name or name.endswith((spelled[0], f"({spelled[0]})"))):
        return spelled[0]
    if not section or section == "Command line profiler metrics":
        return name
    if "Roofline" in section:
        metric = _of_a_roofline(name, body_item)
    else:
        metric = next((known for (start, label), known in LABELS.items()
                       if label == name and section.startswith(start)), None)  # fmt: skip
    if metric is not None:
        return metric
    return f"{section}: {body_item}: {name}" if body_item else f"{section}: {name}"


def _of_a_roofline(name: str, body_item: str) -> str | None:
    """The metric of a line of the achieved value, or of none of the chart's parts."""
    if body_item and "Achieved" not in body_item:
        return None
    operations = OPERATIONS.fullmatch(name)
    if operations is None:
        return ACHIEVED.get(name) if body_item else None
    base = f"smsp__sass_thread_inst_executed_op_{operations[1].lower()}{operations[2].lower()}_pred_on"
    # "Operations" counts a fused multiply-add as two.
    is_doubled = operations[2] == "FMA" and operations[3].startswith("Operations")
    return f"derived__{base}_x2" if is_doubled else f"{base}.sum.per_cycle_elapsed"
