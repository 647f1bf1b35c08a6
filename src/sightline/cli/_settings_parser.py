"""Options and help of `sightline config`."""

import argparse
from typing import TYPE_CHECKING

from sightline.cli import _settings_commands as commands
from sightline.cli._opening import AnyWord, CommandOrName
from sightline.cli._parser import add_common

if TYPE_CHECKING:
    from sightline.cli._parser import Subparsers


class _CommandOrKey(CommandOrName):
    usual = "get"


def add_settings_commands(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser(
        "config",
        help="show or change settings, and where each comes from",
        description="Every setting with its value and its source. With a name: its values and their sources.",
        usage="sightline config [options] [KEY | COMMAND ...]",
    )
    parser.add_argument("--json", action="store_true", help="as a JSON array")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.show)
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", action=_CommandOrKey, prog=parser.prog)
    _add_get(parts)
    _add_changes(parts)
    _add_path(parts)
    _add_trust(parts)
    _add_rules(parts)
    parts.choices = AnyWord(parts.choices or {})


def _add_get(parts: "Subparsers") -> None:
    get = parts.add_parser("get", help="print one setting or section; `get` may be left out")
    get.add_argument("key", metavar="KEY", help="such as read.default_limit, or read")
    get.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="as a JSON array")
    add_common(get, verbose="", below=True)
    get.set_defaults(command=commands.show)


def _add_changes(parts: "Subparsers") -> None:
    change = parts.add_parser("set", help="write a setting into your settings file")
    change.add_argument("key", metavar="KEY", help="such as models.default")
    change.add_argument("value", metavar="VALUE", help="a list is written with commas")
    change.add_argument("--replace", action="store_true", help="replace a list that already has values")
    _add_project(change)
    change.set_defaults(command=commands.change)
    lists = {"add": "add a value to a list, such as permissions.allow", "remove": "remove a value from a list"}
    for name, what in lists.items():
        part = parts.add_parser(name, help=what)
        part.add_argument("key", metavar="KEY", help="such as permissions.allow")
        part.add_argument("value", metavar="VALUE", help="several are written with commas")
        _add_project(part)
        part.set_defaults(command=commands.edit_list, add=name == "add")
    remove = parts.add_parser("unset", help="remove a setting from your settings file")
    remove.add_argument("key", metavar="KEY")
    _add_project(remove)
    remove.set_defaults(command=commands.remove)


def _add_path(parts: "Subparsers") -> None:
    path = parts.add_parser("path", help="print the path of your settings file, even if it does not exist")
    _add_project(path)
    path.set_defaults(command=commands.path)


def _add_trust(parts: "Subparsers") -> None:
    trust = parts.add_parser("trust", help="trust a project: use its settings, extensions, agents, commands and skills")
    untrust = parts.add_parser(
        "untrust",
        help="stop trusting a project: its settings, extensions, agents, commands and skills are no longer used",
    )
    for part, command in ((trust, commands.trust), (untrust, commands.untrust)):
        part.add_argument(
            "folder", nargs="?", default="", metavar="FOLDER", help="the project's folder (default: this one)"
        )
        part.set_defaults(command=command)
    trust.add_argument("--list", action="store_true", help="list trusted folders")


def _add_rules(parts: "Subparsers") -> None:
    rules = parts.add_parser("rules", help="list the permission rules in effect here, from settings and remembered")
    rules.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="as a JSON array")
    rules.add_argument("--forget", metavar="RULE", help="forget this remembered rule")
    rules.set_defaults(command=commands.rules)


def _add_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--project", action="store_true", help="use the project's file instead (.sightline/settings.toml)"
    )
