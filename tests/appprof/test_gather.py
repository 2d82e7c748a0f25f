"""From reports to application models: known sums, nothing lost, unlike things kept apart."""

from pathlib import Path

import msgspec
import pytest
from example_models import PROVENANCE
from example_profiles import DATA, application, cell, flop, model_of, models_of, traffic

from appprof.application import ApplicationModel
from appprof.gather import gather
from appprof.report.profile import Device, KernelProfile, NvtxRange, Private, Report, Source
from ert_numba.errors import ErtError
from ert_numba.store.documents import load, registered, save
from ert_numba.store.schema import file_name, schema_text

PRODUCT = 2 * 4096**3
MICRO_FLOP = [17303396352, 17303396352, 34603008000, 138412032000 + 8380416, 134217728]
SET_SECONDS = [285.344e-6, 535.008e-6, 298.784e-6, 223.776e-6, 234.528e-6]


@pytest.mark.parametrize("name", ["micro.ncu-rep", "micro_raw.csv", "micro_raw_base.csv"])
def test_h200_micro_kernels_have_their_declared_work(name):
    model = model_of(f"h200/{name}")
    assert [cell.total_flop for cell in model.cells] == MICRO_FLOP
    assert [cell.bytes_by("DRAM").value for cell in model.cells] == [7168, 7168, 6912, 5632, 793800192]
    assert [cell.seconds for cell in model.cells] == pytest.approx(
        [285.6e-6, 535.968e-6, 298.688e-6, 223.744e-6, 233.44e-6]
    )
    triad = model.cells[4]
    assert [triad.bytes_by(name).value for name in ("L1.tag", "L1.wb", "L2.sm")] == [805306368] * 3
    assert triad.bytes_by("L2.out").value == 537407392
    assert all(cell.flop_status == "complete" for cell in model.cells)


def test_h200_roofline_set_has_what_its_readme_says():
    model = model_of("h200/micro_roofline_set.ncu-rep")
    assert [cell.total_flop for cell in model.cells] == MICRO_FLOP
    assert [cell.seconds for cell in model.cells] == pytest.approx(SET_SECONDS)
    assert [cell.bytes_by("DRAM").value for cell in model.cells] == [7168, 7168, 6912, 5632, 793738752]
    assert [cell.bytes_by("L2.out").value for cell in model.cells] == [208480, 268160, 201312, 240224, 537536704]
    peaks = {(peak.key, peak.sparse): peak.per_cycle for peak in model.peaks}
    assert peaks["fp16.tensor.mma.sync", False] == 360448
    assert peaks["fp16.tensor.wgmma", False] == 540672
    assert peaks["fp16.tensor.wgmma", True] == 2 * 540672
    assert (peaks["DRAM", False], peaks["L2.out", False]) == (1504, 6016)


def test_h200_products_have_their_declared_work_on_the_path_that_ran():
    model = model_of("h200/gemm_raw.csv")
    main = {cell.ranges[0]: max(cell.flop, key=lambda row: row.value) for cell in model.cells}
    assert {name: row.key for name, row in main.items()} == {
        "torch.float16": "fp16.tensor.wgmma", "torch.bfloat16": "bf16.tensor.wgmma", "torch.float32": "fp32.vector",
        "torch.float64": "fp64.tensor.mma.sync", "tf32": "tf32.tensor.wgmma", "int8": "int8.tensor.mma.sync",
        "fp8": "fp8.tensor.wgmma",
    }  # fmt: skip
    assert {row.value for name, row in main.items() if name != "torch.float32"} == {PRODUCT}
    assert main["torch.float32"].value == PRODUCT + 2 * 4096**2


def test_what_a_details_page_lacks_is_absent_with_the_reason():
    model = model_of("h200/micro_roofline_set_details.csv")
    for found in model.cells:
        assert found.total_flop is None
        assert found.traffic == ()
        assert {row.what for row in found.absent} == {"flop", "L1", "L2", "DRAM"}
        assert all(row.reason and row.ask for row in found.absent)


def test_one_launch_that_lacks_a_counter_is_not_mixed_with_those_that_have_it(make_kernel):
    rows = [make_kernel({"gpu__time_duration.sum": 1e-6, "dram__bytes.sum": 100.0}) for _ in range(3)]
    rows.append(make_kernel({"gpu__time_duration.sum": 5e-6}))
    (model,) = gather(Report(kernels=tuple(rows), sources=(rows[0].source,)), "run", PROVENANCE)
    assert {found.launches: found.seconds for found in model.cells} == pytest.approx({1: 5e-6, 3: 3e-6})
    assert model.launches == 4
    assert model.seconds == pytest.approx(8e-6)


