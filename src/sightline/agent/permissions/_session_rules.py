"""The rules of a session: its policy, where each rule comes from, and what its user decided while it runs.

Rules:

- They are in one place for the session. Each of its agents derives its own policy from this one and copies nothing.
- A level the user chose applies until the session ends, whatever the settings are later. So do answers for the session.
- After each change every agent is called, and judges its open requests anew: an answer given to one agent also answers
  another that waits for the same.
"""

import asyncio
from collections.abc import Callable, Iterable

from sightline.agent.permissions._known_rules import KnownRule, all_known
from sightline.exceptions import UserMistake
from sightline.settings import Approval, Policy, forget_rule, named_rule, remember_rule, shown_rule


class SessionRules:
    """What may be done in one session, by whichever of its agents. Used in the session's event loop only."""

    def __init__(self, policy: Policy, rules: Iterable[KnownRule] = ()) -> None:
        """`rules`: where those of the policy come from."""
        self.policy = policy
        self._given = all_known(rules, policy)  # when it began, or when the settings were read again
        self._answered: list[KnownRule] = []  # by the user, in this session
        self._chosen: Approval | None = None  # the level, by the user
        self._listeners: dict[object, Callable[[], None]] = {}

    @property
    def rules(self) -> list[KnownRule]:
        """Those that apply, with their origins; the same one may have several."""
        return [*self._given, *self._answered]

    def on_change(self, callback: Callable[[], None]) -> Callable[[], object]:
        """Call this after each change. Returns what ends that."""
        key = object()
        self._listeners[key] = callback
        return lambda: self._listeners.pop(key, None)

    def set_level(self, level: Approval) -> None:
        """Another level, until the session ends."""
        self._chosen = level
        self._rule_again(level)

    def renew(self, policy: Policy, rules: Iterable[KnownRule] = ()) -> None:
        """New rules. Answers for this session stay, and what was denied when it began: losing trust opens nothing."""
        given = all_known(rules, policy)
        denied = {each.rule for each in given if each.verdict == "deny"}
        self._given = [*given, *(e for e in self._given if e.verdict == "deny" and e.rule not in denied)]
        self._rule_again(self._chosen or policy.approval)

    async def allow(self, rule: str, *, always: bool) -> str:
        """Why it could not be remembered; empty when it was. It applies before that is done."""
        self.policy = self.policy.with_allowed(rule)
        known = KnownRule(rule, "allow", "session")
        self._answered.append(known)
        self._report_change()
        if not always:
            return ""
        problem = await asyncio.to_thread(remember_rule, self.policy.workspace, rule)
        if not problem:
            remembered = KnownRule(rule, "allow", "always")
            self._answered = [remembered if each is known else each for each in self._answered]
        return problem

    def forget(self, rule: str) -> None:
        """Remove a rule that came of an answer, given as it is or as it is shown; UserMistake for any other."""
        meant = named_rule(rule, (each.rule for each in self.rules))
        if not meant:
            raise UserMistake(f"no rule {rule} here", "/approvals lists the rules")
        rule, found = meant, [each for each in self.rules if each.rule == meant]
        if not any(each.origin in ("session", "always") for each in found):
            place = found[0].where or "the program that started the session"
            words = f"{shown_rule(rule)} is not one of your answers: it comes from {place}"
            stays = any(each.origin in ("flag", "stored") for each in found)
            raise UserMistake(words, "a new session does not have it" if stays else "change it there")
        if any(each.origin == "always" for each in found):
            forget_rule(self.policy.workspace, rule)
        self._given = [each for each in self._given if each.rule != rule or each.origin != "always"]
        self._answered = [each for each in self._answered if each.rule != rule]
        self._rule_again(self.policy.approval)

    def _rule_again(self, level: Approval) -> None:
        allow = dict.fromkeys(each.rule for each in self.rules if each.verdict == "allow")
        deny = dict.fromkeys(each.rule for each in self.rules if each.verdict == "deny")
        self.policy = self.policy.having(level, allow, deny)
        self._report_change()

    def _report_change(self) -> None:
        for callback in list(self._listeners.values()):
            callback()
