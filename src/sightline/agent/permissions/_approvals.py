"""Whether a call may run: decided by rules, by the level or by the user.

Rules:

- A deny rule wins, then an allow rule, then what the approval level allows by itself.
- No rule decides about a command that leaves the sandbox where a word of it means, by PATH, a program in the workspace.
- What is left is asked of the user: once, for this session, always here, or no, with a reason. A rule that comes of an
  answer also answers other open requests it fits, and the transcript has it. Where no rule would allow this and
  nothing else, none is offered: the answers are once and no. For a few commands there is one more answer, which shows
  the rule it becomes: the command with any arguments, for this session.
- With no user there it is refused at once. The model reads that, a notice names the rule that would allow it, and the
  run ends with exit code 3.
"""

import asyncio
import os
import shlex
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal

from sightline.actors import Actor
from sightline.agent.loop._requests import UserRequests
from sightline.agent.permissions._known_rules import KnownRule, all_known
from sightline.events import CallEnding, Notice
from sightline.exceptions import UserMistake
from sightline.settings import Approval, Decision, Policy, forget_rule, named_rule, remember_rule, shown_rule
from sightline.text import clean_line, clean_text
from sightline.tools import Need, Proposal, ToolError

ONCE, SESSION, ALWAYS, NO = "once", "this session", "always here", "no"
Changes = Callable[[], Awaitable[Proposal]]
_IN_THE_DIFF = ("content", "input")  # arguments that a diff shows
_PLANTED_SHOWN = 2
_NO_RULE = "no rule can allow exactly this: use another level (--approval), or answer in the console"


class Refusal(ToolError):
    """The call does not run."""

    def __init__(self, message: str, by: Literal["user", "rule", "level", "nobody"], reason: str = "") -> None:
        """`reason`: of a rule, the rule; of the user, their words."""
        super().__init__(message)
        rule, words = (reason, "") if by == "rule" else ("", reason)
        self.ending = CallEnding(ended="refused", by=by, rule=rule, reason=words)


