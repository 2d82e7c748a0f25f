"""Whether a machine model and a profile are of one kind of GPU: roofs of another say nothing of a kernel. Pure."""

from __future__ import annotations

from appprof.application import Chip
from ert_numba.errors import NotComparable
from ert_numba.machine import MachineModel


def check_same_gpu(chip: Chip, machine: MachineModel, force: bool) -> list[str]:
    """Notes for the page. Raises NotComparable for unlike GPUs; ``force`` makes a loud note of it instead."""
    device = machine.device
    unlike = []
    if device.kind != "gpu":
        unlike.append(f"the machine model is of a {device.kind.upper()}, {device.name}")
    if chip.architecture is not None and chip.architecture != device.architecture:
        unlike.append(f"compute capability {chip.architecture} beside {device.architecture}")
    if chip.name is not None and chip.name.casefold() != device.name.casefold():
        unlike.append(f"{chip.name} beside {device.name}")
    if chip.sm_count is not None and chip.sm_count != device.units:
        unlike.append(f"{chip.sm_count} SMs beside {device.units}")
    if not unlike:
        lacking = "no product" if chip.name is None else ""
        lacking = "no GPU at all" if chip.architecture is None and chip.name is None else lacking
        words = f"The profile names {lacking}: it was taken on trust that it is of {device.name}, the machine model's."
        return [words] if lacking else []
    if force and device.kind == "gpu":
        return [f"FORCED: the roofs were measured on another GPU than the profile ({'; '.join(unlike)})."]
    raise NotComparable(
        "the roofs of the machine model under a profile",
        f"they are of different devices: {'; '.join(unlike)}",
        "Give the machine model of the profiled GPU, or none"
        + (", or --force to draw these roofs with a mark" if device.kind == "gpu" else ""),
    )
