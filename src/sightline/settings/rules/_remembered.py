"""Rules the person gave while working, for one workspace: what was answered with "always here".

One file per workspace, in the program's own folder and not in the workspace: nothing in a repository can give itself
rules. A file that cannot be read costs its rules and a notice, never the session.

Rules about commands from before they said where they hold are read as given for the sandbox, which is the least they
can have meant; `exec` alone, which stood for a command too long to be a rule, is left out. The file is written anew and
a notice says so, once.
"""

import os
from pathlib import Path
from typing import Literal

import msgspec

from sightline.exceptions import SightlineError
from sightline.paths import data_folder
from sightline.settings._files import held, read_small, replace
from sightline.settings.rules._rule_text import named_rule, shown_rule
from sightline.settings.rules._rules import RuleMistake, parse_rule

MOST_RULES = 1000
_VERSION = 2


class Remembered(msgspec.Struct, frozen=True):
    """`notices`: what could not be used, and what to do about it."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


class _Kept(msgspec.Struct):
    """`version` 1: rules about commands do not say where they hold."""

    workspace: str
    allow: list[str] = []
    deny: list[str] = []
    version: int = 1


def remembered_rules(workspace: Path) -> Remembered:
    """What is remembered for a workspace. Never raises."""
    file = _file(workspace)
    notices: list[str] = []
    try:
        kept = _read(file, workspace)
        if kept.version < _VERSION:
            notices += _narrow(kept)
            _write_anew(file, workspace)
    except SightlineError as error:
        return Remembered(notices=(f"remembered rules are not used: {error.message}",))
    allow = _readable(kept.allow, file, notices, denies=False)
    deny = _readable(kept.deny, file, notices, denies=True)
    return Remembered(allow, deny, tuple(notices))


def remember_rule(workspace: Path, rule: str, verdict: Literal["allow", "deny"] = "allow") -> str:
    """Keep a rule for this workspace. Returns a notice when it could not be kept, and nothing when it was."""
    parse_rule(rule, denies=verdict == "deny")
    file = _file(workspace)
    try:
        with held(file):
            kept = _read_or_set_aside(file, workspace)
            _narrow(kept)
            rules = kept.allow if verdict == "allow" else kept.deny
            if rule in rules:
                return ""
            if len(rules) >= MOST_RULES:
                return (
                    f"{shown_rule(rule)} applies for this session only: {MOST_RULES} rules are remembered here already"
                )
            rules.append(rule)
            _write(file, kept)
    except (SightlineError, OSError, UnicodeError) as error:
        return f"{shown_rule(rule)} applies for this session only: {error}"
    return ""


def forget_rule(workspace: Path, rule: str) -> bool:
    """As it is, or as `shown_rule` has it. Whether it was remembered."""
    file = _file(workspace)
    with held(file):
        kept = _read(file, workspace)
        _narrow(kept)
        meant = named_rule(rule, [*kept.allow, *kept.deny])
        if meant:
            kept.allow = [each for each in kept.allow if each != meant]
            kept.deny = [each for each in kept.deny if each != meant]
            _write(file, kept)
    return bool(meant)


def _read(file: Path, workspace: Path) -> _Kept:
    real = _name(workspace)
    data = read_small(file)
    if data is None:
        return _Kept(real, version=_VERSION)
    try:
        kept = msgspec.json.decode(data, type=_Kept)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RuleMistake(f"{file} is damaged", "remove it") from None
    return kept if kept.workspace == real else _Kept(real, version=_VERSION)


def _narrow(kept: _Kept) -> list[str]:
    """Read rules about commands as given for the sandbox, where they cannot say it; notices of what changed."""
    if kept.version >= _VERSION:
        return []
    kept.version = _VERSION
    before, kept.allow = kept.allow, [each for rule in kept.allow for each in _narrowed(rule)]
    kept.allow = list(dict.fromkeys(kept.allow))
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
            kept = _read(file, workspace)
            _narrow(kept)
            _write(file, kept)
    except (SightlineError, OSError, UnicodeError):
        pass


def _read_or_set_aside(file: Path, workspace: Path) -> _Kept:
    try:
        return _read(file, workspace)
    except RuleMistake:
        os.replace(file, file.with_suffix(".damaged"))
        return _Kept(_name(workspace), version=_VERSION)


def _readable(rules: list[str], file: Path, notices: list[str], *, denies: bool) -> tuple[str, ...]:
    good: list[str] = []
    for text in rules:
        try:
            parse_rule(text, denies=denies)
            good.append(text)
        except RuleMistake as mistake:
            notices.append(f"a remembered rule is not used: {mistake.message} (in {file})")
    return tuple(good)


def _write(file: Path, kept: _Kept) -> None:
    replace(file, msgspec.json.format(msgspec.json.encode(kept)) + b"\n")


def _name(workspace: Path) -> str:
    """Its real path as text; bytes that are no text are told apart by their escapes."""
    return os.fsencode(os.path.realpath(workspace)).decode("utf-8", "backslashreplace")


def _file(workspace: Path) -> Path:
    import hashlib

    digest = hashlib.sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()
    return data_folder() / "rules" / f"{digest[:20]}.json"
