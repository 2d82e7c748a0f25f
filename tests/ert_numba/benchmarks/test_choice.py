"""Which point stands for a ceiling in the suite: one, the same every time, the one that is best by design."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from example_models import cpu_device, h200_device

from ert_numba.benchmarks.choice import LAUNCHES, PREFERRED, choose_points
from ert_numba.kernels import cublas_gemm
from ert_numba.kernels.cublas_gemm import PROPOSALS
from ert_numba.kernels.registry import CPU_KERNELS
from ert_numba.kernels.registry_cuda import CUDA_KERNELS
from ert_numba.kernels.spec import KernelSpec, Request
from ert_numba.records import AxisValue, DeviceInfo, Point, Skipped, Work

MACHINES = {"cpu": (CPU_KERNELS, cpu_device), "h200": (CUDA_KERNELS, h200_device)}


@pytest.mark.parametrize("name", MACHINES)
def test_every_kernel_is_a_benchmark_and_every_ceiling_one(name: str) -> None:
    kernels, device = MACHINES[name]
    chosen, skipped = choose_points(kernels, device(), Request())
    points = [item for spec in kernels for item in spec.points(device(), Request()) if isinstance(item, Point)]
    assert {row.spec.name for row in chosen.values()} == {point.kernel for point in points}
    offered = {point.ceiling for point in points}
    left_out = {row.what for row in skipped} & offered
    assert set(chosen) == offered - left_out
    assert all(key.startswith("curve.") for key in left_out)
    assert all(key == row.key == row.point.ceiling for key, row in chosen.items())


@pytest.mark.parametrize("name", MACHINES)
def test_the_choice_is_the_same_every_time(name: str) -> None:
    kernels, device = MACHINES[name]
    first, _ = choose_points(kernels, device(), Request())
    again, _ = choose_points(kernels, device(), Request())
    assert [row.point for row in first.values()] == [row.point for row in again.values()]


def test_preferences_hold_where_the_kernels_offer_them() -> None:
    """A preference that no kernel offers any more would be silently without effect."""
    for kernel, prefix, axes in PREFERRED:
        kernels, device = MACHINES["cpu" if kernel.startswith("cpu") else "h200"]
        chosen, _ = choose_points(kernels, device(), Request())
        points = [row.point for row in chosen.values() if row.spec.name == kernel and row.key.startswith(prefix)]
        assert any(axes.items() <= point.axes.items() for point in points), (kernel, prefix)


def test_no_process_chooses_an_algorithm_by_timing() -> None:
    """The fastest of several proposals would be another one from start to start."""
    chosen, _ = choose_points(CUDA_KERNELS, h200_device(), Request())
    products = [row.point for row in chosen.values() if row.spec.name == "cublas_gemm"]
    assert len(products) > 5
    assert all(point.axes["proposals"] == 1 for point in products)


def test_every_launch_benchmark_has_its_number_of_launches() -> None:
    chosen, _ = choose_points(CUDA_KERNELS, h200_device(), Request())
    launches = {key: row.repetitions for key, row in chosen.items() if row.spec.kind == "overhead"}
    assert launches == LAUNCHES
    assert all(row.repetitions is None for key, row in chosen.items() if key not in launches)


@pytest.mark.parametrize(("axes", "asked"), [({}, PROPOSALS), ({"proposals": 1}, 1)])
def test_a_product_asks_the_library_for_so_many_proposals(
    monkeypatch: pytest.MonkeyPatch, axes: dict[str, AxisValue], asked: int
) -> None:
    class Asked(Exception):
        pass

    def plan(lt: object, product: object, workspace: int, at_most: int) -> None:
        raise Asked(at_most)

    monkeypatch.setattr(cublas_gemm, "current_lt", lambda: SimpleNamespace(version=lambda: "13.1.0"))
    monkeypatch.setattr(cublas_gemm, "Buffer", lambda size: None)
    monkeypatch.setattr(cublas_gemm, "Plan", plan)
    product = Point(
        kernel="cublas_gemm", ceiling="fp64.tensor.cublas", axes={"m": 8, "n": 8, "k": 8, "data": "zeros", **axes}
    )
    with pytest.raises(Asked, match=f"^{asked}$"):
        cublas_gemm.GemmProgram(product).prepare(0)


def offering(*items: Point | Skipped, kind: str = "bandwidth") -> KernelSpec:
    def no_build(point: Point, device: DeviceInfo) -> None:
        raise AssertionError

    return KernelSpec("made_up", "cpu", kind, lambda device, request: items, lambda point: Work(), no_build)  # type: ignore[arg-type]


def point(ceiling: str, size: int) -> Point:
    return Point(kernel="made_up", ceiling=ceiling, axes={"working_set_bytes": size})


def test_the_first_point_is_the_best_by_design() -> None:
    chosen, _ = choose_points([offering(point("L1.read", 1), point("L1.read", 2))], cpu_device(), Request())
    assert chosen["L1.read"].point.axes == {"working_set_bytes": 1}


def test_a_curve_beside_its_plateaus_is_left_out_with_the_reason() -> None:
    chosen, skipped = choose_points([offering(point("curve.read", 1), point("L1.read", 2))], cpu_device(), Request())
    assert list(chosen) == ["L1.read"]
    assert [row.what for row in skipped] == ["curve.read"]


def test_a_kernel_of_curves_alone_is_its_first_point() -> None:
    chosen, _ = choose_points([offering(point("curve.read", 1), point("curve.read", 2))], cpu_device(), Request())
    assert chosen["curve.read"].point.axes == {"working_set_bytes": 1}


def test_of_intensities_the_middle_one() -> None:
    points = [point("intensity.fp64.L1", size) for size in range(5)]
    chosen, _ = choose_points([offering(*points, kind="intensity")], cpu_device(), Request())
    assert chosen["intensity.fp64.L1"].point.axes == {"working_set_bytes": 2}


def test_what_the_device_does_not_offer_keeps_its_reason() -> None:
    gone = Skipped(what="fp16.vector.fma", reason="this core lacks avx512fp16")
    chosen, skipped = choose_points([offering(gone, point("L1.read", 1))], cpu_device(), Request())
    assert skipped == (gone,)
    assert list(chosen) == ["L1.read"]
