"""What neighbours cost: the share of the figure alone, beside each ceiling and in one note."""

from __future__ import annotations

from made_up_sweeps import device
from made_up_sweeps import sweep as made_up_sweep

from ert_numba.fit.ceilings import fit_sweep
from ert_numba.records import Point, Sample, Sweep, Work


def sweep(*samples: Sample) -> Sweep:
    return made_up_sweep(*samples, device=device(kind="gpu", caches=(), limits=()))


def sample(ceiling: str, rate: float, scatter: float = 0.001, **conditions: int) -> Sample:
    seconds = tuple(1e9 / rate * (1 + scatter * (k % 3)) for k in range(12))
    return Sample(
        point=Point(kernel="x", ceiling=ceiling),
        work=Work(bytes_counted=1e9, bytes_moved=1e9) if "." in ceiling and ceiling[0].isupper() else Work(flop=1e9),
        seconds=seconds,
        conditions=dict(conditions),
    )


def beside(ceiling: str, rate: float) -> Sample:
    return sample(f"{ceiling}@neighbours", rate, gpus_at_work=4)


def test_a_ceiling_beside_others_is_one_of_its_own_with_its_share() -> None:
    model = fit_sweep(
        sweep(
            sample("HOST.both_pinned", 100e9), beside("HOST.both_pinned", 60e9),
            sample("fp32.vector.fma", 60e12), beside("fp32.vector.fma", 59.9e12),
        )
    )  # fmt: skip
    alone, shared = model.ceiling("HOST.both_pinned"), model.ceiling("HOST.both_pinned@neighbours")
    assert alone is not None
    assert shared is not None
    assert (alone.scope, shared.scope) == ("all", "neighbours")
    assert alone.value > 1.6 * shared.value
    assert shared.note == "60.0% of 100 GB/s alone"
    (note,) = [text for text in model.notes if "GPUs at work" in text]
    assert note == (
        "with 4 GPUs at work: HOST.both_pinned keeps 60%; fp32.vector.fma keeps all of what this one does alone"
    )
    assert "neighbours" not in {row.scope for row in model.roofs("bandwidth")}


def test_what_scatters_more_than_it_loses_is_no_cost() -> None:
    noisy = sample("HOST.d2h_pinned", 50e9, scatter=0.2)
    model = fit_sweep(sweep(noisy, beside("HOST.d2h_pinned", 49.5e9)))
    (note,) = [text for text in model.notes if "GPUs at work" in text]
    assert "HOST.d2h_pinned keeps all" in note


def test_without_the_figure_alone_no_share_is_made_up() -> None:
    model = fit_sweep(sweep(beside("HOST.both_pinned", 60e9)))
    (row,) = model.ceilings
    assert row.note == ""
    assert not any("GPUs at work" in text for text in model.notes)


def test_a_machine_without_neighbours_has_no_such_note() -> None:
    model = fit_sweep(sweep(sample("HOST.both_pinned", 100e9)))
    assert model.notes == ()
