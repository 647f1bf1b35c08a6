"""Options and help of `sightline agents` and `sightline commands`."""

import argparse
from typing import TYPE_CHECKING

from sightline.cli import _commands as commands
from sightline.cli._opening import AnyWord, CommandOrName
from sightline.cli._parser import add_common

if TYPE_CHECKING:
    from sightline.cli._parser import Subparsers


class _CommandOrAgent(CommandOrName):
    usual = "show"


def add_agents_commands(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser(
        "agents",
        help="list the agents that the agent can start, or write a new one",
        description="Every agent that can be started here: where it comes from, its model, what it may do. With a "
        "name: all of its definition.",
        usage="sightline agents [options] [NAME | COMMAND ...]",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.agents)
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", action=_CommandOrAgent, prog=parser.prog)
    show = parts.add_parser("show", help="print the whole definition of an agent; `show` may be left out")
    show.add_argument("name", metavar="NAME", help="such as explore")
    show.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="as JSON")
    add_common(show, verbose="", below=True)
    show.set_defaults(command=commands.agents)
    new = parts.add_parser("new", help="write a definition to fill in, and print its path; replaces nothing")
    new.add_argument("name", metavar="NAME", help="letters, digits, _ and -")
    new.add_argument("--project", action="store_true", help="in this project (.sightline/agents) instead of yours")
    new.set_defaults(command=commands.new_agent)
    parts.choices = AnyWord(parts.choices or {})


def add_slash_commands(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser(
        "commands",
        help="list the slash commands of Markdown files",
        description="Every slash command of a Markdown file, this project's and yours: what it does, where its file "
        "is, and whether it can be used. /NAME in a prompt runs one.",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_common(parser, verbose="")
    parser.set_defaults(command=commands.slash_commands)
