"""``python -m appprof``."""

from __future__ import annotations

import gc


def main() -> None:
    from appprof.report.collector import collector_at_rest

    with collector_at_rest():  # one command makes few cycles, and the search for them takes a tenth of its time
        from appprof.cli import app
        from ert_numba.terminal import run

        try:
            run(app, "python -m appprof")
        finally:
            gc.freeze()  # nor does Python look for any when it ends


if __name__ == "__main__":
    main()
