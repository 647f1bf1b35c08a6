"""An agent from the command line: one prompt without a screen, or the console."""

import argparse
import os
from pathlib import Path
from typing import Any

from sightline.cli._environment import current_folder, open_store
from sightline.exceptions import UserMistake

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.host import AnswerSchema, NativeRun, RunLimits
    from sightline.journal import Store

NOTHING_TO_CONTINUE = (
    "start one without --continue; `sightline sessions` lists those of other folders, --resume ID resumes one"
)


_PICK = "/resume"
_PIPED = 'run one prompt with -p "…", or piped input with -p -'

# Options of a run without a screen, and what they are when not given.
_FOR_A_PROMPT = {"output_format": "text", "timeout": None, "max_turns": None, "max_cost": None, "json_schema": None}

# The fields of `StartOptions`: a console is painted before that is loaded.
StartFields = dict[str, Any]


def limits_of(arguments: argparse.Namespace) -> "RunLimits | None":
    """What the run of a prompt is held to."""
    if arguments.max_turns is None and arguments.max_cost is None:
        return None
    from sightline.host import RunLimits

    return RunLimits(turns=arguments.max_turns, cost=arguments.max_cost)


def prompt_native(arguments: argparse.Namespace, text: str, session: str, schema: "AnswerSchema | None") -> "NativeRun":
    """The run of a prompt, not yet begun. `session`: one that is resumed."""
    from sightline.agent import agent_spec
    from sightline.host import NativeRun, placed
    from sightline.settings import StartOptions

    cwd = current_folder()
    if str(cwd).encode("utf-8", "replace") != os.fsencode(cwd):
        raise UserMistake(
            "the name of the current folder is not UTF-8", "rename it: the model could not name files in it"
        )
    store = open_store()
    spec = agent_spec(placed(store, StartOptions(**start_options(arguments, cwd, session))))
    limits = limits_of(arguments)
    return NativeRun(store, spec, text, timeout=arguments.timeout, limits=limits, schema=schema)


def start_options(arguments: argparse.Namespace, cwd: Path, session: str) -> StartFields:
    """The fields of `StartOptions` as the command line has them."""
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


def resumed(arguments: argparse.Namespace, store: "Store", cwd: Path) -> str:
    """The session to resume; empty for a new one."""
    if arguments.latest:
        session = store.last_in(str(cwd))
        if not session:
            raise UserMistake("no session in this folder to resume", NOTHING_TO_CONTINUE)
        return session
    return store.find_conversation(arguments.resume, str(cwd)) if arguments.resume else ""


def go_where_it_worked(session: str) -> None:
    """A session that began in a worktree is resumed there."""
    from sightline.paths import in_copies_folder

    store, cwd = open_store(), current_folder()
    if in_copies_folder(store.read(session).header.cwd):
        from sightline.host import folder_to_resume_in

        os.chdir(folder_to_resume_in(store, session, str(cwd)))


def open_console(arguments: argparse.Namespace) -> int:
    if alone := [name for name, default in _FOR_A_PROMPT.items() if getattr(arguments, name) != default]:
        raise UserMistake(f"--{alone[0].replace('_', '-')} needs a prompt", 'add -p "…"')
    if arguments.resume is True and (arguments.opening or not can_open()):
        raise no_session_named("--resume ID")
    if not os.isatty(0):
        raise UserMistake("the console needs a terminal, and standard input is not one", _way(arguments))
    if arguments.worktree is not None:
        from sightline.cli._worktree_commands import enter_worktree

        enter_worktree(arguments.worktree)
    if arguments.resume is True:
        arguments.resume = None
        return _opened(_options(arguments), _PICK)
    return _opened(_options(arguments), arguments.opening)


def can_open() -> bool:
    """Whether input and output are a terminal."""
    return os.isatty(0) and os.isatty(1)


def open_session(session: str, agent: str = "") -> int:
    """Open a session in the console, whether it runs or not. `agent`: with the view of this one open."""
    return _opened({"resume": session}, f"/agents {agent}" if agent else "")


def choose_session() -> int:
    """Open the console with a choice of the sessions that are open in this folder. No host boots meanwhile: no new
    session was named."""
    from sightline.views.console._run import run

    return run(options={"cwd": str(current_folder())}, attach=True)


def pick_session() -> int:
    """The list of all conversations; a new one, where none is chosen."""
    return _opened({"cwd": str(current_folder())}, _PICK)


def no_session_named(way: str) -> UserMistake:
    """Without a terminal there is no list to choose from."""
    return UserMistake("which session?", f"name it: {way}; list them with `sightline sessions`")


def _way(arguments: argparse.Namespace) -> str:
    if not arguments.opening:
        return _PIPED
    import shlex

    return f"run it with -p: sightline -p {shlex.quote(arguments.opening)}"


def _opened(options: StartFields, prompt: str = "") -> int:
    """Painted at once, where that can be done."""
    from sightline.views.console import open_console as painted

    code = painted(options, provider=options.get("provider", ""), prompt=prompt)
    if code is not None:
        return code
    from sightline.views.console._run import run

    return run(options=options, prompt=prompt)


def _options(arguments: argparse.Namespace) -> StartFields:
    cwd = current_folder()
    return start_options(arguments, cwd, resumed(arguments, open_store(), cwd))


def options_from(argv: list[str]) -> StartFields:
    """The options of a command line that opens the console."""
    from sightline.cli._parser import parse

    return _options(parse(argv))
