"""Keys of points read apart: which quantity they bear witness to, of what, in which scope."""

from __future__ import annotations

import msgspec

from ert_numba.catalog.precisions import BY_KEY as PRECISIONS
from ert_numba.errors import ErtError

SCOPES = ("core", "socket", "all", "neighbours")


class CeilingKey(msgspec.Struct, frozen=True, kw_only=True):
    """A ceiling key in its parts, as ``machine.Ceiling`` has them; ``limit_key`` is what a device's limit names."""

    key: str
    kind: str
    unit: str
    scope: str
    limit_key: str
    precision: str | None = None
    path: str | None = None
    sparse: bool = False
    level: str | None = None
    access: str | None = None
    variant: str | None = None


class SeriesKey(msgspec.Struct, frozen=True, kw_only=True):
    """``curve.read.private@core``: the kind of series, what it varies, and the suffix that its ceilings inherit."""

    kind: str  # "curve" or "intensity"
    subject: str  # an access, "latency", or a precision
    detail: str  # a variant, or a level; "" where none is named
    scope: str

    @property
    def scope_suffix(self) -> str:
        return "" if self.scope == "all" else f"@{self.scope}"

    def ceiling(self, level: str) -> str:
        """The key of a curve's ceiling at a level: ``L2.read.private@core``."""
        variant = f".{self.detail}" if self.detail else ""
        return f"{level}.{self.subject}{variant}{self.scope_suffix}"


def is_series(key: str) -> bool:
    return key.startswith(("curve.", "intensity."))


def parse_series(key: str) -> SeriesKey:
    """Raises ErtError for a key that names no series."""
    name, scope = _split_scope(key)
    kind, *parts = name.split(".")
    if kind not in ("curve", "intensity") or not 1 <= len(parts) <= 2 or (kind == "intensity" and len(parts) < 2):
        raise _unreadable(key)
    return SeriesKey(kind=kind, subject=parts[0], detail=parts[1] if len(parts) > 1 else "", scope=scope)


def parse_ceiling(key: str) -> CeilingKey:
    """Raises ErtError for a key that fits none of the forms of ``machine.Ceiling``."""
    name, scope = _split_scope(key)
    first, _, rest = name.partition(".")
    if first == "launch":
        return CeilingKey(key=key, kind="overhead", unit="s", scope=scope, limit_key=name)
    if not rest:
        raise _unreadable(key)
    if first in PRECISIONS:
        unit = f"{PRECISIONS[first].operation}/s"
        plain = rest.removesuffix(".sustained")  # under load for long: another figure, the same limit
        path = plain.removesuffix(".sparse")
        return CeilingKey(
            key=key, kind="compute", unit=unit, scope=scope, limit_key=f"{first}.{plain}", precision=first, path=path,
            sparse=path != plain, variant="sustained" if plain != rest else None,
        )  # fmt: skip
    access, _, variant = rest.partition(".")
    latency = access == "latency"
    return CeilingKey(
        key=key, kind="latency" if latency else "bandwidth", unit="s" if latency else "B/s", scope=scope,
        limit_key=f"{first}.{access}", level=first, access=None if latency else access, variant=variant or None,
    )  # fmt: skip


def _split_scope(key: str) -> tuple[str, str]:
    name, _, scope = key.partition("@")
    if scope and scope not in SCOPES:
        raise _unreadable(key)
    return name, scope or "all"


def _unreadable(key: str) -> ErtError:
    return ErtError("a ceiling key", f"{key!r}", "Write it as fp64.vector.fma, L2.read, L1.latency or curve.read")
