"""What may be asked of a sweep, what is refused with the choices named, and what may go on."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_sweeps import device, sweep

from ert_numba.catalog.memory_levels import MEMORY_LEVELS
from ert_numba.catalog.precisions import PRECISIONS
from ert_numba.errors import ErtError, NotComparable
from ert_numba.kernels.spec import Request
from ert_numba.request import checked, from_settings, require_alike, to_settings

LEVELS = [row.key for row in MEMORY_LEVELS if row.device_kind == "cpu"]
requests = st.builds(
    Request,
    precisions=st.lists(st.sampled_from([row.key for row in PRECISIONS]), unique=True).map(tuple),
    levels=st.lists(st.sampled_from(LEVELS), unique=True).map(tuple),
    threads=st.none() | st.integers(1, 1000),
    sizes=st.lists(st.integers(1024, 1 << 40)).map(tuple),
    quick=st.booleans(),
    full=st.booleans(),
    seed=st.integers(0, 1 << 31),
)


@given(requests, st.floats(1e-3, 1e6))
def test_a_stored_request_comes_back_as_it_was(request, budget):
    assert from_settings(to_settings(request, budget)) == (request, budget)


@given(requests)
def test_what_is_known_is_accepted(request):
    request = msgspec.structs.replace(request, threads=None)
    assert checked(request, 1.0, device()) == request


@pytest.mark.parametrize(
    ("request_", "budget", "asked", "found", "remedy"),
    [
        (Request(precisions=("fp63",)), 1.0, "a precision", "'fp63'", "fp64"),
        (Request(precisions=("fp64", "FP64")), 1.0, "a precision", "'FP64'", "fp64"),
        (Request(levels=("L9",)), 1.0, "a memory level", "'L9'", "DRAM"),
        (Request(levels=("SHARED",)), 1.0, "a memory level", "'SHARED'", "L1"),
        (Request(sizes=(65536, 8)), 1.0, "a working set", "8 B", "1 KiB"),
        (Request(sizes=(0,)), 1.0, "a working set", "0 B", "1 KiB"),
        (Request(threads=0), 1.0, "0 threads", "2 processors", ""),
        (Request(threads=3), 1.0, "3 threads", "2 processors", ""),
        (Request(seed=-1), 1.0, "a seed", "-1", "from 0 to 4294967295"),
        (Request(seed=10**400), 1.0, "a seed", "10000", "from 0 to 4294967295"),
        (Request(), 0.0, "a time budget", "0 s", "--budget"),
        (Request(), -1.0, "a time budget", "-1", "--budget"),
        (Request(), float("nan"), "a time budget", "nan", "--budget"),
    ],
)
def test_what_cannot_be_measured_is_refused(request_, budget, asked, found, remedy):
    with pytest.raises(ErtError) as caught:
        checked(request_, budget, device())
    assert asked in caught.value.asked
    assert found in caught.value.found
    assert remedy in caught.value.remedy
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    "name", ["threads", "sizes", "seed", "budget_seconds", "levels", "precisions", "quick", "full"]
)
def test_settings_that_lack_a_field_are_named(name):
    settings = to_settings(Request(), 5.0)
    del settings[name]
    with pytest.raises(ErtError, match=name):
        from_settings(settings)


def test_settings_that_are_no_numbers_are_refused():
    with pytest.raises(ErtError, match="many"):
        from_settings({**to_settings(Request(), 5.0), "threads": "many"})


@pytest.mark.parametrize(
    ("name", "value"), [("threads", True), ("quick", "no"), ("quick", 1), ("seed", 1.5), ("sizes", "1e6,2"),
                        ("sizes", 4096), ("threads", -0.5), ("budget_seconds", True)]
)  # fmt: skip
def test_settings_of_another_type_are_refused_and_named(name, value):
    with pytest.raises(ErtError, match=f"{name} is|no number"):
        from_settings({**to_settings(Request(), 1.0), name: value})


def test_like_runs_go_on():
    require_alike(sweep(), device(), {})


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"name": "Another CPU"}, "Made-up CPU", "Another CPU"),
        ({"units": 1}, "2", "1"),
        ({"features": ("avx2",)}, "()", "avx2"),
        ({"caches": ()}, "32768", "()"),
        ({"properties": {"model": "6/207/2"}}, "None", "6/207/2"),
        ({"properties": {"transparent huge pages": "always madvise [never]"}}, "None", "[never]"),
    ],
)
def test_unlike_runs_never_do_and_both_values_are_named(changes, old, new):
    with pytest.raises(NotComparable) as caught:
        require_alike(sweep(), device(**changes), {})
    assert old in caught.value.found
    assert new in caught.value.found
    assert caught.value.exit_code == 4


def test_other_versions_never_do():
    with pytest.raises(NotComparable, match=r"version of numba was None, here it is '1\.0'"):
        require_alike(sweep(), device(), {"numba": "1.0"})