class Approvals:
    """Decides for one session what its calls may do."""

    def __init__(self, policy: Policy, actor: Actor, requests: UserRequests, rules: Iterable[KnownRule] = ()) -> None:
        """`rules`: where those of the policy come from."""
        self.policy = policy
        self._actor = actor
        self._requests = requests
        self._open: dict[str, Need] = {}  # by request
        self._given = all_known(rules, policy)  # when it began, or when the settings were read again
        self._answered: list[KnownRule] = []  # by the user, in this session
        self._chosen: Approval | None = None  # the level, by the user
        self.refused: list[str] = []  # the rules that would have allowed what no user was there to allow

    async def ask(
        self, tool: str, call: str, needs: list[Need], args: dict[str, Any], changes: Changes | None = None
    ) -> None:
        """Returns when everything the call needs is allowed; else raises Refusal. `changes`: what it would write."""
        for need in needs:  # the user is not asked about one need of a call when another is denied
            self._decided(need)
        for need in needs:
            if self._decided(need).verdict == "ask":
                await self._ask_about(tool, call, need, args, changes)
        for need in needs:  # the level may have been lowered while another was asked about
            self._decided(need)

    def _decided(self, need: Need) -> Decision:
        decision = self._judged(need)
        if decision.verdict == "deny":
            self._report_denied(need, decision)
            if decision.by_level:
                raise Refusal(f"not allowed: {_words(need)} (the approval level is plan)", "level")
            raise Refusal(f"not allowed: {_words(need)} (rule: {decision.rule})", "rule", decision.rule)
        return decision

    def _report_denied(self, need: Need, decision: Decision) -> None:
        """Without a user the run ends with exit code 3, and its log has what was refused."""
        if self._actor.log.has_answers:
            return
        self.refused.append(decision.rule)
        by_rule = f"the rule {shown_rule(decision.rule)} denies it"
        hint = self._way_past_plan(need) if decision.by_level else by_rule
        self._actor.publish(Notice(f"refused: {_words(need)}", "warning", hint))

    def _way_past_plan(self, need: Need) -> str:
        """The lowest level that allows it by itself; where none does, edit with the rule that allows it there."""
        levels: dict[Approval, str] = {"edit": "changes", "auto": "commands in the sandbox"}
        for level, words in levels.items():
            decision = self.policy.having(level, self.policy.allow, self.policy.deny).decide(need)
            if decision.verdict == "allow":
                return f"allow {words} with --approval {level}"
        if not decision.suggestion:
            return _NO_RULE
        return f"to allow it: --approval edit --allow {_for_a_shell(decision.suggestion)}"

    def _judged(self, need: Need) -> Decision:
        """A rule names a program by its word. Where that leads to a file in the workspace, the rule does not apply: any
        command could have written the file. A rule that allows every command allows that one, too."""
        decision = self.policy.decide(need)
        everything = self.policy.approval == "full" or decision.rule in ("exec", "exec(*)")
        if decision.verdict != "allow" or not need.planted or everything:
            return decision
        return Decision("ask", decision.rule, "", _planted_words(need, decision.rule))

    async def _ask_about(self, tool: str, call: str, need: Need, args: dict[str, Any], changes: Changes | None) -> None:
        if not self._actor.log.has_answers:
            self._refuse(need, self._decided(need).suggestion)
        details = {"tool": tool, "call": call, "args": args, "cwd": need.where or self._folder(args)}
        if need.access == "write" and changes is not None:
            details |= _proposed(await changes(), need, args)
        decision = self._decided(need)  # the level may have changed
        if decision.verdict == "ask":
            if not self._actor.log.has_answers:  # they left meanwhile
                self._refuse(need, decision.suggestion)
            await self._ask_user(tool, need, decision, details)

    async def _ask_user(self, tool: str, need: Need, decision: Decision, details: dict[str, Any]) -> None:
        rule = _showable(decision.suggestion)
        details |= {
            "ui": {"kind": "approval"},
            "access": need.access,
            "what": need.what,
            "why": ": ".join(reason for reason in (decision.why, need.why) if reason),
            "sandboxed": need.sandboxed,
            "leaves": need.access != "read" and not need.sandboxed,
            "outside": decision.outside,
            "passed": list(need.passed),
            "rule": rule,
        }
        prefix = _showable(self.policy.prefix(need)) if rule and not need.planted else ""
        wider = f"Yes, for this session: {shown_rule(prefix)}" if prefix else ""
        choices = [ONCE, SESSION, *([wider] if wider else []), ALWAYS, NO] if rule else [ONCE, NO]
        details |= {"prefix": prefix} if prefix else {}
        request = self._requests.new_id()
        self._open[request] = need
        words = f"{tool} wants to {_words(need)}"
        try:
            answer = await self._requests.ask("approval", words, choices, details, id=request)
        finally:
            del self._open[request]
        if wider and wider in (answer, answer.get("choice") if isinstance(answer, dict) else None):
            answer = {"choice": SESSION, "rule": prefix}
        await self._apply_answer(answer, need, rule)

    async def _apply_answer(self, answer: object, need: Need, rule: str) -> None:
        """An answer is one of the choices, or `{"choice": …, "rule": …, "reason": …}`."""
        fields = answer if isinstance(answer, dict) else {"choice": answer}
        choice = fields.get("choice")
        rule = str(fields.get("rule") or rule)
        if choice in (SESSION, ALWAYS) and not rule:
            text = "allowed this once only: no rule can allow exactly this"
            self._actor.publish(Notice(text, "warning"))
        elif choice in (SESSION, ALWAYS):
            try:
                problem = await self._allow(rule, always=choice == ALWAYS)
            except UserMistake as mistake:
                text = f"allowed this once only: {mistake.message}"
                self._actor.publish(Notice(text, "warning", mistake.hint))
                return
            self._report_allowed(rule, problem, always=choice == ALWAYS)
        elif choice != ONCE:
            reason = str(fields.get("reason") or "")
            words = f"the user refused: {_words(need)}" + (f". Reason: {reason}" if reason else "")
            raise Refusal(words, "user", reason)

    def _report_allowed(self, rule: str, problem: str, *, always: bool) -> None:
        if problem:
            self._actor.publish(Notice(problem, "warning"))
            return
        how_long = "in this folder from now on" if always else "for this session"
        text = f"allowed {how_long}: {shown_rule(rule)}"
        self._actor.publish(Notice(text, "info", "undo with /approvals"))

    @property
    def rules(self) -> list[KnownRule]:
        """Those that apply, with their origins; the same one may have several."""
        return [*self._given, *self._answered]

    def renew(self, policy: Policy, rules: Iterable[KnownRule] = ()) -> None:
        """New rules. Answers for this session stay, and what was denied when it began: losing trust opens nothing."""
        given = all_known(rules, policy)
        denied = {each.rule for each in given if each.verdict == "deny"}
        self._given = [*given, *(e for e in self._given if e.verdict == "deny" and e.rule not in denied)]
        self._rule_again(self._chosen or policy.approval)

    def set_level(self, level: Approval) -> None:
        """Another level, until the session ends. It answers what is open, where it does."""
        self._chosen = level
        self._rule_again(level)
        self._answer_open()
        if level == "plan":
            for request, need in list(self._open.items()):
                if self.policy.decide(need).verdict == "deny":
                    self._requests.answer(request, {"choice": NO, "reason": "the approval level is now plan"})

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

    def _folder(self, args: dict[str, object]) -> str:
        """Where it would happen: the workspace, or the folder a call names."""
        named = args.get("cwd")
        folder = os.path.expanduser(named) if isinstance(named, str) else ""
        return os.path.normpath(os.path.join(self.policy.workspace, folder))

    async def _allow(self, rule: str, *, always: bool) -> str:
        """Why it could not be remembered; empty when it was. It applies before that is done."""
        self.policy = self.policy.with_allowed(rule)
        known = KnownRule(rule, "allow", "session")
        self._answered.append(known)
        self._answer_open()
        if not always:
            return ""
        problem = await asyncio.to_thread(remember_rule, self.policy.workspace, rule)
        if not problem:
            remembered = KnownRule(rule, "allow", "always")
            self._answered = [remembered if each is known else each for each in self._answered]
        return problem

    def _answer_open(self) -> None:
        for request, need in list(self._open.items()):
            if self._judged(need).verdict == "allow":
                self._requests.answer(request, ONCE)

    def _refuse(self, need: Need, rule: str) -> None:
        self.refused.append(rule)
        what = _words(need)
        hint = way_to_allow(rule)
        why = f" ({need.why})" if need.exposed else ""
        if need.planted:
            why, hint = f" ({_planted_words(need, '')})", "name the program by its path, in the command and in the rule"
        self._actor.publish(Notice(f"refused, no user to ask: {what}{why}", "warning", hint))
        raise Refusal(
            f"refused: {what} needs the user's approval, and no user is there to give it. "
            "Continue without it, or say in your answer what you could not do.",
            "nobody",
        )


