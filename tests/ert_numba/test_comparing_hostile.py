"""Files of benchmarks with single values made strange: a judgement with all its outputs, or a clean error."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from made_up_benchmarks import as_file, made_up_run

from ert_numba.charts.judgement_page import judgement_page
from ert_numba.errors import ErtError
from ert_numba.judge.annotations import to_annotations
from ert_numba.judge.history import entry_of_run
from ert_numba.judge.markdown import to_markdown
from ert_numba.judge.suite import judge
from ert_numba.store.benchmark_runs import load_run
from ert_numba.store.documents import encode
from ert_numba.verdict_tables import judgement_tables

A = made_up_run("a")
B = [as_file(start) for start in made_up_run("b", seed=2).starts]
NUMBERS = (0.0, -1.0, 3, 1e-9, 1e308, 5e-324, float("nan"), float("inf"), 2**63, 10**400)
TEXTS = ("", "user", "s", "B/s", "cpu", "x" * 5000, "\x1b[2J</script>`|\r\n::error::", "\ud800")
OTHERS = (None, True, [], {}, [1, 2], {"a": 1})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value[:12]) if isinstance(value, list) else ()
    for key, part in inside:
        yield (*path, key)
        yield from places(part, (*path, key))


def strange(document: Any, chance: random.Random) -> None:
    *way, last = chance.choice(list(places(document)))
    for key in way:
        document = document[key]
    kind = {str: TEXTS, int: NUMBERS, float: NUMBERS}.get(type(document[last]), OTHERS)
    document[last] = chance.choice(kind if chance.random() < 0.8 else (*NUMBERS, *TEXTS, *OTHERS))


@pytest.mark.parametrize("seed", range(8))
def test_a_strange_value_makes_a_judgement_or_a_clean_error(seed, tmp_path):
    chance = random.Random(seed)
    for attempt in range(12):
        documents = copy.deepcopy(B)
        for document in documents if chance.random() < 0.5 else documents[:1]:
            strange(document, chance)
        folder = tmp_path / str(attempt)
        folder.mkdir()
        paths = [folder / f"{number:04}_b.json" for number, _ in enumerate(documents, start=1)]
        for path, document in zip(paths, documents, strict=True):
            path.write_text(json.dumps(document))
        try:
            run = load_run(paths)
            judgement = judge(A, run)
        except ErtError:
            continue
        # What was judged can be shown and saved, whatever it is.
        encode(judgement)
        encode(entry_of_run(run))
        assert "\x1b" not in to_markdown(judgement)
        assert all(len(line.splitlines()) == 1 for line in to_annotations(judgement))
        assert list(judgement_tables(judgement, every=True))
        if attempt == 0:
            assert judgement_page(judgement).count("</script>") == 2
