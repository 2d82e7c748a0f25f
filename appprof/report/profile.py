"""What every reader returns: one :class:`Report` of :class:`KernelProfile` records, in SI base units.

Values are keyed by the metric's full name as the tool spells it, rollup included (``dram__bytes.sum``). A metric that
was asked for and has no value stands in ``missing`` with the reason: it is never 0. A metric that stands in none of
``values``, ``texts``, ``instances`` and ``missing`` was not collected.
"""

from __future__ import annotations

import msgspec

DEFAULT_DOMAIN = "<default domain>"  # what NVTX ranges of no domain are told to lie in


class Device(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The GPU that ran a kernel, as far as the file tells. One object is shared by all kernels of the device.

    ``attributes`` holds every ``device__attribute_*`` of the file under its full name, unconverted.
    """

    index: int | None = None
    name: str | None = None
    compute_capability: tuple[int, int] | None = None
    sm_count: int | None = None
    maximum_sm_clock_hz: float | None = None
    maximum_memory_clock_hz: float | None = None
    memory_bus_bits: int | None = None
    memory_bytes: int | None = None
    l2_bytes: int | None = None
    attributes: dict[str, float | str] = {}

    @property
    def architecture(self) -> str | None:
        """The compute capability as the machine model writes it: ``sm_90``."""
        return None if self.compute_capability is None else "sm_{}{}".format(*self.compute_capability)


class Private(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a page or a stored document shows only where ``--provenance full`` asks for it."""

    path: str | None = None
    host_names: tuple[str, ...] = ()
    process_names: tuple[str, ...] = ()
    command_line: str | None = None


class Source(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One file that was read. ``label`` is its name without folders, unique among the sources of a report.

    ``clock_control`` is what the profiler was told (``"none"``, ``"base"``, ``"boost"`` ...), so is ``cache_control``
    (``"all"``: caches flushed before each pass, so cold numbers; ``"none"``: warm); None where the file does not tell.
    """

    label: str
    format: str  # "ncu-csv-long" | "ncu-csv-wide" | "ncu-rep"
    tool: str = "Nsight Compute"
    tool_version: str | None = None
    created: str | None = None  # ISO 8601, UTC
    clock_control: str | None = None
    cache_control: str | None = None
    replay_mode: str | None = None
    private: Private = Private()


class NvtxRange(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One open NVTX range around a launch. ``kind`` is ``"push_pop"`` (of one thread) or ``"start_end"``."""

    name: str
    domain: str = ""
    kind: str = "push_pop"
    thread: int | None = None


class KernelProfile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One profiled launch (or range, or graph: ``kind``), everything that its file says of it.

    - ``values``: metric name to number, in the SI base unit that ``units`` names for it: ``s``, ``B``, ``Hz``, ``B/s``;
      counts as they are (``inst``, ``cycle``, ``sector``, ``""``); percentages stay percentages (``%``).
    - ``rounding``: metric name to the largest error, in the unit of the value, that the file's own decimals allow;
      a name that is absent was written in full.
    - ``missing``: metric name to the reason why it has no value (``"n/a"``, ``"nan"``, ``"below 500 B: ..."``).
    - ``instances``: metric name to its values per instance, where the file has any; such a metric may have no value.
    - ``texts``: metrics whose value is a word.
    - ``other_sources``: metric name to the label of the file that it came from, where that is not ``source``.
    - ``clock_locked``: whether the profiler held the clocks during this launch; None where the file does not tell.

    The dictionaries may be shared between kernels: read them, never write.
    """

    kernel: str  # demangled as the file has it, without the prefix that --print-nvtx-rename adds
    mangled: str | None = None
    kind: str = "kernel"  # "kernel" | "range" | "graph" | "cmdlist"
    id: int  # the launch's number in its file and process
    occurrence: int = 0  # how many launches of the same name, process and file came before
    process_id: int | None = None
    device: Device = Device()
    context: int | None = None
    stream: int | None = None
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    nvtx: tuple[NvtxRange, ...] = ()  # outermost first
    clock_locked: bool | None = None
    values: dict[str, float] = {}
    units: dict[str, str] = {}
    rounding: dict[str, float] = {}
    missing: dict[str, str] = {}
    instances: dict[str, tuple[float | str | None, ...]] = {}
    texts: dict[str, str] = {}
    advice: tuple[str, ...] = ()  # what the tool's own rules said, as text
    source: Source
    other_sources: dict[str, str] = {}


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was read from one file, or from several files of one run that were joined.

    ``warnings`` are doubts about what was read (a guessed locale, a value given twice), ``lost`` what a file should
    hold and does not (a truncated end), ``messages`` the profiler's own lines (``==WARNING== ...``).
    """

    kernels: tuple[KernelProfile, ...] = ()
    sources: tuple[Source, ...] = ()
    warnings: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