def test_launches_of_which_other_things_are_known_are_kept_apart(make_kernel):
    seconds, ffma = {"gpu__time_duration.sum": 1e-6}, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
    tensor = [{**seconds, ffma: 1e6, "sm__inst_executed_pipe_tensor.sum": count} for count in (0.0, 4e6)]
    levels = [{**seconds, "l1tex__t_bytes.sum": l1, "lts__t_sectors_srcunit_tex.sum": 1e6} for l1 in (32e6, 1e3)]
    for values, check in ((tensor, lambda row: row.flop_status), (levels, lambda row: bool(row.traffic[0].withheld))):
        kernels = tuple(map(make_kernel, values))
        (model,) = gather(Report(kernels=kernels, sources=(kernels[0].source,)), "run", PROVENANCE)
        assert len({check(found) for found in model.cells}) == 2
        assert [found.launches for found in model.cells] == [1, 1]


def test_launches_apart_by_range_stream_process_shape_and_device(make_kernel):
    values = {"gpu__time_duration.sum": 1e-6}
    variants = [
        {}, {"stream": 1}, {"process_id": 2}, {"grid": (1, 1, 1)}, {"nvtx": (NvtxRange(name="forward"),)},
    ]  # fmt: skip
    kernels = tuple(make_kernel(values, **fields) for fields in variants for _ in range(2))
    (model,) = gather(Report(kernels=kernels, sources=(kernels[0].source,)), "run", PROVENANCE)
    assert [found.launches for found in model.cells] == [2] * len(variants)


def test_two_kinds_of_gpu_are_two_models_the_busier_first():
    source = Source(label="a", format="ncu-rep")
    devices = [Device(index=0, name="NVIDIA A", compute_capability=(8, 0)), Device(index=1, name="NVIDIA B")]
    kernels = tuple(
        KernelProfile(kernel="k", id=index, device=device, source=source, values={"gpu__time_duration.sum": seconds})
        for index, (device, seconds) in enumerate(zip(devices, (1.0, 2.0), strict=True))
    )
    models = gather(Report(kernels=kernels, sources=(source,)), "run", PROVENANCE)
    assert [model.chip.name for model in models] == ["NVIDIA B", "NVIDIA A"]


def test_devices_of_one_kind_are_one_model():
    source = Source(label="a", format="ncu-rep")
    kernels = tuple(
        KernelProfile(kernel="k", id=0, device=Device(index=index, name="NVIDIA A", compute_capability=(8, 0)),
                      source=source, values={"gpu__time_duration.sum": 1.0})
        for index in range(8)
    )  # fmt: skip
    (model,) = gather(Report(kernels=kernels, sources=(source,)), "run", PROVENANCE)
    assert model.devices == tuple(range(8))
    assert len(model.cells) == 8


def test_private_things_stay_out_unless_asked_for(make_kernel):
    kernel = make_kernel({"gpu__time_duration.sum": 1.0})
    secret = Private(path="/home/alice/x", host_names=("boat",), process_names=("p",), command_line="ncu alice")
    source = msgspec.structs.replace(kernel.source, private=secret)
    report = Report(kernels=(msgspec.structs.replace(kernel, source=source),), sources=(source,),
                    messages=("==PROF== /home/alice",))  # fmt: skip
    (shared,) = gather(report, "run", PROVENANCE)
    assert b"alice" not in msgspec.json.encode(shared)
    assert b"boat" not in msgspec.json.encode(shared)
    (full,) = gather(report, "run", PROVENANCE, private=True)
    assert full.sources[0].private == secret


def test_no_kernels_is_an_error_that_repeats_what_the_profiler_said():
    with pytest.raises(ErtError, match="ERR_NVGPUCTRPERM"):
        gather(Report(messages=("==ERROR== ERR_NVGPUCTRPERM",)), "run", PROVENANCE)


def test_the_document_comes_back_as_it_was_saved(tmp_path):
    for name in ("h200/micro_roofline_set.ncu-rep", "h200/gemm_raw.csv", "faults/F03_noise_before_and_after.csv"):
        model = model_of(name)
        path = save(model, tmp_path / f"{name.replace('/', '-')}.json")
        assert load(path, ApplicationModel) == model


@pytest.mark.parametrize(
    "broken",
    [
        cell(launches=0),
        cell(seconds=0.0),
        cell(flop_status="perhaps"),
        cell(flop=(flop("fp32.vector", -1.0),)),
        cell(traffic=traffic(DRAM=-1.0)),
        cell(clocks_hz={"sm": 0.0}),
    ],
)
def test_a_broken_document_is_not_saved(tmp_path, broken):
    with pytest.raises(ErtError):
        save(application(broken), tmp_path / "a.json")


def test_every_profile_in_the_data_is_read_to_the_end():
    for path in [*DATA.glob("faults/*.csv"), *DATA.glob("h200/*.csv"), *DATA.glob("h200/*.ncu-rep")]:
        for model in models_of(path):
            assert model.launches >= 1


def test_the_stored_schema_is_todays():
    row = next(row for row in registered() if row.type is ApplicationModel)
    stored = Path(__file__).parents[2] / "results" / "schema" / file_name(row)
    assert stored.read_text(encoding="utf-8") == schema_text(row), f"write schema_text of {row.schema} to {stored}"
