"""Trees of /sys and /sys/fs/cgroup for machines that we do not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path


def write(path: Path, text: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


def cpu(
    sysfs: Path,
    number: int,
    *,
    socket: int = 0,
    core: int | None = None,
    siblings: str | None = None,
    maximum_khz: int | None = None,
) -> None:
    """One processor's topology; what is None is not written."""
    folder = sysfs / "cpu" / f"cpu{number}"
    write(folder / "topology/physical_package_id", socket)
    if core is not None:
        write(folder / "topology/core_id", core)
    if siblings is not None:
        write(folder / "topology/thread_siblings_list", siblings)
    if maximum_khz is not None:
        write(folder / "cpufreq/cpuinfo_max_freq", maximum_khz)


def cache(sysfs: Path, number: int, index: int, level: int, size: str, shared: str, kind: str = "Unified") -> None:
    folder = sysfs / "cpu" / f"cpu{number}" / "cache" / f"index{index}"
    for name, value in (("level", level), ("size", size), ("shared_cpu_list", shared), ("type", kind)):
        write(folder / name, value)


def nodes(sysfs: Path, lists: Mapping[int, str]) -> None:
    for node, cpus in lists.items():
        write(sysfs / "node" / f"node{node}" / "cpulist", cpus)


def server(sysfs: Path, sockets: int = 2, cores: int = 4, threads: int = 2) -> list[int]:
    """A server as Linux numbers it: all first threads of all cores, then their siblings. Returns its processors."""
    total = sockets * cores
    for number in range(total * threads):
        first = number % total
        siblings = ",".join(str(first + total * thread) for thread in range(threads))
        cpu(sysfs, number, socket=first // cores, core=first % cores, siblings=siblings)
        base = first // cores * cores
        together = ",".join(f"{base + total * t}-{base + cores - 1 + total * t}" for t in range(threads))
        cache(sysfs, number, 0, 1, "32K", siblings, "Data")
        cache(sysfs, number, 1, 1, "32K", siblings, "Instruction")
        cache(sysfs, number, 2, 2, "1024K", siblings)
        cache(sysfs, number, 3, 3, "32768K", together)
    nodes(
        sysfs,
        {
            socket: ",".join(
                f"{socket * cores + total * t}-{socket * cores + cores - 1 + total * t}" for t in range(threads)
            )
            for socket in range(sockets)
        },
    )
    return list(range(total * threads))


def allow(monkeypatch: object, cpus: Iterable[int]) -> None:
    """What sched_getaffinity tells."""
    chosen = set(cpus)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: chosen)  # type: ignore[attr-defined]
