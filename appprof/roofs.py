"""The roofs of one profile: measured, the report's own, or theoretical, each of the same quantity as its points. Pure.

For every quantity the best source that has it is taken: the machine model (measured, brought to the clock of the
profile where the SM clock governs it), then the report's peak-sustained values, then the GPU catalogue with the
report's device attributes. Physical limits are kept apart from all of these, since only above one is a rate impossible.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from appprof.application import ApplicationModel, Chip
from appprof.counts.peaks import Peak
from appprof.metrics import BYTE_DEFINITIONS
from appprof.metrics_events import SCHEDULERS_FROM, SCHEDULERS_PER_SM
from appprof.roof_index import highest, index_ceilings, path_keys, peak_keys
from appprof.same_gpu import check_same_gpu
from ert_numba.catalog.gpus import Gpu, Rate, gpu_of, largest_of
from ert_numba.machine import Ceiling, MachineModel
from ert_numba.units import si

MACHINE, REPORT, CATALOGUE = "machine", "report", "catalogue"
SOURCE_WORDS = {
    MACHINE: "measured on this machine",
    REPORT: "the vendor's peak, as the report states it",
    CATALOGUE: "theoretical, from the GPU catalogue",
}
ISSUE = "issue"
# Levels whose bandwidth follows the SM clock; L2 and device memory have clocks of their own.
SM_CLOCKED = ("SHARED", "L1")
# Reads and writes have ways of their own between L2 and the SMs: the known limit is of one, and none of their sum.
_BOTH_WAYS = ("L2.sm",)
_CATALOGUE_BYTES = {"SHARED": "SHARED.read", "L1": "L1.read"}
TRANSFERS_PER_CLOCK = 2
_LIMIT_WORDS = {
    MACHINE: "the physical limit in the machine model",
    REPORT: "the vendor's peak in the report",
    CATALOGUE: "the theoretical limit",
}


class Roof(msgspec.Struct, frozen=True, kw_only=True):
    """One roof at the clock of the profile, in FLOP/s (OP/s) or B/s.

    ``key`` is that of the quantity it stands over (``fp16.tensor.wgmma``, ``DRAM``); ``name`` that of where it came
    from. ``high`` is the upper end of its interval. ``at_maximum`` is the same roof at the clock that it was measured
    at, or at the device's highest; None where that is not known or the same. ``limit`` is the physical limit at the
    profile's clock. ``note`` says what a reader must know.
    """

    key: str
    value: float
    high: float
    source: str
    name: str
    unit: str
    at_maximum: float | None = None
    limit: float | None = None
    limit_name: str = ""
    note: str = ""


Clocks = Mapping[str, float]


class RoofBook(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that roofs of one profile can be made of. ``notes`` are for the page."""

    chip: Chip
    machine: MachineModel | None
    ceilings: dict[str, Ceiling]  # the fastest by the key of a path or by level and access
    reported: dict[str, Peak]  # the highest by the key of a path or a byte definition
    rates: dict[str, Rate]  # the catalogue's highest by the key of a path or by level and access
    gpu: Gpu | None
    assumed: bool
    notes: tuple[str, ...]

    def compute(self, precision: str, path: str, sparse: bool, clocks: Clocks) -> Roof | None:
        """The roof of a path; of ``tensor`` alone, whose instruction is not known, the fastest instruction's."""
        key, unit = f"{precision}.{path}" + (".sparse" if sparse else ""), _unit(precision)
        measured = self.ceilings.get(key)
        return _best(
            None if measured is None else _scaled(key, measured, clocks, by_sm_clock=True),
            self._reported(key, unit, clocks),
            self._catalogued(key, unit, key, clocks),
        )

    def unfused(self, precision: str, clocks: Clocks) -> float | None:
        """FLOP/s of a precision's additions and multiplications that are not fused, where it was measured."""
        key = f"{precision}.vector.add"
        row = self.machine.ceiling(key) if self.machine is not None else None
        return None if row is None or row.impossible else _scaled(key, row, clocks, by_sm_clock=True).value

    def bandwidth(self, definition: str, clocks: Clocks) -> Roof | None:
        """The roof of the bytes of one definition; None where nothing measures the same bytes."""
        level = BYTE_DEFINITIONS[definition].level
        measured = self.ceilings.get(BYTE_DEFINITIONS[definition].machine_roof)
        roof = _best(
            None if measured is None else _scaled(definition, measured, clocks, by_sm_clock=level in SM_CLOCKED),
            self._reported(definition, "B/s", clocks),
            self._theory_of_level(definition, level, clocks),
        )
        if roof is not None and definition in _BOTH_WAYS:
            return msgspec.structs.replace(roof, limit=None, limit_name="")
        return roof

    def issue(self, clocks: Clocks) -> Roof | None:
        """Warp instructions a second that the schedulers can issue, one a clock each: a limit, not a measurement."""
        chip = self.chip.compute_capability
        sms = self.chip.sm_count or (self.gpu.sm_count if self.gpu else None)
        fastest = self.chip.maximum_sm_clock_hz or (self.gpu.maximum_clock_hz if self.gpu else None)
        clock = clocks.get("sm", fastest)
        if not sms or not clock or chip is None or chip < SCHEDULERS_FROM:
            return None
        value = float(SCHEDULERS_PER_SM * sms) * clock
        return Roof(
            key=ISSUE, value=value, high=value, source=CATALOGUE, unit="inst/s", limit=value,
            name=f"{SCHEDULERS_PER_SM} schedulers an SM x {sms} SMs x {si(clock, 'Hz', 4)}, an instruction a clock",
            at_maximum=SCHEDULERS_PER_SM * sms * fastest if fastest and fastest != clock else None,
            note="" if "sm" in clocks else "not at the profile's clock, which is not known: at the device's highest",
        )  # fmt: skip

    @property
    def launch_seconds(self) -> tuple[float, str] | None:
        """The measured cost of one launch and the key of its ceiling, the cheapest way to launch."""
        rows = [row for row in self.machine.roofs("overhead") if row.key.startswith("launch")] if self.machine else []
        best = min(rows, key=lambda row: row.value, default=None)
        return None if best is None else (best.value, best.key)

    def _reported(self, key: str, unit: str, clocks: Clocks) -> Roof | None:
        row = self.reported.get(key)
        if row is None:
            return None
        value = row.per_cycle * clocks.get(row.unit, row.clock_hz)
        fastest = self.chip.maximum_sm_clock_hz if row.unit in ("sm", "l1tex") else None
        return Roof(
            key=key, value=value, high=value, source=REPORT, name=row.origin.metrics[0], unit=unit, limit=value,
            at_maximum=row.per_cycle * fastest if fastest else None,
        )  # fmt: skip

    def _catalogued(self, key: str, unit: str, rate_key: str, clocks: Clocks) -> Roof | None:
        gpu, rate = self.gpu, self.rates.get(rate_key)
        sms = self.chip.sm_count or (gpu.sm_count if gpu else None)
        fastest = self.chip.maximum_sm_clock_hz or (gpu.maximum_clock_hz if gpu else None)
        clock = clocks.get("sm", fastest)
        if rate is None or not sms or not clock or gpu is None:
            return None
        value = rate.per_cycle * sms * clock
        return Roof(
            key=key, value=value, high=value, source=CATALOGUE, unit=unit, limit=value,
            name=f"{gpu.product}: {rate.per_cycle:.6g} a cycle and SM x {sms} SMs x {si(clock, 'Hz', 4)}",
            at_maximum=rate.per_cycle * sms * fastest if fastest and fastest != clock else None,
            note=f"assumed to be of {gpu.product}, since the file names no product" if self.assumed else "",
        )  # fmt: skip

    def _theory_of_level(self, definition: str, level: str, clocks: Clocks) -> Roof | None:
        rate = _CATALOGUE_BYTES.get(level)
        if rate is not None:
            return self._catalogued(definition, "B/s", rate, clocks)
        value, name, note = None, "", ""
        if level == "DRAM" and self.chip.memory_bus_bits and self.chip.maximum_memory_clock_hz:
            bus, clock = self.chip.memory_bus_bits, self.chip.maximum_memory_clock_hz
            value = bus / 8 * TRANSFERS_PER_CLOCK * clock
            name = f"device attributes: {bus} bit x {TRANSFERS_PER_CLOCK} x {si(clock, 'Hz', 4)}"
        elif level == "L2" and definition != "L2.all" and self.gpu and self.gpu.l2_bytes_per_second:
            value, name = self.gpu.l2_bytes_per_second, self.gpu.l2_source
            note = f"assumed to be of {self.gpu.product}, since the file names no product" if self.assumed else ""
        if value is None:
            return None
        return Roof(key=definition, value=value, high=value, source=CATALOGUE, name=name, unit="B/s", limit=value,
                    note=note)  # fmt: skip


