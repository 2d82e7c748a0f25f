from __future__ import annotations

import pickle

import pytest

from ert_numba.errors import ErtError, GateFailed, NotComparable

FAMILY = [(ErtError, 3), (GateFailed, 1), (NotComparable, 4)]


@pytest.mark.parametrize(("kind", "code"), FAMILY)
def test_each_error_says_what_was_asked_found_and_to_do(kind, code):
    error = kind("to read a sweep", "it is empty", "Measure again")
    assert str(error) == "to read a sweep: it is empty. Measure again"
    assert (error.asked, error.found, error.remedy) == ("to read a sweep", "it is empty", "Measure again")
    assert error.exit_code == code
    assert isinstance(error, ErtError)


@pytest.mark.parametrize(("kind", "code"), FAMILY)
def test_an_error_survives_the_way_from_a_worker_process(kind, code):
    again = pickle.loads(pickle.dumps(kind("a", "b", "c")))
    assert type(again) is kind
    assert (str(again), again.remedy, again.exit_code) == ("a: b. c", "c", code)


def test_text_out_of_a_hostile_file_is_shown_tame():
    error = ErtError("a", "\x1b[2Jfield \u202e\x07" + "x" * 10_000, "Do:\n  this")
    assert error.found.startswith("?[2Jfield ??xxx")
    assert len(error.found) < 1600
    assert error.remedy == "Do:\n  this"
    assert pickle.loads(pickle.dumps(error)).found == error.found


def test_the_exit_codes_are_distinct_and_none_is_typers_own():
    codes = [code for _, code in FAMILY]
    assert len(set(codes)) == len(codes)
    assert not set(codes) & {0, 2}
