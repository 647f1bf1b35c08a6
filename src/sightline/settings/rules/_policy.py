"""What may be done: the rules, the approval level, and whose word counts more.

Rules:

- A deny rule wins over everything. Then comes what the level forbids, then the allow rules, then what the level allows
  by itself; what is left is asked.
- A command that computes what it runs, so that it could be what a deny rule names, is asked about, at full too. Only a
  rule for exactly this command allows it.
- A rule about commands holds in its folder and the folders below, not in a repository further down. One that denies
  holds there too, and for a command that changes its folder.
- plan: reads in the workspace; no write and no command, whatever the allow rules are. edit: also writes in the
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

from sightline.handles import real_path
from sightline.settings._tree import Approval
from sightline.settings.protection._protected import is_guarded
from sightline.settings.rules._prefix import prefix_rule
from sightline.settings.rules._rules import (
    Access,
    Certainty,
    Rule,
    allows_command,
    changes_folder,
    denies_command,
    is_exact,
    matches_host,
    matches_path,
    parse_rule,
    really,
    suggest,
)

Verdict = Literal["allow", "deny", "ask"]


class AccessRequest(Protocol):
    """One thing a call needs to do. `what` is an absolute path, a command line, or a host with its port. `where` is the
    folder of a command; empty: the workspace."""

    @property
    def access(self) -> Access: ...
    @property
    def what(self) -> str: ...
    @property
    def sandboxed(self) -> bool: ...
    @property
    def exposed(self) -> tuple[str, ...]: ...
    @property
    def where(self) -> str: ...


class Decision(msgspec.Struct, frozen=True):
    """`rule` is what decided. When it has to be asked: `suggestion` is the rule that would allow this and nothing else,
    empty where there is none; `why` what the level minds, where that does not go without saying."""

    verdict: Verdict
    rule: str
    suggestion: str = ""
    why: str = ""
    by_level: bool = False  # denied by the approval level, not by a rule
    outside: bool = False  # asked because it is outside the workspace


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
        resolve: Callable[[str], str] = real_path,
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

    def decide(self, need: AccessRequest) -> Decision:
        levels = [(max(self._denies(rule, need) for rule in rules), str(rules[0])) for rules in self._denied]
        denied, denying = max(levels, key=lambda each: each[0], default=(Certainty.NO, ""))
        if denied == Certainty.CERTAIN:
            return Decision("deny", denying)
        level = f"approval {self.approval}"
        if self.approval == "plan" and need.access in ("write", "exec"):
            return Decision("deny", level, by_level=True)
        if denied == Certainty.POSSIBLE:
            exact = self._allowing(need, exactly=True)
            why = f"it computes its command while it runs, and that could be what {denying} denies"
            return Decision("allow", str(exact)) if exact else Decision("ask", denying, self._suggestion(need), why)
        if self.approval == "full":
            return Decision("allow", level)
        allowing = self._allowing(need)
        if allowing is not None:
            return Decision("allow", str(allowing))
        if self._is_usual(need):
            return Decision("allow", level)
        outside = need.access in ("read", "write") and not _is_in(self._resolve(need.what), self._root)
        return Decision("ask", level, self._suggestion(need), self._why(need), outside=outside)

    def passed(self, need: AccessRequest) -> tuple[str, ...]:
        """The variables, or patterns of their names, that rules pass to a command: those that pass one allow all of
        it, so that no other part of a line gets what was meant for one."""
        rules = [rule for rule in self._allowed if rule.passed and self._covers(rule, need)]
        names = dict.fromkeys(name for rule in rules for name in rule.passed)
        return tuple(
            name for name in names if allows_command([rule for rule in rules if name in rule.passed], need.what)
        )

    def prefix(self, need: AccessRequest) -> str:
        """The rule that would allow this command with other arguments, too; empty where none is offered."""
        if need.access != "exec":
            return ""
        rule = prefix_rule(need.what, sandboxed=_is_confined(need), folder=self._shown_folder(need))
        return rule if rule and self.with_allowed(rule).decide(need).verdict == "allow" else ""

    def _suggestion(self, need: AccessRequest) -> str:
        if need.access != "exec":
            return suggest(need.access, self._resolve(need.what) if need.access != "network" else need.what)
        return suggest("exec", need.what, sandboxed=_is_confined(need), folder=self._shown_folder(need))

    def _shown_folder(self, need: AccessRequest) -> str:
        folder = self._where(need)
        relative = os.path.relpath(folder, self._root)
        return folder if relative.split(os.sep)[0] == os.pardir else "" if folder == self._root else relative

    def _where(self, need: AccessRequest) -> str:
        return self._resolve(need.where) if need.where else self._root

    def _both(self, rule: Rule) -> tuple[Rule, Rule]:
        """A deny rule as it is written, and as it is meant where a path in it is a link."""
        if rule.access not in ("read", "write") or not rule.pattern:
            return rule, rule
        return rule, really(rule, workspace=self._root, home=self._home, resolve=self._resolve)

    def _denies(self, rule: Rule, need: AccessRequest) -> Certainty:
        if rule.access != need.access:
            return Certainty.NO
        if need.access == "exec":
            return denies_command(rule, need.what) if self._concerns(rule, need) else Certainty.NO
        if need.access == "network":
            return _certain(matches_host(rule, need.what, denies=True))
        spellings = {need.what, os.path.normpath(need.what), self._resolve(need.what)}
        places = {"workspace": self._root, "home": self._home}
        return _certain(any(matches_path(rule, path, **places, denies=True) for path in spellings))

    def _concerns(self, rule: Rule, need: AccessRequest) -> bool:
        """Whether a rule that denies is about where a command would run."""
        if rule.sandboxed and not need.sandboxed:
            return False
        return not rule.folder or _is_in(self._where(need), self._folder(rule)) or changes_folder(need.what)

    def _allowing(self, need: AccessRequest, *, exactly: bool = False) -> Rule | None:
        rules = [rule for rule in self._allowed if rule.access == need.access]
        if not rules:
            return None
        if need.access == "exec":
            return allows_command(
                [r for r in rules if self._covers(r, need) and (is_exact(r) or not exactly)], need.what
            )
        if need.access == "network":
            return next((rule for rule in rules if matches_host(rule, need.what)), None)
        path = self._resolve(need.what)
        return next((rule for rule in rules if matches_path(rule, path, workspace=self._root, home=self._home)), None)

    def _covers(self, rule: Rule, need: AccessRequest) -> bool:
        """Whether a rule that allows holds where a command would run."""
        if rule.sandboxed and not _is_confined(need):
            return False
        folder, where = self._folder(rule), self._where(need)
        return _is_in(where, folder) and not _is_in_a_repository_below(where, folder)

    def _folder(self, rule: Rule) -> str:
        written = os.path.expanduser(rule.folder) if rule.folder.startswith("~") else rule.folder
        return self._resolve(os.path.join(self._root, written)) if written else self._root

    def _is_usual(self, need: AccessRequest) -> bool:
        """Whether the level allows it without a rule."""
        if need.access == "network":
            return False
        if need.access == "exec":
            return self.approval == "auto" and need.sandboxed and not need.exposed
        path = self._resolve(need.what)
        if not _is_in(path, self._root):
            return False
        if need.access == "read":  # our data is of other sessions too, where home is the workspace
            return not any(_is_in(path, folder) for folder in self._ours if _is_in(folder, self._root))
        return not self._is_guarded(path)

    def _why(self, need: AccessRequest) -> str:
        if need.access == "network":
            return ""
        if need.access == "exec":
            every = need.sandboxed and self.approval != "auto"
            return f"approval level {self.approval} asks before every command" if every else ""
        if not _is_in(self._resolve(need.what), self._root):
            return "outside this folder"
        return "sightline's own files, and files that git, editors and shells run by themselves, need approval"

    def _is_guarded(self, path: str) -> bool:
        return any(_is_in(path, folder) for folder in self._ours) or is_guarded(path, self._root)


class _Need(msgspec.Struct, frozen=True):
    access: Access
    what: str
    sandboxed: bool = False
    exposed: tuple[str, ...] = ()
    where: str = ""


def allows_alone(
    rule: str, access: Access, what: str, workspace: Path, *, sandboxed: bool = False, where: str = ""
) -> bool:
    """Whether this rule is enough to allow this."""
    need = _Need(access, what, sandboxed, where=where)
    return Policy("edit", [rule], [], workspace, guarded=())._allowing(need) is not None


def _is_confined(need: AccessRequest) -> bool:
    return need.sandboxed and not need.exposed


def _certain(found: bool) -> Certainty:
    return Certainty.CERTAIN if found else Certainty.NO


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _is_in_a_repository_below(path: str, folder: str) -> bool:
    """Whether a folder between this one and that has a `.git` of its own, be it a folder or a file."""
    while path != folder:
        if os.path.lexists(os.path.join(path, ".git")):
            return True
        path = os.path.dirname(path)
    return False


def _our_folders() -> list[Path]:
    from sightline.paths import data_folder
    from sightline.settings._places import user_file

    return [data_folder(), user_file(os.environ).parent]
