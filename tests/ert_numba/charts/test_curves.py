import math

import example_models
import msgspec
import pytest

from ert_numba.charts.curves import panels
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
    assert (dot.series.access, dot.series.curve, dot.axes) == ("read", True, "threads 2")


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
    at = {mark.knee.level: (mark.at, mark.low, mark.high, mark.nominal) for mark in bandwidth.marks}
    l3 = next(knee for knee in example_models.cpu_knees() if knee.level == "L3" and knee.witness == "bandwidth")
    assert at["L3"] == (l3.capacity_bytes / 2, l3.low / 2, l3.high / 2, 16 * MIB)
    assert at["L1"][0] == pytest.approx(32.6 * 1024)
    # The pointer chase ran on one core, which has the whole cache to itself.
    assert [mark.at for mark in latency.marks] == pytest.approx([32.1 * 1024, 1.01 * MIB, 24 * MIB])


def test_a_knee_of_another_curve_is_not_drawn():
    model = example_models.cpu_model()
    (panel,) = panels(sweep(sample("curve.write", 4096), sample("curve.write", 4096 * MIB)), model)
    assert panel.marks == ()


def bands(panel):
    return {band.ceiling.key: (band.start, band.end) for band in panel.bands}


def test_plateaus_reach_from_knee_to_knee():
    bandwidth, _ = panels(example_models.cpu_sweep(), example_models.cpu_model())
    ends = {mark.knee.level: mark.at for mark in bandwidth.marks}
    found = bands(bandwidth)
    assert found["L1.read"] == (4096.0, ends["L1"])
    assert found["L2.write"] == (ends["L1"], ends["L2"])
    assert found["DRAM.read"] == (ends["L3"], 512.0 * MIB)
    assert "L1.copy" not in found  # no curve of that access is drawn
    assert not any(band.ceiling.scope == "core" for band in bandwidth.bands)


def test_where_a_knee_is_missing_its_plateau_ends_at_the_nominal_share():
    model = example_models.cpu_model()
    only_l3 = tuple(knee for knee in model.knees if knee.level == "L3")
    bandwidth, latency = panels(example_models.cpu_sweep(), msgspec.structs.replace(model, knees=only_l3))
    assert bands(bandwidth)["L1.read"] == (4096.0, 32768.0)
    assert bands(bandwidth)["L3.read"] == (MIB, 10.75 * MIB)
    bandwidth, latency = panels(example_models.cpu_sweep(), msgspec.structs.replace(model, knees=()))
    assert bands(bandwidth)["DRAM.read"][0] == 16 * MIB
    assert bands(latency)["DRAM.latency"][0] == 32 * MIB


def test_without_knees_and_caches_no_plateau_is_placed_by_guess():
    device = msgspec.structs.replace(example_models.cpu_device(), caches=())
    model = msgspec.structs.replace(example_models.cpu_model(), knees=(), device=device)
    assert all(panel.bands == () for panel in panels(example_models.cpu_sweep(), model))


def test_a_curve_of_one_core_has_plateaus_of_one_core():
    model = example_models.cpu_model()
    core = tuple(
        msgspec.structs.replace(row, key=f"{row.key}@core", scope="core", value=row.value / 2, low=row.low / 2)
        for row in model.ceilings if row.kind == "bandwidth"
    )  # fmt: skip
    model = msgspec.structs.replace(model, ceilings=(*model.ceilings, *core), knees=())
    sizes = [parse_size(text) for text in ("4K", "64K", "4M", "256M")]
    (panel,) = panels(sweep(*(sample("curve.read@core", size, threads=1) for size in sizes)), model)
    assert {band.ceiling.scope for band in panel.bands} == {"core"}
    assert bands(panel)["DRAM.read@core"][0] == 32 * MIB


def test_points_of_the_intensity_sweep_are_not_of_this_picture():
    assert panels(sweep(sample("intensity.fp64.L2", 4096)), example_models.cpu_model()) == []


def test_sets_that_all_sms_share_have_a_panel_of_their_own():
    private, shared, latency = panels(example_models.h200_sweep(), example_models.h200_model())
    assert (private.shared, shared.shared, latency.latency) == (False, True, True)
    assert {dot.series.variant for dot in shared.dots} == {"ca", "shared"}
    assert [(mark.knee.level, mark.at) for mark in private.marks] == [("L2", pytest.approx(52 * MIB / 132))]
    assert [mark.at for mark in shared.marks] == pytest.approx([208 * 1024, 30.5 * MIB])
    assert [mark.knee.level for mark in latency.marks] == ["L1", "L2"]


def test_a_curve_that_reaches_no_ceiling_has_no_plateaus():
    private, shared, latency = panels(example_models.h200_sweep(), example_models.h200_model())
    assert private.bands == shared.bands == ()
    assert [band.ceiling.key for band in latency.bands] == ["L1.latency", "L2.latency", "DRAM.latency"]
