"""Writes the shell completion scripts that ship with the package, from the parser itself: `make completions`."""

import argparse
from pathlib import Path

import shtab

from sightline.cli._parser import build_parser

FOLDER = Path(__file__).parent.parent / "src" / "sightline" / "cli" / "completions"
SHELLS = ("bash", "zsh", "fish")


def script(shell: str) -> str:
    parser = build_parser()
    _complete_files(parser)
    return shtab.complete(parser, shell=shell).rstrip() + "\n"


def _complete_files(parser: argparse.ArgumentParser) -> None:
    """Arguments that are files complete to files; the parser itself knows nothing of shells."""
    for action in parser._actions:
        if action.metavar == "FILE":
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                _complete_files(child)


if __name__ == "__main__":
    for name in SHELLS:
        (FOLDER / f"sightline.{name}").write_text(script(name))
