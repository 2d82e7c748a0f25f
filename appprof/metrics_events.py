"""The metrics of the instruction roofline: warp instructions, their threads, and what they asked of global memory."""

from __future__ import annotations

import msgspec


class EventCounter(msgspec.Struct, frozen=True):
    """Events of the instruction roofline: the sum of ``names``, all of them or none. Earlier rows are preferred.

    ``ratio_of``: the name is an average per event of that key, kept as ``.ratio``.
    """

    event: str
    names: tuple[str, ...]
    ratio_of: str = ""


# Warp instructions; instructions of threads that were active, or also not predicated off; requests of loads and stores
# to global memory with the 32-byte sectors they touched; instructions on shared memory with the cycles (wavefronts)
# that they took. The names are those of NVIDIA's own table from nvprof's metrics to these, from 7.0 on. Requests, and
# not ``smsp__inst_executed_op_global_*``: generic loads are in the sectors and not in the latter.
WARP, THREADS, THREADS_ON = "warp_instructions", "thread_instructions", "thread_instructions_on"
GLOBAL, GLOBAL_SECTORS = "global_requests", "global_sectors"
EVENT_COUNTERS: tuple[EventCounter, ...] = (
    EventCounter(WARP, ("smsp__inst_executed",)),
    EventCounter(WARP, ("sm__inst_executed",)),
    EventCounter(THREADS, ("smsp__thread_inst_executed",)),
    EventCounter(THREADS, ("smsp__thread_inst_executed_per_inst_executed",), ratio_of=WARP),
    EventCounter(THREADS_ON, ("smsp__thread_inst_executed_pred_on",)),
    EventCounter(THREADS_ON, ("smsp__thread_inst_executed_pred_on_per_inst_executed",), ratio_of=WARP),
    EventCounter(GLOBAL, tuple(f"l1tex__t_requests_pipe_lsu_mem_global_op_{way}" for way in ("ld", "st"))),
    EventCounter(GLOBAL_SECTORS, tuple(f"l1tex__t_sectors_pipe_lsu_mem_global_op_{way}" for way in ("ld", "st"))),
)
# Bytes of whole sectors, both ways: divided by 32 they are the transactions of the instruction roofline.
TRANSACTIONS = ("L1.tag", "L2.sm", "DRAM")
# Warp schedulers of an SM from compute capability 7.0 on; each issues one instruction a clock (98.8 % of this was
# reached on an H200, and ncu's own percentage of the peak is of the same).
SCHEDULERS_PER_SM, SCHEDULERS_FROM = 4, (7, 0)
WARP_THREADS = 32
