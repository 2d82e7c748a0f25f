"""``python -m ert_numba``."""

from __future__ import annotations


def main() -> None:
    from ert_numba.cli import app
    from ert_numba.terminal import run

    run(app, "python -m ert_numba")


if __name__ == "__main__":
    main()
