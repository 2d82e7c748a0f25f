"""What one launch did: the numbers that a roofline needs, or the reason why one is not known.

Unknown is never 0. A quantity of which only a part was counted says so in ``bound``.
"""

from __future__ import annotations

import msgspec


class Origin(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How a number was made: the metrics that went in and the form that they were stored in.

    ``form`` is ``"sum"``, ``"rate x time"``, ``"per cycle x cycles"``, ``"label"`` (a rounded line of the details page)
    or ``"instructions x factor"``. Several forms in one number are joined by ``", "``.
    """

    metrics: tuple[str, ...]
    form: str = "sum"


class Quantity(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A number in an SI base unit. ``rounding`` is the largest error that the decimals of the file allow."""

    value: float
    rounding: float = 0.0
    origin: Origin


class Flop(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Operations of one path in one launch; integer operations too (then the precision is ``int8`` ...).

    ``path`` is ``"vector"``, ``"tensor.mma.sync"``, ``"tensor.wgmma"``, ``"tensor.tcgen05"``, or ``"tensor"`` where the
    counters do not tell the instruction. ``fused`` is the part of ``value`` that fused multiply-adds did (vector only).
    ``bound``: ``"exact"``; ``"lower"`` where counters of this path are lacking; ``"upper"`` where packed half
    instructions may have had an empty lane.
    """

    precision: str
    path: str
    sparse: bool = False
    value: float
    fused: float | None = None
    rounding: float = 0.0
    bound: str = "exact"
    origin: Origin

    @property
    def key(self) -> str:
        """``fp16.tensor.wgmma``, ``fp32.vector``: as the keys of the machine model begin."""
        return f"{self.precision}.{self.path}"


class Traffic(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Bytes at one level by one definition. Only a roof of the same ``definition`` may stand beside it.

    ``definition`` is a key of ``appprof.metrics.BYTE_DEFINITIONS``: ``L1.tag``, ``L1.wb``, ``L2.sm``, ``L2.all``,
    ``L2.out``, ``L2.in``, ``SHARED.sass``, ``DRAM``, ``HOST``. ``bound`` is ``"lower"`` where one direction is lacking.
    ``withheld`` is the reason why the number must not be drawn (TMA passes the L1 counters by); empty where it may.
    """

    level: str
    definition: str
    value: float
    rounding: float = 0.0
    bound: str = "exact"
    withheld: str = ""
    origin: Origin


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Events of the instruction roofline in one launch; ``key`` is one of ``appprof.metrics.EVENT_COUNTERS``."""

    key: str
    value: float
    origin: Origin


class Absent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A quantity that the file does not give: why, and which metrics would give it on this chip."""

    what: str  # "time", "flop", "flop.tensor", "DRAM", "L2", "L1", "SHARED"
    reason: str
    ask: tuple[str, ...] = ()


class Counts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Everything that a roofline needs of one launch.

    ``flop`` and ``traffic`` hold what was counted and is not 0, and every traffic that was counted, 0 included.
    ``flop_status``:

    - ``"complete"``: every path of this chip was counted; the sum is the work, an empty ``flop`` means no FLOP at all.
    - ``"partial"``: some paths were not counted (``flop_reason`` names them), and nothing says that they ran: the sum
      is a lower bound that may be drawn with that note.
    - ``"unknown"``: nothing was counted, or the tensor cores ran and their operations were not counted: no sum may be
      drawn as the kernel's work.

    ``clocks_hz`` has the clock of each unit during the launch (``sm``, ``lts``, ``dram``, ``l1tex`` ...). ``facts`` are
    further numbers by the key of their row in ``appprof.metrics`` (``waves_per_sm`` ...). ``events`` are
    instructions and what they asked of memory.
    """

    seconds: Quantity | None
    flop: tuple[Flop, ...] = ()
    flop_status: str = "unknown"
    flop_reason: str = ""
    traffic: tuple[Traffic, ...] = ()
    clocks_hz: dict[str, float] = {}
    facts: dict[str, float] = {}
    events: tuple[Event, ...] = ()
    absent: tuple[Absent, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def total_flop(self) -> float | None:
        """Sum over the paths, in operations; None where it must not be drawn."""
        return None if self.flop_status == "unknown" else sum(row.value for row in self.flop)

    def bytes_at(self, definition: str) -> Traffic | None:
        return next((row for row in self.traffic if row.definition == definition), None)
