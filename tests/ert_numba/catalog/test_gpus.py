"""The table of GPUs: names meet their product and no other, and rates are whole."""

from __future__ import annotations

import pytest

from ert_numba.catalog.gpus import GPUS, gpu_of
from ert_numba.catalog.precisions import BY_KEY

NAMES = [
    ("Tesla V100-SXM2-16GB", (7, 0), "V100 SXM2"), ("Tesla T4", (7, 5), "T4"),
    ("NVIDIA A100-SXM4-80GB", (8, 0), "A100"),
    ("NVIDIA A10", (8, 6), "A10"), ("NVIDIA L4", (8, 9), "L4"), ("NVIDIA L40S", (8, 9), "L40S"),
    ("NVIDIA H100 80GB HBM3", (9, 0), "H100"), ("NVIDIA H100 PCIe", (9, 0), "H100"), ("NVIDIA H200", (9, 0), "H200"),
    ("NVIDIA B200", (10, 0), "B200"), ("NVIDIA GeForce RTX 3090", (8, 6), "RTX 3090"),
    ("NVIDIA GeForce RTX 4090", (8, 9), "RTX 4090"), ("NVIDIA GeForce RTX 5090", (12, 0), "RTX 5090"),
    ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", (8, 0), "A100"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "capability", "product"), NAMES)
def test_a_name_meets_its_product(name: str, capability: tuple[int, int], product: str) -> None:
    row = gpu_of(name, capability)
    assert row is not None
    assert row.product == product


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("NVIDIA A10G", (8, 6)), ("NVIDIA L40", (8, 9)), ("NVIDIA GeForce RTX 3090 Ti", (8, 6)),
        ("NVIDIA GeForce RTX 4090 D", (8, 9)), ("NVIDIA H200", (8, 0)), ("Tesla T40", (7, 5)),
    ],
)  # fmt: skip
def test_a_relative_is_another_product(name: str, capability: tuple[int, int]) -> None:
    assert gpu_of(name, capability) is None


@pytest.mark.parametrize("row", GPUS, ids=lambda row: row.product)
def test_rows_are_whole(row: object) -> None:
    rates = row.rates  # type: ignore[attr-defined]
    keys = [rate.key for rate in rates]
    assert len(keys) == len(set(keys)), "one ceiling, one rate"
    assert all(rate.per_cycle > 0 and rate.source for rate in rates)
    assert all(key.split(".")[0] in BY_KEY or key in ("SHARED.read", "L1.read") for key in keys)


def test_mma_sync_reaches_two_thirds_of_wgmma_on_hopper() -> None:
    hopper = gpu_of("NVIDIA H200", (9, 0))
    assert hopper is not None
    rates = {rate.key: rate.per_cycle for rate in hopper.rates}
    for precision in ("fp16", "bf16", "tf32", "int8"):
        assert rates[f"{precision}.tensor.mma.sync"] == pytest.approx(rates[f"{precision}.tensor.wgmma"] * 2 / 3)
    assert "fp8_e4m3.tensor.mma.sync" not in rates
