"""Options and help of the commands about commands and jobs."""

import argparse
from typing import TYPE_CHECKING

from sightline.cli import _job_commands as commands
from sightline.cli._parser import add_common, seconds, whole_number

if TYPE_CHECKING:
    from sightline.cli._parser import Subparsers

_EXIT_CODES = (
    "exit codes: that of the command; 128 + n after signal n, 124 timeout, 126 or 127 the command did not start, "
    "130 cancelled, 141 the reader of the output is gone"
)


def add_job_commands(subparsers: "Subparsers") -> None:
    for add in (_add_exec, _add_jobs, _add_attach, _add_logs, _add_cancel, _add_ps, _add_stop, _add_serve):
        add(subparsers)


def _add_exec(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser(
        "exec",
        help="run a command, show its output live and store it",
        usage="sightline exec [options] -- COMMAND [ARGUMENT ...]",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("-d", "--detach", action="store_true", help="start it in the background and print its id")
    parser.add_argument("--pty", action="store_true", help="give it a terminal, for programs that need one")
    stop = "stop it after this many seconds (exit code 124)"
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help=stop)
    parser.add_argument(
        "--sandbox",
        action="store_true",
        help="run it in the sandbox: it writes only in this folder, without network and without secrets",
    )
    parser.add_argument("--network", action="store_true", help="with --sandbox: allow the network")
    parser.add_argument("--session", default="", metavar="ID", help="run it as a job of this running session")
    parser.add_argument(
        "--output-format",
        choices=("text", "events"),
        default="text",
        help="text: what it prints (default); events: Sightline's events as NDJSON",
    )
    add_common(parser, below=True, verbose="mark each line as stdout or stderr")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help="the command and its arguments")
    parser.set_defaults(command=commands.exec_command)


def _add_jobs(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser("jobs", help="list running and finished commands, newest first")
    parser.add_argument("--session", default="", metavar="ID", help="only the jobs of this session")
    many = parser.add_mutually_exclusive_group()
    many.add_argument("--all", action="store_true", help="all jobs, not only the newest 30")
    count = whole_number(1, 10**9 - 1, "not a number above 0")
    many.add_argument("--limit", type=count, metavar="N", help="how many to list (default: 30; with --json: all)")
    parser.add_argument("--json", action="store_true", help="as a JSON array")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.jobs)
    parts = parser.add_subparsers(title="commands", metavar="COMMAND")
    prune = parts.add_parser(
        "prune",
        help="delete old jobs and their output",
        description="Delete finished jobs with their output. Sightline does this by itself from time to time, with the "
        "default limits.",
    )
    prune.add_argument(
        "--older-than", default="30d", metavar="AGE", help="delete jobs unchanged for this long (default: 30d)"
    )
    prune.add_argument(
        "--larger-than",
        default="10G",
        metavar="SIZE",
        help="then delete the oldest until no more than this is stored (default: 10G)",
    )
    prune.set_defaults(command=commands.jobs_prune)


def _add_attach(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser(
        "attach",
        help="return to a running session, or watch a job",
        epilog="Ctrl+C leaves the job running (exit code 130). Otherwise the exit code is that of the job.",
    )
    help_text = "a job, a session, or the start of its id; default: the session running in this folder"
    parser.add_argument("id", nargs="?", default="", metavar="ID", help=help_text)
    parser.add_argument("--agent", default="", metavar="PATH", help="open the view of this agent, such as Explore-1")
    add_common(parser, below=True, verbose="mark each line as stdout or stderr")
    parser.set_defaults(command=commands.attach)


def _add_logs(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser("logs", help="print all output of a job")
    parser.add_argument("id", metavar="ID", help="a job, or the start of its id")
    parser.add_argument(
        "-f", "--follow", action="store_true", help="follow the output until the job ends; exit with its exit code"
    )
    add_common(parser, below=True, verbose="mark each line as stdout or stderr")
    parser.set_defaults(command=commands.logs)


def _add_cancel(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser("cancel", help="cancel a job and every process it started; its output stays stored")
    parser.add_argument("id", metavar="ID", help="a job, or a session to cancel all its jobs")
    parser.add_argument("--force", action="store_true", help="kill it at once, without SIGTERM first")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.cancel)


def _add_ps(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser("ps", help="list running sessions")
    parser.add_argument("--json", action="store_true", help="as a JSON array")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.ps)


def _add_stop(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser("stop", help="end running sessions and cancel their jobs; conversations stay stored")
    parser.add_argument("ids", nargs="*", metavar="ID", help="sessions, or the start of their ids")
    parser.add_argument("--all", action="store_true", help="all running sessions")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.stop)


def _add_serve(subparsers: "Subparsers") -> None:
    about = "Serve a page with your sessions and jobs, on this machine only, and print the address that opens it."
    parser = subparsers.add_parser(
        "serve", help="show sessions and jobs in a browser on this machine", description=about
    )
    port = whole_number(0, 65535, "not a port")
    parser.add_argument("--port", type=port, default=0, metavar="N", help="port to listen on (default: any free port)")
    parser.add_argument("files", nargs="*", metavar="FILE", help="recordings of other agents to show as well")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.serve)
