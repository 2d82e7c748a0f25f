import math

import example_models
import msgspec
import pytest

from ert_numba.charts.curves import panels, sharers
from ert_numba.machine import Knee
from ert_numba.records import Point, Sample, Sweep, Work
from ert_numba.units import parse_size

MIB = 1024**2


def sample(ceiling, size, seconds=(2e-3, 1e-3, 4e-3), **axes):
    point = Point(kernel="k", ceiling=ceiling, axes={"working_set_bytes": size, **axes})
    work = Work(accesses=1000.0) if "latency" in ceiling else Work(bytes_counted=1e6, bytes_moved=2e6)
    return Sample(point=point, work=work, seconds=seconds)


def sweep(*samples, device=None):
    device = device or example_models.cpu_device()
    return Sweep(run="r", device=device, samples=samples, provenance=example_models.PROVENANCE)


def test_a_dot_is_the_best_of_all_repeats_by_streams_count():
    (panel,) = panels(sweep(sample("curve.read", 4096, threads=2)), example_models.cpu_model())
    (dot,) = panel.dots
    assert (dot.size, dot.best, dot.median, dot.repeats) == (4096.0, 1e9, 5e8, 3)
    assert (dot.access, dot.curve, dot.axes) == ("read", True, "threads 2")


def test_the_best_latency_is_the_shortest():
    (panel,) = panels(sweep(sample("curve.latency", 4096)), example_models.cpu_model())
    assert panel.latency
    assert (panel.dots[0].best, panel.dots[0].median) == (1e-6, 2e-6)


@pytest.mark.parametrize(
    "unusable",
    [
        sample("curve.read", 4096, seconds=()),
        sample("curve.read", 4096, seconds=(math.nan, 0.0, -1.0, math.inf)),
        sample("curve.read", 0),
        sample("curve.read", math.nan),
        sample("curve.read", "large"),
        sample("curve.read", True),
        msgspec.structs.replace(sample("curve.read", 4096), work=Work(flop=5.0)),
        Sample(point=Point(kernel="k", ceiling="fp64.vector.fma"), work=Work(flop=1.0), seconds=(1.0,)),
    ],
)
def test_what_has_no_place_on_log_axes_is_no_dot(unusable):
    assert panels(sweep(unusable), example_models.cpu_model()) == []
    (panel,) = panels(sweep(unusable, sample("curve.read", 8192)), example_models.cpu_model())
    assert [dot.size for dot in panel.dots] == [8192.0]


def test_bad_repeats_of_a_good_sample_are_passed_over():
    (panel,) = panels(sweep(sample("curve.read", 64, seconds=(math.nan, 2e-3, -5.0))), example_models.cpu_model())
    assert panel.dots[0].best == 5e8
    assert panel.dots[0].repeats == 1


def test_a_shared_cache_ends_at_each_cores_share():
    bandwidth, latency = panels(example_models.cpu_sweep(), example_models.cpu_model())
    at = {mark.knee.level: (mark.at, mark.low, mark.high, mark.nominal, mark.workers) for mark in bandwidth.marks}
    l3 = next(knee for knee in example_models.cpu_knees() if knee.level == "L3" and knee.witness == "bandwidth")
    assert at["L3"] == (l3.capacity_bytes / 2, l3.low / 2, l3.high / 2, 16 * MIB, 2)
    assert at["L1"][0] == pytest.approx(32.6 * 1024)
    # The pointer chase ran on one core, which has the whole cache to itself.
    assert {mark.knee.level: mark.workers for mark in latency.marks} == {"L1": 1, "L2": 1, "L3": 1}
    assert latency.marks[-1].at == pytest.approx(24 * MIB)


@pytest.mark.parametrize(
    ("kind", "level", "workers", "expected"),
    [("cpu", "L1", 2, 1), ("cpu", "L3", 2, 2), ("cpu", "L3", 1, 1), ("gpu", "L1", 132, 1), ("gpu", "L2", 132, 132),
     ("cpu", "L4", 2, 1), ("cpu", "DRAM", 2, 2)],
)  # fmt: skip
def test_sharers(kind, level, workers, expected):
    device = example_models.cpu_device() if kind == "cpu" else example_models.h200_device()
    assert sharers(device, level, workers) == expected


def test_a_cache_that_no_list_names_is_shared_as_its_level_is():
    bare = msgspec.structs.replace(example_models.cpu_device(), caches=())
    assert sharers(bare, "L2", 8) == 1
    assert sharers(bare, "L3", 8) == 8


def test_plateaus_reach_from_knee_to_knee():
    bandwidth, _ = panels(example_models.cpu_sweep(), example_models.cpu_model())
    ends = {mark.knee.level: mark.at for mark in bandwidth.marks}
    bands = {band.ceiling.key: (band.start, band.end) for band in bandwidth.bands}
    assert bands["L1.read"] == (4096.0, ends["L1"])
    assert bands["L2.write"] == (ends["L1"], ends["L2"])
    assert bands["DRAM.read"] == (ends["L3"], 512.0 * MIB)
    assert "L1.copy" not in bands  # no curve of that access is drawn
    assert not any(band.ceiling.scope == "core" for band in bandwidth.bands)


def test_without_knees_no_plateau_is_placed_by_guess():
    model = msgspec.structs.replace(example_models.cpu_model(), knees=())
    for panel in panels(example_models.cpu_sweep(), model):
        assert panel.bands == panel.marks == ()


def test_a_curve_of_one_core_has_plateaus_of_one_core():
    model = example_models.cpu_model()
    core = tuple(
        msgspec.structs.replace(row, key=f"{row.key}@core", scope="core", value=row.value / 2, low=row.low / 2)
        for row in model.ceilings if row.kind == "bandwidth"
    )  # fmt: skip
    model = msgspec.structs.replace(model, ceilings=(*model.ceilings, *core))
    sizes = [parse_size(text) for text in ("4K", "64K", "4M", "256M")]
    (panel,) = panels(sweep(*(sample("curve.read", size, threads=1) for size in sizes)), model)
    assert {band.ceiling.scope for band in panel.bands} == {"core"}
    assert all(mark.workers == 1 for mark in panel.marks)


def test_sets_that_all_sms_share_have_a_panel_of_their_own():
    device = example_models.h200_device()
    knee = Knee(level="L2", capacity_bytes=30 * MIB, low=28 * MIB, high=33 * MIB, shape="cliff", witness="bandwidth",
                ceiling="L2.read.shared")  # fmt: skip
    model = msgspec.structs.replace(example_models.h200_model(), knees=(*example_models.h200_knees(), knee))
    private = [sample("curve.read.private", size) for size in (65536, 1 << 20)]
    shared = [sample("curve.read.shared", size, shared=True) for size in (4 * MIB, 64 * MIB)]
    first, second = panels(sweep(*private, *shared, device=device), model)
    assert (first.shared, second.shared) == (False, True)
    assert [mark.at for mark in second.marks] == [30 * MIB]
    assert [(mark.knee.level, mark.workers) for mark in first.marks] == [("L1", 1), ("L2", 132)]
    assert first.marks[0].at < first.marks[1].at == pytest.approx(52 * MIB / 132)
