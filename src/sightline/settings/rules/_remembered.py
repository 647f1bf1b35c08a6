"""Rules the user gave while working, for one workspace: the answers "always here".

One file per workspace, in the program's own folder and not in the workspace: nothing in a repository can give itself
rules. A file that cannot be read costs its rules and a notice, never the session.

Old rules about commands do not name where they apply. They are read as given for the sandbox, which is the least they
can have meant; `exec` alone, which stood for a command too long to be a rule, is left out. The file is written anew and
a notice reports that, once.
"""

import os
from pathlib import Path
from typing import Literal

import msgspec

from sightline.exceptions import SightlineError
from sightline.paths import data_folder
from sightline.settings._files import held, read_small, replace
from sightline.settings.rules._copied import denied_in_copy
from sightline.settings.rules._rule_text import named_rule, shown_rule
from sightline.settings.rules._rules import RuleMistake, parse_rule

MOST_RULES = 1000
_VERSION = 2


class Remembered(msgspec.Struct, frozen=True):
    """`notices`: what could not be used, and what to do about it."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


class _StoredRules(msgspec.Struct):
    """`version` 1: rules about commands do not name where they apply."""

    workspace: str
    allow: list[str] = []
    deny: list[str] = []
    version: int = 1


def remembered_rules(workspace: Path) -> Remembered:
    """What is remembered for a workspace. Never raises."""
    file = _file(workspace)
    notices: list[str] = []
    try:
        stored = _read(file, workspace)
        if stored.version < _VERSION:
            notices += _narrow(stored)
            _write_anew(file, workspace)
    except SightlineError as error:
        return Remembered(notices=(f"remembered rules are not used: {error.message}",))
    allow = _readable(stored.allow, file, notices, denies=False)
    deny = _readable(stored.deny, file, notices, denies=True)
    return Remembered(allow, deny, tuple(notices))


def remember_rule(workspace: Path, rule: str, verdict: Literal["allow", "deny"] = "allow") -> str:
    """Store a rule for this workspace. Returns a notice when it could not be stored, and nothing when it was."""
    parse_rule(rule, denies=verdict == "deny")
    file = _file(workspace)
    try:
        with held(file):
            stored = _read_or_set_aside(file, workspace)
            _narrow(stored)
            rules = stored.allow if verdict == "allow" else stored.deny
            if rule in rules:
                return ""
            if len(rules) >= MOST_RULES:
                return (
                    f"{shown_rule(rule)} applies for this session only: {MOST_RULES} rules are remembered here already"
                )
            rules.append(rule)
            _write(file, stored)
    except (SightlineError, OSError, UnicodeError) as error:
        return f"{shown_rule(rule)} applies for this session only: {error}"
    return ""


def forget_rule(workspace: Path, rule: str) -> bool:
    """As it is, or as `shown_rule` has it. Whether it was remembered."""
    file = _file(workspace)
    with held(file):
        stored = _read(file, workspace)
        _narrow(stored)
        meant = named_rule(rule, [*stored.allow, *stored.deny])
        if meant:
            stored.allow = [each for each in stored.allow if each != meant]
            stored.deny = [each for each in stored.deny if each != meant]
            _write(file, stored)
    return bool(meant)


def copy_rules(workspace: Path, copy: Path, *, allow: bool) -> None:
    """Have what is denied in a workspace denied in its copy, and with `allow` what is allowed there. A rule that allows
    something in the workspace by its path allows nothing in the copy."""
    source, target = _name(workspace), _name(copy)
    known, file = remembered_rules(workspace), _file(copy)
    denied = denied_in_copy(known.deny, source, target)
    with held(file):
        stored = _read_or_set_aside(file, copy)
        before = msgspec.structs.replace(stored)
        stored.deny = list(dict.fromkeys((*stored.deny, *known.deny, *denied)))
        if allow:
            stored.allow = list(dict.fromkeys((*stored.allow, *(rule for rule in known.allow if source not in rule))))
        if stored != before:
            _write(file, stored)


def forget_rules(workspace: Path) -> None:
    """All that is remembered for a folder that is removed."""
    _file(workspace).unlink(missing_ok=True)


def _read(file: Path, workspace: Path) -> _StoredRules:
    real = _name(workspace)
    data = read_small(file)
    if data is None:
        return _StoredRules(real, version=_VERSION)
    try:
        stored = msgspec.json.decode(data, type=_StoredRules)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RuleMistake(f"{file} is damaged", "remove it") from None
    return stored if stored.workspace == real else _StoredRules(real, version=_VERSION)


def _narrow(stored: _StoredRules) -> list[str]:
    """Read old rules about commands as given for the sandbox; notices of what changed."""
    if stored.version >= _VERSION:
        return []
    stored.version = _VERSION
    before, stored.allow = stored.allow, [each for rule in stored.allow for each in _narrowed(rule)]
    stored.allow = list(dict.fromkeys(stored.allow))
    changed = [rule for rule in before if _narrowed(rule) != [rule]]
    if not changed:
        return []
    names = ", ".join(map(shown_rule, changed[:3])) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
    return [f"remembered rules for commands now apply only in the sandbox, and exec alone no longer applies: {names}"]


def _narrowed(text: str) -> list[str]:
    try:
        rule = parse_rule(text)
    except RuleMistake:
        return [text]
    if rule.access != "exec":
        return [text]
    return [str(msgspec.structs.replace(rule, sandboxed=True))] if rule.pattern else []


def _write_anew(file: Path, workspace: Path) -> None:
    """What cannot be written is narrowed again the next time."""
    try:
        with held(file):
            stored = _read(file, workspace)
            _narrow(stored)
            _write(file, stored)
    except (SightlineError, OSError, UnicodeError):
        pass


def _read_or_set_aside(file: Path, workspace: Path) -> _StoredRules:
    try:
        return _read(file, workspace)
    except RuleMistake:
        os.replace(file, file.with_suffix(".damaged"))
        return _StoredRules(_name(workspace), version=_VERSION)


def _readable(rules: list[str], file: Path, notices: list[str], *, denies: bool) -> tuple[str, ...]:
    good: list[str] = []
    for text in rules:
        try:
            parse_rule(text, denies=denies)
            good.append(text)
        except RuleMistake as mistake:
            notices.append(f"a remembered rule is not used: {mistake.message} (in {file})")
    return tuple(good)


def _write(file: Path, stored: _StoredRules) -> None:
    replace(file, msgspec.json.format(msgspec.json.encode(stored)) + b"\n")


def _name(workspace: Path) -> str:
    """Its real path as text; bytes that are no text are distinguished by their escapes."""
    return os.fsencode(os.path.realpath(workspace)).decode("utf-8", "backslashreplace")


def _file(workspace: Path) -> Path:
    import hashlib

    digest = hashlib.sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()
    return data_folder() / "rules" / f"{digest[:20]}.json"
