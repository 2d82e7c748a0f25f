"""Coverage-guided fuzzing with atheris: ``python tests/fuzz/fuzz.py ncu_rep --seconds 600 --folder /tmp/fuzz``.

What it finds lies in the folder as ``crash-...``, ``timeout-...`` or ``oom-...``: put it under ``tests/data/fuzz`` with
the change that mends it, and ``test_targets.py`` holds it for ever.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MEMORY_MIB, LONGEST = 1000, 1 << 17
WORDS = {
    "ncu_rep": (),
    "ncu_csv": (
        '"ID","Process ID"', '"Kernel Name"', '"Metric Name","Metric Unit","Metric Value"', '","', "Gbyte", "us", "n/a",
        "nan", "1.234,50", "1,234.50", "0.000000", "(0: 1; 1: 2)", "==ERROR==", "\\xef\\xbb\\xbf", "\\x1f\\x8b",
        "gpu__time_duration.sum", "dram__bytes.sum", "lts__t_bytes.sum", "<default domain>:",
    ),
    "document": ('"schema"', '"version"', "null", "1e999", "-0.0", "[]", "{}", "9.0"),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=WORDS)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument(
        "--limit", type=int, default=10, help="seconds an input may take, more where others stop this process"
    )
    parser.add_argument("--folder", type=Path, required=True, help="corpus and finds")
    asked = parser.parse_args()
    import atheris

    sys.path[:0] = [str(ROOT / "tests" / "support"), str(Path(__file__).parent)]
    with atheris.instrument_imports(include=["appprof", "ert_numba.store", "ert_numba.errors", "ert_numba.machine"]):
        import seeds
        import targets
        from text_mutators import mutate_csv, mutate_json
        from wire_mutator import mutate_report

    corpus = asked.folder / f"{asked.target}-corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds.SEEDS[asked.target]()):
        (corpus / f"seed-{number:03d}").write_bytes(seed[:LONGEST])
    words = asked.folder / f"{asked.target}.dict"
    words.write_text("".join('"{}"\n'.format(word.replace('"', '\\"')) for word in WORDS[asked.target]))

    def one_input(data: bytes) -> None:
        targets.TARGETS[asked.target](data)

    inside = {"ncu_rep": mutate_report, "ncu_csv": mutate_csv, "document": mutate_json}[asked.target]

    def mutate(data: bytes, maximum: int, seed: int) -> bytes:
        """Half of the changes keep the format's form, the others are the fuzzer's own."""
        if random.Random(seed).random() < 0.5:
            changed = inside(data, seed)
            if len(changed) <= maximum:
                return changed
        return bytes(atheris.Mutate(data, maximum))

    options = [
        f"-max_total_time={asked.seconds}", f"-timeout={asked.limit}", f"-rss_limit_mb={MEMORY_MIB}",
        f"-max_len={LONGEST}", f"-artifact_prefix={asked.folder}/", "-print_final_stats=1",
    ]  # fmt: skip
    if WORDS[asked.target]:
        options.append(f"-dict={words}")
    atheris.Setup([sys.argv[0], *options, str(corpus)], one_input, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
