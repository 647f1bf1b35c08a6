"""Our own agent from the command line: one prompt, without a screen."""

import argparse
import os
from pathlib import Path
from typing import Any

from sightline.cli._folder import current_folder
from sightline.exceptions import UserMistake

NOTHING_TO_CONTINUE = (
    "start one without --continue; `sightline sessions` lists those of other folders, --resume ID resumes one"
)


def prompt_native(arguments: argparse.Namespace, text: str, session: str) -> Any:
    """The run that was asked for, not yet begun. `session`: one that is resumed."""
    from sightline import paths
    from sightline.agent import agent_spec
    from sightline.host import NativeRun
    from sightline.journal import Store
    from sightline.settings import StartOptions

    cwd = current_folder()
    if str(cwd).encode("utf-8", "replace") != os.fsencode(cwd):
        raise UserMistake(
            "the name of the current folder is not UTF-8", "rename it: the model could not name files in it"
        )
    spec = agent_spec(StartOptions(**start_options(arguments, cwd, session)))
    return NativeRun(Store(paths.data_folder()), spec, text, timeout=arguments.timeout)


def start_options(arguments: argparse.Namespace, cwd: Path, session: str) -> dict[str, Any]:
    """The fields of `StartOptions` as the command line has them: a console is painted before that is loaded."""
    from sightline.cli._commands import options_of

    if (is_native := arguments.provider in (None, "native")) and arguments.option:
        raise UserMistake("Sightline's own agent takes no --option", "use --set NAME=VALUE; see `sightline config`")
    return {
        "cwd": str(cwd),
        "resume": session,
        "provider": "" if is_native else arguments.provider,
        "model": arguments.model,
        "thinking": arguments.thinking or "",
        "approval": arguments.approval or "",
        "allow": arguments.allow,
        "deny": arguments.deny,
        "flags": flags_of(arguments),
        "option": options_of(arguments.option),
    }


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
            raise UserMistake("no session in this folder to resume", NOTHING_TO_CONTINUE)
        return str(session)
    return str(store.find_conversation(arguments.resume, str(cwd))) if arguments.resume else ""
