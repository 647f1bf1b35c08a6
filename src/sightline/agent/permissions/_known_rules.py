"""The rules that hold in a session, each with where it comes from."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from sightline.settings import Loaded, Policy, Remembered

Verdict = Literal["allow", "deny"]
Origin = Literal[
    "settings",
    "flag",  # of the command line
    "stored",  # of an earlier command line of this session
    "always",  # what the person answered, remembered for this folder
    "session",  # what the person answered for this session
    "program",  # whatever started the session
]


class KnownRule(msgspec.Struct, frozen=True):
    """`where`: of a setting, its file and line, its variable or its option."""

    rule: str
    verdict: Verdict
    origin: Origin
    where: str = ""


def known_rules(
    loaded: Loaded, remembered: Remembered, allow: Iterable[str], deny: Iterable[str]
) -> tuple[KnownRule, ...]:
    return (
        *_of("allow", loaded, remembered.allow, allow),
        *_of("deny", loaded, remembered.deny, deny),
    )


def _of(verdict: Verdict, loaded: Loaded, remembered: Iterable[str], flags: Iterable[str]) -> Iterator[KnownRule]:
    for given in loaded.given.get(("permissions", verdict), ()):
        origin: Origin = "flag" if given.source.kind == "flag" else "settings"
        for rule in given.value:
            yield KnownRule(rule, verdict, origin, given.source.where)
    for rule in remembered:
        yield KnownRule(rule, verdict, "always")
    for rule in flags:
        yield KnownRule(rule, verdict, "flag", f"--{verdict}")


def all_known(rules: Iterable[KnownRule], policy: Policy) -> list[KnownRule]:
    """Those of a policy: with where they come from, as far as that is said."""
    known = list(rules)
    said = {(each.rule, each.verdict) for each in known}
    allowed = [KnownRule(rule, "allow", "program") for rule in policy.allow if (rule, "allow") not in said]
    denied = [KnownRule(rule, "deny", "program") for rule in policy.deny if (rule, "deny") not in said]
    return [*known, *allowed, *denied]
