"""Where in a workspace deny rules forbid every write, for a sandbox that mounts whole folders and files read-only."""

import os
import re
from pathlib import Path

from sightline.settings.rules._policy import Policy
from sightline.settings.rules._rules import Rule, parse_rule, path_parts

_has_a_glob = re.compile(r"(?:[^\\*?]|\\.)*[*?]", re.DOTALL).match


def denied_paths(policy: Policy, workspace: Path) -> list[str]:
    """Real paths, whether there or not. A pattern that picks some files of a folder names no path."""
    root = os.path.realpath(workspace)
    rules = [parse_rule(text, denies=True) for text in policy.deny]
    found = [_denied_whole(rule, root) for rule in rules if rule.access == "write"]
    return sorted({path for each in found if each is not None and (path := _in_the_workspace(each, root))})


def _denied_whole(rule: Rule, root: str) -> str | None:
    if not rule.pattern:
        return root
    base, names = path_parts(rule.pattern, root, os.path.realpath(os.path.expanduser("~")))
    literal = list(names)
    while literal and literal[-1] == "**":
        literal.pop()
    if any(_has_a_glob(name) for name in literal):
        return None
    path = os.path.realpath("/".join([base.rstrip("/"), *(re.sub(r"\\(.)", r"\1", name) for name in literal)]) or "/")
    only_itself = len(literal) == len(names)
    return None if only_itself and os.path.isdir(path) else path


def _in_the_workspace(path: str, root: str) -> str:
    """All of the workspace, where it is in what is denied; nothing, where that is elsewhere."""
    common = os.path.commonpath([path, root])
    return path if common == root else root if common == path else ""
