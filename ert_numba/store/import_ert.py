"""Read the ``roofline.json`` of the Empirical Roofline Toolkit (ERT) into a machine model, as claims.

Its rates are in GFLOP/s and GB/s, both of 1e9. Source: ``Python/ert_core.py``, ``Scripts/`` of uo-cdux/ert-mirror.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from ert_numba.catalog.precisions import BY_KEY as PRECISIONS
from ert_numba.errors import ErtError
from ert_numba.files import read_text
from ert_numba.machine import Ceiling, MachineModel
from ert_numba.records import AxisValue, DeviceInfo, Limit, Skipped
from ert_numba.store.ert_metadata import Metadata, architecture, configuration, flatten, is_gpu, measured_at, version
from ert_numba.store.magnitudes import is_usable
from ert_numba.store.provenance import collect

UNNAMED = "imported from ERT"  # the device
_GIGA = 1e9
_MAXIMUM_BYTES = 1 << 26
_ASKED = "to import a roofline.json of ERT"
_REMEDY = "Name the roofline.json that ERT writes into its results folder (Results.*/Run.*/roofline.json)"
_MOST_RATES = 1000  # ERT writes one for each precision or level
_NOTES = (
    "Imported from ERT: nothing here was measured or checked by this tool, and no value has an interval.",
    "ERT names levels by their order: the slowest plateau is called DRAM whatever it is.",
    "ERT does not check its compiled kernel: work that the compiler removed shows as rates above the machine's.",
)
_NO_INTERVAL = "ERT states no interval: low and high repeat the value"
_CONDITIONS = {
    "FLOPS": "flop_per_element",
    "OPENMP_THREADS": "openmp_threads",
    "MPI_PROCS": "mpi_processes",
    "GPU_BLOCKS": "gpu_blocks",
    "GPU_THREADS": "gpu_threads",
}


class _Part(msgspec.Struct, frozen=True):
    data: tuple[tuple[str, float], ...] = ()
    metadata: Metadata = {}


class _Empirical(msgspec.Struct, frozen=True):
    gflops: _Part
    gbytes: _Part
    metadata: Metadata = {}


class _Spec(msgspec.Struct, frozen=True):
    gflops: _Part = _Part()
    gbytes: _Part = _Part()


class _Roofline(msgspec.Struct, frozen=True):
    empirical: _Empirical
    spec: _Spec = _Spec()


def import_ert(path: Path, name: str = "") -> MachineModel:
    """The machine model that an ERT result claims; every ceiling has ``verified=False``. Raises ErtError.

    ``name`` names the device: ERT's file knows only its host name, which is private and stays out.
    """
    path = Path(path)
    roofline = _decode(path)
    _check(path, roofline)
    empirical = roofline.empirical
    compute_facts = flatten(empirical.metadata, empirical.gflops.metadata)
    memory_facts = flatten(empirical.metadata, empirical.gbytes.metadata)
    facts = memory_facts | compute_facts
    compute = _numbered(_compute(label, value, compute_facts) for label, value in empirical.gflops.data if value)
    bandwidth = _numbered(_bandwidth(label, value, memory_facts) for label, value in empirical.gbytes.data if value)
    if not compute and not bandwidth:
        raise ErtError(_ASKED, f"{path} holds no rate", "ERT's run may have failed: look into its try.001 files")
    limits, notes = _claims(roofline.spec, compute, bandwidth)
    measured = measured_at(facts)
    return MachineModel(
        run=f"{measured:%Y-%m-%dT%H%M}-ert" if measured else "unknown-time-ert",
        device=_device(name.strip() or UNNAMED, facts, limits),
        ceilings=compute + bandwidth,
        skipped=tuple(_skipped(empirical)),
        notes=_NOTES + ((f"Measured {measured:%Y-%m-%d} (UTC).",) if measured else ()) + notes,
        provenance=collect(versions={"ERT": version(facts)}),
    )


def _decode(path: Path) -> _Roofline:
    data = read_text(path, _ASKED, _MAXIMUM_BYTES)
    try:
        return msgspec.json.decode(data, type=_Roofline)
    except msgspec.ValidationError as error:
        raise ErtError(_ASKED, f"{path}: {error}", _REMEDY) from error
    except msgspec.DecodeError as error:
        raise ErtError(_ASKED, f"{path} is no whole JSON: {error}", _REMEDY) from error
    except UnicodeDecodeError as error:  # from msgspec before 0.23
        raise ErtError(_ASKED, f"{path} is no UTF-8 text: {error}", _REMEDY) from error
    except RecursionError as error:
        raise ErtError(_ASKED, f"{path} is nested too deeply", _REMEDY) from error


def _check(path: Path, roofline: _Roofline) -> None:
    for side, parts in (("empirical", roofline.empirical), ("spec", roofline.spec)):
        for name, part in (("gflops", parts.gflops), ("gbytes", parts.gbytes)):
            if len(part.data) > _MOST_RATES:
                raise ErtError(_ASKED, f"{path}: {side}.{name}.data has {len(part.data)} rates", _REMEDY)
            for index, (label, value) in enumerate(part.data):
                if value < 0 or not is_usable(value * _GIGA):
                    found = f"{path}: {side}.{name}.data[{index}] ({_short(label)!r}) is {value!r}"
                    raise ErtError(_ASKED, found, "A rate must be positive: run ERT again, or correct the file")


def _compute(label: str, value: float, facts: Metadata) -> Ceiling:
    precision = _precision(label) or _precision(configuration(facts).get("ERT_PRECISION", ""))
    doubt = "" if precision else "; no precision is named (ERT's default is FP64)"
    return Ceiling(
        key=f"{precision or 'unknown'}.vector.fma",
        kind="compute",
        value=value * _GIGA,
        low=value * _GIGA,
        high=value * _GIGA,
        unit="FLOP/s",
        precision=precision,
        path="vector.fma",
        verified=False,
        kernel="ert",
        conditions=_conditions(facts),
        note=f"ERT calls it {_short(label)!r}{doubt}; {_NO_INTERVAL}",
    )


def _bandwidth(label: str, value: float, facts: Metadata) -> Ceiling:
    return Ceiling(
        key=f"{_level(label)}.update",
        kind="bandwidth",
        value=value * _GIGA,
        low=value * _GIGA,
        high=value * _GIGA,
        unit="B/s",
        level=_level(label),
        access="update",
        verified=False,
        kernel="ert",
        conditions=_conditions(facts),
        note=f"ERT calls it {_short(label)!r}, a guess by order; reads and writes in place; {_NO_INTERVAL}",
    )


def _short(label: str) -> str:
    """A name out of a file as one line that a terminal can show."""
    return "".join(letter if letter.isprintable() else "?" for letter in label[:80])


def _level(label: str) -> str:
    return "-".join(re.findall(r"\w+", label))[:40] or "unnamed"


def _precision(text: str) -> str | None:
    """The one precision that a text names, as a key of the catalogue; None where it names none or several."""
    named = {word.lower() for word in re.findall(r"\w+", text)} & PRECISIONS.keys()
    return named.pop() if len(named) == 1 else None


def _conditions(facts: Metadata) -> dict[str, AxisValue]:
    """What ERT ran, as far as it moves the figures; no flag with a path, which may name people and machines."""
    texts = {name: str(facts.get(key, "")) for key, name in _CONDITIONS.items()}
    conditions: dict[str, AxisValue] = {name: int(t) for name, t in texts.items() if re.fullmatch(r"[0-9]{1,12}", t)}
    flags = [
        word for word in configuration(facts).get("ERT_CFLAGS", "").split() if "/" not in word and word.isprintable()
    ]
    if flags:
        conditions["compiler_flags"] = " ".join(flags)[:1000]
    return conditions


def _numbered(ceilings: Iterable[Ceiling]) -> tuple[Ceiling, ...]:
    """Give a second ceiling of one key a number, so that each key names one."""
    rows: dict[str, Ceiling] = {}
    for ceiling in ceilings:
        key, count = ceiling.key, 1
        while key in rows:
            count += 1
            key = f"{ceiling.key}.{count}"
        rows[key] = ceiling if count == 1 else msgspec.structs.replace(ceiling, key=key, variant=str(count))
    return tuple(rows.values())


def _claims(
    spec: _Spec, compute: tuple[Ceiling, ...], bandwidth: tuple[Ceiling, ...]
) -> tuple[tuple[Limit, ...], tuple[str, ...]]:
    """Vendor figures that a person typed into ERT's configuration: limits where they bound one ceiling, else notes."""
    bounds = [(label, value, "GFLOP/s", compute) for label, value in spec.gflops.data if value]
    for label, value in spec.gbytes.data:
        if value:
            bounds.append((label, value, "GB/s", tuple(row for row in bandwidth if row.level == _level(label))))
    limits: list[Limit] = []
    notes: list[str] = []
    for label, value, unit, bounded in bounds:
        if len(bounded) != 1:
            notes.append(
                f"Typed into ERT's configuration: {_short(label)!r} {value:g} {unit}; it bounds no one ceiling."
            )
            continue
        limits.append(Limit(key=bounded[0].key, per_second=value * _GIGA, source="typed into ERT's configuration"))
        if bounded[0].value > value * _GIGA:
            notes.append(f"{bounded[0].key} lies above the {value:g} {unit} that was typed in for it.")
    return tuple(limits), tuple(notes)


def _skipped(empirical: _Empirical) -> Iterator[Skipped]:
    for part in (empirical.gflops, empirical.gbytes):
        for label, value in part.data:
            if not value:
                yield Skipped(what=_short(label) or "unnamed", reason="ERT's file says 0: it was not measured")


def _device(name: str, facts: Metadata, limits: tuple[Limit, ...]) -> DeviceInfo:
    gpu = is_gpu(facts)
    return DeviceInfo(
        kind="gpu" if gpu else "cpu",
        name=name,
        vendor="unknown",
        architecture="unknown" if gpu else architecture(facts),
        units=1,
        limits=limits,
        notes=("ERT's file describes no device: name, counts and sizes are unknown.",),
    )
