"""Options and help of `sightline worktree`."""

from typing import TYPE_CHECKING

from sightline.cli import _worktree_commands as commands
from sightline.cli._parser import add_common

if TYPE_CHECKING:
    from sightline.cli._parser import Subparsers


def add_worktree_commands(subparsers: "Subparsers") -> None:
    parser = subparsers.add_parser(
        "worktree",
        help="list, merge or remove the worktrees that sessions work in (--worktree NAME)",
        description="Worktrees that `sightline --worktree NAME` made: what changed in each, and where it is.",
    )
    add_common(parser, verbose="", below=True)
    parser.set_defaults(command=commands.listed)
    parts = parser.add_subparsers(title="commands", metavar="COMMAND")
    listed = parts.add_parser("list", help="list them; `list` may be left out")
    add_common(listed, verbose="", below=True)
    listed.set_defaults(command=commands.listed)
    merge = parts.add_parser("merge", help="merge its changes into the workspace; removed when all are merged")
    merge.add_argument("name", metavar="NAME", help="its name; see `sightline worktree`")
    merge.add_argument("--diff", action="store_true", help="only print what would be merged")
    add_common(merge, verbose="", below=True)
    merge.set_defaults(command=commands.merge)
    remove = parts.add_parser("remove", help="store its changes as a patch, and remove it; commits stay on its branch")
    remove.add_argument("name", metavar="NAME", help="its name; see `sightline worktree`")
    add_common(remove, verbose="", below=True)
    remove.set_defaults(command=commands.remove)
