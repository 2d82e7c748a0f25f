"""Whatever bytes come: a clean result or an ``ErtError``. What atheris once found stays found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from seeds import DATA, SEEDS
from targets import TARGETS
from text_mutators import mutate_csv, mutate_json
from wire_mutator import mutate_report

MUTATORS = {"ncu_rep": mutate_report, "ncu_csv": mutate_csv, "document": mutate_json}
STARTS = {name: list(make()) for name, make in SEEDS.items()}
FINDS = sorted((DATA / "fuzz").glob("*/*"))


@pytest.mark.parametrize("name", TARGETS)
def test_unchanged_files(name: str) -> None:
    assert len(STARTS[name]) > 5
    for data in STARTS[name]:
        TARGETS[name](data)


@pytest.mark.parametrize("path", FINDS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_a_fuzzer_found(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=150)
@given(start=st.integers(0, 10**6), seeds=st.lists(st.integers(0, 2**32), min_size=1, max_size=6))
def test_changes_that_keep_the_form_of_a_file(name: str, start: int, seeds: list[int]) -> None:
    data = STARTS[name][start % len(STARTS[name])]
    for seed in seeds:
        data = MUTATORS[name](data, seed)
    TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=150)
@given(start=st.integers(0, 10**6), cut=st.floats(0, 1), junk=st.binary(max_size=60))
def test_files_cut_and_overwritten_anywhere(name: str, start: int, cut: float, junk: bytes) -> None:
    data = STARTS[name][start % len(STARTS[name])]
    place = int(cut * len(data))
    TARGETS[name](data[:place] + junk)
    TARGETS[name](data[:place] + junk + data[place + len(junk) :])
