"""The permissions of an agent in a session: the policy and what follows from it, while it runs.

Rules:

- The policy is in one place, for all agents of a session (`SessionRules`). What follows from it is derived when it is
  needed, and never copied.
- No agent may do more than its parent: its level is the lowest of its cap, its parent's level and the session's, now.
  Raising the session's level lifts no agent above its cap.
- The level of the session is changed, stored and published by the root alone.
- A level that is chosen applies for the session as long as it runs, and is stored in its journal; one that is named
  when the session begins is chosen, too.
- A session that is resumed has the level requested for it, else the lower of that of the settings and the one it was
  left with. A higher one was meant for the work of that time, by a user who was there.
"""

from collections.abc import Callable, Iterable

from sightline.actors import Actor
from sightline.agent.conversation._memory import Memory
from sightline.agent.loop._requests import UserRequests
from sightline.agent.permissions._approvals import Approvals
from sightline.agent.permissions._known_rules import KnownRule
from sightline.agent.permissions._levels import LEVELS, a_level, lowest
from sightline.agent.permissions._network import NetworkJudge
from sightline.agent.permissions._session_rules import SessionRules
from sightline.events import ApprovalState, Notice
from sightline.exceptions import UserMistake
from sightline.exec.gateway import Gateway
from sightline.journal import SessionTree
from sightline.settings import Approval, Decision, Policy, Settings, denied_paths
from sightline.tools import Limits, Need


class SessionPermissions:
    """The policy of a session for one of its agents, the answers of the user, and the network of its commands."""

    def __init__(
        self,
        rules: SessionRules,
        *,
        actor: Actor,
        requests: UserRequests,
        memory: Memory,
        settings: Callable[[], Settings],
        sandbox: bool,
        cap: Callable[[], Approval] | None = None,
    ) -> None:
        """Those of the root; `for_agent` makes the others. `sandbox`: whether commands have one below full."""
        self._rules = rules
        self._actor = actor
        self._memory = memory
        self._settings = settings
        self._sandbox = sandbox
        self.approvals = Approvals(rules, actor, requests, cap=cap)
        self._judge = NetworkJudge(self.approvals, actor, lambda: settings().web.private_hosts)
        self.gateway = Gateway(self._judge, actor.observed_by("exec").publish)
        self._limits: Limits | None = None
        self._limits_of: tuple[Approval, tuple[str, ...]] | None = None

    def for_agent(
        self, actor: Actor, requests: UserRequests, memory: Memory, *, cap: Approval | None = None
    ) -> "SessionPermissions":
        """Those of an agent below this one. Without a `cap` it may do what this one may."""

        def highest() -> Approval:
            return self.level if cap is None else lowest(cap, self.level)

        return SessionPermissions(
            self._rules,
            actor=actor,
            requests=requests,
            memory=memory,
            settings=self._settings,
            sandbox=self._sandbox,
            cap=highest,
        )

    async def close(self) -> None:
        """The agent has ended."""
        await self.gateway.close()
        self.approvals.close()

    @property
    def policy(self) -> Policy:
        return self.approvals.policy

    @property
    def level(self) -> Approval:
        return self.approvals.level

    def limits(self) -> Limits:
        policy = self.policy
        made_of = (policy.approval, tuple(policy.deny))
        if self._limits is None or made_of != self._limits_of:
            read_only = tuple(denied_paths(policy, policy.workspace))
            sandbox = self._sandbox and policy.approval != "full"
            self._limits, self._limits_of = Limits(sandbox, read_only, denying(policy)), made_of
        return self._limits

    def decide_network(self, host: str, port: int) -> Decision:
        """The decision about a page that is read from there."""
        return self._judge.decide(host, port)

    def set_level(self, word: str) -> None:
        """Apply this level from now on, also to calls the user is being asked about. For the root only."""
        self.approvals.require_root()
        level = a_level(word)
        if level != self.level:
            self._memory.note("approval_change", {"level": level})
            self.approvals.set_level(level)
            self.publish_level()

    def publish_level(self) -> None:
        self.approvals.require_root()  # a session has one level in its state
        self._actor.publish(ApprovalState(self.level).as_state())

    def facts(self) -> dict[str, object]:
        """Level and rules, for a view."""
        rows = dict.fromkeys((each.rule, each.verdict, each.origin, each.where) for each in self.approvals.rules)
        rules = [dict(zip(("rule", "verdict", "origin", "where"), row, strict=True)) for row in rows]
        passed = list(self._settings().permissions.pass_env)
        return {"level": self.level, "levels": list(LEVELS), "rules": rules, "passed": passed}

    def renew(self, policy: Policy, rules: Iterable[KnownRule]) -> None:
        """The settings were read again."""
        before = self.level
        self.approvals.renew(policy, rules)
        if self.level != before:
            self.publish_level()

    def begin(self, requested: Approval | None) -> None:
        """The level of a session that is new or resumed. `requested`: the one the caller named for it now."""
        self.approvals.require_root()
        had, now = level_left(self._memory.tree), self.level
        if had is None:
            if requested is not None:  # resumed without a level, as the page does, it must not get one that allows more
                self._memory.note("approval_change", {"level": requested})
            return
        level = resumed_level(had, now, requested)
        self.approvals.set_level(level)  # chosen, whatever the settings will say later
        if level != had:
            self._memory.note("approval_change", {"level": level})
        if requested is None and not had == level == now:
            self._actor.publish(level_notice(had, level))


def denying(policy: Policy) -> Callable[[str], bool] | None:
    """What a search that walks over files leaves out."""
    if not any(rule.startswith("read") for rule in policy.deny):
        return None
    return lambda path: policy.decide(Need("read", path)).verdict == "deny"


def level_left(tree: SessionTree) -> Approval | None:
    """The level that was chosen last in a session, on whatever branch."""
    chosen = [node for node in tree.nodes.values() if node.type == "approval_change"]
    entry = next(tree.read(chosen[-1:]), None)
    try:
        return a_level(str(entry.data["level"])) if entry is not None else None
    except (UserMistake, KeyError, TypeError):
        return None


def resumed_level(had: Approval, now: Approval, requested: Approval | None) -> Approval:
    return lowest(had, now) if requested is None else requested


def level_notice(had: Approval, level: Approval) -> Notice:
    if had == level:
        text, hint = f"the approval level is {level}, as when you left this session", "/approvals changes it"
        return Notice(text, "info", hint)
    text = f"the approval level is {level} again: it was {had} when you left this session"
    return Notice(text, "warning", f"/approvals {had} sets it again")
