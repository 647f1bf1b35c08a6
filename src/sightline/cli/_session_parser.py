"""Options and help of the commands about stored sessions."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sightline.cli import _session_commands as commands
from sightline.cli._parser import CommandParser, add_common, whole_number

if TYPE_CHECKING:
    from sightline.cli._parser import Subparsers

_ID = "a session, the start of its id, or - for the last one in this folder"
_FILTERS = ("default", "no-tools", "user-only", "labeled-only", "all")


class _SessionsParser(CommandParser):
    """Takes words among the options, too (`delete --yes ID`), where argparse takes only those before the first one; and
    after `rename ID` everything as it is: a title may begin with a hyphen."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        args = list(args or ())
        title = self._title(args)
        found, rest = super().parse_known_args(args[: len(args) - len(title)], namespace)
        if not any(word.startswith("-") and word != "-" for word in rest):
            found.query += rest
            rest = []
        found.query += title[1:] if title[:1] == ["--"] else title
        return found, rest

    def _title(self, args: list[str]) -> list[str]:
        words = [at for at, word in enumerate(args) if not self._is_option(args, at) and word != "--"]
        return args[words[1] + 1 :] if len(words) > 1 and args[words[0]] == "rename" else []

    def _is_option(self, args: list[str], at: int) -> bool:
        """An option, or the value of the one before."""
        if args[at].startswith("-") and args[at] != "-":
            return True
        before = self._option_string_actions.get(args[at - 1]) if at else None
        return before is not None and before.nargs != 0


def add_session_commands(subparsers: "Subparsers") -> None:
    _add_sessions(subparsers)
    _add_resume(subparsers)
    _add_tree(subparsers)
    _add_fork(subparsers)


def _add_sessions(subparsers: "Subparsers") -> None:
    plain, subparsers._parser_class = subparsers._parser_class, _SessionsParser
    parser = subparsers.add_parser(
        "sessions",
        help="list, search, rename, archive or delete sessions",
        description="List sessions, or those with the words of QUERY. Or change one: sessions rename ID TITLE, "
        "sessions archive ID, sessions unarchive ID, sessions delete ID.",
    )
    subparsers._parser_class = plain
    parser.add_argument("query", nargs="*", metavar="QUERY", help="only those with these words, best match first")
    parser.add_argument("--archived", action="store_true", help="list archived sessions, which are hidden otherwise")
    parser.add_argument("--yes", action="store_true", help="with delete: do not ask first")
    parser.add_argument("--here", action="store_true", help="only those of this folder")
    many = parser.add_mutually_exclusive_group()
    many.add_argument("--all", action="store_true", help="all sessions, not only the first 30")
    count = whole_number(1, 10**9 - 1, "not a number above 0")
    many.add_argument("--limit", type=count, metavar="N", help="how many to list (default: 30)")
    parser.add_argument("--json", action="store_true", help="as a JSON array")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.sessions)


def _add_resume(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser("resume", help="resume a session in the console; without a terminal, print it")
    parser.add_argument("id", nargs="?", metavar="ID", help=f"{_ID}. Without it, choose one in the console")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.resume)


def _add_tree(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser("tree", help="show the tree of a session, move in it, or label an entry")
    parser.add_argument("id", metavar="ID", help=_ID)
    parser.add_argument("--filter", choices=_FILTERS, default="default", help="which entries to show")
    parser.add_argument("--search", default="", metavar="WORDS", help="only entries with all these words")
    parser.add_argument("--json", action="store_true", help="as a JSON array")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--to", metavar="ENTRY", help="continue from this entry; files are not changed")
    instead.add_argument("--label", metavar="ENTRY=TEXT", help="label an entry; without TEXT, remove its label")
    summary = parser.add_mutually_exclusive_group()
    summary.add_argument("--summary", default="", metavar="TEXT", help="with --to: a summary of the branch you leave")
    summary.add_argument("--summarize", action="store_true", help="with --to: let the model write that summary")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.tree)


def _add_fork(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser("fork", help="copy a session into a new one and print its id")
    parser.add_argument("id", metavar="ID", help=_ID)
    parser.add_argument("--at", default="", metavar="ENTRY", help="copy only up to this entry")
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.fork)
