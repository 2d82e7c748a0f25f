"""``python -m appprof``."""

from __future__ import annotations


def main() -> None:
    from appprof.cli import app

    app(prog_name="python -m appprof")


if __name__ == "__main__":
    main()
