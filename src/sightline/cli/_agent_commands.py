"""Our own agent from the command line: one prompt, without a screen."""

import argparse
import os
from pathlib import Path
from typing import Any

from sightline.cli._folder import current_folder
from sightline.exceptions import UserMistake


def prompt_native(arguments: argparse.Namespace, text: str, session: str) -> Any:
    """The run that was asked for, not yet begun. `session`: one that is resumed."""
    from sightline import paths
    from sightline.agent import wanted_in
    from sightline.host import NativeRun
    from sightline.journal import Store

    cwd = current_folder()
    if str(cwd).encode("utf-8", "replace") != os.fsencode(cwd):
        raise UserMistake(
            "the name of the current folder is not UTF-8", "rename it: the model could not name files in it"
        )
    store = Store(paths.data_folder())
    wanted = wanted_in(
        cwd,
        flags=flags_of(arguments),
        approval=arguments.approval,
        allow=arguments.allow,
        deny=arguments.deny,
        model=arguments.model,
        thinking=arguments.thinking,
    )
    return NativeRun(store, wanted, text, resume=session, timeout=arguments.timeout)


def flags_of(arguments: argparse.Namespace) -> dict[str, str]:
    flags = {}
    for given in arguments.set:
        name, equals, value = given.partition("=")
        if not equals:
            raise UserMistake(f"not NAME=VALUE: {given}", "write it like --set read.default_limit=500")
        flags[name.strip()] = value
    return flags


def resumed(arguments: argparse.Namespace, store: Any, cwd: Path) -> str:
    """The session to resume; empty for a new one."""
    if arguments.go_on:
        session = store.last_in(str(cwd))
        if not session:
            raise UserMistake("no session in this folder to resume", "start one without --continue")
        return str(session)
    return str(store.find_conversation(arguments.resume, str(cwd))) if arguments.resume else ""