def _planted_words(need: Need, rule: str) -> str:
    files = ", ".join(clean_line(file) for file in need.planted[:_PLANTED_SHOWN])
    return f"{shown_rule(rule) if rule else 'a rule'} does not apply: PATH leads to {files} in the workspace"


def _proposed(proposal: Proposal, need: Need, args: dict[str, object]) -> dict[str, Any]:
    """The fields of a request about the change it is for."""
    fields = {name: getattr(proposal, name) for name in ("diff", "about", "unseen") if getattr(proposal, name)}
    if proposal.diff:
        counts = {"added": proposal.added, "removed": proposal.removed}
        rest = {name: value for name, value in args.items() if name not in _IN_THE_DIFF}
        fields |= {**counts, "path": need.what, "args": rest}
    return fields


def _showable(rule: str) -> str:
    """Empty where it has characters that no event carries: the answer would name another rule."""
    return rule if clean_text(rule) == rule else ""


def way_to_allow(rule: str) -> str:
    """A hint for a user who was not there to be asked. No rule: none can be exact."""
    return _NO_RULE if not rule else f"to allow it: --allow {_for_a_shell(rule)}"


def _for_a_shell(rule: str) -> str:
    """One word on one line."""
    if rule.isprintable():
        return shlex.quote(rule)
    escaped = rule.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{''.join(_escaped(character) for character in escaped)}'"


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return {"\n": "\\n", "\t": "\\t"}.get(character, f"\\U{ord(character):08x}")


def _words(need: Need) -> str:
    match need.access:
        case "exec":
            where = "" if need.sandboxed else " outside the sandbox"
            return f"run `{need.what}`{where}"
        case "network":
            return f"connect to {need.what}"
        case access:
            return f"{access} {need.what}"
