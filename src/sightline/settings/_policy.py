"""What may be done: the rules, the approval level, and whose word counts more.

Rules:

- A deny rule wins over everything. Then comes what the level forbids, then the allow rules, then what the level allows
  by itself; what is left is asked.
- plan: reads in the workspace; no write and no command, whatever the allow rules say. edit: also writes in the
  workspace. auto: also commands in the sandbox. full: everything.
- Writes to the protected set (`_protected.py`: what decides about us or runs by itself) are asked about below full, in
  the workspace too. A sandboxed command that could write to it, because its sandbox cannot hold all of it, counts as
  one outside the sandbox.
- A path counts as what it really is, links followed; a deny rule also looks at how it was written, and counts as well
  for where the path in it leads to.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from sightline.settings._protected import is_guarded
from sightline.settings._rules import (
    Access,
    Rule,
    allows_command,
    denies_command,
    matches_host,
    matches_path,
    parse_rule,
    really,
    suggest,
)
from sightline.settings._tree import Approval

Verdict = Literal["allow", "deny", "ask"]


class Wanted(Protocol):
    """One thing a call wants to do. `what` is an absolute path, a command line or a host."""

    @property
    def access(self) -> Access: ...
    @property
    def what(self) -> str: ...
    @property
    def sandboxed(self) -> bool: ...
    @property
    def exposed(self) -> tuple[str, ...]: ...


class Decision(msgspec.Struct, frozen=True):
    """`rule` is what decided. When it has to be asked: `suggestion` is the narrowest rule that would allow it,
    `why` what the level minds, where that does not go without saying."""

    verdict: Verdict
    rule: str
    suggestion: str = ""
    why: str = ""


class Policy:
    """What may be done in a workspace. `guarded` are folders of ours that are not written to unasked."""

    def __init__(
        self,
        approval: Approval,
        allow: Iterable[str],
        deny: Iterable[str],
        workspace: Path,
        *,
        guarded: Iterable[Path] | None = None,
        resolve: Callable[[str], str] = os.path.realpath,
    ) -> None:
        self.approval = approval
        self.allow = tuple(allow)
        self.deny = tuple(deny)
        self.workspace = workspace
        self._allowed = [parse_rule(text) for text in self.allow]
        self._resolve = resolve
        self._guarded = None if guarded is None else tuple(guarded)
        self._root = resolve(str(workspace))
        self._home = resolve(os.path.expanduser("~"))
        self._denied = [self._both(parse_rule(text, denies=True)) for text in self.deny]
        self._ours = [resolve(str(folder)) for folder in (_our_folders() if guarded is None else self._guarded or ())]

    def with_allowed(self, *rules: str) -> "Policy":
        """The same with more allow rules."""
        return self.having(self.approval, (*self.allow, *rules), self.deny)

    def having(self, approval: Approval, allow: Iterable[str], deny: Iterable[str]) -> "Policy":
        """Another level and other rules, for the same workspace."""
        return Policy(approval, allow, deny, self.workspace, guarded=self._guarded, resolve=self._resolve)

    def decide(self, need: Wanted) -> Decision:
        denying = next((rules for rules in self._denied if any(self._denies(rule, need) for rule in rules)), None)
        if denying is not None:
            return Decision("deny", str(denying[0]))
        level = f"approval {self.approval}"
        if self.approval == "full":
            return Decision("allow", level)
        if self.approval == "plan" and need.access in ("write", "exec"):
            return Decision("deny", level)
        allowing = self._allowing(need)
        if allowing is not None:
            return Decision("allow", str(allowing))
        if self._is_usual(need):
            return Decision("allow", level)
        what = self._resolve(need.what) if need.access in ("read", "write") else need.what
        return Decision("ask", level, suggest(need.access, what), self._why(need))

    def _both(self, rule: Rule) -> tuple[Rule, Rule]:
        """A deny rule as it is written, and as it is meant where a path in it is a link."""
        if rule.access not in ("read", "write") or not rule.pattern:
            return rule, rule
        return rule, really(rule, workspace=self._root, home=self._home, resolve=self._resolve)

    def _denies(self, rule: Rule, need: Wanted) -> bool:
        if rule.access != need.access:
            return False
        if need.access == "exec":
            return denies_command(rule, need.what)
        if need.access == "network":
            return matches_host(rule, need.what, denies=True)
        spellings = {need.what, os.path.normpath(need.what), self._resolve(need.what)}
        return any(matches_path(rule, path, workspace=self._root, home=self._home, denies=True) for path in spellings)

    def _allowing(self, need: Wanted) -> Rule | None:
        rules = [rule for rule in self._allowed if rule.access == need.access]
        if not rules:
            return None
        if need.access == "exec":
            return allows_command(rules, need.what)
        if need.access == "network":
            return next((rule for rule in rules if matches_host(rule, need.what)), None)
        path = self._resolve(need.what)
        return next((rule for rule in rules if matches_path(rule, path, workspace=self._root, home=self._home)), None)

    def _is_usual(self, need: Wanted) -> bool:
        """Whether the level allows it without a rule."""
        if need.access == "network":
            return False
        if need.access == "exec":
            return self.approval == "auto" and need.sandboxed and not need.exposed
        path = self._resolve(need.what)
        if not _is_in(path, self._root):
            return False
        return need.access == "read" or not self._is_guarded(path)

    def _why(self, need: Wanted) -> str:
        if need.access == "network":
            return ""
        if need.access == "exec":
            every = need.sandboxed and self.approval != "auto"
            return f"at approval {self.approval} every command is asked about" if every else ""
        if not _is_in(self._resolve(need.what), self._root):
            return "outside this folder"
        return "sightline's own files, and what git, editors and shells run by themselves, are not written unasked"

    def _is_guarded(self, path: str) -> bool:
        return any(_is_in(path, folder) for folder in self._ours) or is_guarded(path, self._root)


class _Need(msgspec.Struct, frozen=True):
    access: Access
    what: str
    sandboxed: bool = False
    exposed: tuple[str, ...] = ()


def allows_alone(rule: str, access: Access, what: str, workspace: Path) -> bool:
    """Whether this rule is enough to allow this."""
    return Policy("edit", [rule], [], workspace, guarded=())._allowing(_Need(access, what)) is not None


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _our_folders() -> list[Path]:
    from sightline.paths import data_folder
    from sightline.settings._places import user_file

    return [data_folder(), user_file(os.environ).parent]
