"""The console from the command line: what was asked for, as its host wants it."""

import argparse
import os
from typing import Any

from sightline.cli._folder import current_folder
from sightline.exceptions import UserMistake

_PICK = "/resume"
_PIPED = 'run one prompt with -p "…", or piped input with -p -'


def open_console(arguments: argparse.Namespace) -> int:
    if arguments.output_format != "text" or arguments.timeout is not None:
        raise UserMistake("--output-format and --timeout need a prompt", 'add -p "…"')
    if arguments.resume is True and (arguments.opening or not can_open()):
        raise no_session_named("--resume ID")
    if not os.isatty(0):
        raise UserMistake("the console needs a terminal, and standard input is not one", _way(arguments))
    if arguments.resume is True:
        arguments.resume = None
        return _opened(_wanted(arguments), _PICK)
    return _opened(_wanted(arguments), arguments.opening)


def can_open() -> bool:
    """Whether input and output are a terminal."""
    return os.isatty(0) and os.isatty(1)


def open_session(session: str) -> int:
    """Go back to a session, whether it runs or not."""
    return _opened({"resume": session})


def choose_session() -> int:
    """Ask which of those that are open in this folder to go on with."""
    return _opened({"cwd": str(current_folder())})


def pick_session() -> int:
    """A new conversation, with the list of all others open."""
    return _opened({"cwd": str(current_folder())}, _PICK)


def no_session_named(way: str) -> UserMistake:
    """Without a terminal there is no list to choose from."""
    return UserMistake("which session?", f"name it: {way}; list them with `sightline sessions`")


def _way(arguments: argparse.Namespace) -> str:
    if not arguments.opening:
        return _PIPED
    import shlex

    return f"run it with -p: sightline -p {shlex.quote(arguments.opening)}"


def _opened(wanted: dict[str, Any], prompt: str = "") -> int:
    """Painted at once, where that can be done."""
    from sightline.views.console import open_console as painted

    code = painted(wanted, provider=wanted.get("provider", ""), prompt=prompt)
    if code is not None:
        return code
    from sightline.views.console._run import run

    return run(options=wanted, prompt=prompt)


def _wanted(arguments: argparse.Namespace) -> dict[str, Any]:
    from sightline.cli._agent_commands import resumed, start_options
    from sightline.journal import Store
    from sightline.paths import data_folder

    cwd = current_folder()
    return start_options(arguments, cwd, resumed(arguments, Store(data_folder()), cwd))


def wanted_by(argv: list[str]) -> dict[str, Any]:
    """What a command line asks for that opens the console."""
    from sightline.cli._parser import parse

    return _wanted(parse(argv))
