import pytest

from ert_numba.kernels.spec import Request
from ert_numba.request import to_settings
from ert_numba.stated import pairs, settings_words


def test_what_was_left_to_the_sweep_is_not_said_and_all_of_what_it_chooses_among_is():
    assert settings_words(to_settings(Request(), 32.0)) == (
        "all precisions; all memory levels; budget 32.0 s; seed 1"
    )  # fmt: skip


def test_every_choice_is_said_in_words():
    request = Request(
        precisions=("fp64", "fp32"), levels=("L1", "DRAM"), threads=1, sizes=(32768, 1 << 20), quick=True, full=True,
        seed=7,
    )  # fmt: skip
    assert settings_words({**to_settings(request, 90.0), "gpu": 0, "gpus": 8}) == (
        "quick; full; precisions fp64, fp32; memory levels L1, DRAM; working sets 32 KiB, 1 MiB; 1 thread; "
        "budget 90.0 s; seed 7; GPU 0; one of 8 GPUs"
    )
    assert "4 threads" in settings_words(to_settings(Request(threads=4), 90.0))


@pytest.mark.parametrize("value", ["", "x,y", "9" * 5000, 0, -1.5, 10**400, True], ids=lambda value: str(value)[:9])
def test_any_value_of_any_setting_is_text(value):
    names = [*to_settings(Request(), 1.0), "gpu", "gpus", "of another version"]
    for name in names:
        assert isinstance(settings_words({name: value}), str)


def test_a_setting_of_another_version_is_shown_where_it_has_a_value():
    assert settings_words({"new_bytes": 4096, "unheard_of": "", "on": True}) == "new 4 KiB; on"


def test_conditions_are_said_in_words_and_empty_ones_left_out():
    values = {"throttle": "", "shared": False, "huge_pages": True, "working_set_bytes": 4096, "loads": 0}
    assert pairs(values) == "huge pages, loads 0, no shared, working set 4 KiB"
