"""The rules given on the command line for a session, stored with it: they return when it is resumed.

Rules:

- Both kinds return, whichever branch the session is on: a resumed session allows neither more nor less than before.
  What is given at a resume is added, and stored too. No answer and no setting takes one away.
- A relative rule is about the folder it was given in. Resumed in another folder, the session has the rule with that
  folder named. A deny rule is about both folders then.
- Where something of the stored rules cannot be read, a deny rule may be missing: that is reported, every deny rule that
  can be read applies, and no stored allow rule does.
- A rule that cannot be stored as it is (a secret in it, bytes that are not text) is reported and not stored: part of it
  would be another rule.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sightline.actors import Actor, encodable
from sightline.agent._build import AgentSpec
from sightline.agent.conversation._memory import Memory
from sightline.agent.permissions._known_rules import KnownRule, Verdict
from sightline.events import Notice
from sightline.journal import SessionTree
from sightline.settings import RuleMistake, anchored, parse_rule, shown_rule

_SHOWN = 5  # rules in a notice


_UNREADABLE = "rules stored with this session cannot be read: one that denied something may be missing"


class GivenRules(msgspec.Struct, frozen=True):
    """The data of a `rules_given` entry; `cwd` is the folder they were given in."""

    allow: list[str] = []
    deny: list[str] = []
    cwd: str = ""


class _StoredRules(msgspec.Struct, frozen=True):
    entries: list[GivenRules]
    is_whole: bool  # everything that was stored could be read


def with_stored_rules(spec: AgentSpec, tree: SessionTree) -> AgentSpec:
    """The same, with what the command lines of this session gave before."""
    given_now = {(each.rule, each.verdict) for each in spec.rules if each.origin == "flag"}
    restored: list[KnownRule] = []
    stored = _read(tree)
    notices = [] if stored.is_whole else [_UNREADABLE]
    for rule, verdict in dict.fromkeys(_each_here(stored, spec.cwd)):
        if (rule, verdict) in given_now:
            continue
        try:
            parse_rule(rule, denies=verdict == "deny")
            restored.append(KnownRule(rule, verdict, "stored", f"--{verdict}"))
        except RuleMistake as mistake:
            notices.append(f"a rule stored with this session is not used: {mistake.message}")
    if not restored and not notices:
        return spec
    if notices and (unused := [each for each in restored if each.verdict == "allow"]):
        notices.append(f"not used because of that: {_shown(unused)}")
        restored = [each for each in restored if each.verdict == "deny"]
    allow, deny = _of("allow", restored), _of("deny", restored)
    policy = spec.policy
    return msgspec.structs.replace(
        spec,
        policy=policy.having(policy.approval, [*policy.allow, *allow], [*policy.deny, *deny]),
        rules=(*spec.rules, *restored),
        notices=(*spec.notices, *notices),
    )


def begin_with_rules(memory: Memory, actor: Actor, spec: AgentSpec) -> None:
    """Store what was given now, and report what returned."""
    cwd = str(spec.cwd)
    here = [given for given in _read(memory.tree).entries if given.cwd == cwd]
    known = {each for given in here for each in _each(given)}
    new = [each for each in spec.rules if each.origin == "flag" and (each.rule, each.verdict) not in known]
    storable = [each for each in new if _is_storable(actor, each.rule) and _is_storable(actor, cwd)]
    if storable:
        given = GivenRules(_of("allow", storable), _of("deny", storable), cwd)
        memory.note("rules_given", msgspec.to_builtins(given))
    if left_out := [each for each in new if each not in storable]:
        text = f"not stored with this session, because of a secret or bytes that are not text: {_shown(left_out)}"
        actor.publish(Notice(text, "warning", "give it again when you resume the session"))
    if returned := [each for each in spec.rules if each.origin == "stored"]:
        text = f"rules of this session apply again: {_shown(returned)}"
        actor.publish(Notice(text, "info", "/approvals lists them"))


def _of(verdict: Verdict, rules: list[KnownRule]) -> list[str]:
    return [each.rule for each in rules if each.verdict == verdict]


def _shown(rules: list[KnownRule]) -> str:
    words = [f"{each.verdict} {shown_rule(each.rule)}" for each in rules[:_SHOWN]]
    return ", ".join(words) + (f" and {len(rules) - _SHOWN} more" if len(rules) > _SHOWN else "")


def _is_storable(actor: Actor, text: str) -> bool:
    return encodable(text) == text == actor.secrets.masked(text)


def _each_here(stored: _StoredRules, cwd: Path) -> Iterator[tuple[str, Verdict]]:
    """As they are meant in this folder."""
    for given in stored.entries:
        elsewhere = bool(given.cwd) and os.path.realpath(given.cwd) != os.path.realpath(cwd)
        for rule, verdict in _each(given):
            if not elsewhere or verdict == "deny":
                yield rule, verdict
            if elsewhere:
                yield _anchored(rule, verdict, given.cwd), verdict


def _anchored(rule: str, verdict: Verdict, cwd: str) -> str:
    try:
        return anchored(rule, os.path.realpath(cwd), denies=verdict == "deny")
    except RuleMistake:
        return rule  # reported where it is read


def _read(tree: SessionTree) -> _StoredRules:
    nodes = [node for node in tree.nodes.values() if node.type == "rules_given"]
    entries: list[GivenRules] = []
    is_whole = not tree.lost_rules
    for entry in (found := list(tree.read(nodes))):
        try:
            entries.append(msgspec.convert(entry.data, GivenRules))
        except msgspec.ValidationError:
            is_whole = False
            entries.append(_deny_rules_in(entry.data))
    return _StoredRules(entries, is_whole and len(found) == len(nodes))


def _deny_rules_in(data: object) -> GivenRules:
    """What can be read of an entry that is damaged."""
    if not isinstance(data, dict):
        return GivenRules()
    deny, cwd = data.get("deny"), data.get("cwd")
    rules = deny if isinstance(deny, list) else [deny]
    return GivenRules(deny=[rule for rule in rules if isinstance(rule, str)], cwd=cwd if isinstance(cwd, str) else "")


def _each(given: GivenRules) -> Iterator[tuple[str, Verdict]]:
    for rule in given.allow:
        yield rule, "allow"
    for rule in given.deny:
        yield rule, "deny"
