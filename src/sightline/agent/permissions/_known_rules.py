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
    "always",  # an answer of the user, remembered for this folder
    "session",  # an answer of the user for this session
    "program",  # of the program that started the session
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
    return (*_of("allow", loaded, remembered.allow, allow), *_of("deny", loaded, remembered.deny, deny))


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
    """The rules of a policy with their origins, as far as known."""
    known = list(rules)
    found = {(each.rule, each.verdict) for each in known}
    allowed = [KnownRule(rule, "allow", "program") for rule in policy.allow if (rule, "allow") not in found]
    denied = [KnownRule(rule, "deny", "program") for rule in policy.deny if (rule, "deny") not in found]
    return [*known, *allowed, *denied]
