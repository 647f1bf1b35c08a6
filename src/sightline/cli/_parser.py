"""Every command, option and help text."""

import argparse
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn, get_args

from sightline import __version__
from sightline.cli import _commands as commands
from sightline.exceptions import UserMistake
from sightline.providers import APPROVALS, provider_names
from sightline.settings import Thinking

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction["CommandParser"]

_EXIT_CODES = (
    "exit codes: 0 success, 1 the run failed, 2 wrong usage, 3 a permission was refused, 124 timeout, 130 cancelled"
)

_invalid_choice = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)").search


class CommandParser(argparse.ArgumentParser):
    """Reports a mistake the way everything else does: one line and a hint."""

    def error(self, message: str) -> NoReturn:
        hint = f"see `{self.prog} --help`"
        match = _invalid_choice(message)
        if match is not None:
            import difflib

            near = difflib.get_close_matches(match[1], re.findall(r"'([^']*)'", match[2]), 1)
            hint = f"did you mean {near[0]}?" if near else hint
        raise UserMistake(message, hint)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments. For a prompt, which should start fast, the other commands are not even described."""
    if "-p" in argv or "--prompt" in argv:
        try:
            return prompt_parser().parse_args(argv)
        except UserMistake:
            pass  # there is more to it, or it is wrong: the whole parser knows which
    from sightline.cli._opening import NoCommand, unknown_option

    parser = build_parser()
    try:
        return parser.parse_args(argv)
    except NoCommand as mistake:
        raise unknown_option(argv, parser._option_string_actions) or mistake from None


def prompt_parser() -> CommandParser:
    """The options beside a prompt, and nothing else."""
    parser = CommandParser(prog="sightline", add_help=False)
    _add_prompt(parser)
    return parser


def build_parser() -> CommandParser:
    """Every command."""
    from sightline.cli._agents_parser import add_agents_commands, add_slash_commands
    from sightline.cli._job_parser import add_job_commands
    from sightline.cli._opening import AnyWord, CommandOrPrompt
    from sightline.cli._session_parser import add_session_commands
    from sightline.cli._settings_parser import add_settings_commands
    from sightline.cli._worktree_parser import add_worktree_commands

    parser = CommandParser(
        prog="sightline",
        description="A coding agent for the terminal that shows everything it does. Without arguments it opens the "
        'console in this folder. A prompt in quotes is sent at once: sightline "fix the tests".',
        epilog=_EXIT_CODES,
    )
    parser.add_argument("-V", "--version", action="version", version=f"sightline {__version__}")
    _add_prompt(parser)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", action=CommandOrPrompt)
    _add_view(subparsers)
    _add_events(subparsers)
    _add_flow(subparsers)
    add_job_commands(subparsers)
    add_session_commands(subparsers)
    add_settings_commands(subparsers)
    add_agents_commands(subparsers)
    add_slash_commands(subparsers)
    _add_skills(subparsers)
    add_worktree_commands(subparsers)
    _add_models(subparsers)
    _add_doctor(subparsers)
    _add_demo(subparsers)
    _add_gallery(subparsers)
    _add_completion(subparsers)
    subparsers.choices = AnyWord(subparsers.choices)
    return parser


def _add_prompt(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=commands.prompt, opening="")
    group = parser.add_argument_group("options of the console, and of -p")
    group.add_argument(
        "-p",
        "--prompt",
        nargs="?",
        const="-",
        metavar="PROMPT",
        help="run one prompt without a screen; piped input is added to it. -p alone, or -p -, reads it from stdin",
    )
    group.add_argument(
        "--provider",
        choices=("native", *provider_names()),
        help="which agent works; native is Sightline's own (default)",
    )
    group.add_argument("--model", default="", metavar="M", help="which model to use; see `sightline models`")
    group.add_argument(
        "--output-format",
        choices=("text", "json", "events"),
        default="text",
        help="text (default); json: the provider's own lines; events: Sightline's events as NDJSON",
    )
    again = group.add_mutually_exclusive_group()
    again.add_argument("--continue", dest="latest", action="store_true", help="resume the last session in this folder")
    again.add_argument(
        "--resume",
        type=_session,
        nargs="?",
        const=True,
        metavar="ID",
        help="resume this session; see `sightline sessions`. Without ID, choose one in the console",
    )
    group.add_argument(
        "--worktree",
        nargs="?",
        const=True,
        type=_worktree,
        metavar="NAME",
        help="work in a git worktree of this name, made if there is none; see `sightline worktree`. Without NAME, in a "
        "new one",
    )
    group.add_argument(
        "--approval",
        choices=APPROVALS,
        help="what the agent may do. plan: read, nothing else; edit: edit files, ask before commands; auto: also run "
        "sandboxed commands, ask for the rest (default; another provider: its own settings); full: everything, "
        "without a sandbox",
    )
    group.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="RULE",
        help="allow this without asking, such as exec(git push); repeatable",
    )
    group.add_argument("--deny", action="append", default=[], metavar="RULE", help="never allow this; repeatable")
    group.add_argument("--thinking", choices=get_args(Thinking), help="how much the model thinks before it answers")
    group.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="change a setting for this run; repeatable"
    )
    _add_limits(group)
    group.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set an option of the provider; repeatable",
    )
    add_common(group)


def _add_limits(group: "argparse._ArgumentGroup") -> None:
    """What ends a run without a screen, and what its answer has to be."""
    group.add_argument(
        "--timeout", type=seconds, metavar="SECONDS", help="stop after this many seconds (exit code 124)"
    )
    group.add_argument(
        "--max-turns",
        type=whole_number(1, 1_000_000, "not a number of turns above 0"),
        metavar="N",
        help="stop -p before the agent asks its model once more than N times (exit code 1)",
    )
    group.add_argument(
        "--max-cost",
        type=dollars,
        metavar="DOLLARS",
        help="stop -p when the agent and those it started have spent this much (exit code 1)",
    )
    group.add_argument(
        "--json-schema",
        metavar="FILE",
        help="the answer of -p is one JSON value that fits the schema in FILE, and stdout has only that",
    )


def _add_view(subparsers: "Subparsers") -> None:
    view = subparsers.add_parser("view", help="show the recorded or piped output of another agent")
    _add_stream(view)
    add_common(view, below=True)
    view.set_defaults(command=commands.view)


def _add_events(subparsers: "Subparsers") -> None:
    events = subparsers.add_parser(
        "events", help="translate another agent's output to Sightline's events, one JSON object per line"
    )
    _add_stream(events)
    _add_debug_log(events, argparse.SUPPRESS)
    events.set_defaults(command=commands.events)


def _add_stream(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="a recording; without it, or with -, stdin"
    )
    help_text = "which agent wrote it; detected by default"
    parser.add_argument("--provider", choices=provider_names(), default=argparse.SUPPRESS, help=help_text)


def _add_flow(subparsers: "Subparsers") -> None:
    flow = subparsers.add_parser("flow", help="run or check a workflow of agents and commands (YAML)")
    parts = flow.add_subparsers(title="commands", metavar="COMMAND", required=True)
    run = parts.add_parser("run", help="run a workflow", epilog=_EXIT_CODES)
    run.add_argument("file", metavar="FILE", help="the workflow, a YAML file")
    run.add_argument(
        "-i", "--input", action="append", default=[], metavar="NAME=VALUE", help="set an input; repeatable"
    )
    run.add_argument(
        "--output-format", choices=("text", "events"), default="text", help="text (default); events: NDJSON"
    )
    run.add_argument("-d", "--detach", action="store_true", help="start it in the background and print its id")
    add_common(run, below=True)
    run.set_defaults(command=commands.flow_run)
    check = parts.add_parser("check", help="check a workflow for mistakes without running it")
    check.add_argument("file", metavar="FILE", help="the workflow, a YAML file")
    check.set_defaults(command=commands.flow_check)


def _add_models(subparsers: "Subparsers") -> None:
    models = subparsers.add_parser(
        "models",
        help="list the models you can use here",
        description="List the models that you have a key or a server for. Exit code 1 when there is none.",
    )
    models.add_argument("query", nargs="*", metavar="QUERY", help="only models with these words in their names")
    models.add_argument("--json", action="store_true", help="as a JSON array")
    models.add_argument("--remote", action="store_true", help="also ask the vendors which models they offer")
    add_common(models, verbose="", below=True)
    models.set_defaults(command=commands.models)


def _add_skills(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser(
        "skills",
        help="list the skills (SKILL.md) that are found here",
        description="Every skill that is found here: where it is from, and whether it is used: offered to the model, "
        "for the user only, untrusted, shadowed by another one, broken and why. /skill NAME uses one.",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_common(parser, verbose="")
    parser.set_defaults(command=commands.skills)


def _add_doctor(subparsers: "Subparsers") -> None:
    doctor = subparsers.add_parser("doctor", help="check models, agents and sandbox, and name what is missing")
    doctor.add_argument(
        "--remove-leftovers",
        action="store_true",
        help="remove working copies that killed sessions left, after storing their changes as patches",
    )
    add_common(doctor, verbose="", below=True)
    doctor.set_defaults(command=commands.doctor)


def _add_demo(subparsers: "Subparsers") -> None:
    demo = subparsers.add_parser("demo", help="watch the agent fix a small project; needs no key and no network")
    demo.add_argument(
        "what",
        nargs="?",
        choices=("agent", "providers"),
        default="agent",
        help="agent (default), or recordings of all providers",
    )
    demo.add_argument("--fast", action="store_true", help="print it as plain text, without pauses")
    add_common(demo, verbose="", below=True)
    demo.set_defaults(command=commands.demo)


def _add_gallery(subparsers: "Subparsers") -> None:
    gallery = subparsers.add_parser("gallery", help="show every component of the terminal interface")
    gallery.add_argument("names", nargs="*", metavar="NAME", help="scenes to print; without --print, the scene to open")
    instead = gallery.add_mutually_exclusive_group()
    instead.add_argument("--print", action="store_true", help="print the scenes instead of opening them")
    instead.add_argument("--list", action="store_true", help="list the names of all scenes")
    gallery.add_argument(
        "--width", type=whole_number(1, 1000, "not a number from 1 to 1000"), metavar="N", help="columns to print in"
    )
    gallery.add_argument(
        "--theme", choices=("dark", "light"), help="for a dark or a light background; default: as the terminal"
    )
    gallery.add_argument(
        "--colours",
        choices=("none", "16", "256", "true"),
        help="number of colours; default: as the terminal, none in a pipe",
    )
    _add_debug_log(gallery, argparse.SUPPRESS)
    gallery.set_defaults(command=commands.gallery)


def _add_completion(subparsers: "Subparsers") -> None:
    completion = subparsers.add_parser("completion", help="print a completion script for your shell")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    completion.set_defaults(command=commands.completion)


def add_common(
    group: "argparse.ArgumentParser | argparse._ArgumentGroup",
    *,
    verbose: str = "also show tool calls and subagents",
    below: bool = False,
) -> None:
    """Options of most commands. Those below the main command leave alone what was already given before their name."""

    def default(value: object) -> object:
        return argparse.SUPPRESS if below else value

    if verbose:
        group.add_argument("-v", "--verbose", action="store_true", default=default(False), help=verbose)
    choices = ("auto", "always", "never")
    group.add_argument(
        "--color", choices=choices, default=default("auto"), help="when to use colours; auto: only on a terminal"
    )
    _add_debug_log(group, default(None))


def _add_debug_log(group: "argparse.ArgumentParser | argparse._ArgumentGroup", default: object) -> None:
    help_text = "write details for bug reports to FILE"
    group.add_argument("--debug-log", metavar="FILE", default=default, help=help_text)


def _session(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError(
            "which session? `sightline sessions` lists them, --continue takes the last one"
        )
    return text


def _worktree(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("it needs a name; --worktree alone, before another option, gives it one")
    return text


def whole_number(least: int, most: int, problem: str) -> Callable[[str], int]:
    """The `type` of an argument that is such a number."""

    def number(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{problem}: {text}")
        return int(text)

    return number


def seconds(text: str) -> float:
    return _above_zero(text, "not a number of seconds above 0")


def dollars(text: str) -> float:
    return _above_zero(text, "not a number of dollars above 0")


def _above_zero(text: str, problem: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{problem}: {text}")
    return value