def make_roofs(model: ApplicationModel, machine: MachineModel | None = None, force: bool = False) -> RoofBook:
    """The roofs that a profile is to be judged by. Raises NotComparable for a machine model of another GPU.

    ``force`` takes that machine's roofs all the same and says so in the notes.
    """
    notes = [] if machine is None else check_same_gpu(model.chip, machine, force)
    chip = model.chip
    if machine is not None and chip.name is None:  # taken on trust, as the notes say
        device = machine.device
        chip = msgspec.structs.replace(
            chip, name=device.name, sm_count=chip.sm_count or device.units,
            maximum_sm_clock_hz=chip.maximum_sm_clock_hz or device.maximum_clock_hz,
        )  # fmt: skip
    gpu = gpu_of(chip.name, chip.compute_capability) if chip.name and chip.compute_capability else None
    assumed = not chip.name and chip.compute_capability is not None
    if assumed and chip.compute_capability is not None:
        gpu = largest_of(chip.compute_capability)
    if assumed and gpu is not None:
        notes.append(
            f"The profile names no product: its limits are taken to be those of the largest listed GPU of its compute "
            f"capability, {gpu.product}, {chip.sm_count or gpu.sm_count} SMs at "
            f"{si(chip.maximum_sm_clock_hz or gpu.maximum_clock_hz or 0.0, 'Hz', 4)}."
        )
    return RoofBook(
        chip=chip, machine=machine, gpu=gpu, assumed=assumed, notes=tuple(notes), ceilings=index_ceilings(machine),
        reported=highest(((key, row) for row in model.peaks for key in peak_keys(row)), lambda row: row.per_second),
        rates=highest(((key, row) for row in (gpu.rates if gpu else ()) for key in path_keys(row.key)),
                       lambda row: row.per_cycle),
    )  # fmt: skip


