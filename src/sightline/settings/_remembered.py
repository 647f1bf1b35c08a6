"""Rules the person gave while working, for one workspace: what was answered with "always here".

One file per workspace, in the program's own folder and not in the workspace: nothing in a repository can give itself
rules. A file that cannot be read costs its rules and a notice, never the session.
"""

import os
from pathlib import Path
from typing import Literal

import msgspec

from sightline.exceptions import SightlineError
from sightline.paths import data_folder
from sightline.settings._files import held, read_small, replace
from sightline.settings._rule_text import named_rule, shown_rule
from sightline.settings._rules import RuleMistake, parse_rule

MOST_RULES = 1000


class Remembered(msgspec.Struct, frozen=True):
    """`notices`: what could not be used, and what to do about it."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


class _Kept(msgspec.Struct):
    workspace: str
    allow: list[str] = []
    deny: list[str] = []


def remembered_rules(workspace: Path) -> Remembered:
    """What is remembered for a workspace. Never raises."""
    file = _file(workspace)
    try:
        kept = _read(file, workspace)
    except SightlineError as error:
        return Remembered(notices=(f"remembered rules are not used: {error.message}",))
    notices: list[str] = []
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
            rules = kept.allow if verdict == "allow" else kept.deny
            if rule in rules:
                return ""
            if len(rules) >= MOST_RULES:
                return f"{shown_rule(rule)} holds for this session only: {MOST_RULES} rules are remembered here already"
            rules.append(rule)
            _write(file, kept)
    except (SightlineError, OSError, UnicodeError) as error:
        return f"{shown_rule(rule)} holds for this session only: {error}"
    return ""


def forget_rule(workspace: Path, rule: str) -> bool:
    """As it is, or as `shown_rule` has it. Whether it was remembered."""
    file = _file(workspace)
    with held(file):
        kept = _read(file, workspace)
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
        return _Kept(real)
    try:
        kept = msgspec.json.decode(data, type=_Kept)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RuleMistake(f"{file} is damaged", "remove it") from None
    return kept if kept.workspace == real else _Kept(real)


def _read_or_set_aside(file: Path, workspace: Path) -> _Kept:
    try:
        return _read(file, workspace)
    except RuleMistake:
        os.replace(file, file.with_suffix(".damaged"))
        return _Kept(_name(workspace))


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
