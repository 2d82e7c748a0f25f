"""Which processors this process may use, how they share cores, sockets and memory nodes, and how much of them."""

from __future__ import annotations

import math
import os
from pathlib import Path

import msgspec

SYSFS = Path("/sys/devices/system")
CGROUP = Path("/sys/fs/cgroup")
HYBRID_CLOCK_RATIO = 1.15  # a favoured core of a common kind boosts some 5 % higher; efficient ones stay 20 % lower


class Processor(msgspec.Struct, frozen=True, kw_only=True):
    """One hardware thread. ``core`` and ``socket`` are unique in the machine; ``kind``: its maximum clock, P or E."""

    cpu: int
    core: int
    socket: int
    node: int
    kind: int = 0


class Topology(msgspec.Struct, frozen=True, kw_only=True):
    """What may be used. ``quota`` is the share of processors that the cgroup grants, None where it sets none."""

    processors: tuple[Processor, ...]
    quota: float | None = None

    @property
    def placement(self) -> tuple[Processor, ...]:
        """The order in which workers take them: one a core, socket by socket, fastest kind first; then siblings."""
        first: dict[int, int] = {}
        for row in self.processors:
            first.setdefault(row.core, row.cpu)
        return tuple(
            sorted(self.processors, key=lambda row: (first[row.core] != row.cpu, row.socket, -row.kind, row.cpu))
        )

    @property
    def cores(self) -> int:
        """Physical cores that may be used at once: never more than the quota pays for, at least one."""
        physical = len({row.core for row in self.processors})
        return physical if self.quota is None else max(1, min(physical, math.floor(self.quota)))

    @property
    def hybrid(self) -> bool:
        """Cores of different make: their maximum clocks differ by more than favoured cores of one make do."""
        clocks = [row.kind for row in self.processors]
        return max(clocks) > HYBRID_CLOCK_RATIO * min(clocks) > 0

    @property
    def sockets(self) -> int:
        return len({row.socket for row in self.placement[: self.cores]})

    @property
    def socket_cores(self) -> int:
        """Those of ``cores`` that are on the first socket."""
        used = self.placement[: self.cores]
        return sum(row.socket == used[0].socket for row in used)

    @property
    def nodes(self) -> int:
        return len({row.node for row in self.processors})

    def on_another_node(self, cpu: int) -> int | None:
        """A processor of another memory node, or None."""
        home = next(row.node for row in self.processors if row.cpu == cpu)
        return next((row.cpu for row in self.processors if row.node != home), None)


def probe(sysfs: Path = SYSFS, cgroup: Path = CGROUP) -> Topology:
    """Read sysfs; without it (containers) every allowed processor counts as a core of one socket."""
    nodes = _nodes(sysfs / "node")
    rows = []
    for cpu in sorted(os.sched_getaffinity(0)):
        folder = sysfs / "cpu" / f"cpu{cpu}" / "topology"
        socket = _number(folder / "physical_package_id", 0)
        kind = _number(sysfs / "cpu" / f"cpu{cpu}" / "cpufreq" / "cpuinfo_max_freq", 0)
        rows.append(Processor(cpu=cpu, core=_core(folder, cpu), socket=socket, node=nodes.get(cpu, 0), kind=kind))
    return Topology(processors=tuple(rows), quota=_quota(cgroup))


def _core(folder: Path, cpu: int) -> int:
    """The first hardware thread of the core: core_id repeats from socket to socket, on Arm also within one."""
    for name in ("core_cpus_list", "thread_siblings_list"):
        try:
            return min(parse_cpu_list((folder / name).read_text()), default=cpu)
        except (OSError, ValueError):
            continue
    return cpu


def _number(path: Path, default: int) -> int:
    try:
        return int(path.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return default


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """``'0-3,8'`` is (0, 1, 2, 3, 8): the kernel's list format."""
    cpus: list[int] = []
    for part in filter(None, text.strip().split(",")):
        low, _, high = part.partition("-")
        cpus.extend(range(int(low), int(high or low) + 1))
    return tuple(cpus)


def _nodes(folder: Path) -> dict[int, int]:
    found: dict[int, int] = {}
    for path in sorted(folder.glob("node[0-9]*/cpulist")):
        for cpu in parse_cpu_list(path.read_text()):
            found[cpu] = int(path.parent.name.removeprefix("node"))
    return found


def _quota(cgroup: Path) -> float | None:
    """Processors that the cgroups grant, the tightest of those above this process (version 2, then version 1)."""
    grants = []
    for folder in _own_cgroups(cgroup):
        try:
            limit, length = (folder / "cpu.max").read_text().split()
            if limit != "max":
                grants.append(int(limit) / int(length))
        except (OSError, ValueError, ZeroDivisionError):
            continue
    quota, period = _number(cgroup / "cpu/cpu.cfs_quota_us", -1), _number(cgroup / "cpu/cpu.cfs_period_us", 100000)
    if quota > 0 and period > 0:
        grants.append(quota / period)
    return min(grants, default=None)


def _own_cgroups(cgroup: Path) -> list[Path]:
    """The process's own group and those above it, nearest first."""
    try:
        name = Path("/proc/self/cgroup").read_text().rsplit("::", 1)[-1].strip()
    except OSError:
        name = "/"
    own = cgroup / name.lstrip("/")
    return [own, *(parent for parent in own.parents if parent.is_relative_to(cgroup))]


def memory_limit_bytes(cgroup: Path = CGROUP) -> int:
    """Memory that may be used: what is available, or the cgroup's limit where less; 0 where neither can be read."""
    available = 0
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                available = int(line.split()[1]) * 1024
    except OSError:
        pass
    limits = [_number(folder / "memory.max", 0) for folder in _own_cgroups(cgroup)]
    limits.append(_number(cgroup / "memory/memory.limit_in_bytes", 0))
    return min((value for value in (*limits, available) if value > 0), default=0)
