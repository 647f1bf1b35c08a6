"""Prints goal and result per row and exits non-zero on a miss. Ratios are against a reference in the same run."""

import argparse
import sys
from collections.abc import Callable, Iterator

from bench import (
    agent,
    agents,
    approvals,
    console,
    first_paint,
    keeping,
    libraries,
    markdown,
    page,
    parsing,
    program,
    reading,
    running,
    sandboxing,
    searching,
    terminal,
    typing,
    width,
    wrapping,
)
from bench.row import Row

GROUPS: dict[str, Callable[[], Iterator[Row]]] = {
    "parsing": parsing.rows,
    "program": program.rows,
    "wrapping": wrapping.rows,
    "running": running.rows,
    "sandboxing": sandboxing.rows,
    "page": page.rows,
    "width": width.rows,
    "markdown": markdown.rows,
    "terminal": terminal.rows,
    "typing": typing.rows,
    "painting": first_paint.rows,
    "reading": reading.rows,
    "searching": searching.rows,
    "keeping": keeping.rows,
    "agent": agent.rows,
    "agents": agents.rows,
    "approvals": approvals.rows,
    "console": console.rows,
    "libraries": libraries.rows,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    for name in GROUPS:
        parser.add_argument(
            f"--{name}", action="store_true", help="only this group, and others named; all when none is"
        )
    chosen = vars(parser.parse_args())
    names = [name for name in GROUPS if chosen[name]] or list(GROUPS)
    missed = 0
    print(f"{'what':<58} {'goal':>12} {'result':>12}")
    for name in names:
        for row in GROUPS[name]():
            missed += not row.met
            print(row.line(), flush=True)
    print(f"{missed} missed" if missed else "every goal met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
