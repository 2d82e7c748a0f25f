"""``python -m appprof``."""

from __future__ import annotations


def main() -> None:
    from appprof.cli import app
    from ert_numba.terminal import run

    run(app, "python -m appprof")


if __name__ == "__main__":
    main()
