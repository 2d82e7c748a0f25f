"""Small application models, from files in ``tests/data`` or made by hand, for every suite right of the readers."""

from __future__ import annotations

from pathlib import Path

from example_models import PROVENANCE

from appprof.application import ApplicationModel, Cell, Chip, LevelBytes, PathFlop
from appprof.gather import gather
from appprof.report.read import read_report

DATA = Path(__file__).parents[1] / "data" / "ncu"
H200 = Chip(
    name="NVIDIA H200", compute_capability=(9, 0), sm_count=132, maximum_sm_clock_hz=1.98e9,
    maximum_memory_clock_hz=3.201e9, memory_bus_bits=6016,
)  # fmt: skip


def models_of(*paths: Path | str) -> tuple[ApplicationModel, ...]:
    """The models of files; a name without a folder is one of ``tests/data/ncu``."""
    whole = [Path(path) if Path(path).is_absolute() else DATA / path for path in paths]
    return gather(read_report(whole), "2026-11-29-test", PROVENANCE)


def model_of(*paths: Path | str) -> ApplicationModel:
    (model,) = models_of(*paths)
    return model


def flop(key: str, value: float, fused: float | None = None, **fields: object) -> PathFlop:
    """``flop("fp32.vector", 1e9, fused=1e9)``."""
    precision, _, path = key.partition(".")
    return PathFlop(precision=precision, path=path, value=value, fused=fused, **fields)  # type: ignore[arg-type]


def traffic(**amounts: float) -> tuple[LevelBytes, ...]:
    """``traffic(DRAM=1e9, L2_sm=2e9)``: an underscore stands for the dot of a definition."""
    return tuple(
        LevelBytes(level=key.split("_")[0], definition=key.replace("_", "."), value=value)
        for key, value in amounts.items()
    )


def cell(kernel: str = "k", seconds: float | None = 1e-3, launches: int = 1, **fields: object) -> Cell:
    settings: dict[str, object] = {
        "flop_status": "complete", "shortest_seconds": seconds and seconds / max(launches, 1),
        "longest_seconds": seconds and seconds / max(launches, 1), "clocks_hz": {"sm": 1.98e9}, "grid": (1, 1, 1),
        "block": (128, 1, 1), "source": "made.csv",
    }  # fmt: skip
    return Cell(kernel=kernel, seconds=seconds, launches=launches, **{**settings, **fields})  # type: ignore[arg-type]


def application(*cells: Cell, chip: Chip = H200, **fields: object) -> ApplicationModel:
    return ApplicationModel(run="made", chip=chip, cells=cells, provenance=PROVENANCE, **fields)  # type: ignore[arg-type]