def _best(*found: Roof | None) -> Roof | None:
    """The first of measured, reported and theoretical that there is, under the best limit that there is."""
    rows = [row for row in found if row is not None]
    if not rows:
        return None
    # The report's limit is of the very counter, at the very clock; a measured ceiling's comes next.
    limits = sorted((row for row in rows if row.limit), key=lambda row: row.source != REPORT)
    if not limits:
        return rows[0]
    return msgspec.structs.replace(rows[0], limit=limits[0].limit, limit_name=_LIMIT_WORDS[limits[0].source])


def _scaled(key: str, row: Ceiling, clocks: Clocks, by_sm_clock: bool) -> Roof:
    """A measured ceiling at the profile's clock, with what stood in the way of that."""
    factor, limit, note = 1.0, row.limit, ""
    if by_sm_clock and row.clock_hz is not None and "sm" in clocks:
        own = sum(row.clock_hz) / 2
        factor = clocks["sm"] / own
        limit = row.limit and row.limit * clocks["sm"] / row.clock_hz[1]
        note = f"measured at {si(own, 'Hz', 4)}, brought to the profile's {si(clocks['sm'], 'Hz', 4)}"
    elif by_sm_clock:
        side = "the clock of the profile" if row.clock_hz is not None else "the clock that it was measured at"
        note = f"not brought to the profile's clock: {side} is not known"
    note = "; ".join(filter(None, (note, "noisy" if row.noisy else "", "" if row.verified else "not verified")))
    moved = row.value * row.traffic_ratio
    return Roof(
        key=key, value=moved * factor, high=row.high * row.traffic_ratio * factor, source=MACHINE, name=row.key,
        unit=row.unit, note=note, limit=limit, at_maximum=moved if factor != 1.0 else None,
    )  # fmt: skip


def _unit(precision: str) -> str:
    return "OP/s" if precision.startswith("int") else "FLOP/s"
