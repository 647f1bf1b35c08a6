"""Options and help of the commands about commands and jobs."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.cli import _job_commands as commands

if TYPE_CHECKING:
    from sightline.cli._parser import Parser

    Subparsers = argparse._SubParsersAction[Parser]

_EXIT_CODES = (
    "exit codes: the command's own; 128 + n when signal n ended it, 124 timeout, 126 and 127 it could not be started, "
    "130 cancelled, 141 whoever read our output is gone"
)


def add_job_commands(
    subparsers: "Subparsers", add_common: Callable[..., None], seconds: Callable[[str], float]
) -> None:
    _add_exec(subparsers, add_common, seconds)
    _add_jobs(subparsers, add_common)
    _add_attach(subparsers, add_common)
    _add_logs(subparsers, add_common)
    _add_cancel(subparsers, add_common)
    _add_ps(subparsers, add_common)
    _add_stop(subparsers, add_common)
    _add_serve(subparsers, add_common)


def _add_exec(subparsers: "Subparsers", add_common: Callable[..., None], seconds: Callable[[str], float]) -> None:
    parser = subparsers.add_parser(
        "exec",
        help="run a command: seen live, cancelled by Ctrl+C, kept",
        usage="sightline exec [options] -- COMMAND [ARGUMENT ...]",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("-d", "--detach", action="store_true", help="start it, print its id, and leave it running")
    parser.add_argument("--pty", action="store_true", help="give it a terminal of its own, for programs that insist")
    parser.add_argument(
        "--timeout", type=seconds, default=None, metavar="SECONDS", help="end it after this long (exit code 124)"
    )
    parser.add_argument(
        "--sandbox", action="store_true", help="let it write only in this folder, without network, without secrets"
    )
    parser.add_argument("--network", action="store_true", help="with --sandbox: let it use the network")
    parser.add_argument("--session", default="", metavar="ID", help="as a job of this running session")
    parser.add_argument(
        "--output-format",
        choices=("text", "events"),
        default="text",
        help="text: what it prints (default); events: our events as NDJSON",
    )
    add_common(parser, below=True, verbose="say on each row which stream it came from")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help="the command and its arguments")
    parser.set_defaults(command=commands.exec_command)


def _add_jobs(subparsers: "Subparsers", add_common: Callable[..., None]) -> None:
    parser = subparsers.add_parser("jobs", help="commands that run, and those that ended, the newest first")
    parser.add_argument("--session", default="", metavar="ID", help="only those of this session")
    parser.add_argument("--all", action="store_true", help="not only the newest 30")
    parser.add_argument("--json", action="store_true", help="all of them, as a JSON array")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.jobs)
    parts = parser.add_subparsers(title="commands", metavar="COMMAND")
    prune = parts.add_parser(
        "prune",
        help="delete old jobs and their output",
        description="Delete sessions that ended, with their jobs and output. It happens by itself now and then with "
        "the limits that are the defaults here.",
    )
    prune.add_argument("--older-than", default="30d", metavar="AGE", help="not changed for so long (default: 30d)")
    prune.add_argument(
        "--larger-than",
        default="10G",
        metavar="SIZE",
        help="the oldest, until no more than this is kept (default: 10G)",
    )
    prune.set_defaults(command=commands.jobs_prune)


def _add_attach(subparsers: "Subparsers", add_common: Callable[..., None]) -> None:
    parser = subparsers.add_parser(
        "attach",
        help="go back to a session, or watch a job: what it said, then what it says",
        epilog="Ctrl+C leaves a job running (exit code 130); otherwise the exit code is that of the job",
    )
    help_text = "a job or a session, or the beginning of its id; nothing: the session that runs in this folder"
    parser.add_argument("id", nargs="?", default="", metavar="ID", help=help_text)
    add_common(parser, below=True, verbose="say on each row which stream it came from")
    parser.set_defaults(command=commands.attach)


def _add_logs(subparsers: "Subparsers", add_common: Callable[..., None]) -> None:
    parser = subparsers.add_parser("logs", help="all a job has printed; into a pipe byte for byte")
    parser.add_argument("id", metavar="ID", help="a job, or the beginning of its id")
    parser.add_argument("-f", "--follow", action="store_true", help="go on until it ends; its exit code is ours")
    add_common(parser, below=True, verbose="say on each row which stream it came from")
    parser.set_defaults(command=commands.logs)


def _add_cancel(subparsers: "Subparsers", add_common: Callable[..., None]) -> None:
    parser = subparsers.add_parser("cancel", help="end a job and everything it started; what it said is kept")
    parser.add_argument("id", metavar="ID", help="a job, or a session for all its jobs")
    parser.add_argument("--force", action="store_true", help="kill it at once instead of asking first")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.cancel)


def _add_ps(subparsers: "Subparsers", add_common: Callable[..., None]) -> None:
    parser = subparsers.add_parser("ps", help="sessions that are running")
    parser.add_argument("--json", action="store_true", help="as a JSON array")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.ps)


def _add_stop(subparsers: "Subparsers", add_common: Callable[..., None]) -> None:
    parser = subparsers.add_parser("stop", help="end sessions: their jobs are cancelled, what they said is kept")
    parser.add_argument("ids", nargs="*", metavar="ID", help="sessions, or the beginnings of their ids")
    parser.add_argument("--all", action="store_true", help="every running session")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.stop)


def _add_serve(subparsers: "Subparsers", add_common: Callable[..., None]) -> None:
    parser = subparsers.add_parser("serve", help="a web page with sessions and jobs, live, for this machine only")
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="listen here (default: any free port)")
    parser.add_argument("files", nargs="*", metavar="FILE", help="recorded provider streams to show as well")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.serve)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"not a port: {text}")
    return int(text)
