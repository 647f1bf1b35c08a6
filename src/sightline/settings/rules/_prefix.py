"""The rule that allows a command with other arguments, too: `npm test *` for `npm test --watch`.

It is offered beside the exact rule, so it is narrow by construction:

- Only for the programs and subcommands listed here. Whatever runs other programs by its arguments (shells,
  interpreters, `sudo`, `env`, `xargs`, `find`, `git -c`, `npx`, …) is not.
- Only for one command in plain words: nothing a shell would expand, join, redirect or assign.
- Only in the sandbox: outside it, arguments decide where these programs write and what they run (`ruff check
  --output-file`, `go build -toolexec`, `git log --output`).
"""

import re
from collections.abc import Mapping

from sightline.settings.rules._rules import Rule, RuleMistake, parse_rule

_plain = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/:=@,+-]*").fullmatch
_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*").fullmatch

# What builds and tests runs the project's own code whatever its arguments are.
_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "npm": frozenset({"test"}),
    "pnpm": frozenset({"test"}),
    "yarn": frozenset({"test"}),
    "cargo": frozenset({"test", "build", "check", "clippy", "fmt"}),
    "go": frozenset({"test", "build", "vet"}),
    "dotnet": frozenset({"test", "build"}),
    "ruff": frozenset({"check", "format"}),
    "git": frozenset({"status", "diff", "log", "show", "add"}),
}
_SCRIPTS = frozenset({"npm", "pnpm", "yarn"})  # `npm run NAME`
_ALONE = frozenset({"pytest", "mypy", "tsc", "eslint"})


def prefix_rule(command: str, *, sandboxed: bool = False, folder: str = "") -> str:
    """The rule for a command and its arguments; empty where none is offered."""
    if not sandboxed or _plain(command) is None:
        return ""
    words = _prefix(command.split(" "))
    rule = Rule("exec", " ".join([*words, "*"]), False, True, folder)
    try:
        return str(rule) if words and parse_rule(str(rule)) == rule else ""
    except (RuleMistake, UnicodeError):
        return ""


def _prefix(words: list[str]) -> list[str]:
    program, *rest = words
    first = rest[0] if rest else ""
    if program in _ALONE:
        return [program]
    if first in _SUBCOMMANDS.get(program, ()):
        return [program, first]
    if program in _SCRIPTS and first == "run" and len(rest) > 1 and _name(rest[1]) is not None:
        return [program, first, rest[1]]
    return []
