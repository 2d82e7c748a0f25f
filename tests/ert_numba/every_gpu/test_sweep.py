"""Every GPU on a host that is made up: one that fails costs itself alone, and Ctrl-C keeps what there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_up_sweeps import device
from made_up_sweeps import sweep as made_up_sweep
from typer.testing import CliRunner

from ert_numba import api
from ert_numba.cli import app
from ert_numba.errors import DeviceLost, ErtError
from ert_numba.every_gpu import sweep as every_gpu
from ert_numba.every_gpu.messages import Answer, Failed, Measured, Order, Progressed, Ready, Sampled, Start
from ert_numba.every_gpu.sweep import hear_out, in_step, sweep_every_gpu
from ert_numba.kernels.spec import Request
from ert_numba.measure.sweep import Progress
from ert_numba.records import Point, Sample, Sweep, Work

GPU = device(kind="gpu", name="Made-up GPU", caches=(), limits=())
BROKEN = Failed("to measure", "CUDA_ERROR_DEVICE_UNAVAILABLE", "See who has it")
PROGRESS = Progressed(Progress("x", 0, 0, 1, 0.0, 1.0))


def sample(ceiling: str, rate: float) -> Sample:
    return Sample(
        point=Point(kernel="x", ceiling=ceiling), work=Work(bytes_counted=1e9, bytes_moved=1e9),
        seconds=tuple(1e9 / rate for _ in range(8)), conditions={"gpus_at_work": 3} if "@" in ceiling else {},
    )  # fmt: skip


def alone(ordinal: int) -> Sweep:
    return made_up_sweep(sample("HOST.both_pinned", 1e11 + ordinal * 1e9), device=GPU)


class FakeWorker:
    """Answers in turn; an exception among the answers is raised instead."""

    def __init__(self, order: Order, answers: list[Any]) -> None:
        self.order, self.answers, self.told, self.ended, self.interrupted = order, answers, [], False, 0

    def tell(self, message: Start) -> None:
        self.told.append(message)

    def hear(self) -> Answer:
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer  # type: ignore[no-any-return]

    def interrupt(self) -> None:
        self.interrupted += 1

    def end(self) -> None:
        self.ended = True


class Host:
    """Three GPUs; ``together`` and ``alone`` are answers by ordinal that differ from the usual ones."""

    def __init__(self, together: dict[int, list[Any]] | None = None, alone: dict[int, list[Any]] | None = None) -> None:
        self.together, self.alone = together or {}, alone or {}
        self.workers: list[FakeWorker] = []

    def open(self, order: Order) -> Any:
        k = order.ordinal
        if order.together:
            answers = self.together.get(k, [Ready(), Sampled((sample("HOST.both_pinned@neighbours", 6e10),))])
        else:
            answers = self.alone.get(k, [PROGRESS, Measured(alone(k))])
        self.workers.append(FakeWorker(order, list(answers)))
        return self.workers[-1]


@pytest.fixture(autouse=True)
def three_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(every_gpu, "_prepared", lambda request: [GPU] * 3)
    monkeypatch.setattr(api, "draw", lambda model, done, folder: {})


def run(host: Host, tmp_path: Path) -> tuple[Any, ...]:
    return sweep_every_gpu(Request(), results=tmp_path / "results", open_worker=host.open)


def test_each_gpu_has_a_run_of_its_own_with_what_its_neighbours_cost(tmp_path: Path) -> None:
    host = Host()
    found = run(host, tmp_path)
    assert [row.ordinal for row in found] == [0, 1, 2]
    assert len({row.run.folder for row in found}) == 3
    for row in found:
        model = api.load(row.run.folder)
        figure, shared = model.ceiling("HOST.both_pinned"), model.ceiling("HOST.both_pinned@neighbours")
        assert figure is not None
        assert shared is not None
        assert figure.value == pytest.approx(1e11 + row.ordinal * 1e9)
        assert shared.note.startswith(f"{6e10 / figure.value:.1%} of")
        assert model.settings["gpu"] == row.ordinal
        assert {one.what for one in model.skipped} == {"PEER"}
    starts = {worker.told[0].at for worker in host.workers if worker.told}
    assert len(starts) == 1, "one start for all"
    assert all(worker.ended for worker in host.workers)


@pytest.mark.parametrize("answers", [[BROKEN], [Ready(), BROKEN]])
def test_one_that_fails_beside_the_others_is_measured_alone(answers: list[Any], tmp_path: Path) -> None:
    found = run(Host(together={1: answers}), tmp_path)
    assert [row.run is not None for row in found] == [True] * 3
    assert "DEVICE_UNAVAILABLE" in str(found[1].beside)
    model = api.load(found[1].run.folder)
    assert model.ceiling("HOST.both_pinned@neighbours") is None
    assert any(row.what == "@neighbours" and "DEVICE_UNAVAILABLE" in row.reason for row in model.skipped)
    other = api.load(found[0].run.folder).ceiling("HOST.both_pinned@neighbours")
    assert other is not None
    assert other.conditions["gpus_that_failed"] == "1", "its neighbours seem cheaper than they are"


def test_one_that_fails_alone_does_not_lose_the_others(tmp_path: Path) -> None:
    found = run(Host(alone={0: [PROGRESS, BROKEN]}), tmp_path)
    assert [row.run is not None for row in found] == [False, True, True]
    assert "DEVICE_UNAVAILABLE" in str(found[0].failure)


def test_a_device_that_is_lost_keeps_what_it_measured(tmp_path: Path) -> None:
    lost = Failed.of(DeviceLost("cuEventSynchronize", "CUDA_ERROR_ILLEGAL_ADDRESS", "Look"))
    found = run(Host(alone={1: [Measured(alone(1), failure=lost)]}), tmp_path)
    assert all(row.run is not None for row in found)
    assert isinstance(found[1].run.stopped, DeviceLost)


def test_ctrl_c_saves_the_gpu_in_work_and_starts_no_other(tmp_path: Path) -> None:
    host = Host(alone={1: [PROGRESS, KeyboardInterrupt(), PROGRESS, Measured(alone(1), interrupted=True)]})
    found = run(host, tmp_path)
    assert [row.ordinal for row in found] == [0, 1]
    assert all(row.run.folder.is_dir() for row in found)
    assert isinstance(found[1].run.stopped, KeyboardInterrupt)
    assert host.workers[-1].interrupted == 1


def test_a_second_ctrl_c_waits_for_nothing() -> None:
    worker = Host(alone={0: [KeyboardInterrupt(), KeyboardInterrupt()]}).open(
        Order(ordinal=0, gpus=1, request=Request(), together=False)
    )
    with pytest.raises(KeyboardInterrupt):
        hear_out(worker, None)
    assert worker.ended


def test_ctrl_c_while_all_are_at_work_ends_them_all() -> None:
    host = Host(together={1: [Ready(), KeyboardInterrupt()]})
    with pytest.raises(KeyboardInterrupt):
        in_step(Order(ordinal=0, gpus=3, request=Request(), together=True), host.open)
    assert all(worker.ended for worker in host.workers)


def test_one_gpu_has_no_neighbours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(every_gpu, "_prepared", lambda request: [GPU])
    host = Host()
    (only,) = run(host, tmp_path)
    assert not any(worker.order.together for worker in host.workers)
    assert only.run.model.skipped == ()


def command(*words: object) -> Any:
    return CliRunner().invoke(app, ["sweep", *map(str, words)])


def test_the_command_prints_each_and_exits_by_the_worst(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    host = Host(alone={0: [BROKEN]})
    monkeypatch.setattr(every_gpu.sweep_every_gpu, "__kwdefaults__", {
        **every_gpu.sweep_every_gpu.__kwdefaults__, "open_worker": host.open,
    })  # fmt: skip
    result = command("--device", "all", "--results", tmp_path / "results")
    assert result.exit_code == 3
    assert result.stdout.count("Host link both ways, pinned") == 4
    assert "GPU 0: to measure: CUDA_ERROR_DEVICE_UNAVAILABLE" in result.stderr
    assert "GPU 2: Made-up GPU" in result.stderr
    assert len(list((tmp_path / "results").rglob("machine.json"))) == 2


@pytest.mark.parametrize(
    "words", [("--device", "all", "--backend", "cpu"), ("--device", "all", "--resume", "x"), ("--device", "some")]
)
def test_what_cannot_be_asked_of_all(words: tuple[str, ...], tmp_path: Path) -> None:
    assert command(*words, "--results", tmp_path / "results").exit_code == 2


def test_no_gpu_at_all_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def none(request: Request) -> list[Any]:
        raise ErtError("every GPU", "CUDA shows none", "See")

    monkeypatch.setattr(every_gpu, "_prepared", none)
    result = command("--device", "all", "--results", tmp_path / "results")
    assert result.exit_code == 3
    assert "CUDA shows none" in result.stderr
