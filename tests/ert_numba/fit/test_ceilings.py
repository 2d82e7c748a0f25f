"""The whole model of a sweep: what carries over, what is refused, and the points of proof."""

from __future__ import annotations

import math

import numpy as np
import pytest
from example_models import cpu_sweep
from made_up_sweeps import bandwidth, compute, repeats, sample, sweep

from ert_numba.errors import ErtError
from ert_numba.fit.ceilings import fit_sweep
from ert_numba.records import Skipped, Work

PEAK, MEMORY = 90e9, 45e9


def intensity(per_byte: float, rate: float, level: str = "DRAM"):
    rng = np.random.default_rng(6)
    work = Work(flop=1e9 * per_byte, bytes_counted=1e9, bytes_moved=1e9)
    axes = {"threads": 2, "flop_per_byte": per_byte}
    return sample(f"intensity.fp64.{level}", repeats(work.flop / rate, rng), work, axes)


def test_what_was_skipped_and_what_is_partial_carry_over():
    skipped = (Skipped(what="fp16", reason="not in the instruction set"),)
    model = fit_sweep(sweep(compute("fp64.vector.fma", PEAK), skipped=skipped, partial=True))
    assert model.skipped == skipped
    assert model.partial
    assert (model.run, model.settings) == ("made-up", {"seed": 1})


def test_a_wrong_result_is_never_a_roof():
    good = compute("fp64.vector.fma", 80e9, axes={"threads": 2, "accumulators": 8})
    wrong = compute("fp64.vector.fma", 500e9, axes={"threads": 2, "accumulators": 12}, verified=False)
    model = fit_sweep(sweep(good, wrong))
    assert model.ceiling("fp64.vector.fma").value == pytest.approx(80e9, rel=0.01)
    (row,) = model.skipped
    assert (row.what, "wrong result" in row.reason) == ("fp64.vector.fma", True)
    assert fit_sweep(sweep(wrong)).ceilings == ()


def test_a_result_that_nobody_could_check_stays():
    assert len(fit_sweep(sweep(compute("fp64.vector.fma", PEAK, verified=None))).ceilings) == 1


def test_proof_points_stand_against_their_own_mix():
    points = [intensity(per_byte, min(PEAK, per_byte * MEMORY) * 0.97) for per_byte in (0.25, 2.0, 64.0)]
    roofs = [
        compute("fp64.vector.fma", PEAK),
        bandwidth("DRAM.read", 50e9),
        bandwidth("DRAM.copy", 20e9),
        bandwidth("DRAM.update", MEMORY),
    ]
    model = fit_sweep(sweep(*points, *roofs))
    assert [row.intensity for row in model.proof] == [0.25, 2.0, 64.0]
    assert {row.bandwidth_key for row in model.proof} == {"DRAM.update"}
    assert {row.compute_key for row in model.proof} == {"fp64.vector.fma"}
    expected = [min(PEAK, row.intensity * MEMORY) for row in model.proof]
    assert [row.attainable for row in model.proof] == pytest.approx(expected, rel=0.01)
    assert [row.value / row.attainable for row in model.proof] == pytest.approx([0.97] * 3, abs=0.02)
    assert all(row.low <= row.value <= row.high for row in model.proof)


@pytest.mark.parametrize(("present", "used"), [(("copy", "read"), "copy"), (("read",), "read")])
def test_the_nearest_mix_stands_in(present, used):
    roofs = [bandwidth(f"DRAM.{access}", MEMORY) for access in present]
    model = fit_sweep(sweep(intensity(1.0, 40e9), compute("fp64.vector.fma", PEAK), *roofs))
    assert model.proof[0].bandwidth_key == f"DRAM.{used}"


def test_proof_without_a_roof_is_a_reason_and_no_point():
    model = fit_sweep(sweep(intensity(1.0, 40e9), compute("fp64.vector.fma", PEAK)))
    assert model.proof == ()
    assert [(row.what, "DRAM bandwidth" in row.reason) for row in model.skipped] == [("intensity.fp64.DRAM", True)]


def test_an_impossible_roof_proves_nothing():
    model = fit_sweep(sweep(intensity(1.0, 40e9), compute("fp64.vector.fma", 500e9), bandwidth("DRAM.read", 45e9)))
    assert model.proof == ()
    assert any("fp64 compute" in row.reason for row in model.skipped)


def test_an_empty_sweep_is_named():
    with pytest.raises(ErtError, match=r"'made-up'.*no samples"):
        fit_sweep(sweep())


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.0, -1.0])
def test_impossible_times_are_named_with_their_sample(bad):
    broken = sample("L2.read", [1.0, bad], Work(bytes_counted=1.0), {"threads": 2, "streams": 4})
    with pytest.raises(ErtError, match=r"L2\.read\[streams=4,threads=2\].*seconds\[1\]"):
        fit_sweep(sweep(compute("fp64.vector.fma", PEAK), broken))


def test_a_sample_without_times_and_one_with_negative_work_are_named():
    with pytest.raises(ErtError, match="no times"):
        fit_sweep(sweep(sample("L2.read", [], Work(bytes_counted=1.0))))
    with pytest.raises(ErtError, match=r"work\.flop"):
        fit_sweep(sweep(sample("fp64.vector.fma", [1.0], Work(flop=-1.0))))


def test_samples_of_one_point_with_unlike_work_are_not_merged():
    one, other = (sample("L2.read", [1.0, 1.0], Work(bytes_counted=amount)) for amount in (1.0, 2.0))
    with pytest.raises(ErtError, match="different work"):
        fit_sweep(sweep(one, other))


def test_five_runs_of_a_quiet_machine_agree_within_their_intervals():
    models = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = [sample("L2.read", repeats(1e-3, rng, slowdown=0.01), Work(bytes_counted=1e8))]
        models.append(fit_sweep(sweep(*rows)).ceilings[0])
    values = [row.value for row in models]
    assert max(values) / min(values) < 1.04
    assert not any(row.noisy for row in models)
    assert max(row.low for row in models) <= min(row.high for row in models)


def test_the_example_machine_reads_as_it_was_made_up():
    model = fit_sweep(cpu_sweep())
    assert [knee.level for knee in model.knees] == ["L1", "L2", "L3"] * 3
    assert {knee.witness for knee in model.knees} == {"bandwidth", "latency"}
    assert model.ceiling("DRAM.read").conditions["huge_pages"] is True
    assert model.ceiling("L1.latency").value == pytest.approx(1.08e-9, rel=0.03)


@pytest.mark.parametrize(("threads", "told"), [(0, False), (1, True), (2, False)])
def test_figures_of_fewer_cores_than_there_are_say_so(threads, told):
    rng = np.random.default_rng(3)
    row = sample("L1.read", repeats(1e-3, rng), Work(bytes_counted=1e8))
    model = fit_sweep(sweep(row, settings={"seed": 1, "threads": threads}))
    assert any("1 of 2 cores" in note for note in model.notes) is told
