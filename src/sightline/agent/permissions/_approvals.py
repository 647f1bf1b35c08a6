"""Whether a call of an agent may run: decided by rules, by the level or by the user.

Rules:

- The policy is the session's, at the level of this agent: the session's level, or the cap where that allows less. It is
  derived at each decision, so that a change applies to every agent at once.
- A deny rule wins, then an allow rule, then what the approval level allows by itself.
- No rule decides about a command that leaves the sandbox where a word of it means, by PATH, a program in the workspace.
- What is left is asked of the user: once, for this session, always here, or no, with a reason. A rule that comes of an
  answer also answers other open requests it fits, of every agent, and the transcript has it. Where no rule would allow
  this and nothing else, none is offered: the answers are once and no. For a few commands there is one more answer,
  which shows the rule it becomes: the command with any arguments, for this session.
- With no user there it is refused at once. The model reads that, a notice names the rule that would allow it, and the
  run ends with exit code 3.
"""

import os
import shlex
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal

from sightline.actors import Actor
from sightline.agent.loop._requests import UserRequests
from sightline.agent.permissions._known_rules import KnownRule
from sightline.agent.permissions._levels import lowest
from sightline.agent.permissions._session_rules import SessionRules
from sightline.events import CallEnding, Notice
from sightline.exceptions import UserMistake
from sightline.settings import Approval, Decision, Policy, shown_rule
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
    """Decides for one agent what its calls may do."""

    def __init__(
        self, rules: SessionRules, actor: Actor, requests: UserRequests, *, cap: Callable[[], Approval] | None = None
    ) -> None:
        """`cap`: the highest level it may have now; the root has none."""
        self._session = rules
        self._cap = cap
        self._lowered: tuple[Policy, Policy] | None = None  # the session's, and what follows from it
        self._actor = actor
        self._requests = requests
        self._open: dict[str, Need] = {}  # by request
        self._end_listening = rules.on_change(self._judge_open)
        self.refused: list[str] = []  # the rules that would have allowed what no user was there to allow

    @property
    def level(self) -> Approval:
        level = self._session.policy.approval
        return level if self._cap is None else lowest(level, self._cap())

    @property
    def policy(self) -> Policy:
        """The session's, where the cap does not lower its level."""
        policy, level = self._session.policy, self.level
        if level == policy.approval:
            return policy
        if self._lowered is None or self._lowered[0] is not policy or self._lowered[1].approval != level:
            self._lowered = policy, policy.having(level, policy.allow, policy.deny)
        return self._lowered[1]

    def close(self) -> None:
        """The agent has ended: changes of the rules no longer concern it."""
        self._end_listening()

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
        if self.level != self._session.policy.approval:
            return "this agent has no higher approval level than plan, whatever the level of the session"
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
                problem = await self._session.allow(rule, always=choice == ALWAYS)
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
        """Those of the session, with their origins."""
        return self._session.rules

    def forget(self, rule: str) -> None:
        """Remove a rule that came of an answer, for the whole session."""
        self._session.forget(rule)

    def set_level(self, level: Approval) -> None:
        """Another level for the session. It decides open requests, where it does."""
        self.require_root()
        self._session.set_level(level)

    def renew(self, policy: Policy, rules: Iterable[KnownRule] = ()) -> None:
        """New rules for the session."""
        self.require_root()
        self._session.renew(policy, rules)

    def require_root(self) -> None:
        """UserMistake for any other agent: what it may do follows from its session."""
        if self._cap is not None:
            raise UserMistake("a subagent cannot change what its session may do", "change it for the session")

    def _folder(self, args: dict[str, object]) -> str:
        """Where it would happen: the workspace, or the folder a call names."""
        named = args.get("cwd")
        folder = os.path.expanduser(named) if isinstance(named, str) else ""
        return os.path.normpath(os.path.join(self.policy.workspace, folder))

    def _judge_open(self) -> None:
        """The rules have changed: no user is left with a question that they decide now."""
        for request, need in list(self._open.items()):
            decision = self._judged(need)
            if decision.verdict == "allow":
                self._requests.answer(request, ONCE)
            elif decision.verdict == "deny":
                by_rule = f"the rule {shown_rule(decision.rule)} denies it now"
                reason = "the approval level is now plan" if decision.by_level else by_rule
                self._requests.answer(request, {"choice": NO, "reason": reason})

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
