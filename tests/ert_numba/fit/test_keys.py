"""Every form of key that the records document, and keys that nobody can read."""

from __future__ import annotations

import pytest

from ert_numba.catalog.precisions import PRECISIONS
from ert_numba.errors import ErtError
from ert_numba.fit.keys import is_series, parse_ceiling, parse_series


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("fp64.vector.fma", {"kind": "compute", "precision": "fp64", "path": "vector.fma", "scope": "all"}),
        ("fp64.vector.fma@core", {"kind": "compute", "scope": "core", "limit_key": "fp64.vector.fma"}),
        ("fp16.tensor.mma.sync", {"path": "tensor.mma.sync", "unit": "FLOP/s", "sparse": False}),
        ("fp16.tensor.wgmma.sparse", {"path": "tensor.wgmma", "sparse": True, "limit_key": "fp16.tensor.wgmma.sparse"}),
        ("int8.vector.dot", {"unit": "OP/s"}),
        ("L1.read", {"kind": "bandwidth", "level": "L1", "access": "read", "unit": "B/s", "variant": None}),
        ("DRAM.triad_nt", {"level": "DRAM", "access": "triad_nt"}),
        ("L2.read.shared@socket", {"variant": "shared", "scope": "socket", "limit_key": "L2.read"}),
        ("L1.latency", {"kind": "latency", "level": "L1", "access": None, "unit": "s"}),
        ("launch.graph", {"kind": "overhead", "unit": "s"}),
        ("launch", {"kind": "overhead", "unit": "s"}),
    ],
)
def test_ceiling_keys(key, expected):
    parsed = parse_ceiling(key)
    assert parsed.key == key
    assert {name: getattr(parsed, name) for name in expected} == expected


@pytest.mark.parametrize("precision", PRECISIONS, ids=lambda row: row.key)
def test_every_precision_makes_a_compute_key_in_its_own_unit(precision):
    parsed = parse_ceiling(f"{precision.key}.vector.fma")
    assert (parsed.kind, parsed.precision, parsed.unit) == ("compute", precision.key, f"{precision.operation}/s")


def test_series_keys():
    curve = parse_series("curve.read.private@core")
    assert (curve.kind, curve.subject, curve.detail, curve.scope) == ("curve", "read", "private", "core")
    assert curve.ceiling("L2") == "L2.read.private@core"
    assert parse_series("curve.latency").ceiling("L3") == "L3.latency"
    proof = parse_series("intensity.fp64.L2")
    assert (proof.kind, proof.subject, proof.detail) == ("intensity", "fp64", "L2")


def test_series_are_told_from_ceilings():
    assert is_series("curve.read")
    assert is_series("intensity.fp64.L2@core")
    assert not is_series("L2.read")


@pytest.mark.parametrize("key", ["", "fp64", "nonsense", "L1.read@moon"])
def test_unreadable_ceiling_keys_are_named(key):
    with pytest.raises(ErtError, match="a ceiling key"):
        parse_ceiling(key)


@pytest.mark.parametrize("key", ["intensity.fp64", "curve", "curve.read.a.b", "L2.read"])
def test_unreadable_series_keys_are_named(key):
    with pytest.raises(ErtError):
        parse_series(key)
